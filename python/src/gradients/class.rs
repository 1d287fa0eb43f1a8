//! The classes of tensors that keep a history: those in main memory, the global ones, and those on a GPU. The ways back
//! through it are written once, for all of them.

use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::True;
use stridewise::{Cpu, DType, Engine, Tape, Tensor, Value, Var};

use crate::arguments::Raised;
use crate::foreign::asarray::{convert, is_of_numbers};
use crate::gradients::kept::{Kept, Leaves};
use crate::gradients::{is_on, tape, var};
use crate::tensor::{PyTensor, object};

/// A class of Python's whose objects are tensors of one engine.
pub(crate) trait Class: PyClass<Frozen = True> + Sync {
    /// The engine.
    type Engine: Engine<Size = usize, Value: Value<Engine = Self::Engine> + Send + Sync>
        + Clone
        + Send
        + Sync;

    /// The tensor.
    fn value(&self) -> &ValueOf<Self>;

    /// What is kept for gradients; nothing for a tensor without a history.
    fn kept(&self) -> Option<&Kept<Self>>;

    /// The tensor as an object.
    fn object(
        py: Python<'_>,
        value: ValueOf<Self>,
        kept: Option<Box<Kept<Self>>>,
    ) -> PyResult<Bound<'_, Self>>;

    /// The tensors that gradients are kept for.
    fn leaves() -> &'static Leaves<Self>;

    /// The object of a tensor from whatever stands for one; `name` is the argument it was given as.
    fn convert<'py>(
        object: &Bound<'py, PyAny>,
        name: &'static str,
    ) -> Result<Bound<'py, Self>, Raised>;

    /// A gradient, such as the one to begin with, from whatever stands for one; `of` is the tensor it is a gradient of,
    /// whose dtype numbers of Python take.
    fn gradient(
        object: &Bound<'_, PyAny>,
        name: &'static str,
        of: &ValueOf<Self>,
        tracked: bool,
    ) -> Result<Var<Self::Engine>, Raised>;

    /// Refuses a gradient that lies elsewhere than its tensor.
    fn require_beside(_x: &ValueOf<Self>, _grad: &ValueOf<Self>) -> stridewise::Result<()> {
        Ok(())
    }

    /// The tensor with its history, where it has one.
    fn var(&self) -> Var<Self::Engine> {
        let value = self.value().clone();
        match self.kept() {
            Some(kept) => Var::with_history(value, &kept.history),
            None => Tape::over(value.engine()).constant(value),
        }
    }

    /// The tensor with its history, where it has one and that is to be carried on.
    fn noted(&self) -> Var<Self::Engine> {
        match is_on() {
            true => self.var(),
            false => self.var().detach(),
        }
    }

    /// The tensor as an object, with its history.
    fn var_object(py: Python<'_>, x: Var<Self::Engine>) -> PyResult<Bound<'_, Self>> {
        let kept = x.history().map(Kept::of);
        Self::object(py, x.into_value(), kept)
    }

    /// The tensor without its history.
    fn detached<'py>(x: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        match x.get().kept() {
            None => Ok(x.clone()),
            Some(_) => Self::object(x.py(), x.get().value().clone(), None),
        }
    }
}

/// The tensors of a class, as its engine has them.
pub(crate) type ValueOf<C> = <<C as Class>::Engine as Engine>::Value;

/// The engine of a class that notes what it does.
pub(crate) fn tape_of<C: Class>(x: &Var<C::Engine>) -> Tape<C::Engine> {
    Tape::over(x.value().engine())
}

/// Whether numbers of Python's own, read as one dtype, are meant as another.
pub(crate) fn is_weak(object: &Bound<'_, PyAny>, own: DType, dtype: DType) -> PyResult<bool> {
    use stridewise::dtype::Family;
    let fits = own != DType::C128 || dtype.family() == Family::Complex;
    Ok(own != dtype && fits && is_of_numbers(object)?)
}

impl Class for PyTensor {
    type Engine = Cpu;

    fn value(&self) -> &Tensor {
        &self.inner
    }

    fn kept(&self) -> Option<&Kept> {
        self.inner.kept()
    }

    fn object(
        py: Python<'_>,
        value: Tensor,
        kept: Option<Box<Kept>>,
    ) -> PyResult<Bound<'_, PyTensor>> {
        let object = object(py, value)?;
        if let Some(kept) = kept {
            // SAFETY: the object is new, so nobody else looks at it yet.
            unsafe { object.get().inner.keep(kept) };
        }
        Ok(object)
    }

    fn leaves() -> &'static Leaves<PyTensor> {
        static LEAVES: Leaves<PyTensor> = Leaves::new(std::collections::BTreeMap::new());
        &LEAVES
    }

    fn convert<'py>(
        object: &Bound<'py, PyAny>,
        name: &'static str,
    ) -> Result<Bound<'py, PyTensor>, Raised> {
        convert(object, None, None, name)
    }

    /// An array of another library is copied: it may change, and a gradient may be no more than a look at it.
    fn gradient(
        object: &Bound<'_, PyAny>,
        name: &'static str,
        of: &Tensor,
        tracked: bool,
    ) -> Result<Var<Cpu>, Raised> {
        use stridewise::operators::Methods;
        if let Ok(tensor) = object.cast::<PyTensor>() {
            let seed = var(tensor.get());
            return Ok(if tracked { seed } else { seed.detach() });
        }
        let seed = var(convert(object, None, None, name)?.get());
        if tracked && seed.is_tracked() {
            return Ok(seed);
        }
        let seed = seed.value();
        Ok(
            tape().constant(match is_weak(object, seed.dtype(), of.dtype())? {
                true => seed.cast(of.dtype())?,
                false => Cpu.copy(seed)?,
            }),
        )
    }
}
