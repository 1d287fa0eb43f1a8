//! `==` and `!=` of tensors and whatever stands for one, and the questions about two of them: `array_equal`,
//! `allclose`, `shares_memory`. Numbers of Python are weak, as in NumPy: they take the tensor's kind of dtype.

use std::ops::Range;

use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyComplex, PyFloat, PyInt, PyList, PyRange, PyString, PyTuple,
};
use stridewise::dtype::Family;
use stridewise::prelude::*;
use stridewise::{Tolerance, equal, not_equal};

use crate::arguments::tensor_of;
use crate::errors::OrRaise;
use crate::foreign;
use crate::foreign::asarray::asarray;
use crate::foreign::dlpack;
use crate::look::any_item;
use crate::tensor::PyTensor;
use crate::tensor::numbers::numbers;
use crate::tensor::numpy::shared;

/// The other side of a comparison.
enum Other {
    Tensor(Tensor),
    /// A number beyond every element, which is different from all.
    Beyond,
    /// A number of another class, such as a fraction, which Python compares with each element.
    Number,
    /// Strings, objects or odd numbers, some in an array, which NumPy compares. The error says why there can
    /// be no tensor of them.
    Objects(PyErr),
    /// Nothing that could be equal to an element.
    Nothing,
}

/// Elementwise `==`, or `!=`; `None` where the other is no array, so that Python answers.
pub(crate) fn compare(x: &Tensor, other: &Bound<'_, PyAny>, not: bool) -> PyResult<Option<Tensor>> {
    let py = other.py();
    let answer = match operand(x, other)? {
        Other::Nothing => return Ok(None),
        Other::Number => return by_python(x, other, not).map(Some),
        Other::Objects(why) => return by_numpy(x, other, not, why).map(Some),
        Other::Beyond => stridewise::full(x.shape(), not, DType::Bool),
        Other::Tensor(other) if not => py.detach(|| not_equal(x, &other)),
        Other::Tensor(other) => py.detach(|| equal(x, &other)),
    };
    answer.or_raise(py).map(Some)
}

/// The comparison of each element, as a number of Python's, with a number of any class.
fn by_python(x: &Tensor, other: &Bound<'_, PyAny>, not: bool) -> PyResult<Tensor> {
    let py = other.py();
    let operator = if not { "not_equal" } else { "equal" };
    let compare =
        |number: Bound<'_, PyAny>| number.rich_compare(other, operation(not))?.is_truthy();
    let answers = numbers(py, x, operator)?.into_iter().map(compare);
    let answers = answers.collect::<PyResult<Vec<bool>>>()?;
    Tensor::from_vec(answers, x.shape()).or_raise(py)
}

/// NumPy's comparison with what it makes an array of; without NumPy, the reason why there is no tensor of it.
fn by_numpy(x: &Tensor, other: &Bound<'_, PyAny>, not: bool, why: PyErr) -> PyResult<Tensor> {
    let py = other.py();
    let Ok(numpy) = py.import("numpy") else {
        return Err(why);
    };
    let Ok(other) = numpy.call_method1("asarray", (other,)) else {
        return Err(why);
    };
    let x = shared(&Bound::new(py, PyTensor::from(x.clone()))?)?;
    let answer = x.rich_compare(other, operation(not))?;
    foreign::tensor(&answer)?.ok_or(why)
}

fn operation(not: bool) -> CompareOp {
    match not {
        true => CompareOp::Ne,
        false => CompareOp::Eq,
    }
}

/// Whether any element is equal, as NumPy has `in`.
pub(crate) fn contains(x: &Tensor, other: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = other.py();
    match compare(x, other, false)? {
        None => Ok(false),
        Some(equal) => Ok(equal.to_vec::<bool>().or_raise(py)?.contains(&true)),
    }
}

