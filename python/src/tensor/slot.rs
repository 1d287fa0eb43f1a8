//! Where a Python object keeps its tensor. A tensor is large and PyO3 moves what it is given several times, so
//! that the object is made empty and the tensor moved into it once.

use std::cell::{Cell, UnsafeCell};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ops::Deref;

use pyo3::PyTypeInfo;
use pyo3::ffi;
use pyo3::prelude::*;
use stridewise::Tensor;

use crate::gradients::Kept;
use crate::tensor::PyTensor;

/// A tensor in its final place. It is there from before anyone else sees the object until the object goes.
pub(crate) struct Slot {
    tensor: UnsafeCell<MaybeUninit<Tensor>>,
    /// Whether the tensor is there: not so for an object that could not be made.
    filled: Cell<bool>,
    /// What is kept for gradients; nothing for a tensor without a history.
    kept: UnsafeCell<Option<Box<Kept>>>,
}

// SAFETY: the tensor and what is kept are written once, by whoever makes the object, before the slot is shared; from
// then on they are only read, and both may be read from any thread.
unsafe impl Sync for Slot {}

const _: () = {
    const fn is_sync<T: Sync>() {}
    is_sync::<(Tensor, Kept)>();
};

impl Slot {
    /// A tensor, and what is kept for gradients of it.
    pub(crate) fn new(tensor: Tensor, kept: Option<Box<Kept>>) -> Slot {
        Slot {
            tensor: UnsafeCell::new(MaybeUninit::new(tensor)),
            filled: Cell::new(true),
            kept: UnsafeCell::new(kept),
        }
    }

    /// What is kept for gradients.
    #[inline]
    pub(crate) fn kept(&self) -> Option<&Kept> {
        // SAFETY: nobody writes to it any more.
        unsafe { (*self.kept.get()).as_deref() }
    }

    /// Keeps this for gradients.
    ///
    /// # Safety
    /// The object is new: nobody else has looked at it or does so now.
    pub(crate) unsafe fn keep(&self, kept: Box<Kept>) {
        // SAFETY: as the caller says.
        unsafe { *self.kept.get() = Some(kept) }
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
        Slot::new(tensor, None)
    }
}

/// The tensor as a Python object.
#[inline]
pub(crate) fn object(py: Python<'_>, tensor: Tensor) -> PyResult<Bound<'_, PyTensor>> {
    let tensor = ManuallyDrop::new(tensor);
    // SAFETY: the tensor is not looked at again.
    unsafe { object_from(py, &tensor) }
}

/// The tensor as a Python object.
///
/// # Safety
/// The tensor is moved: it is neither used nor dropped where it was.
#[inline]
pub(crate) unsafe fn object_from<'py>(
    py: Python<'py>,
    tensor: &Tensor,
) -> PyResult<Bound<'py, PyTensor>> {
    // What `Bound::new` does for a class on top of `object`, without the way through `object.__new__`.
    // SAFETY: the class is a heap type without a size of its own for each object.
    let object = unsafe { ffi::PyType_GenericAlloc(PyTensor::type_object_raw(py), 0) };
    if object.is_null() {
        // SAFETY: the caller leaves the tensor to us, and this is the last time anyone looks at it.
        drop(unsafe { std::ptr::read(tensor) });
        return Err(PyErr::fetch(py));
    }
    // SAFETY: a new object of that class. It is all zeros, which is a slot with no tensor and nothing kept, and for PyO3 (which
    // counts no borrows of a frozen class) an object without weak references.
    let object = unsafe { Bound::from_owned_ptr(py, object).cast_into_unchecked::<PyTensor>() };
    let slot = &object.get().inner;
    // SAFETY: the object is new, so nobody else looks into its slot; the tensor is the caller's to give away.
    unsafe { copy_words(tensor, slot.tensor.get().cast()) };
    slot.filled.set(true);
    Ok(object)
}

/// Moves a tensor word by word. It has just been written so, and a wider read would have to wait until every one
/// of these writes has left the core, which takes longer than all the rest of the move.
///
/// # Safety
/// As for a copy of one tensor to another place that does not overlap it.
#[inline]
unsafe fn copy_words(from: *const Tensor, to: *mut Tensor) {
    /// Any eight bytes, pointers and bytes that were never written among them.
    type Word = MaybeUninit<*const ()>;
    const { assert!(size_of::<Tensor>().is_multiple_of(size_of::<Word>())) };
    let (from, to) = (from.cast::<Word>(), to.cast::<Word>());
    for at in 0..size_of::<Tensor>() / size_of::<Word>() {
        // SAFETY: both places are a tensor long and aligned for one.
        unsafe { to.add(at).write(from.add(at).read_volatile()) };
    }
}
