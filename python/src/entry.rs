//! Every operator of the table as a function of the module and, where it has a first tensor, as a method of
//! `Tensor`: one C function for each, called without a tuple of arguments in between.

use std::ffi::{CString, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use stridewise::call::Args;
use stridewise::operators::{Dim, Dims, TABLE, call};
use stridewise::table::{Arity, Entry, Kind, Outcome};
use stridewise::{Cpu, Tensor};

use crate::arguments::{Argument, argument};
use crate::errors::exception;
use crate::foreign;
use crate::tensor::PyTensor;

/// More than the table has lines; a test holds it to that.
const MOST: usize = 64;

type Fast = ffi::PyCFunctionFastWithKeywords;

/// The C functions, one for each line of the table.
static FUNCTIONS: [Fast; MOST] = {
    macro_rules! functions {
        ($($n:literal)*) => { [$(function::<$n>),*] };
    }
    functions! {
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
    }
};

static METHODS: [Fast; MOST] = {
    macro_rules! methods {
        ($($n:literal)*) => { [$(method::<$n>),*] };
    }
    methods! {
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
    }
};

unsafe extern "C" fn function<const OP: usize>(
    _module: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls with its lock held and with `count` arguments, then one for each name.
    unsafe { enter(&TABLE[OP], None, args, count, names) }
}

unsafe extern "C" fn method<const OP: usize>(
    receiver: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as above; the receiver is a Tensor, since the descriptor checks that.
    unsafe { enter(&TABLE[OP], Some(receiver), args, count, names) }
}

/// # Safety
/// The interpreter's lock is held; `args` has `count` objects and one more for each of `names`, a tuple or null.
unsafe fn enter(
    entry: &'static Entry,
    receiver: Option<*mut ffi::PyObject>,
    args: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the caller holds the lock.
    let py = unsafe { Python::assume_attached() };
    let work = || -> PyResult<Py<PyAny>> {
        // SAFETY: the interpreter lends the objects for the time of the call.
        let object = |at: usize| unsafe { Bound::from_borrowed_ptr(py, *args.add(at)) };
        let mut given: Vec<Bound<'_, PyAny>> = Vec::with_capacity(count as usize + 1);
        if let Some(receiver) = receiver {
            // SAFETY: as above.
            given.push(unsafe { Bound::from_borrowed_ptr(py, receiver) });
        }
        given.extend((0..count as usize).map(object));
        let mut named = Vec::new();
        if !names.is_null() {
            // SAFETY: the interpreter passes a tuple of strings.
            let names =
                unsafe { Bound::from_borrowed_ptr(py, names).cast_into_unchecked::<PyTuple>() };
            for (at, name) in names.iter().enumerate() {
                named.push((name.extract::<String>()?, object(count as usize + at)));
            }
        }
        run(py, entry, given, named)
    };
    let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(PyRuntimeError::new_err(format!(
            "{}: an internal error, which is a bug in stridewise",
            entry.name
        )))
    });
    match result {
        Ok(value) => value.into_ptr(),
        Err(error) => {
            error.restore(py);
            std::ptr::null_mut()
        }
    }
}

fn run<'py>(
    py: Python<'py>,
    entry: &'static Entry,
    mut given: Vec<Bound<'py, PyAny>>,
    named: Vec<(String, Bound<'py, PyAny>)>,
) -> PyResult<Py<PyAny>> {
    let mut node = None;
    let mut keywords: Vec<(String, Argument)> = Vec::with_capacity(named.len());
    for (name, value) in named {
        match name.as_str() {
            "name" => node = node_name(&value)?,
            "out" if entry.name == "take" && value.is_none() => {}
            // The first tensor by name is the first argument.
            _ if name == entry.receiver && given.is_empty() && entry.arity != Arity::None => {
                given.push(value)
            }
            _ => keywords.push((name, argument(&value)?)),
        }
    }
    let raised = |error: stridewise::Error| {
        let error = error.within(entry.name);
        exception(
            py,
            &match &node {
                Some(node) => error.named(node.clone()),
                None => error,
            },
        )
    };
    if entry.name == "enforce_shape"
        && let Some(receiver) = given.first()
        && !receiver.is_instance_of::<PyTensor>()
        && let Some(shape) = foreign::shape::shape(receiver)?
    {
        let rest = given[1..]
            .iter()
            .map(argument)
            .collect::<PyResult<Vec<_>>>()?;
        let dims = foreign::shape::enforce(&shape, rest, keywords).map_err(raised)?;
        return checked(py, receiver.clone(), &dims);
    }
    let positional = given.iter().map(argument).collect::<PyResult<Vec<_>>>()?;
    let args = Args {
        positional,
        named: keywords,
    };
    let outcome = if entry.kind == Kind::View {
        call(&Cpu, entry.name, args)
    } else {
        py.detach(|| call(&Cpu, entry.name, args))
    };
    match outcome.map_err(raised)? {
        Outcome::One(x) => Ok(same_or_new(py, x, given.first())?),
        Outcome::Many(xs) => {
            let xs = xs.into_iter().enumerate().map(|(at, x)| {
                let origin = if entry.arity == Arity::Each {
                    given.get(at)
                } else {
                    None
                };
                same_or_new(py, x, origin)
            });
            Ok(PyList::new(py, xs.collect::<PyResult<Vec<_>>>()?)?
                .into_any()
                .unbind())
        }
        Outcome::Checked((x, dims)) => {
            let x = same_or_new(py, x, given.first())?;
            checked(py, x.into_bound(py), &dims)
        }
    }
}

