//! Where objects that have been let go wait for their next tensor. Nearly every view is let go a moment after it was
//! made, so that asking the interpreter for memory and giving it back would be a good part of what the view costs.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_uint, c_void};
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

use crate::tensor::PyTensor;
use crate::tensor::index::subscript;

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
