//! Every operator of the table as a function of the module and, where it has a first tensor, as a method of
//! `Tensor`: one C function for each, called without a tuple of arguments in between.

use std::borrow::Borrow;
use std::ffi::{CString, c_int};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::impl_::trampoline::MethodDef;
use pyo3::impl_::trampoline::fastcall_cfunction_with_keywords as entry;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use smallvec::SmallVec;
use stridewise::call::{Bound as Matched, Failure};
use stridewise::operators::{TABLE, call_at, call_line};
use stridewise::params::Mode;
use stridewise::table::{Arity, Entry};
use stridewise::{Cpu, Error, Tensor, take_into};

use crate::arguments::{Object, Raised};
use crate::docs::docstring;
use crate::elsewhere;
use crate::foreign;
use crate::globals::PyGlobal;
use crate::gpu::PyGpu;
use crate::gradients;
use crate::graphs::{self, symbolic::PySymbolic};
use crate::seldom;
use crate::tensor::{Objects, PyTensor, is_plain_tensor};

type Fast = ffi::PyCFunctionFastWithKeywords;

/// What a call comes in through.
type Entrance = entry::Func;

/// The arguments of a call by position.
type Positional<'py> = SmallVec<[Object<'py>; 8]>;

/// The arguments of a call by name.
type Keywords<'a, 'py> = SmallVec<[(&'a str, Object<'py>); 4]>;

macro_rules! each_line {
    ($($n:literal)*) => {
        /// The C functions, one for each line of the table.
        static FUNCTIONS: &[Fast] = &[$(function::<$n>),*];
        /// The same as methods.
        static METHODS: &[Fast] = &[$(method::<$n>),*];
    };
}

// More than the table has lines, which `register` holds it to.
each_line! {
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
}

/// How many arguments a call by the shortest way has at most, the tensor among them.
const FEW: usize = 8;

/// A function of the module.
unsafe extern "C" fn function<const LINE: usize>(
    module: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls with `count` arguments, then one for each name, and holds its lock.
    unsafe {
        if names.is_null() && count > 0 && is_short::<LINE>(*args, count as usize) {
            return short::<LINE>(*args, args.add(1), count as usize - 1);
        }
        entry::<Function<LINE>>(module, args, count, names)
    }
}

/// A method.
unsafe extern "C" fn method<const LINE: usize>(
    receiver: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as above; the receiver is a Tensor, since the descriptor checks that.
    unsafe {
        if names.is_null() && is_short::<LINE>(receiver, count as usize + 1) {
            return short::<LINE>(receiver, args, count as usize);
        }
        entry::<Method<LINE>>(receiver, args, count, names)
    }
}

/// Whether a call has nothing that takes more than matching its arguments by position: it is on a tensor, with a few
/// arguments of the operator's own and without gradients and graphs.
///
/// # Safety
/// The object is alive.
#[inline(always)]
unsafe fn is_short<const LINE: usize>(first: *mut ffi::PyObject, count: usize) -> bool {
    let most = const {
        let entry = &TABLE[line::<LINE>()];
        match entry.arity {
            Arity::One if entry.is_variadic() => FEW,
            Arity::One => entry.params.len() + 1,
            Arity::Each => 1,
            Arity::Many | Arity::None => 0,
        }
    };
    // SAFETY: the object is alive.
    count <= most && !seldom::ever() && unsafe { is_plain_tensor(first) }
}

/// The line itself, or any other for one that the table does not have.
const fn line<const LINE: usize>() -> usize {
    if LINE < TABLE.len() { LINE } else { 0 }
}

