//! Our tensors in capsules for other libraries. Tensors are immutable, so what is shared is marked read-only;
//! whoever cannot be told that gets a copy of its own.

use std::ffi::{CStr, c_void};

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use stridewise::{Cpu, Engine, Tensor};

use super::{
    CPU, Device, IS_COPIED, LEGACY, MAJOR, MINOR, Managed, ManagedVersioned, READ_ONLY, VERSIONED,
    View, code,
};
use crate::errors::OrRaise;

/// A lent tensor in one piece with the numbers that its structure points to.
#[repr(C)]
struct Lending<M> {
    /// First, so that a pointer to it is one to all of this.
    managed: M,
    _numbers: Vec<i64>,
    _tensor: Tensor,
}

/// Where every tensor is: main memory.
pub(crate) fn device() -> (i64, i64) {
    (CPU, 0)
}

/// What `Tensor.__dlpack__` is asked for.
pub(crate) struct Request<'a, 'py> {
    pub(crate) stream: Option<&'a Bound<'py, PyAny>>,
    pub(crate) max_version: Option<&'a Bound<'py, PyAny>>,
    pub(crate) device: Option<&'a Bound<'py, PyAny>>,
    pub(crate) copy: Option<bool>,
}

/// A capsule with the tensor: shared and marked read-only for those who know versions from 1.0 on, otherwise a
/// copy. Strides that most libraries misread are shared only with those who insist.
pub(crate) fn export<'py>(
    py: Python<'py>,
    tensor: &Tensor,
    request: Request<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(stream) = request.stream
        && stream.extract::<i64>().ok() != Some(-1)
    {
        return Err(PyBufferError::new_err(
            "a tensor in main memory has no stream: stream must be None",
        ));
    }
    if let Some(device) = request.device {
        require_main_memory(device)?;
    }
    let version = request.max_version.map(version).transpose()?;
    let versioned = version.filter(|(major, _)| *major >= MAJOR);
    let copy = match (request.copy, versioned) {
        (Some(false), None) => {
            return Err(PyBufferError::new_err(
                "copy=False, but a tensor is read-only, which a DLPack capsule before version 1.0 cannot say; \
                 ask with max_version=(1, 0), or allow a copy",
            ));
        }
        (_, None) => true,
        // Only NumPy reads negative strides; PyTorch raises an error, and Paddle reads outside the tensor.
        (None, Some(_)) => steps_back(tensor),
        (Some(copy), Some(_)) => copy,
    };
    let tensor = match copy {
        true => py.detach(|| Cpu.copy(tensor)).or_raise(py)?,
        false => tensor.clone(),
    };
    match versioned {
        Some((major, minor)) => {
            let managed = |view| ManagedVersioned {
                major: MAJOR,
                minor: if major > MAJOR {
                    MINOR
                } else {
                    minor.min(MINOR)
                },
                context: std::ptr::null_mut(),
                deleter: Some(delete::<ManagedVersioned>),
                flags: if copy { IS_COPIED } else { READ_ONLY },
                view,
            };
            let lending = lending(tensor, managed);
            // SAFETY: the name goes with the structure.
            unsafe { capsule(py, lending, VERSIONED) }
        }
        None => {
            let managed = |view| Managed {
                view,
                context: std::ptr::null_mut(),
                deleter: Some(delete::<Managed>),
            };
            let lending = lending(tensor, managed);
            // SAFETY: the name goes with the structure.
            unsafe { capsule(py, lending, LEGACY) }
        }
    }
}

fn require_main_memory(device: &Bound<'_, PyAny>) -> PyResult<()> {
    let kind = device.get_item(0).and_then(|kind| kind.extract::<i64>());
    let id = device.get_item(1);
    let (Ok(kind), Ok(id)) = (kind, id) else {
        return Err(PyTypeError::new_err(
            "dl_device is a pair: the type of device, and its number",
        ));
    };
    match kind == CPU && (id.is_none() || id.extract::<i64>().ok() == Some(0)) {
        true => Ok(()),
        false => Err(PyBufferError::new_err(format!(
            "a tensor is exported where it is, on the CPU (1, 0), not on device {device}"
        ))),
    }
}

