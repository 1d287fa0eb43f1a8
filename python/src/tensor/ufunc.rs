//! NumPy's universal functions on tensors. Without this NumPy would see a tensor as a sequence of rows;
//! with it, `np.sqrt(t)` works on the array over the tensor's memory and `array == t` is `t == array`.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::tensor::{PyTensor, compare};

/// A call of `ufunc` in which an input is a tensor.
pub(crate) fn call<'py>(
    ufunc: &Bound<'py, PyAny>,
    method: &str,
    inputs: &Bound<'py, PyTuple>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = ufunc.py();
    let name: String = ufunc.getattr("__name__")?.extract()?;
    let plain = method == "__call__" && options.is_none_or(|options| options.is_empty());
    if plain && inputs.len() == 2 && (name == "equal" || name == "not_equal") {
        let (a, b) = (inputs.get_item(0)?, inputs.get_item(1)?);
        let (x, other) = match a.cast::<PyTensor>() {
            Ok(x) => (x.clone(), &b),
            Err(_) => (b.cast::<PyTensor>()?.clone(), &a),
        };
        // What is no array to us may be an object to NumPy, which then answers as for its own arrays.
        if let Some(answer) = compare::compare(&x.get().inner, other, name == "not_equal")? {
            return Ok(Bound::new(py, PyTensor::from(answer))?.into_any());
        }
    }
    if let Some(out) = options
        .map(|options| options.get_item("out"))
        .transpose()?
        .flatten()
    {
        let outs = out.cast::<PyTuple>()?;
        if outs.iter().any(|out| out.is_instance_of::<PyTensor>()) {
            return Err(PyTypeError::new_err(format!(
                "{name}: a tensor is immutable, so it cannot be `out`"
            )));
        }
    }
    let arrays = inputs.iter().map(array).collect::<PyResult<Vec<_>>>()?;
    let arrays = PyList::new(py, arrays)?.to_tuple();
    // A tensor among the options, such as `where`, would bring NumPy back here without end.
    let options = options.map(|options| {
        let plain = PyDict::new(py);
        for (name, value) in options.iter() {
            plain.set_item(name, array(value)?)?;
        }
        PyResult::Ok(plain)
    });
    let options = options.transpose()?;
    ufunc.getattr(method)?.call(arrays, options.as_ref())
}

/// The array over a tensor's memory; anything else as it is.
fn array(value: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    match value.cast_into::<PyTensor>() {
        Ok(tensor) => PyTensor::numpy(tensor),
        Err(other) => Ok(other.into_inner()),
    }
}
