//! Python objects as arguments of operators, by what they are: nothing is converted that is not meant.

use std::borrow::Borrow;
use std::ffi::c_int;
use std::mem::ManuallyDrop;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyComplex, PyEllipsis, PyFloat, PyInt, PyList, PyRange, PySlice, PyString, PyTuple,
};
use smallvec::SmallVec;
use stridewise::call::{Argument, Failure, Look, literal};
use stridewise::operators::{Dim, Dims};
use stridewise::pool::{SmallSteps, in_small_steps};
use stridewise::table::{Kind, ParamKind};
use stridewise::{Cpu, Error, Tensor};

use crate::dtype::dtype;
use crate::errors::{exception, named};
use crate::foreign;
use crate::symbol::PySymbol;
use crate::tensor::{PyTensor, object, object_from};

/// A range longer than this is not meant as sizes or axes.
const LONGEST_RANGE: usize = 1 << 16;

/// Work on so few bytes is done before another thread could have begun its own.
const SMALL: usize = 1 << 14;

/// A Python object as an argument: lent for the time of a call, or held.
pub(crate) struct Object<'py> {
    object: ManuallyDrop<Bound<'py, PyAny>>,
    held: bool,
}

impl<'py> Object<'py> {
    /// An object that the interpreter lends.
    ///
    /// # Safety
    /// The object is not null, and stays alive as long as what is made here.
    #[inline]
    pub(crate) unsafe fn lent(py: Python<'py>, object: *mut ffi::PyObject) -> Object<'py> {
        // SAFETY: the caller says that the object is alive; its reference is not given back, since it is not ours.
        let object = unsafe { Bound::from_owned_ptr(py, object) };
        Object {
            object: ManuallyDrop::new(object),
            held: false,
        }
    }

    /// Whether it is a list or tuple.
    pub(crate) fn is_list(&self) -> bool {
        self.get().is_instance_of::<PyList>() || self.get().is_instance_of::<PyTuple>()
    }

    /// The object itself.
    #[inline]
    pub(crate) fn get(&self) -> &Bound<'py, PyAny> {
        &self.object
    }
}

impl<'py> From<Bound<'py, PyAny>> for Object<'py> {
    #[inline]
    fn from(object: Bound<'py, PyAny>) -> Object<'py> {
        Object {
            object: ManuallyDrop::new(object),
            held: true,
        }
    }
}

impl Drop for Object<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.held {
            // SAFETY: the reference is this one's own, and is given back once.
            unsafe { ManuallyDrop::drop(&mut self.object) }
        }
    }
}

/// A tensor among arguments: the object that was given, or one made from an array or from numbers.
pub(crate) enum Held<'py> {
    Given(Bound<'py, PyTensor>),
    /// In a box, since a tensor is large and an argument is moved several times.
    Made(Box<Tensor>),
}

impl Borrow<Tensor> for Held<'_> {
    #[inline]
    fn borrow(&self) -> &Tensor {
        match self {
            Held::Given(object) => &object.get().inner,
            Held::Made(tensor) => tensor,
        }
    }
}

impl From<Tensor> for Held<'_> {
    fn from(tensor: Tensor) -> Self {
        Held::Made(Box::new(tensor))
    }
}

/// Why a call failed: an error of ours, or an exception that an argument raised while it was read.
pub(crate) enum Raised {
    Ours(Error),
    Python(PyErr),
}

impl Raised {
    /// The exception of a call; `node` is the name it was given.
    pub(crate) fn exception(
        self,
        py: Python<'_>,
        operator: &'static str,
        node: Option<String>,
    ) -> PyErr {
        let error = match self {
            Raised::Python(error) => return named(py, error, operator, node),
            Raised::Ours(error) => error.within(operator),
        };
        match node {
            Some(node) => exception(py, &error.named(node)),
            None => exception(py, &error),
        }
    }
}

impl From<Error> for Raised {
    fn from(error: Error) -> Raised {
        Raised::Ours(error)
    }
}

impl From<PyErr> for Raised {
    fn from(error: PyErr) -> Raised {
        Raised::Python(error)
    }
}

impl Failure for Raised {
    fn within(self, operator: &'static str) -> Raised {
        self.edit(|error| error.within(operator))
    }

    fn edit(self, change: impl FnOnce(Error) -> Error) -> Raised {
        match self {
            Raised::Ours(error) => Raised::Ours(change(error)),
            python => python,
        }
    }
}

impl<'py> Argument<Cpu> for Object<'py> {
    type Error = Raised;
    type Tensor = Held<'py>;
    type Output = Py<PyAny>;

