//! Tensors as NumPy arrays: over the same memory and read-only, unless a copy is asked for. NumPy is loaded when
//! the first one is wanted.

use pyo3::exceptions::{PyImportError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;
use stridewise::{DType, Tensor};

use crate::errors::OrRaise;
use crate::foreign::numpy::module;
use crate::tensor::PyTensor;

/// An array over the tensor's memory.
pub(crate) fn shared<'py>(tensor: &Bound<'py, PyTensor>) -> PyResult<Bound<'py, PyAny>> {
    let py = tensor.py();
    let inner = &tensor.get().inner;
    let numpy = module(py, "a NumPy array")?;
    if inner.dtype() != DType::BF16 {
        // A memoryview in between, since for what NumPy cannot take from the tensor it would come back here.
        return numpy.call_method1("asarray", (PyMemoryView::from(tensor)?,));
    }
    let bits = Tensor::new(inner.storage().clone(), DType::U16, inner.layout().clone());
    let bits = Bound::new(py, PyTensor::from(bits.or_raise(py)?))?;
    let bits = numpy.call_method1("asarray", (PyMemoryView::from(&bits)?,))?;
    let ml_dtypes = py.import("ml_dtypes").map_err(|_| {
        PyImportError::new_err(
            "NumPy has bfloat16 only with the package ml_dtypes: install it, or cast the tensor to float32",
        )
    })?;
    bits.call_method1("view", (ml_dtypes.getattr("bfloat16")?,))
}

/// What `numpy.asarray` asks of objects that are no arrays.
pub(crate) fn array<'py>(
    tensor: &Bound<'py, PyTensor>,
    dtype: Option<Bound<'py, PyAny>>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let array = shared(tensor)?;
    if let Some(dtype) = dtype {
        let wanted = module(tensor.py(), "a NumPy array")?.call_method1("dtype", (dtype,))?;
        if !array.getattr("dtype")?.eq(&wanted)? {
            if copy == Some(false) {
                return Err(PyValueError::new_err(format!(
                    "copy=False, but a copy is needed: the tensor is {}, not {wanted}",
                    tensor.get().inner.dtype()
                )));
            }
            return array.call_method1("astype", (wanted,));
        }
    }
    match copy {
        Some(true) => array.call_method0("copy"),
        _ => Ok(array),
    }
}
