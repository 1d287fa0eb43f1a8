//! Tensors of other libraries, from the capsules they give. The memory stays theirs: the capsule's deleter is
//! called once, when the last tensor over it goes, or at once where the tensor is refused.

use std::ffi::CStr;
use std::ptr::NonNull;

use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyDict};
use stridewise::{DType, Error};

use super::{
    CPU, Code, LEGACY, LEGACY_USED, MAJOR, MINOR, Managed, ManagedVersioned, READ_ONLY, VERSIONED,
    VERSIONED_USED, View, code, name,
};
use crate::errors::OrRaise;
use crate::foreign::lent::{Claim, Lent};
use crate::foreign::owner::released;

/// No library makes tensors of more axes; a larger number is a mistake in the capsule.
const MOST_AXES: usize = 1 << 10;

/// A tensor that was taken out of its capsule, given back when the last one that uses it goes.
enum Taken {
    Legacy(NonNull<Managed>),
    Versioned(NonNull<ManagedVersioned>),
}

// SAFETY: it is only touched by its deleter, which is called with the interpreter's lock held.
unsafe impl Send for Taken {}
// SAFETY: nothing can be done with a shared one.
unsafe impl Sync for Taken {}

impl Drop for Taken {
    fn drop(&mut self) {
        // SAFETY: the structure is live until its deleter is called, which happens here alone.
        released(|_| unsafe {
            match *self {
                Taken::Legacy(managed) => {
                    if let Some(deleter) = managed.as_ref().deleter {
                        deleter(managed.as_ptr());
                    }
                }
                Taken::Versioned(managed) => {
                    if let Some(deleter) = managed.as_ref().deleter {
                        deleter(managed.as_ptr());
                    }
                }
            }
        });
    }
}

/// Whether the object speaks DLPack.
pub(crate) fn speaks(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    object.hasattr("__dlpack__")
}

/// Whether the elements are the negatives of what lies in memory. PyTorch marks such views by a bit, which its
/// DLPack does not tell; views that are to be conjugated it refuses by itself.
pub(crate) fn is_negated(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Some(asked) = object.getattr_opt(intern!(object.py(), "is_neg"))? else {
        return Ok(false);
    };
    // Another library may have a method of that name that wants arguments: it means something else.
    let answer = asked.call0().ok();
    Ok(answer.is_some_and(|answer| answer.is(PyBool::new(object.py(), true))))
}

/// An object of the same elements, as they lie in memory.
pub(crate) fn without_negation<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    object.call_method0("resolve_neg")
}

/// The memory of an object that speaks DLPack and whose elements are what lies there.
pub(crate) fn borrow(object: &Bound<'_, PyAny>) -> PyResult<Lent> {
    let py = object.py();
    if object.hasattr("__dlpack_device__")? {
        let device = object.call_method0("__dlpack_device__")?;
        require_main_memory(device.get_item(0)?.extract()?)?;
    }
    let keywords = PyDict::new(py);
    keywords.set_item("max_version", (MAJOR, MINOR))?;
    let capsule = match object.call_method("__dlpack__", (), Some(&keywords)) {
        Err(error) if error.is_instance_of::<PyTypeError>(py) => {
            // Libraries older than version 1.0 do not know the keyword.
            object.call_method0("__dlpack__")?
        }
        capsule => capsule?,
    };
    let capsule = capsule.cast_into::<PyCapsule>().map_err(|error| {
        let class = error.into_inner().get_type();
        PyTypeError::new_err(format!("__dlpack__ gave a {class}, not a capsule"))
    })?;
    open(&capsule)
}

fn require_main_memory(kind: i64) -> PyResult<()> {
    let device = match kind {
        // Pinned memory of CUDA and of ROCm is main memory too.
        CPU | 3 | 11 => return Ok(()),
        2 => "a CUDA device",
        4 => "an OpenCL device",
        7 => "a Vulkan device",
        8 => "a Metal device",
        9 => "a VPI device",
        10 => "a ROCm device",
        12 => "an extension device",
        13 => "CUDA managed memory",
        14 => "a oneAPI device",
        15 => "a WebGPU device",
        16 => "a Hexagon device",
        17 => "a MAIA device",
        18 => "a Trainium device",
        _ => "an unknown device",
    };
    Err(PyBufferError::new_err(format!(
        "the array is on {device} (DLPack device type {kind}); copy it to the CPU first"
    )))
}

