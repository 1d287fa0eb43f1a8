//! `x.T` and `x.mT`: attributes that are views, read as often as operators are called and by as short a way.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::ffi::{CStr, c_void};
use stridewise::operators::{Swapaxes, Transpose};
use stridewise::params::Axes;
use stridewise::prelude::*;
use stridewise::size::tuple;
use stridewise::{Error, Operator, Result, Var};

use crate::errors::{OrRaise, exception};
use crate::gradients;
use crate::tensor::slots::answer;
use crate::tensor::{Objects, PyTensor};

/// The axes reversed.
unsafe extern "C" fn reversed(x: *mut ffi::PyObject, _: *mut c_void) -> *mut ffi::PyObject {
    // SAFETY: the descriptor checks that it is a tensor, and the interpreter's lock is held.
    unsafe {
        view(
            x,
            |_| Ok(Transpose { axes: Axes::All }),
            |x| x.transpose(..),
        )
    }
}

/// The last two axes swapped.
unsafe extern "C" fn swapped(x: *mut ffi::PyObject, _: *mut c_void) -> *mut ffi::PyObject {
    let last_two = |x: &Tensor| match x.rank() {
        0 | 1 => Err(too_few(x)),
        _ => Ok(Swapaxes { a: -2, b: -1 }),
    };
    let noted = |x: &Var<Cpu>| match x.value().rank() {
        0 | 1 => Err(too_few(x.value())),
        _ => x.swapaxes(-2, -1),
    };
    // SAFETY: as above.
    unsafe { view(x, last_two, noted) }
}

#[cold]
fn too_few(x: &Tensor) -> Error {
    let rank = x.rank();
    let message = format!("the last two axes are swapped, but the tensor has rank {rank}");
    let error = Error::shape(message).within("mT").sizes(2, rank);
    error.note("shape", tuple(x.shape()))
}

/// A view as an attribute gives it: of the tensor alone, or of one with a history. PyO3 is told that the lock is held
/// only where it matters.
///
/// # Safety
/// The object is a tensor, and the interpreter's lock is held.
#[inline(always)]
unsafe fn view<O: for<'py> Operator<Objects<'py>, Output = Bound<'py, PyTensor>>>(
    x: *mut ffi::PyObject,
    plain: impl Fn(&Tensor) -> Result<O>,
    noted: impl Fn(&Var<Cpu>) -> Result<Var<Cpu>>,
) -> *mut ffi::PyObject {
    // SAFETY: the lock is held.
    let py = unsafe { Python::assume_attached() };
    let work = || {
        // SAFETY: the interpreter lends a tensor for the time of the call.
        let x = unsafe { Bound::ref_from_ptr(py, &x).cast_unchecked::<PyTensor>() };
        match gradients::tracked(x.get()) {
            None => plain(&x.get().inner)
                .and_then(|operator| Objects(py).apply(&operator, &[x]))
                .map_err(|error| Python::attach(|py| exception(py, &error))),
            Some(x) => Python::attach(|_| gradients::var_object(py, noted(&x).or_raise(py)?)),
        }
    };
    answer(work)
}

/// Adds the attributes to the class.
pub(super) fn register(py: Python<'_>) -> PyResult<()> {
    let class = py.get_type::<PyTensor>();
    let add = |name: &'static CStr, doc: &'static CStr, get: ffi::getter| -> PyResult<()> {
        // As long as the process, as the interpreter asks.
        let definition = Box::leak(Box::new(ffi::PyGetSetDef {
            name: name.as_ptr(),
            get: Some(get),
            set: None,
            doc: doc.as_ptr(),
            closure: std::ptr::null_mut(),
        }));
        // SAFETY: the definition is never freed, and the class is a heap type that takes attributes.
        let attribute = unsafe {
            let attribute = ffi::PyDescr_NewGetSet(class.as_type_ptr(), definition);
            Bound::from_owned_ptr_or_err(py, attribute)?
        };
        class.setattr(
            attribute.getattr("__name__")?.cast::<PyString>()?,
            attribute,
        )
    };
    add(c"T", c"The axes reversed.", reversed)?;
    add(c"mT", c"The last two axes swapped.", swapped)
}
