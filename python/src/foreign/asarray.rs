//! `asarray`: a tensor from whatever stands for one. Arrays and NumPy's scalars keep their dtype, also inside
//! lists; Python's own numbers take the dtypes NumPy gives them.

use std::borrow::Borrow;
use std::ops::Range;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyList, PyRange, PyString, PyTuple};
use stridewise::call::literal;
use stridewise::dtype::Family;
use stridewise::operators::Methods;
use stridewise::{Cpu, DType, Engine, Error, Tensor, Value};

use crate::arguments::{Object, Raised};
use crate::dtype::named_dtype;
use crate::errors::OrRaise;
use crate::foreign::lent::no_copy;
use crate::foreign::{import, is_array, numpy};
use crate::gradients;
use crate::look::any_item;
use crate::tensor::{PyTensor, object};

/// A tensor from a tensor, an array of another library, a number, or nested lists of numbers or tensors.
///
/// Parameters
/// ----------
/// obj : Tensor, array, number or nested lists
///     Arrays come through the buffer protocol, DLPack or ``__array__``; lists of arrays are stacked.
/// dtype : dtype, optional
///     The element type of the result; by default that of ``obj``.
/// copy : bool, optional
///     True always copies, False raises ``ValueError`` where a copy is needed, and None copies only then.
/// requires_grad : bool, optional
///     True makes a tensor to differentiate by, whose gradient ``Tensor.backward`` puts into ``Tensor.grad``; False
///     leaves the history of ``obj`` behind. By default a tensor keeps the history it has.
///
/// Examples
/// --------
/// >>> import stridewise as sw
/// >>> sw.asarray(bytearray(b"abc")).tolist()
/// [97, 98, 99]
/// >>> sw.asarray([[1, 2], [3, 4]], dtype="float32").shape
/// (2, 2)
/// >>> sw.asarray([1.0, 2.0], requires_grad=True)
/// tensor([1., 2.], requires_grad=True)
#[pyfunction]
#[pyo3(signature = (obj, dtype=None, copy=None, *, requires_grad=None))]
pub(crate) fn asarray<'py>(
    obj: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    copy: Option<bool>,
    requires_grad: Option<bool>,
) -> PyResult<Bound<'py, PyTensor>> {
    let py = obj.py();
    let wanted = dtype.map(named_dtype).transpose()?;
    let made = convert(obj, wanted, copy, "obj")
        .map_err(|raised| raised.exception(py, "asarray", None))?;
    match (requires_grad, made.get().inner.kept()) {
        (Some(true), None) => gradients::leaf(py, Tensor::clone(&made.get().inner))
            .map_err(|error| error.within("asarray"))
            .or_raise(py)?,
        (Some(false), Some(_)) => gradients::detached(&made),
        _ => Ok(made),
    }
}

/// The object of a tensor from whatever stands for one; `name` is the argument it was given as.
pub(crate) fn convert<'py>(
    obj: &Bound<'py, PyAny>,
    wanted: Option<DType>,
    copy: Option<bool>,
    name: &'static str,
) -> Result<Bound<'py, PyTensor>, Raised> {
    let py = obj.py();
    if let Ok(tensor) = obj.cast::<PyTensor>() {
        let x = &tensor.get().inner;
        if copy != Some(true) && wanted.is_none_or(|dtype| dtype == x.dtype()) {
            return Ok(tensor.clone());
        }
        return Ok(match gradients::tracked(tensor.get()) {
            Some(x) => {
                gradients::var_object(py, converted(&gradients::tape(), py, x, wanted, copy)?)?
            }
            None => object(py, converted(&Cpu, py, Tensor::clone(x), wanted, copy)?)?,
        });
    }
    let array = match kind(obj)? {
        // A cast makes new memory by itself, so the array is only shared for it.
        Kind::Array if wanted.is_some() && copy == Some(true) => import(obj, None)?,
        Kind::Array => import(obj, copy)?,
        Kind::Numbers => None,
    };
    match array {
        Some(x) if wanted.is_some() => Ok(object(py, converted(&Cpu, py, x, wanted, copy)?)?),
        Some(x) => Ok(object(py, x)?),
        None => from_numbers(obj, wanted, copy, name),
    }
}