/// The result as an object: the very object that was given, where it is the very tensor.
fn same_or_new(
    py: Python<'_>,
    x: Tensor,
    origin: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    if let Some(origin) = origin
        && let Ok(tensor) = origin.cast::<PyTensor>()
    {
        let given = &tensor.get().inner;
        if given.shares_storage_with(&x)
            && given.layout() == x.layout()
            && given.dtype() == x.dtype()
        {
            return Ok(origin.clone().unbind());
        }
    }
    Ok(Py::new(py, PyTensor { inner: x })?.into_any())
}

fn checked(py: Python<'_>, x: Bound<'_, PyAny>, dims: &Dims<usize>) -> PyResult<Py<PyAny>> {
    let entries = dims.iter().map(|dim| match dim {
        Dim::Size(size) => Ok(size.into_pyobject(py)?.into_any()),
        Dim::Rest(axes, count) => Ok((PyTuple::new(py, axes)?, *count)
            .into_pyobject(py)?
            .into_any()),
    });
    let entries = PyList::new(py, entries.collect::<PyResult<Vec<_>>>()?)?;
    Ok((x, entries).into_pyobject(py)?.into_any().unbind())
}

fn node_name(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if value.is_none() {
        return Ok(None);
    }
    match value.cast::<PyString>() {
        Ok(text) => Ok(Some(text.to_cow()?.into_owned())),
        Err(_) => Err(PyTypeError::new_err("name is a string or None")),
    }
}

/// Adds every operator to the module and to the type.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let class = py.get_type::<PyTensor>();
    for (at, entry) in TABLE.iter().enumerate() {
        let Some((function, method)) = FUNCTIONS.get(at).zip(METHODS.get(at)) else {
            return Err(PyRuntimeError::new_err(
                "the operator table has outgrown the module",
            ));
        };
        let def = definition(entry, *function);
        // SAFETY: the definition is never freed, and its function has the type its flags say.
        let function = unsafe {
            Bound::from_owned_ptr_or_err(
                py,
                ffi::PyCFunction_NewEx(def, std::ptr::null_mut(), std::ptr::null_mut()),
            )?
        };
        module.add(entry.name, function)?;
        if matches!(entry.arity, Arity::One | Arity::Each) {
            let def = definition(entry, *method);
            // SAFETY: as above; the type is a heap type that takes attributes.
            let method = unsafe {
                Bound::from_owned_ptr_or_err(py, ffi::PyDescr_NewMethod(class.as_type_ptr(), def))?
            };
            class.setattr(entry.name, method)?;
        }
    }
    Ok(())
}

/// A definition that lives as long as the process, as the interpreter asks.
fn definition(entry: &Entry, function: Fast) -> *mut ffi::PyMethodDef {
    let text = |text: String| CString::new(text).unwrap_or_default().into_raw();
    let doc = format!("{}\n\n{}", entry.signature(), entry.summary);
    Box::into_raw(Box::new(ffi::PyMethodDef {
        ml_name: text(entry.name.to_string()),
        ml_meth: ffi::PyMethodDefPointer {
            PyCFunctionFastWithKeywords: function,
        },
        ml_flags: (ffi::METH_FASTCALL | ffi::METH_KEYWORDS) as c_int,
        ml_doc: text(doc),
    }))
}
