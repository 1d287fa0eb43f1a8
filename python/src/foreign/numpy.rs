//! What only NumPy understands: arrays whose dtype the buffer protocol does not know, such as ml_dtypes'
//! bfloat16, and objects that can turn themselves into arrays. NumPy is never loaded for an object of its own.

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyComplex, PyFloat, PyInt, PyType};
use stridewise::{DType, Tensor};

use crate::foreign::buffer::{self, Failure};
use crate::foreign::format::refusal;
use crate::foreign::import;
use crate::foreign::lent::Lent;
use crate::look::any_item;

static CLASSES: PyOnceLock<(Py<PyType>, Py<PyType>)> = PyOnceLock::new();

/// NumPy's classes of arrays and of scalars; `None` while nobody has loaded NumPy, so that there can be no
/// object of either.
fn classes(py: Python<'_>) -> PyResult<Option<&'static (Py<PyType>, Py<PyType>)>> {
    if let Some(classes) = CLASSES.get(py) {
        return Ok(Some(classes));
    }
    let modules = py.import("sys")?.getattr("modules")?;
    let Ok(numpy) = modules.get_item("numpy") else {
        return Ok(None);
    };
    // Half loaded, or blocked by None: it has no objects yet.
    let (Ok(array), Ok(scalar)) = (numpy.getattr("ndarray"), numpy.getattr("generic")) else {
        return Ok(None);
    };
    let pair = (array.cast_into()?.unbind(), scalar.cast_into()?.unbind());
    Ok(Some(CLASSES.get_or_init(py, || pair)))
}

/// Whether the object is one of NumPy's arrays.
pub(crate) fn is_array(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    match classes(object.py())? {
        Some((array, _)) => object.is_instance(array.bind(object.py())),
        None => Ok(false),
    }
}

/// Whether the object is one of NumPy's scalars.
pub(crate) fn is_scalar(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    match classes(object.py())? {
        Some((_, scalar)) => object.is_instance(scalar.bind(object.py())),
        None => Ok(false),
    }
}

/// An array of NumPy's that its own buffer protocol does not lend.
pub(crate) fn borrow(object: &Bound<'_, PyAny>, to_write: bool, denied: PyErr) -> PyResult<Lent> {
    let dtype = object.getattr("dtype")?;
    // A type number per dtype would be surer, but ml_dtypes gives out its own at run time.
    if dtype.getattr("name")?.str()? != "bfloat16" {
        let known = dtype.getattr("kind")?.str()?.to_string();
        return Err(match "biufc".contains(known.as_str()) {
            true => denied,
            false => refusal(object, None),
        });
    }
    let swapped = !dtype.getattr("isnative")?.is_truthy()?;
    let bits = match swapped {
        false => object.call_method1("view", ("uint16",))?,
        true => {
            let order = if cfg!(target_endian = "little") {
                ">u2"
            } else {
                "<u2"
            };
            object.call_method1("view", (order,))?
        }
    };
    match buffer::borrow(&bits, to_write) {
        Ok(lent) => Ok(lent.seen_as(DType::BF16)),
        Err(Failure::Denied(why) | Failure::Final(why)) => Err(why),
    }
}

/// Whether an object offers itself to NumPy.
pub(crate) fn speaks(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    for name in ["__array__", "__array_interface__", "__array_struct__"] {
        if object.hasattr(name)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// An object as an array, by what it offers to NumPy; `None` for an object that offers nothing.
pub(crate) fn converted<'py>(
    object: &Bound<'py, PyAny>,
    copy: Option<bool>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if !speaks(object)? {
        return Ok(None);
    }
    let numpy = module(
        object.py(),
        "an object that converts itself to a NumPy array",
    )?;
    let array = match copy {
        // Only NumPy 2 can promise this; an older one refuses the keyword, rather than copying.
        Some(false) => {
            let keywords = pyo3::types::PyDict::new(object.py());
            keywords.set_item("copy", false)?;
            numpy.call_method("asarray", (object,), Some(&keywords))?
        }
        _ => numpy.call_method1("asarray", (object,))?,
    };
    Ok(is_array(&array)?.then_some(array))
}

/// NumPy, or an error that says what it is needed for.
pub(crate) fn module<'py>(py: Python<'py>, what: &str) -> PyResult<Bound<'py, PyModule>> {
    let missing = |error: PyErr| match error.is_instance_of::<PyImportError>(py) {
        true => PyImportError::new_err(format!(
            "{what} needs NumPy, which cannot be imported: {error}"
        )),
        false => error,
    };
    py.import("numpy").map_err(missing)
}

/// A list of NumPy's scalars, and perhaps of numbers, as the tensor of the dtype that NumPy finds for them; `None`
/// where arrays are among them, which are stacked.
pub(crate) fn scalars(list: &Bound<'_, PyAny>) -> PyResult<Option<Tensor>> {
    let mut found = false;
    let other = any_item(list, &mut |item| {
        let scalar = is_scalar(item)?;
        found |= scalar;
        Ok(!scalar && !is_number(item))
    })?;
    if other || !found {
        return Ok(None);
    }
    let array = module(list.py(), "a list of NumPy scalars")?.call_method1("asarray", (list,))?;
    import(&array, None)
}

/// Whether an object is a number of Python's own.
fn is_number(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyInt>()
        || object.is_instance_of::<PyFloat>()
        || object.is_instance_of::<PyComplex>()
}