    #[inline]
    fn look(&self, wanted: ParamKind) -> Result<Look<'_, usize>, Raised> {
        let object = self.get();
        // The kinds that nearly all arguments are, by the very type.
        if object.is_exact_instance_of::<PyInt>() {
            return Ok(whole(object)?);
        }
        if object.is_exact_instance_of::<PyTuple>() || object.is_exact_instance_of::<PyList>() {
            return Ok(Look::List);
        }
        if object.cast::<PyTensor>().is_ok() {
            return match is_scalar(wanted) {
                true => Ok(number(object, wanted)?.unwrap_or(Look::Tensor)),
                false => Ok(Look::Tensor),
            };
        }
        if object.is_none() {
            return Ok(Look::None);
        }
        Ok(seldom(object, wanted)?)
    }

    #[inline]
    fn tensor(&self) -> Result<Held<'py>, Raised> {
        match self.get().cast::<PyTensor>() {
            Ok(tensor) => Ok(Held::Given(tensor.clone())),
            Err(_) => match foreign::tensor(self.get())? {
                Some(tensor) => Ok(tensor.into()),
                None => Err(PyTypeError::new_err("the object has stopped being an array").into()),
            },
        }
    }

    #[inline]
    fn items(&self) -> impl ExactSizeIterator<Item: Borrow<Self>> {
        let object = self.get();
        if let Ok(tuple) = object.cast::<PyTuple>() {
            return Items::Tuple(tuple.clone(), 0);
        }
        if let Ok(list) = object.cast::<PyList>() {
            return Items::List(list.clone(), 0);
        }
        let items = object
            .try_iter()
            .and_then(Iterator::collect::<PyResult<Vec<_>>>);
        Items::Kept(items.unwrap_or_default().into_iter())
    }

    fn whole_list(&self) -> Result<Option<Held<'py>>, Raised> {
        Ok(foreign::numpy::scalars(self.get())?.map(Held::from))
    }

    #[inline]
    fn plain_tensor(&self) -> Option<Held<'py>> {
        let tensor = self.get().cast::<PyTensor>().ok()?;
        Some(Held::Given(tensor.clone()))
    }

    #[inline]
    fn plain_number(&self) -> Option<isize> {
        // SAFETY: the object is alive.
        unsafe { plain_number(self.get().as_ptr()) }
    }

    #[inline]
    fn plain_numbers(&self, into: &mut SmallVec<[isize; 8]>) -> bool {
        plain_numbers(self.get(), into)
    }

    #[inline]
    fn run<T>(kind: Kind, inputs: &[&Tensor], work: impl Fn() -> T) -> T {
        if kind == Kind::View {
            return work();
        }
        if is_small(inputs)
            && let Some(done) = in_small_steps(SMALL, &work)
        {
            return done;
        }
        detached(work)
    }

    #[inline]
    fn one(
        kind: Kind,
        inputs: &[&Tensor],
        work: impl Fn() -> stridewise::Result<Tensor>,
        origin: Option<&Held<'py>>,
    ) -> Result<Py<PyAny>, Raised> {
        // SAFETY: results are handed out within the call from the interpreter.
        let py = unsafe { Python::assume_attached() };
        // As in `run`, but that the result is made where it is used: a tensor is large.
        let view = kind == Kind::View;
        let steps = (!view && is_small(inputs)).then(|| SmallSteps::new(SMALL));
        let mut result = match view || steps.is_some() {
            true => work(),
            false => detached(&work),
        };
        if let Some(steps) = steps
            && steps.given_up()
        {
            drop(steps);
            result = detached(&work);
        }
        match &result {
            Ok(value) => {
                if let Some(Held::Given(object)) = origin
                    && is_same(&object.get().inner, value)
                {
                    return Ok(object.clone().into_any().unbind());
                }
                // SAFETY: the tensor is moved out of the result, which is forgotten.
                let object = unsafe { object_from(py, value) };
                std::mem::forget(result);
                Ok(object?.into_any().unbind())
            }
            Err(_) => failed(result),
        }
    }

    fn many(values: Vec<Tensor>, origins: &[Held<'py>]) -> Result<Py<PyAny>, Raised> {
        // SAFETY: as above.
        let py = unsafe { Python::assume_attached() };
        let mut origins = origins.iter();
        let objects = values.into_iter().map(|x| handed_out(x, origins.next()));
        let objects = objects.collect::<Result<Vec<_>, Raised>>()?;
        Ok(PyList::new(py, objects)?.into_any().unbind())
    }

    fn checked(
        (value, dims): (Tensor, Dims<usize>),
        origin: Option<&Held<'py>>,
    ) -> Result<Py<PyAny>, Raised> {
        // SAFETY: as above.
        let py = unsafe { Python::assume_attached() };
        let pair = (handed_out(value, origin)?, sizes_found(py, &dims)?);
        Ok(pair.into_pyobject(py)?.into_any().unbind())
    }
}

