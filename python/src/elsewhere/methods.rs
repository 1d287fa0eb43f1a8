//! What the classes of tensors that lie elsewhere have in common: parts of them, copies, and what stands for one.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use stridewise::call::literal;
use stridewise::operators::Methods;
use stridewise::spread::on_behalf_of;
use stridewise::{Error, Result, Tape, Tensor, Value, Var};

use super::{Away, Call, Lying, first};
use crate::arguments::{Object, Raised};
use crate::errors::OrRaise;
use crate::foreign;
use crate::gradients::class::is_weak;
use crate::gradients::{Class, Kept, assign};
use crate::tensor::index;
use crate::unlocked::unlocked;

/// The size of each axis.
pub(crate) fn shape<'py, E: Away>(py: Python<'py>, x: &E::Value) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, x.engine().shape(x).or_raise(py)?)
}

/// The size of the first axis.
pub(crate) fn len<E: Away>(py: Python<'_>, x: &E::Value) -> PyResult<usize> {
    let shape = x.engine().shape(x).or_raise(py)?;
    let none = || PyTypeError::new_err("a tensor of rank 0 has no length");
    shape.first().copied().ok_or_else(none)
}

/// The object of what a method makes.
pub(crate) fn made<'py, E: Away>(
    py: Python<'py>,
    method: &'static str,
    work: impl FnOnce() -> Result<Var<E>>,
) -> PyResult<Bound<'py, E::Class>> {
    E::Class::var_object(py, on_behalf_of(method, work).or_raise(py)?)
}

/// `x[...]`.
pub(crate) fn part<'py, E: Away>(
    x: &E::Class,
    index: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, E::Class>> {
    let py = index.py();
    let tape = Tape::over(x.value().engine());
    let lift = |item: &Bound<'py, PyAny>, array: Tensor| {
        // A list of numbers is as good there as here; an array was put where it is.
        match foreign::is_array(item)? {
            true => Err(E::mixed(x.value(), &array).into()),
            false => Ok(tape.constant(E::beside(x.value(), array)?)),
        }
    };
    let given = |item: &Bound<'py, PyAny>| {
        let x = item.cast::<E::Class>().ok()?;
        Some(x.get().noted())
    };
    let work = || index::of_many(&tape, &x.noted(), index, given, lift);
    let part = on_behalf_of("index", work);
    let part = part.map_err(|raised: Raised| raised.exception(py, "index", None))?;
    E::Class::var_object(py, part)
}

/// An iterator over the slices along the first axis.
pub(crate) fn slices<'py, E: Away>(py: Python<'py>, x: &E::Class) -> PyResult<Bound<'py, PyAny>> {
    if x.value().engine().rank(x.value()).or_raise(py)? == 0 {
        return Err(PyTypeError::new_err(
            "a tensor of rank 0 has no axis to iterate over",
        ));
    }
    let slices = on_behalf_of("unstack", || x.noted().unstack(0)).or_raise(py)?;
    let slices = slices.into_iter().map(|x| E::Class::var_object(py, x));
    let list = PyList::new(py, slices.collect::<PyResult<Vec<_>>>()?)?;
    Ok(list.try_iter()?.into_any())
}

/// A copy with memory of its own, and with a copy of its gradient.
pub(crate) fn deepcopy<'py, E: Away>(slf: &Bound<'py, E::Class>) -> PyResult<Bound<'py, E::Class>> {
    let (py, x) = (slf.py(), slf.get());
    let named = |error: Error| error.within("deepcopy");
    let leaf = x.kept().map(|kept| kept.leaf.as_ref());
    if let Some(None) = leaf {
        let message =
            "the tensor has a history, which cannot be copied: it leads to tensors that stay";
        let error = Error::gradient(message).help("call `detach()` first");
        return Err(named(error)).or_raise(py);
    }
    let value = x.value();
    let value = unlocked(py, || value.engine().copy(value))
        .map_err(named)
        .or_raise(py)?;
    let copy = object::<E>(py, value, leaf.is_some());
    let copy = copy.map_err(|raised| raised.exception(py, "deepcopy", None))?;
    if let Some(grad) = leaf.flatten().and_then(|leaf| leaf.grad(py)) {
        assign(&copy, Some(deepcopy::<E>(grad.bind(py))?.as_any()))?;
    }
    Ok(copy)
}

/// The object of a tensor that is to be differentiated by or not.
pub(crate) fn object<E: Away>(
    py: Python<'_>,
    value: E::Value,
    requires_grad: bool,
) -> Result<Bound<'_, E::Class>, Raised> {
    let kept = match requires_grad {
        true => Kept::leaf(&value)?,
        false => None,
    };
    Ok(E::Class::object(py, value, kept)?)
}

/// The object of a tensor from whatever stands for one, in a call with such a tensor.
pub(crate) fn convert<'py, E: Away>(
    object: &Bound<'py, PyAny>,
    name: &'static str,
) -> Result<Bound<'py, E::Class>, Raised> {
    if let Ok(x) = object.cast::<E::Class>() {
        return Ok(x.clone());
    }
    let tape = Tape::over(first::<E>()?.engine());
    let lying: Lying<'py, E> = literal(&tape, &Object::from(object.clone()), name)?;
    match lying.given {
        Some(given) => Ok(given),
        None => Ok(E::Class::var_object(object.py(), *lying.var)?),
    }
}

/// A gradient from whatever stands for one.
pub(crate) fn gradient<E: Away>(
    object: &Bound<'_, PyAny>,
    name: &'static str,
    of: &E::Value,
    tracked: bool,
) -> Result<Var<E>, Raised> {
    let made = Call::<E>::beside(of).during(name, || convert::<E>(object, name))?;
    let seed = made.get().var();
    E::require_together(of, seed.value())?;
    if object.is(&made) {
        return Ok(if tracked { seed } else { seed.detach() });
    }
    let dtype = of.engine().dtype(of);
    match is_weak(object, seed.value().engine().dtype(seed.value()), dtype)? {
        true => Ok(seed.cast(dtype)?),
        false => Ok(seed),
    }
}