/// A call by the shortest way: compiled for its operator, and without PyO3's entry, which notes in a place of the
/// thread's own that the interpreter's lock is held. See [`Object`] for what makes up for that.
///
/// # Safety
/// `is_short` says so for the first object and the `count` others, which live as long as the call; the interpreter's
/// lock is held.
#[inline(never)]
unsafe fn short<const LINE: usize>(
    first: *mut ffi::PyObject,
    others: *const *mut ffi::PyObject,
    count: usize,
) -> *mut ffi::PyObject {
    let work = || {
        // SAFETY: the lock is held.
        let py = unsafe { Python::assume_attached() };
        // Written where they stay, and never dropped, which lent objects need not be.
        let mut lent = [const { MaybeUninit::<Object<'_>>::uninit() }; FEW];
        // SAFETY: the objects are lent for the time of the call, and there are at most as many as there are places.
        let given = unsafe {
            lent[0].write(Object::lent(py, first));
            for at in 0..count {
                lent.get_unchecked_mut(at + 1)
                    .write(Object::lent(py, *others.add(at)));
            }
            std::slice::from_raw_parts(lent.as_ptr().cast::<Object<'_>>(), count + 1)
        };
        // What leaves the work is a pointer: a result with an error in it is large, and would be moved.
        match call_line::<LINE, _, _, _>(&Objects(py), given) {
            Ok(answer) => answer.into_ptr(),
            Err(raised) => fail(LINE, Some(raised)),
        }
    };
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| fail(LINE, None))
}

/// Raises what came of a call by the shortest way, or that it panicked.
#[cold]
#[inline(never)]
fn fail(line: usize, raised: Option<Raised>) -> *mut ffi::PyObject {
    Python::attach(|py| {
        let error = match raised {
            Some(raised) => raised.exception(py, TABLE[line].name, None),
            None => bug(line),
        };
        error.restore(py);
    });
    std::ptr::null_mut()
}

/// What a panic becomes.
#[cold]
fn bug(line: usize) -> PyErr {
    PyRuntimeError::new_err(format!(
        "{}: an internal error, which is a bug in stridewise",
        TABLE.get(line).map_or("?", |entry| entry.name)
    ))
}

/// An operator as a function of the module.
struct Function<const LINE: usize>;

/// The same as a method.
struct Method<const LINE: usize>;

// The interpreter calls with its lock held, and PyO3 must know that: it lets objects go at once only where it
// does. Its own entry notes it in a counter, at a fraction of what `Python::attach` costs.
impl<const LINE: usize> MethodDef<Entrance> for Function<LINE> {
    const METH: Entrance = |py, _module, args, count, names| {
        // SAFETY: the interpreter calls with `count` arguments, then one for each name.
        unsafe { enter::<LINE>(py, None, args, count, names) }
    };
}

impl<const LINE: usize> MethodDef<Entrance> for Method<LINE> {
    const METH: Entrance = |py, receiver, args, count, names| {
        // SAFETY: as above; the receiver is a Tensor, since the descriptor checks that.
        unsafe { enter::<LINE>(py, Some(receiver), args, count, names) }
    };
}

/// # Safety
/// `args` has `count` objects and one more for each of `names`, a tuple or null.
#[inline]
unsafe fn enter<const LINE: usize>(
    py: Python<'_>,
    receiver: Option<*mut ffi::PyObject>,
    args: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> PyResult<*mut ffi::PyObject> {
    let work = || -> PyResult<Py<PyAny>> {
        let count = usize::try_from(count).unwrap_or(0);
        // SAFETY: the interpreter lends the objects, none of them null, for the time of the call.
        let lent = |object| unsafe { Object::lent(py, object) };
        // SAFETY: `at` is below the number of arguments.
        let object = |at: usize| lent(unsafe { *args.add(at) });
        let mut given = Positional::new();
        if let Some(receiver) = receiver {
            given.push(lent(receiver));
        }
        given.extend((0..count).map(object));
        if names.is_null() {
            return run(py, LINE, &mut given, &mut Keywords::new(), None);
        }
        // SAFETY: the interpreter passes a tuple of strings.
        let names = unsafe { Bound::from_borrowed_ptr(py, names).cast_into_unchecked::<PyTuple>() };
        let words = names.iter().map(|name| Ok(name.cast_into::<PyString>()?));
        let words = words.collect::<PyResult<SmallVec<[_; 4]>>>()?;
        let mut named = Keywords::new();
        let mut node = None;
        for (at, word) in words.iter().enumerate() {
            match word.to_str()? {
                "name" => node = Some(object(count + at)),
                name => named.push((name, object(count + at))),
            }
        }
        run(py, LINE, &mut given, &mut named, node)
    };
    let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(bug(LINE)));
    result.map(Py::into_ptr)
}

#[inline]
fn run<'py>(
    py: Python<'py>,
    line: usize,
    given: &mut Positional<'py>,
    named: &mut Keywords<'_, 'py>,
    mut node: Option<Object<'py>>,
) -> PyResult<Py<PyAny>> {
    let entry = &TABLE[line];
    let most = entry.params.len() + usize::from(entry.arity != Arity::None);
    let mut out = None;
    let counted = match entry.arity {
        Arity::One | Arity::None => !entry.is_variadic(),
        // Several tensors may stand one by one.
        Arity::Many => given.first().is_some_and(Object::is_list),
        Arity::Each => false,
    };
    let result = match given.len() > most && counted {
        true => beyond(entry, most, given, &mut out, &mut node),
        false => Ok(()),
    };
    let result = result.and_then(|()| keyword_out(entry, named, &mut out));
    if let Err(error) = result {
        return Err(Raised::Ours(error).exception(py, entry.name, None));
    }
    let label = match node {
        Some(node) => match read_name(&node) {
            Ok(label) => label,
            Err(raised) => return Err(raised.exception(py, entry.name, None)),
        },
        None => None,
    };
    answer(py, line, entry, given, named, out, label.as_ref())
        .map_err(|raised| raised.exception(py, entry.name, label))
}

/// What stands behind the table's own parameters: `out` where there is one, then `name`.
#[cold]
fn beyond<'py>(
    entry: &Entry,
    most: usize,
    given: &mut Positional<'py>,
    out: &mut Option<Object<'py>>,
    node: &mut Option<Object<'py>>,
) -> Result<(), Error> {
    let with_name = most + 1 + usize::from(entry.has_out());
    if given.len() > with_name {
        return Ok(());
    }
    if given.len() == with_name {
        if node.is_some() {
            return Err(twice("name"));
        }
        *node = given.pop();
    }
    if given.len() > most {
        *out = given.pop();
    }
    Ok(())
}