/// Takes the tensor out of its capsule. From here on the deleter is ours to call.
fn take(capsule: &Bound<'_, PyCapsule>) -> PyResult<Taken> {
    let py = capsule.py();
    let pointer = |name: &CStr| -> PyResult<*mut std::ffi::c_void> {
        // SAFETY: the capsule is live and the name is a string.
        let pointer = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), name.as_ptr()) };
        match pointer.is_null() {
            true => Err(PyErr::fetch(py)),
            false => Ok(pointer),
        }
    };
    let valid = |name: &CStr| {
        // SAFETY: as above.
        unsafe { ffi::PyCapsule_IsValid(capsule.as_ptr(), name.as_ptr()) != 0 }
    };
    let (taken, used) = if valid(VERSIONED) {
        (
            NonNull::new(pointer(VERSIONED)?.cast()).map(Taken::Versioned),
            VERSIONED_USED,
        )
    } else if valid(LEGACY) {
        (
            NonNull::new(pointer(LEGACY)?.cast()).map(Taken::Legacy),
            LEGACY_USED,
        )
    } else if valid(LEGACY_USED) || valid(VERSIONED_USED) {
        return Err(PyValueError::new_err(
            "the DLPack capsule was consumed already: each can be used once",
        ));
    } else {
        return Err(PyValueError::new_err(
            "__dlpack__ gave a capsule that is not a DLPack tensor",
        ));
    };
    let Some(taken) = taken else {
        return Err(PyValueError::new_err("the DLPack capsule is empty"));
    };
    // SAFETY: the capsule is live, and the name lives for ever.
    if unsafe { ffi::PyCapsule_SetName(capsule.as_ptr(), used.as_ptr()) } != 0 {
        // The capsule still thinks that it owns the tensor, so it will call the deleter.
        std::mem::forget(taken);
        return Err(PyErr::fetch(py));
    }
    Ok(taken)
}

fn open(capsule: &Bound<'_, PyCapsule>) -> PyResult<Lent> {
    let py = capsule.py();
    let taken = take(capsule)?;
    let nonsense = |what: String| Err(PyBufferError::new_err(format!("the DLPack tensor {what}")));
    // SAFETY: the structure is live until `taken` is dropped, and its first two numbers are its version,
    // whatever comes behind them.
    let (view, read_only): (&View, bool) = unsafe {
        match &taken {
            Taken::Legacy(managed) => (&managed.as_ref().view, false),
            Taken::Versioned(managed) => {
                let (major, minor) = {
                    let start: *const u32 = managed.as_ptr().cast();
                    (start.read(), start.add(1).read())
                };
                if major != MAJOR {
                    return nonsense(format!(
                        "has version {major}.{minor}, but {MAJOR}.{MINOR} is understood"
                    ));
                }
                let managed = managed.as_ref();
                (&managed.view, managed.flags & READ_ONLY != 0)
            }
        }
    };
    require_main_memory(view.device.kind.into())?;
    let dtype = dtype_of(view.dtype).or_raise(py)?;
    let Some(rank) = usize::try_from(view.ndim).ok().filter(|n| *n <= MOST_AXES) else {
        return nonsense(format!("has {} axes", view.ndim));
    };
    let list = |start: *const i64| match (rank, start.is_null()) {
        (0, _) => Some(Vec::new()),
        (_, true) => None,
        // SAFETY: the exporter gives one number for each axis.
        _ => Some(unsafe { std::slice::from_raw_parts(start, rank) }.to_vec()),
    };
    let Some(shape) = list(view.shape) else {
        return nonsense("has no shape".to_string());
    };
    let sizes: Option<Vec<usize>> = shape.iter().map(|n| usize::try_from(*n).ok()).collect();
    let Some(dims) = sizes else {
        return nonsense(format!("has a negative size: {shape:?}"));
    };
    let steps: Option<Vec<isize>> = match list(view.strides) {
        None => None,
        Some(strides) => {
            let bytes = |n: &i64| {
                isize::try_from(*n)
                    .ok()?
                    .checked_mul(dtype.width() as isize)
            };
            match strides.iter().map(bytes).collect() {
                None => return nonsense(format!("has impossible strides: {strides:?}")),
                steps => steps,
            }
        }
    };
    let start = view.data.cast_const().cast::<u8>();
    let offset = usize::try_from(view.byte_offset).ok();
    let Some(address) = offset.and_then(|offset| start.addr().checked_add(offset)) else {
        return nonsense("begins outside the address space".to_string());
    };
    let claim = Claim {
        // A null pointer stays one, so that it is noticed.
        start: match start.is_null() {
            true => start,
            false => start.with_addr(address),
        },
        dims,
        steps,
        dtype,
        swapped: false,
        writable: !read_only,
    };
    // SAFETY: the exporter lends what its sizes and strides reach until the deleter is called.
    unsafe { Lent::new(claim, Box::new(taken)) }.or_raise(py)
}

fn dtype_of(given: Code) -> stridewise::Result<DType> {
    let known = DType::ALL.into_iter().find(|dtype| code(*dtype) == given);
    known.ok_or_else(|| {
        let name = name(given);
        Error::dtype(format!(
            "an array of {name} cannot become a tensor: there is no such dtype"
        ))
        .sizes("numbers or bools", &name)
        .help("convert it first, for example to float32")
    })
}
