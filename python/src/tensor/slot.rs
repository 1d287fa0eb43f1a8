//! Where a Python object keeps its tensor. A tensor is large and PyO3 moves what it is given several times, so
//! that the object is made empty and the tensor moved into it once.

use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ops::Deref;

use pyo3::prelude::*;
use stridewise::Tensor;

use crate::tensor::PyTensor;

/// A tensor in its final place. It is there from before anyone else sees the object until the object goes.
pub(crate) struct Slot {
    tensor: UnsafeCell<MaybeUninit<Tensor>>,
    /// Whether the tensor is there: not so for an object that could not be made.
    filled: Cell<bool>,
}

// SAFETY: the tensor is written once, by `object`, before the slot is shared; from then on it is only read, and
// a tensor may be read from any thread.
unsafe impl Sync for Slot {}

impl Slot {
    /// # Safety
    /// The slot is filled before anything is read from it.
    #[inline]
    unsafe fn empty() -> Slot {
        Slot {
            tensor: UnsafeCell::new(MaybeUninit::uninit()),
            filled: Cell::new(false),
        }
    }

    /// # Safety
    /// The slot is empty, and nobody else looks into it.
    #[inline]
    unsafe fn fill(&self, tensor: Tensor) {
        // SAFETY: the caller says that this is the only access.
        unsafe { (*self.tensor.get()).write(tensor) };
        self.filled.set(true);
    }
}

impl Deref for Slot {
    type Target = Tensor;

    #[inline]
    fn deref(&self) -> &Tensor {
        // SAFETY: the tensor is there, and nobody writes to it.
        unsafe { (*self.tensor.get()).assume_init_ref() }
    }
}

impl Drop for Slot {
    #[inline]
    fn drop(&mut self) {
        if self.filled.get() {
            // SAFETY: the tensor is there, and goes with the slot.
            unsafe { self.tensor.get_mut().assume_init_drop() }
        }
    }
}

impl From<Tensor> for Slot {
    fn from(tensor: Tensor) -> Slot {
        Slot {
            tensor: UnsafeCell::new(MaybeUninit::new(tensor)),
            filled: Cell::new(true),
        }
    }
}

/// The tensor as a Python object.
#[inline]
pub(crate) fn object(py: Python<'_>, tensor: Tensor) -> PyResult<Bound<'_, PyTensor>> {
    // SAFETY: the slot is filled below, before the object is handed out.
    let inner = unsafe { Slot::empty() };
    let object = Bound::new(py, PyTensor { inner })?;
    // SAFETY: the object is new, so nobody else looks into its slot.
    unsafe { object.get().inner.fill(tensor) };
    Ok(object)
}