/// Whether a result is the very tensor that was given.
#[inline]
fn is_same(given: &Tensor, result: &Tensor) -> bool {
    // Number by number: a comparison of memory would wait for the result to be written first.
    given.rank() == result.rank()
        && given.shares_storage_with(result)
        && given.dtype() == result.dtype()
        && given.layout().offset() == result.layout().offset()
        && given
            .shape()
            .iter()
            .zip(result.shape())
            .all(|(a, b)| a == b)
        && given
            .strides()
            .iter()
            .zip(result.strides())
            .all(|(a, b)| a == b)
}

/// The object of a tensor: the one it came from, where it is the very same.
fn handed_out(value: Tensor, origin: Option<&Held<'_>>) -> Result<Py<PyAny>, Raised> {
    // SAFETY: as above.
    let py = unsafe { Python::assume_attached() };
    match origin {
        Some(Held::Given(given)) if is_same(&given.get().inner, &value) => {
            Ok(given.clone().into_any().unbind())
        }
        _ => Ok(object(py, value)?.into_any().unbind()),
    }
}

#[cold]
fn failed(result: stridewise::Result<Tensor>) -> Result<Py<PyAny>, Raised> {
    match result {
        Ok(value) => handed_out(value, None),
        Err(error) => Err(error.into()),
    }
}

/// Whether so little is read that it is moved at once: letting others in and waiting for one's turn again would
/// take longer.
#[inline]
fn is_small(inputs: &[&Tensor]) -> bool {
    inputs.iter().all(|x| x.nbytes() <= SMALL)
}

/// Runs the work while others may have the interpreter.
fn detached<T>(work: impl Fn() -> T) -> T {
    // SAFETY: operators are run by functions that the interpreter has called.
    let py = unsafe { Python::assume_attached() };
    let work = Crossing(work);
    py.detach(move || Crossing(work.call())).0
}

/// The sizes that `enforce_shape` found, one entry for each piece of the pattern.
pub(crate) fn sizes_found<'py>(
    py: Python<'py>,
    dims: &Dims<usize>,
) -> PyResult<Bound<'py, PyList>> {
    let entries = dims.iter().map(|dim| match dim {
        Dim::Size(size) => Ok(size.into_pyobject(py)?.into_any()),
        Dim::Rest(axes, count) => Ok((PyTuple::new(py, axes)?, *count)
            .into_pyobject(py)?
            .into_any()),
    });
    PyList::new(py, entries.collect::<PyResult<Vec<_>>>()?)
}

/// The tensor that an object stands for: a tensor, an array, a number or nested lists.
pub(crate) fn tensor_of(
    object: &Bound<'_, PyAny>,
    operator: &'static str,
    name: &'static str,
) -> PyResult<Tensor> {
    match literal(&Cpu, &Object::from(object.clone()), name) {
        Ok(held) => Ok(Borrow::<Tensor>::borrow(&held).clone()),
        Err(raised) => Err(raised.exception(object.py(), operator, None)),
    }
}

/// What is taken out of the interpreter's lock and back into it.
struct Crossing<T>(T);

// SAFETY: `detach` runs the work on the same thread. It must not touch Python objects meanwhile, and does not:
// it is an operator over tensors whose memory is kept by what the caller holds.
unsafe impl<T> Send for Crossing<T> {}

impl<T, F: Fn() -> T> Crossing<F> {
    fn call(self) -> T {
        (self.0)()
    }
}

/// The items of a list, each held for itself: what reads one may change the list.
enum Items<'py> {
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
fn whole<'a>(object: &Bound<'_, PyAny>) -> PyResult<Look<'a, usize>> {
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
fn seldom<'a>(object: &'a Bound<'_, PyAny>, wanted: ParamKind) -> PyResult<Look<'a, usize>> {
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
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Look::Text(text.to_str()?));
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
fn is_scalar(wanted: ParamKind) -> bool {
    use ParamKind::{Bool, OptionalScalar, Scalar};
    matches!(wanted, Bool | Scalar | OptionalScalar)
}

/// The number that an object of another library stands for; `None` where it stands for none.
fn number<'a>(object: &Bound<'_, PyAny>, wanted: ParamKind) -> PyResult<Option<Look<'a, usize>>> {
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
