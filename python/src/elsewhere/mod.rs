//! Tensors whose elements lie elsewhere than in the memory of this process: on many ranks, or on a GPU. They go through
//! the same functions and methods as others; a call with one among its arguments is run by the engine of that tensor,
//! and what is given beside it as numbers becomes a tensor there.

mod argument;
pub(crate) mod methods;

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::LocalKey;

use pyo3::prelude::*;
#[cfg(feature = "gpu")]
use stridewise::Gpu;
use stridewise::operators::{TABLE, call_at};
use stridewise::spread::on_behalf_of;
use stridewise::{Cpu, Engine, Error, Result, Spread, Tape, Tensor, Value};

use crate::arguments::{Object, Raised};
use crate::gradients::Class;
use crate::look::any_item;
use crate::seldom;
use crate::tensor::PyTensor;
pub(crate) use argument::Lying;

/// An engine whose tensors lie elsewhere.
pub(crate) trait Away:
    Engine<Size = usize, Value: Value<Engine = Self> + Send + Sync> + Clone + Send + Sync + 'static
{
    /// The class of its tensors.
    type Class: Class<Engine = Self>;

    /// What is known of its tensors on this thread and in this process.
    fn notes() -> &'static Notes<Self>;

    /// Refuses a tensor that does not lie where the first one does.
    fn require_together(first: &Self::Value, other: &Self::Value) -> Result<()>;

    /// A tensor that was made from numbers, beside the first one.
    fn beside(first: &Self::Value, x: Tensor) -> Result<Self::Value>;

    /// What is wrong with a tensor of this process beside the first one.
    fn mixed(first: &Self::Value, local: &Tensor) -> Error;

    /// What is wrong with memory of this process as the place of a result.
    fn no_out() -> Error;

    /// Whether the result of an operator is the very tensor it was given.
    fn is_same(operator: &'static str, given: &Self::Value, result: &Self::Value) -> bool;
}

/// The first of these tensors in a call, and the operator; for all calls that stand within each other.
pub(crate) type Calls<E> = Vec<(<E as Engine>::Value, &'static str)>;

/// What is known of the tensors of an engine.
pub(crate) struct Notes<E: Away> {
    /// Whether there has been one: until then no argument is looked at for one.
    pub(crate) ever: AtomicBool,
    /// The calls that are being read on this thread.
    pub(crate) calls: &'static LocalKey<RefCell<Calls<E>>>,
}

/// Says that there is such a tensor.
pub(crate) fn begin<E: Away>() {
    seldom::begin();
    E::notes().ever.store(true, Ordering::Relaxed);
}

/// A call with such a tensor among its arguments.
pub(crate) struct Call<E: Away>(E::Value);

struct Reading<E: Away>(std::marker::PhantomData<E>);

impl<E: Away> Drop for Reading<E> {
    fn drop(&mut self) {
        E::notes().calls.with_borrow_mut(|calls| drop(calls.pop()));
    }
}

impl<E: Away> Call<E> {
    /// A call with that tensor.
    pub(crate) fn beside(first: &E::Value) -> Call<E> {
        Call(first.clone())
    }

    /// The engine that runs it.
    pub(crate) fn engine(&self) -> E {
        self.0.engine()
    }

    /// Does something in which numbers are taken for tensors beside the first one.
    pub(crate) fn during<T>(&self, operator: &'static str, work: impl FnOnce() -> T) -> T {
        E::notes()
            .calls
            .with_borrow_mut(|calls| calls.push((self.0.clone(), operator)));
        let _reading = Reading::<E>(std::marker::PhantomData);
        on_behalf_of(operator, work)
    }

    /// Runs an operator of the table.
    fn answer<'py>(
        &self,
        line: usize,
        given: &[Object<'py>],
        named: &[(&str, Object<'py>)],
        out: Option<&Object<'py>>,
    ) -> Result<Py<PyAny>, Raised> {
        if out.is_some_and(|out| !out.get().is_none()) {
            return Err(E::no_out().at_argument("out").into());
        }
        let tape = Tape::over(self.engine());
        self.during(TABLE[line].name, || call_at(&tape, line, given, named))
    }
}

/// The call that arguments make, where such a tensor is among them.
#[inline]
pub(crate) fn wanted<'a, 'py: 'a, E: Away>(
    arguments: impl Iterator<Item = &'a Object<'py>>,
) -> Result<Option<Call<E>>, Raised> {
    match E::notes().ever.load(Ordering::Relaxed) {
        false => Ok(None),
        true => searched(arguments),
    }
}

fn searched<'a, 'py: 'a, E: Away>(
    arguments: impl Iterator<Item = &'a Object<'py>>,
) -> Result<Option<Call<E>>, Raised> {
    let mut first: Option<E::Value> = None;
    let mut stranger = None;
    let mut such = |object: &Bound<'_, PyAny>| {
        if let Ok(x) = object.cast::<E::Class>() {
            let x = x.get().value();
            match &first {
                None => first = Some(x.clone()),
                Some(_) if stranger.is_some() => {}
                Some(first) => stranger = E::require_together(first, x).err(),
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

/// Runs an operator of the table, where a tensor among its arguments lies elsewhere.
pub(crate) fn answer<'py>(
    line: usize,
    given: &[Object<'py>],
    named: &[(&str, Object<'py>)],
    out: Option<&Object<'py>>,
) -> Result<Option<Py<PyAny>>, Raised> {
    let all = || given.iter().chain(named.iter().map(|(_, object)| object));
    if let Some(call) = wanted::<Spread<Cpu>>(all())? {
        return call.answer(line, given, named, out).map(Some);
    }
    #[cfg(feature = "gpu")]
    if let Some(call) = wanted::<Gpu>(all())? {
        return call.answer(line, given, named, out).map(Some);
    }
    Ok(None)
}

/// Something to do with the tensors of whatever class there are among arguments.
pub(crate) trait OfClass {
    /// What it gives.
    type Done;

    /// Does it with the tensors of that class.
    fn done<C: Class>(self) -> Self::Done;
}

/// Does something with the tensors of the class that is among the arguments; with those of this process where no other
/// is.
pub(crate) fn of_class<W: OfClass>(
    arguments: &[Object<'_>],
    operator: &'static str,
    work: W,
) -> Result<W::Done, Raised> {
    if let Some(call) = wanted::<Spread<Cpu>>(arguments.iter())? {
        return Ok(call.during(operator, || work.done::<<Spread<Cpu> as Away>::Class>()));
    }
    #[cfg(feature = "gpu")]
    if let Some(call) = wanted::<Gpu>(arguments.iter())? {
        return Ok(call.during(operator, || work.done::<<Gpu as Away>::Class>()));
    }
    Ok(work.done::<PyTensor>())
}

/// The first such tensor of the call that is being read.
fn first<E: Away>() -> Result<E::Value> {
    let first = E::notes()
        .calls
        .with_borrow(|calls| calls.last().map(|(first, _)| first.clone()));
    first.ok_or_else(|| Error::argument("no call with such a tensor is being read"))
}

/// The operator of that call.
fn operator<E: Away>() -> &'static str {
    E::notes()
        .calls
        .with_borrow(|calls| calls.last().map_or("", |(_, operator)| operator))
}

/// A tensor of this process, as one of the call that is being read.
fn taken_along<E: Away>(x: Tensor) -> Result<E::Value> {
    let first = first::<E>()?;
    // A number is the same wherever it stands; anything larger was put where it is.
    match x.rank() {
        0 => E::beside(&first, x),
        _ => Err(E::mixed(&first, &x)),
    }
}
