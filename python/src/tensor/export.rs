//! Memory of tensors, lent to others through the buffer protocol.

use std::ffi::{CString, c_int, c_void};

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::foreign::buffer::format_of;
use crate::tensor::PyTensor;

/// What the exporter keeps for a buffer it has lent.
struct Export {
    format: CString,
    shape: Vec<ffi::Py_ssize_t>,
    strides: Vec<ffi::Py_ssize_t>,
}

/// Fills the structure of a borrower.
///
/// # Safety
/// `view` is a structure to fill, or null.
pub(crate) unsafe fn lend(
    slf: Bound<'_, PyTensor>,
    view: *mut ffi::Py_buffer,
    flags: c_int,
) -> PyResult<()> {
    let inner = &slf.get().inner;
    let refuse = |why: &str| Err(PyBufferError::new_err(why.to_string()));
    if view.is_null() {
        return refuse("there is no buffer to fill");
    }
    let Some(format) = format_of(inner.dtype()) else {
        return refuse("the buffer protocol has no bfloat16; use .numpy() with ml_dtypes");
    };
    if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
        return refuse("a tensor is immutable: its memory is lent to be read only");
    }
    if flags & ffi::PyBUF_STRIDES != ffi::PyBUF_STRIDES && !inner.is_contiguous() {
        return refuse("the tensor is not contiguous");
    }
    let width = inner.dtype().width() as ffi::Py_ssize_t;
    let mut export = Box::new(Export {
        format: format.to_owned(),
        shape: inner
            .shape()
            .iter()
            .map(|&n| n as ffi::Py_ssize_t)
            .collect(),
        strides: inner.strides().iter().map(|&n| n * width).collect(),
    });
    // SAFETY: the interpreter gives a structure to fill; the object and the export live until the release.
    unsafe {
        (*view).buf = inner.as_ptr().cast_mut().cast();
        (*view).len = inner.nbytes() as ffi::Py_ssize_t;
        (*view).readonly = 1;
        (*view).itemsize = width;
        (*view).ndim = inner.rank() as c_int;
        (*view).format = if flags & ffi::PyBUF_FORMAT == 0 {
            std::ptr::null_mut()
        } else {
            export.format.as_ptr().cast_mut()
        };
        (*view).shape = if flags & ffi::PyBUF_ND == 0 {
            std::ptr::null_mut()
        } else {
            export.shape.as_mut_ptr()
        };
        (*view).strides = if flags & ffi::PyBUF_STRIDES == 0 {
            std::ptr::null_mut()
        } else {
            export.strides.as_mut_ptr()
        };
        (*view).suboffsets = std::ptr::null_mut();
        (*view).internal = Box::into_raw(export).cast::<c_void>();
        (*view).obj = slf.into_ptr();
    }
    Ok(())
}

/// Frees what a borrower was lent.
///
/// # Safety
/// `lend` has filled the structure, and this is its only release.
pub(crate) unsafe fn release(view: *mut ffi::Py_buffer) {
    // SAFETY: `internal` is what `lend` put there.
    drop(unsafe { Box::from_raw((*view).internal.cast::<Export>()) });
}