/// A tensor from numbers and lists, which have no memory of their own.
fn from_numbers<'py>(
    obj: &Bound<'py, PyAny>,
    wanted: Option<DType>,
    copy: Option<bool>,
    name: &'static str,
) -> Result<Bound<'py, PyTensor>, Raised> {
    let py = obj.py();
    if copy == Some(false) {
        return Err(no_copy(py, "numbers and lists have no memory to share").into());
    }
    let argument = Object::from(obj.clone());
    if gradients::wanted([&argument])? {
        let made = gradients::literal_object(obj, name)?;
        return convert(made.as_any(), wanted, None, name);
    }
    let x = literal(&Cpu, &argument, name)?;
    let x: &Tensor = x.borrow();
    let Some(dtype) = wanted.filter(|dtype| *dtype != x.dtype()) else {
        return Ok(object(py, x.clone())?);
    };
    if is_of_numbers(obj)? {
        require_fit(x, dtype)?;
    }
    Ok(object(py, py.detach(|| x.cast(dtype))?)?)
}

/// Whether an object is a number of Python's own, or nested lists of them.
pub(crate) fn is_of_numbers(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let holds_array = any_item(object, &mut |item| {
        let plain = item.is_exact_instance_of::<PyInt>() || item.is_exact_instance_of::<PyFloat>();
        Ok(!plain && is_array(item)?)
    })?;
    Ok(!holds_array)
}

/// The tensor with the wanted dtype, in memory of its own or not.
fn converted<E: Engine<Value: Value<Engine = E> + Send + Sync> + Sync>(
    engine: &E,
    py: Python<'_>,
    x: E::Value,
    wanted: Option<DType>,
    copy: Option<bool>,
) -> Result<E::Value, Raised> {
    let own = engine.dtype(&x);
    let dtype = wanted.unwrap_or(own);
    match (dtype == own, copy) {
        (true, Some(true)) => Ok(py.detach(|| engine.copy(&x))?),
        (true, _) => Ok(x),
        (false, Some(false)) => Err(no_copy(py, &format!("{own} must be cast to {dtype}")).into()),
        (false, _) => Ok(py.detach(|| x.cast(dtype))?),
    }
}

/// Python's integers do not wrap around on their way into a narrow dtype.
fn require_fit(x: &Tensor, dtype: DType) -> stridewise::Result<()> {
    let bits = 8 * dtype.width();
    let range = match dtype.family() {
        Family::Unsigned => 0..1i128 << bits,
        Family::Signed => -(1i128 << (bits - 1))..1i128 << (bits - 1),
        _ => return Ok(()),
    };
    let bad = match x.dtype() {
        DType::I64 => outside(x.to_vec::<i64>()?, &range),
        DType::U64 => outside(x.to_vec::<u64>()?, &range),
        _ => None,
    };
    match bad {
        None => Ok(()),
        Some(n) => Err(
            Error::overflow(format!("obj holds {n}, which does not fit {dtype}"))
                .within("asarray")
                .at_argument("obj")
                .sizes(dtype, n)
                .help("use a wider dtype, or `cast` to wrap around"),
        ),
    }
}

fn outside<T: Into<i128>>(values: Vec<T>, range: &Range<i128>) -> Option<i128> {
    let mut values = values.into_iter().map(Into::into);
    values.find(|n| !range.contains(n))
}

enum Kind {
    /// Something with memory of its own.
    Array,
    /// Numbers and lists.
    Numbers,
}

fn kind(object: &Bound<'_, PyAny>) -> PyResult<Kind> {
    let numbers = object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyTuple>()
        || object.is_instance_of::<PyBool>()
        || object.is_instance_of::<PyInt>()
        || object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyRange>()
        || object.is_none();
    if numbers {
        return Ok(Kind::Numbers);
    }
    // NumPy's float64 and complex128 are Python's float and complex too, but have memory.
    let number = object.is_instance_of::<PyFloat>() || object.is_instance_of::<PyComplex>();
    match number && !numpy::is_scalar(object)? {
        true => Ok(Kind::Numbers),
        false => Ok(Kind::Array),
    }
}