fn operand(x: &Tensor, other: &Bound<'_, PyAny>) -> PyResult<Other> {
    let py = other.py();
    if let Ok(tensor) = other.cast::<PyTensor>() {
        return Ok(Other::Tensor(Tensor::clone(&tensor.get().inner)));
    }
    if let Some(number) = weak(x.dtype(), other)? {
        return Ok(number);
    }
    if other.is_none() {
        return Ok(Other::Nothing);
    }
    let text = other.is_instance_of::<PyString>()
        || other.is_instance_of::<PyBytes>()
        || other.is_instance_of::<PyByteArray>();
    // NumPy's own strings are arrays without axes.
    if text && !foreign::numpy::is_scalar(other)? {
        return Ok(Other::Nothing);
    }
    let list = other.is_instance_of::<PyList>()
        || other.is_instance_of::<PyTuple>()
        || other.is_instance_of::<PyRange>();
    let converted = match list {
        true => asarray(other, None, None, None).map(|made| Some(Tensor::clone(&made.get().inner))),
        false => foreign::tensor(other),
    };
    match converted {
        Ok(Some(tensor)) => Ok(Other::Tensor(tensor)),
        Ok(None) if is_number(other)? => Ok(Other::Number),
        Ok(None) => Ok(Other::Nothing),
        Err(why) if why.is_instance_of::<PyTypeError>(py) => match list && !holds_number(other)? {
            // A list of strings, say: nothing in it could be equal to an element.
            true => Ok(Other::Nothing),
            false => Ok(Other::Objects(why)),
        },
        // Integers past every dtype.
        Err(why) if list && why.is_instance_of::<PyOverflowError>(py) => Ok(Other::Objects(why)),
        Err(why) => Err(why),
    }
}

/// Whether the object is a number of any class that says so, such as a fraction or a decimal.
fn is_number(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = object.py().import("numbers")?.getattr("Number")?;
    object.is_instance(&class)
}

/// Whether nested lists hold a number or an array.
fn holds_number(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    any_item(object, &mut |item| {
        let range = item.is_instance_of::<PyRange>();
        let text = item.is_instance_of::<PyString>() || item.is_instance_of::<PyBytes>();
        Ok(range || is_number(item)? || (!text && foreign::is_array(item)?))
    })
}

/// A number of Python's own, as an element to compare with those of `dtype`.
fn weak(dtype: DType, other: &Bound<'_, PyAny>) -> PyResult<Option<Other>> {
    let py = other.py();
    let family = dtype.family();
    let real = matches!(family, Family::Float | Family::Complex);
    let (value, wanted): (Scalar, DType) = if let Ok(flag) = other.cast::<PyBool>() {
        (flag.is_true().into(), DType::Bool)
    } else if other.is_instance_of::<PyInt>() {
        match (real, other.extract::<i64>(), other.extract::<u64>()) {
            (true, ..) => match other.extract::<f64>() {
                Ok(value) => (value.into(), dtype),
                Err(error) if error.is_instance_of::<PyOverflowError>(py) => {
                    return Ok(Some(Other::Beyond));
                }
                Err(error) => return Err(error),
            },
            (_, Ok(n), _) => (n.into(), DType::I64),
            (_, _, Ok(n)) => (n.into(), DType::U64),
            _ => return Ok(Some(Other::Beyond)),
        }
    } else if foreign::numpy::is_scalar(other)? {
        // NumPy's float64 and complex128 are Python's float and complex too, but have a dtype.
        return Ok(None);
    } else if let Ok(float) = other.cast::<PyFloat>() {
        (float.value().into(), if real { dtype } else { DType::F64 })
    } else if let Ok(complex) = other.cast::<PyComplex>() {
        let wanted = match (family, dtype.width()) {
            (Family::Complex, _) => dtype,
            (Family::Float, 2 | 4) => DType::C64,
            _ => DType::C128,
        };
        (Scalar::Complex(complex.real(), complex.imag()), wanted)
    } else {
        return Ok(None);
    };
    let number = stridewise::full((), value, wanted).or_raise(py)?;
    Ok(Some(Other::Tensor(number)))
}

