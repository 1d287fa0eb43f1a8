//! What the interpreter calls without PyO3 in between: panics and errors become exceptions.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::tensor::PyTensor;

/// The object that the work makes; null, with the exception set, where there is none. The interpreter's lock is held.
#[inline(always)]
pub(super) fn answer<'py>(
    work: impl FnOnce() -> PyResult<Bound<'py, PyTensor>>,
) -> *mut ffi::PyObject {
    // What leaves the work is a pointer: a result with an error in it is large, and would be moved.
    let work = || match work() {
        Ok(object) => object.into_ptr(),
        Err(error) => fail(error),
    };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(object) => object,
        Err(_) => fail(PyRuntimeError::new_err(
            "an internal error, which is a bug in stridewise",
        )),
    }
}

#[cold]
fn fail(error: PyErr) -> *mut ffi::PyObject {
    Python::attach(|py| error.restore(py));
    std::ptr::null_mut()
}
