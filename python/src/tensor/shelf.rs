//! Where objects that have been let go wait for their next tensor, and small storages for their next elements. Nearly
//! every small result is let go a moment after it was made, so that asking for memory and giving it back would be a good
//! part of what it costs.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_uint, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::PyTypeInfo;
use pyo3::ffi;
use pyo3::impl_::pycell::PyClassObjectBaseLayout;
use pyo3::impl_::pyclass::PyClassBaseType;
use pyo3::prelude::*;
use pyo3::pycell::PyBorrowError;
use pyo3::sync::PyOnceLock;
use pyo3::type_object::PyLayout;
use pyo3::types::PyType;

use stridewise::Tensor;
use stridewise::internals::primitives::{Room, Rooms, Spare};
use stridewise::internals::storage::{Arc, SMALL, Storage};

use crate::tensor::PyTensor;
use crate::tensor::index::subscript;

/// More objects than a line of code makes and lets go.
const ROOM: usize = 64;

/// A few things of a kind.
struct Shelf<T>(UnsafeCell<Things<T>>);

struct Things<T> {
    count: usize,
    /// The first `count` of them are there.
    kept: [MaybeUninit<T>; ROOM],
}

// SAFETY: only reached by threads that hold the interpreter's lock; where there is none, `open` sees to it that nothing is
// ever put there.
unsafe impl<T: Send> Sync for Shelf<T> {}

impl<T> Shelf<T> {
    const fn new() -> Shelf<T> {
        Shelf(UnsafeCell::new(Things {
            count: 0,
            kept: [const { MaybeUninit::uninit() }; ROOM],
        }))
    }

    /// The last thing that was put there.
    #[inline]
    fn take(&self, _py: Python<'_>) -> Option<T> {
        // SAFETY: the interpreter's lock is held, as the token says, and nothing here lets go of it.
        let shelf = unsafe { &mut *self.0.get() };
        let last = shelf.count.checked_sub(1)?;
        let thing = shelf.kept.get(last)?;
        shelf.count = last;
        // SAFETY: it was below the count, and no longer is.
        Some(unsafe { thing.assume_init_read() })
    }

    /// Puts a thing there, or gives it back where there is no room.
    #[inline]
    fn put(&self, _py: Python<'_>, thing: T) -> Result<(), T> {
        // SAFETY: as in `take`.
        let shelf = unsafe { &mut *self.0.get() };
        let Some(place) = shelf.kept.get_mut(shelf.count) else {
            return Err(thing);
        };
        place.write(thing);
        shelf.count += 1;
        Ok(())
    }
}

/// An object of the very class `Tensor`, without a reference to it and without a tensor in it; it still has its reference
/// to the class.
struct Empty(*mut ffi::PyObject);

// SAFETY: nobody else has it.
unsafe impl Send for Empty {}

static EMPTY: Shelf<Empty> = Shelf::new();

/// Storage of a few bytes that nobody else has.
static SPARE: Shelf<Arc<Storage>> = Shelf::new();

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
pub(super) fn again(py: Python<'_>) -> Option<*mut ffi::PyObject> {
    let Empty(object) = EMPTY.take(py)?;
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
unsafe fn keep(py: Python<'_>, object: *mut ffi::PyObject) -> bool {
    // SAFETY: the object's head is still there.
    let class = unsafe { ffi::Py_TYPE(object) };
    ptr::eq(class, CLASS.load(Ordering::Relaxed)) && EMPTY.put(py, Empty(object)).is_ok()
}

/// Lets a tensor go, but keeps its storage if that is small, nobody else has it and there is room.
#[inline]
pub(super) fn keep_storage(py: Python<'_>, tensor: Tensor) {
    if let Some(storage) = tensor.into_spare()
        && !CLASS.load(Ordering::Relaxed).is_null()
    {
        // Where there is no room it goes.
        let _ = SPARE.put(py, storage);
    }
}

/// Memory that was kept, for a result that is small enough; otherwise from the pool.
pub(super) struct Spares<'py>(pub(super) Python<'py>);

// SAFETY: as for [`Spare`].
unsafe impl Rooms for Spares<'_> {
    #[inline]
    fn room(&self, bytes: usize) -> stridewise::Result<Room> {
        let spare = match bytes <= SMALL {
            true => SPARE.take(self.0),
            false => None,
        };
        Spare::new(spare).room(bytes)
    }
}

/// The base of `Tensor`: like Python's `object`, but that it has `x[...]`, which a class of PyO3's can have only with
/// more around it than the view itself takes. What PyO3 does with an object that goes depends on the base as well.
pub(crate) struct Base;

// SAFETY: it is a class with the layout of `object`, which is made once and never goes.
unsafe impl PyTypeInfo for Base {
    fn type_object_raw(py: Python<'_>) -> *mut ffi::PyTypeObject {
        static MADE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let class = MADE.get_or_init(py, || match indexed(py) {
            Ok(class) => class,
            // As PyO3 does where a class cannot be made: there is no module without it.
            Err(error) => panic!("the base of Tensor could not be made: {error}"),
        });
        class.as_ptr().cast()
    }
}

/// Makes the class with `x[...]`.
fn indexed(py: Python<'_>) -> PyResult<Py<PyType>> {
    let mut slots = [
        ffi::PyType_Slot {
            slot: ffi::Py_mp_subscript,
            pfunc: subscript as *mut c_void,
        },
        ffi::PyType_Slot {
            slot: 0,
            pfunc: ptr::null_mut(),
        },
    ];
    let mut spec = ffi::PyType_Spec {
        name: c"stridewise.Indexed".as_ptr(),
        basicsize: size_of::<ffi::PyObject>() as c_int,
        itemsize: 0,
        flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_BASETYPE) as c_uint,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the interpreter copies what it is given but the name, which lives as long as the program. The function
    // looks at what it is called on, which may be of another class on top of this one.
    unsafe {
        let class = ffi::PyType_FromSpec(&mut spec);
        Ok(Bound::from_owned_ptr_or_err(py, class)?
            .cast_into_unchecked::<PyType>()
            .unbind())
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
