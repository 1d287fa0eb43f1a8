//! Global tensors from Python: one logical tensor over the ranks of a world. They go through the same functions and
//! methods as tensors of one process; a call with one among its arguments is run by all ranks together.

mod argument;
mod mesh;
mod moved;
mod sbp;
mod tensor;
mod world;

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use stridewise::operators::{TABLE, call_at};
use stridewise::spread::on_behalf_of;
use stridewise::{Cpu, Error, Global, Spread, Tape, Tensor};

use crate::arguments::{Object, Raised};
use crate::look::any_item;
use crate::seldom;
pub(crate) use mesh::PyMesh;
pub(crate) use sbp::held_as;
pub(crate) use tensor::{PyGlobal, from_parts};

/// Whether there has been a global tensor: until then no argument is looked at for one.
static EVER: AtomicBool = AtomicBool::new(false);

fn begin() {
    seldom::begin();
    EVER.store(true, Ordering::Relaxed);
}

thread_local! {
    /// The calls with global tensors that are being read on this thread: the first of these tensors, and the operator.
    static CALLS: RefCell<Vec<(Global<Cpu>, &'static str)>> = const { RefCell::new(Vec::new()) };
}

/// A call with a global tensor among its arguments.
pub(crate) struct Call(Global<Cpu>);

struct Reading;

impl Drop for Reading {
    fn drop(&mut self) {
        CALLS.with_borrow_mut(|calls| drop(calls.pop()));
    }
}

impl Call {
    /// The engine that runs it.
    fn tape(&self) -> Tape<Spread<Cpu>> {
        use stridewise::Value;
        Tape::over(self.0.engine())
    }

    /// Does something in which numbers are taken for tensors that every rank has.
    pub(crate) fn during<T>(&self, operator: &'static str, work: impl FnOnce() -> T) -> T {
        CALLS.with_borrow_mut(|calls| calls.push((self.0.clone(), operator)));
        let _reading = Reading;
        on_behalf_of(operator, work)
    }

    /// Runs an operator of the table.
    pub(crate) fn answer<'py>(
        &self,
        line: usize,
        given: &[Object<'py>],
        named: &[(&str, Object<'py>)],
        out: Option<Object<'py>>,
    ) -> Result<Py<PyAny>, Raised> {
        if out.is_some_and(|out| !out.get().is_none()) {
            let message = "a global tensor is not written into memory of one rank";
            let error = Error::type_(message).at_argument("out");
            return Err(error
                .help("leave out away; `to_local()` of the result is this rank's part of it")
                .into());
        }
        self.during(TABLE[line].name, || {
            call_at(&self.tape(), line, given, named)
        })
    }
}

/// The call that arguments make, where a global tensor is among them.
#[inline]
pub(crate) fn wanted<'a, 'py: 'a>(
    arguments: impl Iterator<Item = &'a Object<'py>>,
) -> Result<Option<Call>, Raised> {
    match EVER.load(Ordering::Relaxed) {
        false => Ok(None),
        true => searched(arguments),
    }
}

fn searched<'a, 'py: 'a>(
    arguments: impl Iterator<Item = &'a Object<'py>>,
) -> Result<Option<Call>, Raised> {
    let mut first: Option<Global<Cpu>> = None;
    let mut stranger = None;
    let mut such = |object: &Bound<'_, PyAny>| {
        if let Ok(x) = object.cast::<PyGlobal>() {
            let x = x.get().global();
            match &first {
                None => first = Some(x.clone()),
                Some(_) if stranger.is_some() => {}
                Some(first) => stranger = tensor::spread(first).require_mine(&[x]).err(),
            }
        }
        Ok(false)
    };
    for argument in arguments {
        any_item(argument.get(), &mut such)?;
    }
    match stranger {
        Some(error) => Err(error.into()),
        None => Ok(first.map(Call)),
    }
}

/// The first global tensor of the call that is being read.
fn first() -> Result<Global<Cpu>, Error> {
    let first = CALLS.with_borrow(|calls| calls.last().map(|(first, _)| first.clone()));
    first.ok_or_else(|| Error::world("no call with a global tensor is being read"))
}

/// The operator of that call.
fn operator() -> &'static str {
    CALLS.with_borrow(|calls| calls.last().map_or("", |(_, operator)| operator))
}

/// A tensor that every rank has, beside the global tensors of the call that is being read.
fn everywhere(x: Tensor) -> Result<Global<Cpu>, Error> {
    let first = first()?;
    // A number is the same wherever it stands; of anything larger each rank may have another.
    if x.rank() > 0 {
        return Err(mixed(&first, &x));
    }
    shared(&first, x)
}

/// The same for what was made from numbers.
fn shared(first: &Global<Cpu>, x: Tensor) -> Result<Global<Cpu>, Error> {
    let spread = tensor::spread(first);
    spread.from_whole(x, &sbp::broadcast(spread.mesh()))
}

fn mixed(global: &Global<Cpu>, local: &Tensor) -> Error {
    let (dtype, shape) = (local.dtype(), stridewise::size::tuple(local.shape()));
    Error::type_(format!(
        "a global tensor, {global:?}, and a local one, {dtype} of shape {shape}, are in one call"
    ))
    .help(
        "make the local one global: `x.to_global(mesh, sbp)` where each rank has its part of it, or \
         `mesh.shard(x, sbp)` where every rank has all of it",
    )
}

/// Adds what belongs to global tensors to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyGlobal>()?;
    module.add_class::<PyMesh>()?;
    module.add_class::<moved::PyMoved>()?;
    module.add_class::<sbp::PySbp>()?;
    mesh::register(module)?;
    world::register(module)
}
