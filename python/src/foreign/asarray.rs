//! `asarray`: a tensor from whatever stands for one. Arrays and NumPy's scalars keep their dtype, also inside
//! lists; Python's own numbers take the dtypes NumPy gives them.

use std::ops::Range;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyList, PyRange, PyString, PyTuple};
use stridewise::dtype::Family;
use stridewise::operators::Methods;
use stridewise::{Cpu, DType, Engine, Error, Tensor};

use crate::arguments::tensor_of;
use crate::dtype::named_dtype;
use crate::errors::OrRaise;
use crate::foreign::lent::no_copy;
use crate::foreign::{import, is_array, numpy};
use crate::look::any_item;
use crate::tensor::PyTensor;

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
///
/// Examples
/// --------
/// >>> import stridewise as sw
/// >>> sw.asarray(bytearray(b"abc")).tolist()
/// [97, 98, 99]
/// >>> sw.asarray([[1, 2], [3, 4]], dtype="float32").shape
/// (2, 2)
#[pyfunction]
#[pyo3(signature = (obj, dtype=None, copy=None))]
pub(crate) fn asarray<'py>(
    obj: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = obj.py();
    let wanted = dtype.map(named_dtype).transpose()?;
    if let Ok(tensor) = obj.cast::<PyTensor>() {
        let x = &tensor.get().inner;
        if copy != Some(true) && wanted.is_none_or(|dtype| dtype == x.dtype()) {
            return Ok(obj.clone());
        }
        let x = converted(py, Tensor::clone(x), wanted, copy)?;
        return Ok(Bound::new(py, PyTensor::from(x))?.into_any());
    }
    let array = match kind(obj)? {
        // A cast makes new memory by itself, so the array is only shared for it.
        Kind::Array if wanted.is_some() && copy == Some(true) => import(obj, None)?,
        Kind::Array => import(obj, copy)?,
        Kind::Numbers => None,
    };
    let x = match array {
        Some(x) if wanted.is_some() => converted(py, x, wanted, copy)?,
        Some(x) => x,
        None => from_numbers(obj, wanted, copy)?,
    };
    Ok(Bound::new(py, PyTensor::from(x))?.into_any())
}

/// A tensor from numbers and lists, which have no memory of their own.
fn from_numbers(
    obj: &Bound<'_, PyAny>,
    wanted: Option<DType>,
    copy: Option<bool>,
) -> PyResult<Tensor> {
    let py = obj.py();
    if copy == Some(false) {
        return Err(no_copy(py, "numbers and lists have no memory to share"));
    }
    let x = tensor_of(obj, "asarray", "obj")?;
    let Some(dtype) = wanted.filter(|dtype| *dtype != x.dtype()) else {
        return Ok(x);
    };
    if !holds_array(obj)? {
        require_fit(&x, dtype).or_raise(py)?;
    }
    py.detach(|| x.cast(dtype)).or_raise(py)
}

/// Whether nested lists hold an array.
fn holds_array(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    any_item(object, &mut |item| {
        let plain = item.is_exact_instance_of::<PyInt>() || item.is_exact_instance_of::<PyFloat>();
        Ok(!plain && is_array(item)?)
    })
}

/// The tensor with the wanted dtype, in memory of its own or not.
fn converted(
    py: Python<'_>,
    x: Tensor,
    wanted: Option<DType>,
    copy: Option<bool>,
) -> PyResult<Tensor> {
    let dtype = wanted.unwrap_or(x.dtype());
    match (dtype == x.dtype(), copy) {
        (true, Some(true)) => py.detach(move || Cpu.copy(&x)).or_raise(py),
        (true, _) => Ok(x),
        (false, Some(false)) => {
            let why = format!("{} must be cast to {dtype}", x.dtype());
            Err(no_copy(py, &why))
        }
        (false, _) => py.detach(move || x.cast(dtype)).or_raise(py),
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