/// `out` by name. NumPy's functions pass it on as None to every method they know, so that much all operators take.
#[inline]
fn keyword_out<'py>(
    entry: &Entry,
    named: &mut Keywords<'_, 'py>,
    out: &mut Option<Object<'py>>,
) -> Result<(), Error> {
    let Some(at) = named.iter().position(|(name, _)| *name == "out") else {
        return Ok(());
    };
    if !entry.has_out() {
        if named[at].1.get().is_none() {
            named.remove(at);
        }
        return Ok(());
    }
    if out.is_some() {
        return Err(twice("out"));
    }
    *out = Some(named.remove(at).1);
    Ok(())
}

#[cold]
fn twice(name: &'static str) -> Error {
    Error::type_(format!("{name} is given twice")).at_argument(name)
}

#[inline]
fn answer<'py>(
    py: Python<'py>,
    line: usize,
    entry: &'static Entry,
    given: &mut Positional<'py>,
    named: &mut Keywords<'_, 'py>,
    out: Option<Object<'py>>,
    label: Option<&String>,
) -> Result<Py<PyAny>, Raised> {
    match seldom::ever() {
        false => answer_as::<false>(py, line, entry, given, named, out),
        true => answer_seldom(py, line, entry, given, named, out, label),
    }
}

/// Apart from the rest, so that calls in a program without gradients and graphs have nothing of it in their way.
#[cold]
#[inline(never)]
fn answer_seldom<'py>(
    py: Python<'py>,
    line: usize,
    entry: &'static Entry,
    given: &mut Positional<'py>,
    named: &mut Keywords<'_, 'py>,
    out: Option<Object<'py>>,
    label: Option<&String>,
) -> Result<Py<PyAny>, Raised> {
    if let Some(answer) = elsewhere::answer(line, given, named, out.as_ref())? {
        return Ok(answer);
    }
    if let Some(graph) = graphs::trace::wanted(all(given, named))? {
        graph.at(graphs::trace::source(py), label.cloned());
        return call_at(&graph, line, given, named);
    }
    answer_as::<true>(py, line, entry, given, named, out)
}

/// Runs the operator; `LOOK` is whether a tensor may have a history, so that one is looked for.
#[inline]
fn answer_as<'py, const LOOK: bool>(
    py: Python<'py>,
    line: usize,
    entry: &'static Entry,
    given: &mut Positional<'py>,
    named: &mut Keywords<'_, 'py>,
    out: Option<Object<'py>>,
) -> Result<Py<PyAny>, Raised> {
    if let Some(out) = out.filter(|out| !out.get().is_none()) {
        return take_out(entry, given, named, out.get());
    }
    let mut original = None;
    if entry.name == "enforce_shape"
        && given.is_empty()
        && let Some(at) = named.iter().position(|(name, _)| *name == entry.receiver)
    {
        given.push(named.remove(at).1);
    }
    if entry.name == "enforce_shape"
        && let Some(first) = given.first_mut()
        && let Some(stand_in) = foreign::shape::stand_in(first.get())?
    {
        // The array itself is handed back; only its shape is looked at.
        let stand_in = crate::tensor::object(py, stand_in)?.into_any();
        original = Some(std::mem::replace(first, stand_in.into()));
    }
    let answer = match LOOK && gradients::wanted(all(given, named))? {
        false => call_at(&Cpu, line, given, named)?,
        true => call_at(&gradients::tape(), line, given, named)?,
    };
    match original {
        None => Ok(answer),
        Some(array) => {
            let dims = answer.bind(py).get_item(1)?;
            Ok((array.get(), dims).into_pyobject(py)?.into_any().unbind())
        }
    }
}

