//! Arrays shared through the buffer protocol.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::sync::Arc;

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use stridewise::internals::storage::Storage;
use stridewise::{DType, Layout, Tensor};

use crate::errors::OrRaise;

/// A buffer that another object lends, given back when the last tensor that uses it goes.
struct Lent(Box<ffi::Py_buffer>);

// SAFETY: the buffer is only touched by its release, which takes the interpreter's lock first.
unsafe impl Send for Lent {}
// SAFETY: nothing can be done with a shared one.
unsafe impl Sync for Lent {}

impl Drop for Lent {
    fn drop(&mut self) {
        Python::attach(|_| {
            // SAFETY: the buffer was filled by PyObject_GetBuffer and is released once, with the lock held.
            unsafe { ffi::PyBuffer_Release(&mut *self.0) }
        });
    }
}

/// The array as a tensor over the same memory; `None` for an object that is no array.
pub(crate) fn tensor(object: &Bound<'_, PyAny>) -> PyResult<Option<Tensor>> {
    let py = object.py();
    // SAFETY: asks about a live object.
    if unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) } == 0 {
        return through_numpy(object);
    }
    let mut view: Box<MaybeUninit<ffi::Py_buffer>> = Box::new(MaybeUninit::zeroed());
    // SAFETY: the structure lives in a box, so it does not move while the exporter may point to it.
    let got = unsafe {
        ffi::PyObject_GetBuffer(object.as_ptr(), view.as_mut_ptr(), ffi::PyBUF_RECORDS_RO)
    };
    if got != 0 {
        let refused = PyErr::fetch(py);
        return match refused.is_instance_of::<PyBufferError>(py)
            || refused.is_instance_of::<pyo3::exceptions::PyValueError>(py)
        {
            true => through_numpy(object),
            false => Err(refused),
        };
    }
    // SAFETY: PyObject_GetBuffer has filled it.
    let lent = Lent(unsafe { view.assume_init() });
    shared(py, lent).map(Some)
}

/// Arrays whose dtype the buffer protocol does not know, such as ml_dtypes' bfloat16: seen as uint16.
fn through_numpy(object: &Bound<'_, PyAny>) -> PyResult<Option<Tensor>> {
    let bfloat16 = match object.getattr("dtype") {
        Ok(dtype) => dtype.str()? == "bfloat16",
        Err(_) => false,
    };
    if bfloat16 && object.hasattr("view")? {
        let bits = object.call_method1("view", ("uint16",))?;
        let py = object.py();
        return match tensor(&bits)? {
            Some(bits) => {
                let storage = bits.storage().clone();
                Tensor::new(storage, DType::BF16, bits.layout().clone())
                    .or_raise(py)
                    .map(Some)
            }
            None => Ok(None),
        };
    }
    if object.hasattr("__array__")? {
        let array = object
            .py()
            .import("numpy")?
            .call_method1("asarray", (object,))?;
        // What NumPy gives back has a buffer; anything else would come here again.
        // SAFETY: asks about a live object.
        if unsafe { ffi::PyObject_CheckBuffer(array.as_ptr()) } != 0 && !array.is(object) {
            return tensor(&array);
        }
    }
    Ok(None)
}

fn shared(py: Python<'_>, lent: Lent) -> PyResult<Tensor> {
    let view = &*lent.0;
    let rank = view.ndim as usize;
    let format = match view.format.is_null() {
        true => "B".to_string(),
        // SAFETY: the exporter gives a string that lives as long as the buffer.
        false => unsafe { CStr::from_ptr(view.format) }
            .to_string_lossy()
            .into_owned(),
    };
    let dtype = dtype_of(&format, view.itemsize as usize)?;
    let width = dtype.width();
    let list = |start: *const ffi::Py_ssize_t| match (rank, start.is_null()) {
        (0, _) | (_, true) => Vec::new(),
        // SAFETY: the exporter gives one number for each axis.
        _ => unsafe { std::slice::from_raw_parts(start, rank) }.to_vec(),
    };
    let dims: Vec<usize> = list(view.shape).into_iter().map(|n| n as usize).collect();
    let steps = list(view.strides);
    let (mut low, mut high) = (0isize, 0isize);
    for (&dim, &step) in dims.iter().zip(&steps) {
        let far = (dim as isize - 1).max(0) * step;
        low += far.min(0);
        high += far.max(0);
    }
    let empty = dims.contains(&0);
    let start = view.buf.cast::<u8>();
    let whole = steps.iter().all(|step| step % width as isize == 0);
    let aligned = start.addr().is_multiple_of(width.min(8));
    if empty {
        return Tensor::from_bytes(dtype, &dims, &[]).or_raise(py);
    }
    if !(whole && aligned) {
        return copied(&dims, &steps, start, dtype).or_raise(py);
    }
    let strides: Vec<isize> = steps.iter().map(|step| step / width as isize).collect();
    let offset = (-low) as usize / width;
    let (first, len) = (start.wrapping_offset(low), (high - low) as usize + width);
    let layout = Layout::new(width, dims.as_slice(), strides.as_slice(), offset).or_raise(py)?;
    // SAFETY: the exporter lends the bytes from the lowest to the highest index until the buffer is released.
    // They are taken as read-only: who lends them may still write, as with every shared array in Python.
    let storage = unsafe { Storage::foreign(first, len, false, Box::new(lent)) };
    Tensor::new(Arc::new(storage), dtype, layout).or_raise(py)
}

