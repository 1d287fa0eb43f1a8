//! Giving memory back to Python, from wherever the last tensor happens to be dropped.

use pyo3::ffi;
use pyo3::prelude::*;

/// Runs a release with the interpreter's lock held and no exception pending, since it may run any Python code.
/// When the interpreter is on its way out nothing is released: it takes all memory with it.
pub(crate) fn released(release: impl FnOnce(Python<'_>)) {
    Python::try_attach(|py| {
        let (mut class, mut value, mut trace) = Default::default();
        // SAFETY: the lock is held; an exception that was pending is put back, and one that the release
        // leaves behind has nobody to catch it.
        unsafe {
            ffi::PyErr_Fetch(&mut class, &mut value, &mut trace);
            release(py);
            if !ffi::PyErr_Occurred().is_null() {
                ffi::PyErr_WriteUnraisable(std::ptr::null_mut());
            }
            ffi::PyErr_Restore(class, value, trace);
        }
    });
}