/// All arguments, by position and by name.
fn all<'a, 'py>(
    given: &'a [Object<'py>],
    named: &'a [(&str, Object<'py>)],
) -> impl Iterator<Item = &'a Object<'py>> {
    given.iter().chain(named.iter().map(|(_, object)| object))
}

/// `take` into memory of the caller's.
fn take_out<'py>(
    entry: &'static Entry,
    given: &[Object<'py>],
    named: &[(&str, Object<'py>)],
    out: &Bound<'py, PyAny>,
) -> Result<Py<PyAny>, Raised> {
    let work = || -> Result<(), Raised> {
        if gradients::wanted(all(given, named))? {
            let message = "a tensor requires a gradient, but none comes back through out";
            let error = Error::gradient(message).at_argument("out");
            return Err(error
                .help("leave out away, or call `detach()` first")
                .into());
        }
        let mut bound = Matched::new(&Cpu, entry);
        bound.fill(given, named)?;
        let (input, index) = (bound.receiver()?, bound.tensor()?);
        let (axis, mode): (Option<isize>, Mode) = (bound.take()?, bound.take()?);
        let mut target = foreign::writable(out)?;
        let (input, index): (&Tensor, &Tensor) = (input.borrow(), index.borrow());
        out.py()
            .detach(|| take_into(input, index, axis, mode, &mut target))?;
        Ok(())
    };
    match work() {
        Ok(()) => Ok(out.clone().unbind()),
        Err(failure) => Err(failure.within(entry.name)),
    }
}

/// The name a call was given.
fn read_name(value: &Object<'_>) -> Result<Option<String>, Raised> {
    let value = value.get();
    if value.is_none() {
        return Ok(None);
    }
    match value.cast::<PyString>() {
        Ok(text) => Ok(Some(text.to_str()?.to_string())),
        Err(_) => {
            let class = value.get_type().name()?;
            let message =
                format!("name is an object of type `{class}`, but a string or None is needed");
            Err(Error::type_(message).at_argument("name").into())
        }
    }
}

/// Adds every operator to the module and to the type.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let (class, symbolic) = (py.get_type::<PyTensor>(), py.get_type::<PySymbolic>());
    let mut classes = vec![class, symbolic, py.get_type::<PyGlobal>()];
    // The class is there in every build, so that one can ask whether an object is of it.
    if cfg!(feature = "gpu") {
        classes.push(py.get_type::<PyGpu>());
    }
    let home = module.name()?;
    for (line, entry) in TABLE.iter().enumerate() {
        let Some((function, method)) = FUNCTIONS.get(line).zip(METHODS.get(line)) else {
            return Err(PyRuntimeError::new_err(
                "the operator table has outgrown the module",
            ));
        };
        let def = definition(entry, *function, false);
        // SAFETY: the definition is never freed, and its function has the type its flags say.
        let function = unsafe {
            Bound::from_owned_ptr_or_err(
                py,
                ffi::PyCFunction_NewEx(def, std::ptr::null_mut(), home.as_ptr()),
            )?
        };
        module.add(entry.name, function)?;
        if entry.is_method() {
            let def = definition(entry, *method, true);
            for class in &classes {
                // SAFETY: as above; the type is a heap type that takes attributes.
                let method = unsafe {
                    let method = ffi::PyDescr_NewMethod(class.as_type_ptr(), def);
                    Bound::from_owned_ptr_or_err(py, method)?
                };
                class.setattr(entry.name, method)?;
            }
        }
    }
    Ok(())
}

/// A definition that lives as long as the process, as the interpreter asks.
fn definition(entry: &Entry, function: Fast, method: bool) -> *mut ffi::PyMethodDef {
    let text = |text: String| CString::new(text).unwrap_or_default().into_raw();
    Box::into_raw(Box::new(ffi::PyMethodDef {
        ml_name: text(entry.name.to_string()),
        ml_meth: ffi::PyMethodDefPointer {
            PyCFunctionFastWithKeywords: function,
        },
        ml_flags: (ffi::METH_FASTCALL | ffi::METH_KEYWORDS) as c_int,
        ml_doc: text(docstring(entry, method)),
    }))
}
