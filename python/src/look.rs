//! What a Python object is, where an argument of an operator is wanted: plain ints by the shortest way, and everything
//! else by its type, by what it offers, or by its name.

use std::ffi::c_int;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyComplex, PyEllipsis, PyFloat, PyInt, PyList, PyRange, PySlice, PyString, PyTuple,
};
use smallvec::SmallVec;
use stridewise::call::{DEEPEST, Look};
use stridewise::table::ParamKind;

use crate::arguments::Object;
use crate::dtype::dtype;
use crate::foreign;
use crate::symbol::PySymbol;

/// A range longer than this is not meant as sizes or axes.
const LONGEST_RANGE: usize = 1 << 16;

/// The items of a list, each held for itself: what reads one may change the list.
pub(crate) enum Items<'py> {
    Tuple(Bound<'py, PyTuple>, usize),
    List(Bound<'py, PyList>, usize),
    Kept(std::vec::IntoIter<Bound<'py, PyAny>>),
}

impl<'py> Iterator for Items<'py> {
    type Item = Object<'py>;

    #[inline]
    fn next(&mut self) -> Option<Object<'py>> {
        match self {
            Items::Tuple(tuple, at) => {
                *at += 1;
                (*at <= tuple.len()).then(|| tuple.get_item(*at - 1).ok())?
            }
            Items::List(list, at) => {
                *at += 1;
                (*at <= list.len()).then(|| list.get_item(*at - 1).ok())?
            }
            Items::Kept(items) => items.next(),
        }
        .map(Object::from)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = match self {
            Items::Tuple(tuple, at) => tuple.len().saturating_sub(*at),
            Items::List(list, at) => list.len().saturating_sub(*at),
            Items::Kept(items) => items.len(),
        };
        (left, Some(left))
    }
}

impl ExactSizeIterator for Items<'_> {}

/// The number an object is, where it is an int and nothing more, and fits.
///
/// # Safety
/// The object is alive.
#[inline]
pub(crate) unsafe fn plain_number(object: *mut ffi::PyObject) -> Option<isize> {
    // SAFETY: the object is alive, and an int where it is read as one.
    let (number, far) = unsafe {
        if ffi::PyLong_CheckExact(object) == 0 {
            return None;
        }
        let mut far: c_int = 0;
        (ffi::PyLong_AsLongLongAndOverflow(object, &mut far), far)
    };
    isize::try_from(number).ok().filter(|_| far == 0)
}

/// Adds the items of a list or tuple, where they are plain ints all. No code of the user's runs meanwhile, so
/// that the list keeps its items.
#[inline]
pub(crate) fn plain_numbers(list: &Bound<'_, PyAny>, into: &mut SmallVec<[isize; 8]>) -> bool {
    let list = list.as_ptr();
    // SAFETY: the object is alive and the lock is held; each place is below the length, which no call here changes.
    unsafe {
        let tuple = ffi::PyTuple_CheckExact(list) != 0;
        if !tuple && ffi::PyList_CheckExact(list) == 0 {
            return false;
        }
        let len = match tuple {
            true => ffi::PyTuple_Size(list),
            false => ffi::PyList_Size(list),
        };
        for at in 0..len {
            let item = match tuple {
                true => ffi::PyTuple_GetItem(list, at),
                false => ffi::PyList_GetItem(list, at),
            };
            match plain_number(item) {
                Some(number) => into.push(number),
                None => return false,
            }
        }
    }
    true
}

#[inline]
pub(crate) fn whole<'a>(object: &Bound<'_, PyAny>) -> PyResult<Look<'a, usize>> {
    let mut far: c_int = 0;
    // SAFETY: the object is an int, and the place for the overflow is ours.
    let n = unsafe { ffi::PyLong_AsLongLongAndOverflow(object.as_ptr(), &mut far) };
    Ok(Look::Int(match far {
        0 => n.into(),
        // No size, axis or element is larger; past this the nearest end says so in the error.
        _ => object.extract::<i128>().unwrap_or(match far < 0 {
            true => i128::MIN,
            false => i128::MAX,
        }),
    }))
}

