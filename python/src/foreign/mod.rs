//! Arrays of other libraries: shared without a copy where that can be, and checked by their shape.

pub(crate) mod buffer;
pub(crate) mod shape;

pub(crate) use buffer::tensor;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use stridewise::Tensor;

/// Whether an object is an array.
pub(crate) fn is_array(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    // SAFETY: asks about a live object.
    Ok(unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) } != 0
        || object.hasattr("__dlpack__")?
        || object.hasattr("__array__")?)
}

/// A tensor over memory that may be written.
pub(crate) fn writable(_object: &Bound<'_, PyAny>) -> PyResult<Tensor> {
    Err(PyTypeError::new_err("out is not here yet"))
}
