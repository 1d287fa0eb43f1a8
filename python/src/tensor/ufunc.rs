//! NumPy's universal functions on tensors. Without this NumPy would see a tensor as a sequence of rows;
//! with it, `np.sqrt(t)` works on the array over the tensor's memory and `array == t` is `t == array`.

use pyo3::IntoPyObjectExt;
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
        return match compare::compare(&x.get().inner, other, name == "not_equal")? {
            Some(answer) => Ok(Bound::new(py, PyTensor::from(answer))?.into_any()),
            // An array of strings, say: different from every tensor.
            None => (name == "not_equal").into_bound_py_any(py),
        };
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
    let arrays = inputs
        .iter()
        .map(|input| match input.cast::<PyTensor>() {
            Ok(tensor) => PyTensor::numpy(tensor.clone()),
            Err(_) => Ok(input),
        })
        .collect::<PyResult<Vec<_>>>()?;
    let arrays = PyList::new(py, arrays)?.to_tuple();
    ufunc.getattr(method)?.call(arrays, options)
}