/// What an object of any other type is.
#[inline(never)]
pub(crate) fn seldom<'a>(
    object: &'a Bound<'_, PyAny>,
    wanted: ParamKind,
) -> PyResult<Look<'a, usize>> {
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Look::Text(text.to_str()?));
    }
    if let Ok(flag) = object.cast::<PyBool>() {
        return Ok(Look::Bool(flag.is_true()));
    }
    if object.is_instance_of::<PyEllipsis>() {
        return Ok(Look::Rest);
    }
    if let Ok(slice) = object.cast::<PySlice>() {
        return range(slice);
    }
    if let Ok(float) = object.cast::<PyFloat>() {
        return Ok(Look::Float(float.value()));
    }
    if let Ok(complex) = object.cast::<PyComplex>() {
        return Ok(Look::Complex(complex.real(), complex.imag()));
    }
    if object.is_instance_of::<PyInt>() {
        return whole(object);
    }
    if object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyList>() {
        return Ok(Look::List);
    }
    if let Ok(symbol) = object.cast::<PySymbol>() {
        return Ok(Look::Symbol(&symbol.get().0));
    }
    if object.is_instance_of::<PyRange>()
        && (wanted == ParamKind::Tensor || object.len().is_ok_and(|n| n <= LONGEST_RANGE))
    {
        return Ok(Look::List);
    }
    if let Some(dtype) = dtype(object)? {
        return Ok(Look::DType(dtype));
    }
    let is_array = foreign::is_array(object)?;
    if (wanted != ParamKind::Tensor || !is_array)
        && let Some(number) = number(object, wanted)?
    {
        return Ok(number);
    }
    if is_array {
        return Ok(Look::Tensor);
    }
    Ok(Look::Other(object.get_type().name()?.to_string()))
}

/// Whether one number of any type is wanted.
pub(crate) fn is_scalar(wanted: ParamKind) -> bool {
    use ParamKind::{Bool, OptionalScalar, Scalar};
    matches!(wanted, Bool | Scalar | OptionalScalar)
}

/// The number that an object of another library stands for; `None` where it stands for none.
pub(crate) fn number<'a>(
    object: &Bound<'_, PyAny>,
    wanted: ParamKind,
) -> PyResult<Option<Look<'a, usize>>> {
    let py = object.py();
    // Some libraries take an array of one element, or a bool, for a number; a size or an axis is neither.
    let shape = foreign::shape::shape(object)?;
    let odd = match &shape {
        Some(shape) => !shape.is_empty() || foreign::shape::is_bool(object)?,
        None => false,
    };
    // SAFETY: asks about a live object.
    if !odd && unsafe { ffi::PyIndex_Check(object.as_ptr()) } != 0 {
        // SAFETY: the object has an `__index__`; a new reference or an exception comes back.
        let index =
            unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyNumber_Index(object.as_ptr())) };
        match index {
            Ok(index) => return whole(&index).map(Some),
            // An array of several elements has an `__index__` too, which refuses.
            Err(refused) if refused.is_instance_of::<PyTypeError>(py) => {}
            Err(other) => return Err(other),
        }
    }
    if !is_scalar(wanted) || !matches!(shape.as_deref(), Some([])) {
        return Ok(None);
    }
    // A NumPy scalar or a 0-d array.
    let item = object.call_method0("item")?;
    Ok(match item.cast::<PyBool>() {
        Ok(flag) => Some(Look::Bool(flag.is_true())),
        Err(_) => match item.cast::<PyFloat>() {
            Ok(float) => Some(Look::Float(float.value())),
            Err(_) => item
                .cast::<PyComplex>()
                .ok()
                .map(|z| Look::Complex(z.real(), z.imag())),
        },
    })
}

fn range<'a>(slice: &Bound<'_, PySlice>) -> PyResult<Look<'a, usize>> {
    let part = |name: &str| -> PyResult<Option<isize>> {
        let value = slice.getattr(name)?;
        if value.is_none() {
            return Ok(None);
        }
        let Some(Look::Int(n)) = number(&value, ParamKind::Int)? else {
            return Err(PyTypeError::new_err(
                "the parts of a slice are ints or None",
            ));
        };
        // Ends past counting mean the same as the furthest one.
        Ok(Some(
            n.clamp(isize::MIN as i128, isize::MAX as i128) as isize
        ))
    };
    Ok(Look::Range(part("start")?, part("stop")?, part("step")?))
}

/// Whether nested lists, no deeper than those that stand for arrays, hold such an object.
pub(crate) fn any_item(
    object: &Bound<'_, PyAny>,
    such: &mut dyn FnMut(&Bound<'_, PyAny>) -> PyResult<bool>,
) -> PyResult<bool> {
    any_below(object, such, 0)
}

fn any_below(
    object: &Bound<'_, PyAny>,
    such: &mut dyn FnMut(&Bound<'_, PyAny>) -> PyResult<bool>,
    level: usize,
) -> PyResult<bool> {
    if !object.is_instance_of::<PyList>() && !object.is_instance_of::<PyTuple>() {
        return such(object);
    }
    if level < DEEPEST {
        for item in object.try_iter()? {
            if any_below(&item?, such, level + 1)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
