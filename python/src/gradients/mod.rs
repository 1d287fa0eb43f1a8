//! Gradients from Python: tensors that keep their history, and the ways back through it. A tensor without a history
//! is no other than before, and a call in which none has one runs as if all this were not there.

mod argument;
mod backward;
pub(crate) mod class;
mod functional;
mod kept;
mod mode;

use pyo3::prelude::*;
use stridewise::{Cpu, Error, Tape, Var};

pub(crate) use argument::literal_object;
pub(crate) use backward::{assign, backward};
pub(crate) use class::Class;
pub(crate) use kept::{Kept, Leaves, leaf};
pub(crate) use mode::{is_on, wanted};

use crate::tensor::PyTensor;

/// The engine that notes what it does.
pub(crate) fn tape() -> Tape<Cpu> {
    Tape::over(Cpu)
}

/// A tensor with its history, where it has one.
pub(crate) fn var(x: &PyTensor) -> Var<Cpu> {
    Class::var(x)
}

/// A tensor with its history, where it has one and that is to be carried on.
#[inline]
pub(crate) fn tracked(x: &PyTensor) -> Option<Var<Cpu>> {
    x.inner.kept()?;
    is_on().then(|| var(x))
}

/// The tensor as a Python object, with its history.
pub(crate) fn var_object(py: Python<'_>, x: Var<Cpu>) -> PyResult<Bound<'_, PyTensor>> {
    PyTensor::var_object(py, x)
}

/// The tensor without its history.
pub(crate) fn detached<'py>(x: &Bound<'py, PyTensor>) -> PyResult<Bound<'py, PyTensor>> {
    PyTensor::detached(x)
}

/// Refuses to hand out the memory of a tensor with a history: what is made of it would silently have none.
#[inline]
pub(crate) fn require_none(x: &PyTensor, operator: &'static str) -> stridewise::Result<()> {
    match x.inner.kept() {
        None => Ok(()),
        Some(_) => Err(Error::gradient(
            "the tensor requires a gradient, but no gradient comes back through an array of another library",
        )
        .help("call `detach()` first")
        .within(operator)),
    }
}

/// Adds what belongs to gradients to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    mode::register(module)?;
    functional::register(module)
}
