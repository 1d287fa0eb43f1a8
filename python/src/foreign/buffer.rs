//! Arrays lent through the buffer protocol: NumPy's, `bytes`, `bytearray`, `array.array`, `memoryview`, JAX's.
//! What an exporter says is checked as far as that can be done before any of it is believed.

use std::ffi::{CStr, c_int};

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use stridewise::DType;

use crate::errors::OrRaise;
use crate::foreign::format::{dtype_of, refusal};
use crate::foreign::lent::{Claim, Lent};
use crate::foreign::numpy;
use crate::foreign::owner::released;

/// A filled structure, given back when the last tensor that uses it goes. It stays in its box, since an
/// exporter may point into it.
struct Borrowed(Box<ffi::Py_buffer>);

// SAFETY: the structure is only touched by its release, which takes the interpreter's lock first.
unsafe impl Send for Borrowed {}
// SAFETY: nothing can be done with a shared one.
unsafe impl Sync for Borrowed {}

impl Drop for Borrowed {
    fn drop(&mut self) {
        // SAFETY: PyObject_GetBuffer has filled the structure, and it is released once, with the lock held.
        released(|_| unsafe { ffi::PyBuffer_Release(&mut *self.0) });
    }
}

/// Whether the object has the buffer protocol.
pub(crate) fn speaks(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: asks about a live object.
    unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) != 0 }
}

/// Why a buffer gave no memory.
pub(crate) enum Failure {
    /// The exporter cannot or will not; another protocol may.
    Denied(PyErr),
    /// The array cannot become a tensor by any protocol.
    Final(PyErr),
}

/// The memory of an object that speaks the protocol.
pub(crate) fn borrow(object: &Bound<'_, PyAny>, to_write: bool) -> Result<Lent, Failure> {
    let py = object.py();
    let flags: c_int = match to_write {
        true => ffi::PyBUF_RECORDS,
        false => ffi::PyBUF_RECORDS_RO,
    };
    let mut view = Box::new(ffi::Py_buffer::new());
    // SAFETY: the structure lives in a box, so it does not move while the exporter may point to it.
    if unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &mut *view, flags) } != 0 {
        return Err(Failure::Denied(PyErr::fetch(py)));
    }
    read(object, Borrowed(view)).map_err(Failure::Final)
}

fn read(object: &Bound<'_, PyAny>, borrowed: Borrowed) -> PyResult<Lent> {
    let py = object.py();
    let view = &*borrowed.0;
    let nonsense = |what: &str| {
        Err(PyBufferError::new_err(format!(
            "the exporter's buffer {what}"
        )))
    };
    let Some(rank) = usize::try_from(view.ndim)
        .ok()
        .filter(|rank| *rank <= ffi::PyBUF_MAX_NDIM)
    else {
        return nonsense(&format!("has {} axes", view.ndim));
    };
    let (Ok(width), Ok(len)) = (usize::try_from(view.itemsize), usize::try_from(view.len)) else {
        return nonsense("has a negative length");
    };
    let format = match view.format.is_null() {
        true => "B".into(),
        // SAFETY: the exporter gives a string that lives as long as the buffer.
        false => unsafe { CStr::from_ptr(view.format) }.to_string_lossy(),
    };
    let Some((dtype, swapped)) = dtype_of(&format, width) else {
        return Err(refusal(object, Some(&format)));
    };
    // NumPy lends times and other odd scalars as plain bytes.
    if rank == 1 && dtype == DType::U8 && numpy::is_scalar(object)? {
        return Err(refusal(object, None));
    }
    let list = |start: *const ffi::Py_ssize_t| match (rank, start.is_null()) {
        (0, _) => Some(Vec::new()),
        (_, true) => None,
        // SAFETY: the exporter gives one number for each axis.
        _ => Some(unsafe { std::slice::from_raw_parts(start, rank) }.to_vec()),
    };
    if list(view.suboffsets).is_some_and(|offsets| offsets.iter().any(|offset| *offset >= 0)) {
        return nonsense("is a table of pointers (it has suboffsets), which a tensor cannot share");
    }
    let dims: Option<Vec<usize>> = match list(view.shape) {
        Some(shape) => shape
            .into_iter()
            .map(|size| usize::try_from(size).ok())
            .collect(),
        None if rank == 1 => Some(vec![len / width]),
        None => return nonsense("has no shape"),
    };
    let Some(dims) = dims else {
        return nonsense("has a negative size");
    };
    let bytes = dims
        .iter()
        .try_fold(width, |bytes, dim| bytes.checked_mul(*dim));
    if bytes.is_some_and(|bytes| bytes != len) {
        return nonsense(&format!(
            "says it has {len} bytes, but shape {dims:?} of {width} bytes each does not"
        ));
    }
    let claim = Claim {
        start: view.buf.cast(),
        dims,
        steps: list(view.strides).filter(|_| rank > 0),
        dtype,
        swapped,
        writable: view.readonly == 0,
    };
    // SAFETY: the exporter lends what its sizes and strides reach until the buffer is released.
    unsafe { Lent::new(claim, Box::new(borrowed)) }.or_raise(py)
}
