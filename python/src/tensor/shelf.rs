//! Where objects that have been let go wait for their next tensor. Nearly every view is let go a moment after it was
//! made, so that asking the interpreter for memory and giving it back would be a good part of what the view costs.

use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::PyTypeInfo;
use pyo3::ffi;
use pyo3::impl_::pycell::PyClassObjectBaseLayout;
use pyo3::impl_::pyclass::PyClassBaseType;
use pyo3::prelude::*;
use pyo3::pycell::PyBorrowError;
use pyo3::type_object::PyLayout;

use crate::tensor::PyTensor;

/// More objects than a line of code makes and lets go.
const ROOM: usize = 64;

/// Objects of the very class `Tensor`, without a reference to them and without a tensor in them; each still has its
/// reference to the class.
struct Shelf(UnsafeCell<Objects>);

struct Objects {
    count: usize,
    kept: [*mut ffi::PyObject; ROOM],
}

// SAFETY: only reached by threads that hold the interpreter's lock; where there is none, `open` leaves it unused.
unsafe impl Sync for Shelf {}

static SHELF: Shelf = Shelf(UnsafeCell::new(Objects {
    count: 0,
    kept: [ptr::null_mut(); ROOM],
}));

/// The class whose objects are kept; null where none are.
static CLASS: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(ptr::null_mut());

/// The class `Tensor`, once the module is loaded.
static EXACT: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(ptr::null_mut());

/// Whether an object is a tensor and of no subclass. Says no to all until the module is loaded.
///
/// # Safety
/// The object is alive.
#[inline]
pub(crate) unsafe fn is_plain_tensor(object: *mut ffi::PyObject) -> bool {
    // SAFETY: the object is alive.
    let class = unsafe { ffi::Py_TYPE(object) };
    ptr::eq(class, EXACT.load(Ordering::Relaxed))
}

/// Begins to keep objects, if threads take turns: an interpreter without a lock would need one here.
pub(crate) fn open(py: Python<'_>) -> PyResult<()> {
    let class = PyTensor::type_object_raw(py);
    EXACT.store(class, Ordering::Relaxed);
    let version: String = py.import("sys")?.getattr("version")?.extract()?;
    if !version.contains("free-threading") {
        CLASS.store(class, Ordering::Relaxed);
    }
    Ok(())
}

/// An object of the class `Tensor` that was kept, with one reference, which is the caller's. All behind its head is
/// to be written.
#[inline]
pub(super) fn again(_py: Python<'_>) -> Option<*mut ffi::PyObject> {
    // SAFETY: the interpreter's lock is held, as the token says, and nothing here lets go of it.
    let shelf = unsafe { &mut *SHELF.0.get() };
    let last = shelf.count.checked_sub(1)?;
    let object = *shelf.kept.get(last)?;
    shelf.count = last;
    // SAFETY: an object that nobody has a reference to. Its count is its first word in all versions of the interface
    // that have a lock, and is written so by the interpreter itself for a new object.
    unsafe { object.cast::<ffi::Py_ssize_t>().write(1) };
    Some(object)
}

/// Keeps an object, if it is of the class and there is room.
///
/// # Safety
/// The object has no references, its tensor is gone, and the collector of cycles does not know it.
#[inline]
unsafe fn keep(_py: Python<'_>, object: *mut ffi::PyObject) -> bool {
    // SAFETY: the object's head is still there.
    let class = unsafe { ffi::Py_TYPE(object) };
    if !ptr::eq(class, CLASS.load(Ordering::Relaxed)) {
        return false;
    }
    // SAFETY: as in `again`.
    let shelf = unsafe { &mut *SHELF.0.get() };
    let Some(place) = shelf.kept.get_mut(shelf.count) else {
        return false;
    };
    *place = object;
    shelf.count += 1;
    true
}

/// Python's `object` as the base of `Tensor`; the same class under another name, since what PyO3 does with an object
/// that goes depends on the base it was told of.
pub(crate) struct Base;

// SAFETY: it is the class `object`, which every object is of.
unsafe impl PyTypeInfo for Base {
    #[inline]
    fn type_object_raw(py: Python<'_>) -> *mut ffi::PyTypeObject {
        PyAny::type_object_raw(py)
    }
}

impl PyClassBaseType for Base {
    type LayoutAsBase = Head;
    type BaseNativeType = PyAny;
    type Initializer = pyo3::impl_::pyclass_init::PyNativeTypeInitializer<Self>;
    type PyClassMutability = <PyAny as PyClassBaseType>::PyClassMutability;
    type Layout<T: pyo3::impl_::pyclass::PyClassImpl> = <PyAny as PyClassBaseType>::Layout<T>;
}

/// What every object begins with.
#[repr(C)]
pub(crate) struct Head(ffi::PyObject);

// SAFETY: it is the layout of `object`.
unsafe impl PyLayout<Base> for Head {}

impl PyClassObjectBaseLayout<Base> for Head {
    fn ensure_threadsafe(&self) {}

    fn check_threadsafe(&self) -> Result<(), PyBorrowError> {
        Ok(())
    }

    #[inline]
    unsafe fn tp_dealloc(py: Python<'_>, object: *mut ffi::PyObject) {
        // SAFETY: PyO3 has dropped what was in the object and taken it from the collector; it goes unless it is kept.
        unsafe {
            if !keep(py, object) {
                <PyAny as PyClassBaseType>::LayoutAsBase::tp_dealloc(py, object);
            }
        }
    }
}