/// Whether two arrays have one shape and equal elements.
///
/// Parameters
/// ----------
/// a, b : array_like
///     Tensors, arrays of other libraries, numbers or nested lists.
/// equal_nan : bool, default False
///     Whether NaN is equal to NaN.
///
/// Examples
/// --------
/// >>> import stridewise as sw
/// >>> sw.array_equal([1, 2], sw.asarray([1.0, 2.0]))
/// True
#[pyfunction]
#[pyo3(signature = (a, b, equal_nan=false))]
pub(crate) fn array_equal(
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    equal_nan: bool,
) -> PyResult<bool> {
    let of = |object, name| tensor_of(object, "array_equal", name);
    let (x, y) = (of(a, "a")?, of(b, "b")?);
    Ok(a.py().detach(|| stridewise::array_equal(&x, &y, equal_nan)))
}

/// Whether all elements are equal up to a tolerance: ``|a - b| <= atol + rtol * |b|``, with broadcasting.
///
/// Parameters
/// ----------
/// a, b : array_like
///     Tensors, arrays of other libraries, numbers or nested lists.
/// rtol, atol : float
///     The tolerance relative to ``|b|``, and the absolute one.
/// equal_nan : bool, default False
///     Whether NaN is close to NaN.
///
/// Examples
/// --------
/// >>> import stridewise as sw
/// >>> sw.allclose([1e10, 1e-8], [1.00001e10, 1e-9])
/// True
#[pyfunction]
#[pyo3(signature = (a, b, rtol=1e-5, atol=1e-8, equal_nan=false))]
pub(crate) fn allclose(
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    rtol: f64,
    atol: f64,
    equal_nan: bool,
) -> PyResult<bool> {
    let py = a.py();
    let of = |object, name| tensor_of(object, "allclose", name);
    let y = of(b, "b")?;
    let x = match y.dtype().family() {
        Family::Float | Family::Complex => match weak(y.dtype(), a)? {
            Some(Other::Tensor(x)) => x,
            _ => of(a, "a")?,
        },
        _ => of(a, "a")?,
    };
    let tolerance = Tolerance {
        relative: rtol,
        absolute: atol,
        equal_nan,
    };
    py.detach(|| stridewise::allclose(&x, &y, tolerance))
        .or_raise(py)
}

/// Whether the memory of two arrays overlaps: whether the range of bytes from the first to the last element
/// of one meets that of the other, as ``numpy.may_share_memory`` has it. Two arrays whose elements lie
/// between each other's (``x[::2]`` and ``x[1::2]``) therefore share memory; an empty array shares none.
///
/// Examples
/// --------
/// >>> import stridewise as sw
/// >>> x = sw.zeros([4])
/// >>> sw.shares_memory(x, x[1:]), sw.shares_memory(x[:2], x[2:])
/// (True, False)
#[pyfunction]
pub(crate) fn shares_memory(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<bool> {
    let (a, b) = (memory(a)?, memory(b)?);
    Ok(a.start < b.end && b.start < a.end)
}

/// Whether the elements of a tensor lie within memory that another array has: for a tensor, in the same
/// storage; for an array of another library, in the bytes it reaches.
pub(crate) fn is_view_of(x: &Bound<'_, PyTensor>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(tensor) = other.cast::<PyTensor>()
        && tensor.get().inner.shares_storage_with(&x.get().inner)
    {
        return Ok(true);
    }
    let (own, whole) = (x.get().inner.addresses(), memory(other)?);
    Ok(!own.is_empty() && whole.start <= own.start && own.end <= whole.end)
}

fn memory(object: &Bound<'_, PyAny>) -> PyResult<Range<usize>> {
    if let Ok(tensor) = object.cast::<PyTensor>() {
        return Ok(tensor.get().inner.addresses());
    }
    let py = object.py();
    // Read as a tensor it would be a copy, with the right signs but in another place.
    if dlpack::speaks(object)? && dlpack::is_negated(object)? {
        let lent = dlpack::borrow(object)?;
        return Ok(lent.shared().or_raise(py)?.addresses());
    }
    match foreign::tensor(object)? {
        Some(tensor) => Ok(tensor.addresses()),
        None => Err(PyTypeError::new_err(format!(
            "{} has no memory to look at; a tensor or an array is needed",
            object.get_type().name()?
        ))),
    }
}
