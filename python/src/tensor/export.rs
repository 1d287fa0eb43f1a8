//! Memory of tensors, lent to others through the buffer protocol: always read-only, with any strides.
//! What a borrower cannot take, such as strides when it asks for packed memory, is refused, never copied.

use std::ffi::{c_int, c_void};

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use stridewise::{Layout, Tensor};

use crate::foreign::format::format_of;
use crate::tensor::PyTensor;

/// What the exporter keeps for a buffer it has lent.
struct Export {
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
    // SAFETY: the caller gives a structure to fill; a refusal is told by an object that is null.
    unsafe { (*view).obj = std::ptr::null_mut() };
    let Some(format) = format_of(inner.dtype()) else {
        return refuse("the buffer protocol has no bfloat16; use .numpy() with ml_dtypes");
    };
    if inner.rank() > ffi::PyBUF_MAX_NDIM {
        return refuse("the buffer protocol has at most 64 axes");
    }
    let asks = |flag: c_int| flags & flag == flag;
    if asks(ffi::PyBUF_WRITABLE) {
        return refuse("a tensor is immutable: its memory is lent to be read only");
    }
    let (rows, columns) = (inner.is_contiguous(), is_fortran(inner.layout()));
    if (!asks(ffi::PyBUF_STRIDES) || asks(ffi::PyBUF_C_CONTIGUOUS)) && !rows {
        return refuse("the tensor is not contiguous");
    }
    if asks(ffi::PyBUF_F_CONTIGUOUS) && !columns {
        return refuse("the tensor is not contiguous in Fortran's order");
    }
    if asks(ffi::PyBUF_ANY_CONTIGUOUS) && !rows && !columns {
        return refuse("the tensor is not contiguous in any order");
    }
    let width = inner.dtype().width() as ffi::Py_ssize_t;
    let sizes = inner.shape().iter().map(|&n| n as ffi::Py_ssize_t);
    let mut export = Box::new(Export {
        shape: sizes.collect(),
        strides: byte_strides(inner),
    });
    let list =
        |wanted: bool, numbers: &mut Vec<ffi::Py_ssize_t>| match wanted && !numbers.is_empty() {
            true => numbers.as_mut_ptr(),
            false => std::ptr::null_mut(),
        };
    let start = inner.as_ptr();
    // SAFETY: as above; the object and the export live until the release, and the format for ever.
    unsafe {
        // Nothing is read from an empty tensor, but a null pointer would stand for no buffer at all.
        (*view).buf = match start.is_null() {
            true => std::ptr::without_provenance_mut(width as usize),
            false => start.cast_mut().cast(),
        };
        (*view).len = inner.nbytes() as ffi::Py_ssize_t;
        (*view).readonly = 1;
        (*view).itemsize = width;
        // Who does not ask for the shape sees bytes in a row, as with every memoryview.
        (*view).ndim = match asks(ffi::PyBUF_ND) {
            true => inner.rank() as c_int,
            false => 1,
        };
        (*view).format = match asks(ffi::PyBUF_FORMAT) {
            true => format.as_ptr().cast_mut(),
            false => std::ptr::null_mut(),
        };
        (*view).shape = list(asks(ffi::PyBUF_ND), &mut export.shape);
        (*view).strides = list(asks(ffi::PyBUF_STRIDES), &mut export.strides);
        (*view).suboffsets = std::ptr::null_mut();
        (*view).internal = Box::into_raw(export).cast::<c_void>();
        (*view).obj = slf.into_ptr();
    }
    Ok(())
}

/// Strides in bytes. Those of axes that are not stepped along may be any number, so they are kept in range.
fn byte_strides(x: &Tensor) -> Vec<ffi::Py_ssize_t> {
    let width = x.dtype().width() as isize;
    x.strides()
        .iter()
        .map(|n| n.saturating_mul(width))
        .collect()
}

/// Whether the elements lie column-major without gaps.
fn is_fortran(layout: &Layout) -> bool {
    let mut next = 1;
    let axes = layout.dims().iter().zip(layout.strides());
    layout.is_empty()
        || axes.filter(|(dim, _)| **dim != 1).all(|(&dim, &stride)| {
            let fits = stride == next;
            next *= dim as isize;
            fits
        })
}

/// Frees what a borrower was lent.
///
/// # Safety
/// `lend` has filled the structure, and this is its only release.
pub(crate) unsafe fn release(view: *mut ffi::Py_buffer) {
    // SAFETY: `internal` is what `lend` put there.
    drop(unsafe { Box::from_raw((*view).internal.cast::<Export>()) });
}