/// A packed copy of memory that cannot be shared: misaligned, or with strides that are no whole elements.
fn copied(
    dims: &[usize],
    steps: &[isize],
    start: *const u8,
    dtype: DType,
) -> stridewise::Result<Tensor> {
    let (width, count) = (dtype.width(), dims.iter().product::<usize>());
    let mut bytes = Vec::with_capacity(count * width);
    let mut index = vec![0usize; dims.len()];
    for _ in 0..count {
        let at: isize = index
            .iter()
            .zip(steps)
            .map(|(&i, &step)| i as isize * step)
            .sum();
        // SAFETY: the index is within the shape, for which the exporter lends memory.
        bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(start.offset(at), width) });
        for (i, dim) in index.iter_mut().zip(dims).rev() {
            *i += 1;
            if *i < *dim {
                break;
            }
            *i = 0;
        }
    }
    Tensor::from_bytes(dtype, dims, &bytes)
}

fn dtype_of(format: &str, width: usize) -> PyResult<DType> {
    let refuse = |why: &str| {
        Err(PyTypeError::new_err(format!(
            "an array of format '{format}' cannot be shared: {why}"
        )))
    };
    let other = if cfg!(target_endian = "big") {
        '<'
    } else {
        '>'
    };
    if width > 1 && format.starts_with([other, '!']) {
        return refuse("its bytes are in the other order; convert it to the machine's own first");
    }
    let code = format.trim_start_matches(['@', '=', '<', '>', '!', '|']);
    let integer = |signed: bool| match (signed, width) {
        (true, 1) => Some(DType::I8),
        (true, 2) => Some(DType::I16),
        (true, 4) => Some(DType::I32),
        (true, 8) => Some(DType::I64),
        (false, 1) => Some(DType::U8),
        (false, 2) => Some(DType::U16),
        (false, 4) => Some(DType::U32),
        (false, 8) => Some(DType::U64),
        _ => None,
    };
    let dtype = match code {
        "?" => Some(DType::Bool),
        "b" | "h" | "i" | "l" | "q" | "n" => integer(true),
        "B" | "H" | "I" | "L" | "Q" | "N" | "c" => integer(false),
        "e" => Some(DType::F16),
        "f" => Some(DType::F32),
        "d" => Some(DType::F64),
        "Zf" | "F" => Some(DType::C64),
        "Zd" | "D" => Some(DType::C128),
        _ => None,
    };
    match dtype.filter(|dtype| dtype.width() == width) {
        Some(dtype) => Ok(dtype),
        None => refuse("there is no such dtype"),
    }
}

/// The format of a dtype in the buffer protocol; none for bfloat16.
pub(crate) fn format_of(dtype: DType) -> Option<&'static CStr> {
    Some(match dtype {
        DType::Bool => c"?",
        DType::U8 => c"B",
        DType::U16 => c"H",
        DType::U32 => c"I",
        DType::U64 => c"Q",
        DType::I8 => c"b",
        DType::I16 => c"h",
        DType::I32 => c"i",
        DType::I64 => c"q",
        DType::F16 => c"e",
        DType::F32 => c"f",
        DType::F64 => c"d",
        DType::C64 => c"Zf",
        DType::C128 => c"Zd",
        DType::BF16 => return None,
    })
}
