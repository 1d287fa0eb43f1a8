//! Where a Python object keeps its tensor. A tensor is large and PyO3 moves what it is given several times, so
//! that the object is made empty and the tensor moved into it once.

use std::cell::{Cell, UnsafeCell};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ops::Deref;
use std::ptr;

use pyo3::PyTypeInfo;
use pyo3::ffi;
use pyo3::impl_::pyclass::PyClassImpl;
use pyo3::prelude::*;
use stridewise::Tensor;

use crate::gradients::Kept;
use crate::tensor::{PyTensor, shelf};

/// A tensor in its final place. It is there from before anyone else sees the object until the object goes.
///
/// Not a word longer than it must be: with one more the object does not fit into four cache lines.
pub(crate) struct Slot {
    tensor: UnsafeCell<MaybeUninit<Tensor>>,
    /// What is kept for gradients, in a box of the slot's own; `BARE` for a tensor without a history; null where there
    /// is no tensor, in an object that could not be made.
    kept: Cell<*mut Kept>,
}

/// There is a tensor, and nothing is kept for gradients. No box is at such an address.
const BARE: *mut Kept = ptr::without_provenance_mut(1);

// SAFETY: the tensor and what is kept are written once, by whoever makes the object, before the slot is shared; from
// then on they are only read, and both may be read from any thread.
unsafe impl Sync for Slot {}
// SAFETY: the slot owns the tensor and what is kept. Any thread may drop it that holds the interpreter's lock, as all do
// that have an object or make one.
unsafe impl Send for Slot {}

const _: () = {
    const fn is_sync_and_send<T: Sync + Send>() {}
    is_sync_and_send::<(Tensor, Kept)>();
    assert!(align_of::<Kept>() > 1);
    // With the two words that the collector of cycles has before each object.
    #[cfg(target_pointer_width = "64")]
    assert!(size_of::<<PyTensor as PyClassImpl>::Layout>() + 16 <= 4 * 64);
};

impl Slot {
    /// A tensor, and what is kept for gradients of it.
    pub(crate) fn new(tensor: Tensor, kept: Option<Box<Kept>>) -> Slot {
        Slot {
            tensor: UnsafeCell::new(MaybeUninit::new(tensor)),
            kept: Cell::new(kept.map_or(BARE, Box::into_raw)),
        }
    }

    /// What is kept for gradients.
    #[inline]
    pub(crate) fn kept(&self) -> Option<&Kept> {
        let kept = self.kept.get();
        if kept == BARE || kept.is_null() {
            return None;
        }
        // SAFETY: a box of this slot's own, which nobody writes to any more.
        Some(unsafe { &*kept })
    }

    /// Keeps this for gradients.
    ///
    /// # Safety
    /// The object is new: nobody else has looked at it or does so now. Nothing is kept yet.
    pub(crate) unsafe fn keep(&self, kept: Box<Kept>) {
        debug_assert!(self.kept.get() == BARE);
        self.kept.set(Box::into_raw(kept));
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
        let kept = self.kept.get();
        if kept.is_null() {
            return;
        }
        // SAFETY: the tensor is there, and goes with the slot; that is in an object, which goes under the lock.
        unsafe {
            let tensor = self.tensor.get_mut().assume_init_read();
            shelf::keep_storage(Python::assume_attached(), tensor);
        }
        if kept != BARE {
            // SAFETY: a box of this slot's own, and nobody can look into the slot any more.
            drop(unsafe { Box::from_raw(kept) });
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
    let mut moved = false;
    let object = object_with(py, |place| {
        // SAFETY: the tensor is the caller's to give away, and the place is that of a new object.
        unsafe { copy_words(tensor, place.as_mut_ptr()) };
        moved = true;
    });
    if !moved {
        // SAFETY: the caller leaves the tensor to us, and this is the last time anyone looks at it.
        drop(unsafe { ptr::read(tensor) });
    }
    object
}

/// A new Python object with the tensor that `write` writes.
#[inline(always)]
pub(crate) fn object_with<'py>(
    py: Python<'py>,
    write: impl FnOnce(&mut MaybeUninit<Tensor>),
) -> PyResult<Bound<'py, PyTensor>> {
    // What `Bound::new` does for a class on top of `object`, but that the memory is not cleared first, since nearly all
    // of it is written here, and that the collector of cycles is not told: it cannot follow a tensor to anything else.
    let new = shelf::again(py).unwrap_or_else(|| afresh(py));
    if new.is_null() {
        return Err(PyErr::fetch(py));
    }
    // SAFETY: a new object of that class, whose slot is looked into only to find its place.
    let object = unsafe { Bound::from_owned_ptr(py, new).cast_into_unchecked::<PyTensor>() };
    let slot = &object.get().inner;
    let place = slot.tensor.get();
    // SAFETY: the object is new, so nobody else looks into it. Zeros around the tensor are a slot with nothing in it,
    // and for PyO3 (which counts no borrows of a frozen class) no weak references.
    unsafe {
        let (start, tensor) = (new.cast::<u8>(), place.cast::<u8>());
        let size = size_of::<<PyTensor as PyClassImpl>::Layout>();
        let (head, before) = (
            size_of::<ffi::PyObject>(),
            tensor.offset_from_unsigned(start),
        );
        let after = before + size_of::<Tensor>();
        start.add(head).write_bytes(0, before - head);
        start.add(after).write_bytes(0, size - after);
        write(&mut *place);
    }
    slot.kept.set(BARE);
    Ok(object)
}

/// Memory for an object.
#[cold]
#[inline(never)]
fn afresh(py: Python<'_>) -> *mut ffi::PyObject {
    // SAFETY: the class is a heap type without a size of its own for each object.
    unsafe { ffi::PyObject_GC_New::<ffi::PyObject>(PyTensor::type_object_raw(py)) }
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
