//! Global tensors from Python: one logical tensor over the ranks of a world. They go through the same functions and
//! methods as tensors of one process; a call with one among its arguments is run by all ranks together.

mod mesh;
mod moved;
mod sbp;
mod tensor;
mod world;

use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

use pyo3::prelude::*;
use stridewise::{Cpu, Error, Global, Result, Spread, Tensor, Value};

use crate::elsewhere::{Away, Calls, Notes};
pub(crate) use mesh::PyMesh;
pub(crate) use sbp::held_as;
pub(crate) use tensor::{PyGlobal, from_parts};

thread_local! {
    static CALLS: RefCell<Calls<Spread<Cpu>>> = const { RefCell::new(Vec::new()) };
}

impl Away for Spread<Cpu> {
    type Class = PyGlobal;

    fn notes() -> &'static Notes<Self> {
        static NOTES: Notes<Spread<Cpu>> = Notes {
            ever: AtomicBool::new(false),
            calls: &CALLS,
        };
        &NOTES
    }

    fn require_together(first: &Global<Cpu>, other: &Global<Cpu>) -> Result<()> {
        first.engine().require_mine(&[other])
    }

    /// A tensor that every rank has.
    fn beside(first: &Global<Cpu>, x: Tensor) -> Result<Global<Cpu>> {
        let spread = first.engine();
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

    fn no_out() -> Error {
        Error::type_("a global tensor is not written into memory of one rank")
            .help("leave out away; `to_local()` of the result is this rank's part of it")
    }

    /// Where an operator only adds axes and there was none to add; by the part alone nobody can tell, since a part can
    /// be the same where the whole is another.
    fn is_same(operator: &'static str, given: &Global<Cpu>, result: &Global<Cpu>) -> bool {
        operator.starts_with("atleast_") && given.shape().len() == result.shape().len()
    }
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