fn version(version: &Bound<'_, PyAny>) -> PyResult<(u32, u32)> {
    version
        .extract()
        .map_err(|_| PyTypeError::new_err("max_version is a pair of ints, such as (1, 0), or None"))
}

/// Whether some axis is stepped along backwards.
fn steps_back(tensor: &Tensor) -> bool {
    let mut axes = tensor.shape().iter().zip(tensor.strides());
    !tensor.is_empty() && axes.any(|(&size, &stride)| size > 1 && stride < 0)
}

fn lending<M>(tensor: Tensor, managed: impl FnOnce(View) -> M) -> *mut Lending<M> {
    let rank = tensor.rank();
    let sizes = tensor.shape().iter().map(|&n| n as i64);
    // The stride of an axis that is not stepped along means nothing, so it can be one that nobody misreads.
    let forwards = !steps_back(&tensor);
    let stride = |&n: &isize| if forwards && n < 0 { 1 } else { n as i64 };
    let strides = tensor.strides().iter().map(stride);
    let mut numbers: Vec<i64> = sizes.chain(strides).collect();
    let shape = numbers.as_mut_ptr();
    let view = View {
        // The standard asks for null where there are no elements.
        data: match tensor.is_empty() {
            true => std::ptr::null_mut(),
            false => tensor.as_ptr().cast_mut().cast(),
        },
        device: Device {
            kind: CPU as i32,
            id: 0,
        },
        ndim: rank as i32,
        dtype: code(tensor.dtype()),
        shape,
        strides: shape.wrapping_add(rank),
        byte_offset: 0,
    };
    Box::into_raw(Box::new(Lending {
        managed: managed(view),
        _numbers: numbers,
        _tensor: tensor,
    }))
}

/// The deleter of our structures. It may be called on any thread, with the interpreter's lock or without: a
/// tensor needs none, and memory that is Python's takes the lock by itself.
unsafe extern "C" fn delete<M>(managed: *mut M) {
    if !managed.is_null() {
        // SAFETY: the structure is the first field of a `Lending` that `lending` made, and a deleter is
        // called once.
        drop(unsafe { Box::from_raw(managed.cast::<Lending<M>>()) });
    }
}

/// # Safety
/// The name is the one for structures of type `M`; `lending` is not used otherwise.
unsafe fn capsule<'py, M>(
    py: Python<'py>,
    lending: *mut Lending<M>,
    name: &'static CStr,
) -> PyResult<Bound<'py, PyAny>> {
    let pointer = lending.cast::<c_void>();
    // SAFETY: the pointer is not null and the name lives for ever.
    let capsule = unsafe {
        let capsule = ffi::PyCapsule_New(pointer, name.as_ptr(), Some(unconsumed));
        Bound::from_owned_ptr_or_err(py, capsule)
    };
    if capsule.is_err() {
        // SAFETY: nobody else has it.
        drop(unsafe { Box::from_raw(lending) });
    }
    capsule
}

/// Frees the tensor of a capsule that goes without having been consumed, which it shows by its name.
unsafe extern "C" fn unconsumed(capsule: *mut ffi::PyObject) {
    // SAFETY: the interpreter calls this for a capsule that `capsule` made, with its lock held. Under these
    // names it still holds our structure.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, VERSIONED.as_ptr()) != 0 {
            let managed = ffi::PyCapsule_GetPointer(capsule, VERSIONED.as_ptr());
            delete(managed.cast::<ManagedVersioned>());
        } else if ffi::PyCapsule_IsValid(capsule, LEGACY.as_ptr()) != 0 {
            let managed = ffi::PyCapsule_GetPointer(capsule, LEGACY.as_ptr());
            delete(managed.cast::<Managed>());
        }
    }
}
