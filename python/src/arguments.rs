//! Python objects as arguments of operators, by what they are: nothing is converted that is not meant.

use std::borrow::Borrow;
use std::mem::ManuallyDrop;
use std::ops::Deref;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyTuple};
use smallvec::SmallVec;
use stridewise::call::{Argument, Failure, Look, literal};
use stridewise::operators::{Dim, Dims};
use stridewise::pool::{SmallSteps, in_small_steps};
use stridewise::table::{Kind, ParamKind};
use stridewise::{Cpu, Error, Tensor};

use crate::errors::{exception, named};
use crate::foreign;
use crate::look::{Items, is_scalar, number, plain_number, plain_numbers, seldom, whole};
use crate::tensor::{PyTensor, is_plain_tensor, object, object_from};

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
    /// The object is not null, and stays alive as long as what is made here and what is made from that.
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

/// A tensor object that was given: lent for the time of a call, or held.
pub(crate) struct Given<'py> {
    object: ManuallyDrop<Bound<'py, PyTensor>>,
    held: bool,
}

impl<'py> Given<'py> {
    /// The tensor that an argument is; one that is lent is so for as long as the argument.
    #[inline(always)]
    pub(crate) fn of(argument: &Object<'py>) -> Option<Given<'py>> {
        let object = argument.get();
        // SAFETY: the object is alive.
        let plain = unsafe { is_plain_tensor(object.as_ptr()) };
        if !plain && object.cast::<PyTensor>().is_err() {
            return None;
        }
        let held = argument.held;
        let object = match held {
            true => object.clone(),
            // SAFETY: the object outlives the call, as whoever lent it has said; the reference, which is not ours, is
            // not given back.
            false => unsafe { Bound::from_owned_ptr(object.py(), object.as_ptr()) },
        };
        // SAFETY: it is a tensor, as seen above.
        let object = ManuallyDrop::new(unsafe { object.cast_into_unchecked::<PyTensor>() });
        Some(Given { object, held })
    }
}

impl<'py> From<Bound<'py, PyTensor>> for Given<'py> {
    #[inline]
    fn from(object: Bound<'py, PyTensor>) -> Given<'py> {
        Given {
            object: ManuallyDrop::new(object),
            held: true,
        }
    }
}

impl<'py> Borrow<Bound<'py, PyTensor>> for Given<'py> {
    #[inline]
    fn borrow(&self) -> &Bound<'py, PyTensor> {
        &self.object
    }
}

impl<'py> Deref for Given<'py> {
    type Target = Bound<'py, PyTensor>;

    #[inline]
    fn deref(&self) -> &Bound<'py, PyTensor> {
        &self.object
    }
}

impl Drop for Given<'_> {
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
    Given(Given<'py>),
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

// Calls by the shortest way come here without PyO3 knowing that the interpreter's lock is held, which it must where
// objects are let go through it: whatever does more than look at an object tells it first.
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
        if object.is_none() {
            return Ok(Look::None);
        }
        if object.cast::<PyTensor>().is_ok() && !is_scalar(wanted) {
            return Ok(Look::Tensor);
        }
        Python::attach(|_| match object.cast::<PyTensor>() {
            Ok(_) => Ok(number(object, wanted)?.unwrap_or(Look::Tensor)),
            Err(_) => Ok(seldom(object, wanted)?),
        })
    }

    #[inline]
    fn tensor(&self) -> Result<Held<'py>, Raised> {
        match Given::of(self) {
            Some(given) => Ok(Held::Given(given)),
            None => Python::attach(|_| match foreign::tensor(self.get())? {
                Some(tensor) => Ok(tensor.into()),
                None => Err(PyTypeError::new_err("the object has stopped being an array").into()),
            }),
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
        Python::attach(|_| Ok(foreign::numpy::scalars(self.get())?.map(Held::from)))
    }

    #[inline]
    fn plain_tensor(&self) -> Option<Held<'py>> {
        Given::of(self).map(Held::Given)
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
        match at_once_if_small(inputs, &work) {
            Some(done) => done,
            None => detached(work),
        }
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
                    && object.get().inner.kept().is_none()
                {
                    return Ok(Bound::clone(object).into_any().unbind());
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
        list_of(values, origins, handed_out)
    }

    fn checked(
        (value, dims): (Tensor, Dims<usize>),
        origin: Option<&Held<'py>>,
    ) -> Result<Py<PyAny>, Raised> {
        // SAFETY: as above.
        let py = unsafe { Python::assume_attached() };
        // Nothing is made here, so the object is handed back with all it has.
        let x = match origin {
            Some(Held::Given(given)) => Bound::clone(given).into_any().unbind(),
            _ => handed_out(value, origin)?,
        };
        let pair = (x, sizes_found(py, &dims)?);
        Ok(pair.into_pyobject(py)?.into_any().unbind())
    }
}

/// Whether a result is the very tensor that was given.
#[inline]
pub(crate) fn is_same(given: &Tensor, result: &Tensor) -> bool {
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

/// The object of a tensor: the one it came from, where it is the very same. One with a history is not: what comes
/// this way was made under `no_grad`, and has none.
fn handed_out(value: Tensor, origin: Option<&Held<'_>>) -> Result<Py<PyAny>, Raised> {
    // SAFETY: as above.
    let py = unsafe { Python::assume_attached() };
    match origin {
        Some(Held::Given(given))
            if is_same(&given.get().inner, &value) && given.get().inner.kept().is_none() =>
        {
            Ok(Bound::clone(given).into_any().unbind())
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

/// What comes of work that reads and makes little; `None` where it does not.
#[inline]
pub(crate) fn at_once_if_small<T>(inputs: &[&Tensor], work: impl FnOnce() -> T) -> Option<T> {
    match is_small(inputs) {
        true => in_small_steps(SMALL, work),
        false => None,
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

/// Tensors as a list of objects, each with the tensor it came from.
pub(crate) fn list_of<'py, V, O, T: IntoPyObject<'py>, E>(
    values: Vec<V>,
    origins: &[O],
    object: impl Fn(V, Option<&O>) -> Result<T, E>,
) -> Result<Py<PyAny>, Raised>
where
    Raised: From<E>,
{
    // SAFETY: results are handed out within the call from the interpreter.
    let py = unsafe { Python::assume_attached() };
    let mut origins = origins.iter();
    let objects = values.into_iter().map(|x| object(x, origins.next()));
    let objects = objects.collect::<Result<SmallVec<[T; 8]>, E>>()?;
    Ok(PyList::new(py, objects)?.into_any().unbind())
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
    PyList::new(
        py,
        entries.collect::<PyResult<SmallVec<[Bound<'py, PyAny>; 8]>>>()?,
    )
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
pub(crate) struct Crossing<T>(pub(crate) T);

// SAFETY: whoever uses it runs the work on the same thread. It must not touch Python objects meanwhile, and does not:
// it is an operator over tensors whose memory is kept by what the caller holds.
unsafe impl<T> Send for Crossing<T> {}

impl<T, F: Fn() -> T> Crossing<F> {
    pub(crate) fn call(self) -> T {
        (self.0)()
    }
}
