//! `x[...]` by NumPy's rules: whole numbers, slices, `None`, `...` and integer arrays. Without arrays it is a
//! view; with them, one gather.

use std::ptr;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyInt, PyList, PyRange, PySlice, PyString, PyTuple,
};
use stridewise::internals::smallvec::SmallVec;
use stridewise::operator::Named;
use stridewise::operators::{GetItem, Pick, Slice, Take};
use stridewise::params::Items;
use stridewise::prelude::*;
use stridewise::{Error, Operator, Symbolic};

use crate::arguments::{Raised, tensor_of};
use crate::errors::{OrRaise, exception};
use crate::foreign;
use crate::gradients;
use crate::graphs::argument::constant;
use crate::graphs::symbolic::PySymbolic;
use crate::graphs::trace::source;
use crate::look::plain_number;
use crate::seldom;
use crate::tensor::slots::answer;
use crate::tensor::{Objects, PyTensor, is_plain_tensor, object};

/// `x[index]` as the interpreter asks for it. PyO3 is told that the lock is held only where it matters.
///
/// # Safety
/// Both objects are alive, and the interpreter's lock is held.
pub(super) unsafe extern "C" fn subscript(
    x: *mut ffi::PyObject,
    index: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the lock is held.
    let py = unsafe { Python::assume_attached() };
    // SAFETY: the interpreter lends both for the time of the call.
    let (x, index) = unsafe { (Bound::ref_from_ptr(py, &x), Bound::ref_from_ptr(py, &index)) };
    let work = || {
        // SAFETY: the object is alive.
        if !seldom::ever() && unsafe { is_plain_tensor(x.as_ptr()) } {
            // SAFETY: it is a tensor.
            let x = unsafe { x.cast_unchecked::<PyTensor>() };
            if let Some(part) = quick(py, x, index) {
                return part.map_err(|error| *error);
            }
        }
        Python::attach(|_| get(x.cast::<PyTensor>()?, index))
    };
    answer(work)
}

/// A tensor, or an error in a box: an error is large, and would be moved with every result.
type Quick<'py> = Result<Bound<'py, PyTensor>, Box<PyErr>>;

/// Part of a tensor without a history, by what an index mostly is; `None` for any other.
#[inline(always)]
fn quick<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyTensor>,
    index: &Bound<'py, PyAny>,
) -> Option<Quick<'py>> {
    // Read into the operator itself, which is large.
    let mut operator = Slice {
        items: Items(SmallVec::new()),
    };
    match plain(index, &mut operator.items.0) {
        Ok(true) => {}
        Ok(false) => return taken(py, x, index),
        Err(error) => return Some(Err(Box::new(error))),
    }
    match operator.lower(&Objects(py), &[x]) {
        Ok(part) => Some(Ok(part)),
        Err(error) => Some(Err(raised(error))),
    }
}

#[cold]
fn raised(error: Error) -> Box<PyErr> {
    Python::attach(|py| Box::new(exception(py, &error.within(GetItem::NAME))))
}

/// Part of a tensor.
fn get<'py>(x: &Bound<'py, PyTensor>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTensor>> {
    let py = x.py();
    let Some(var) = gradients::tracked(x.get()) else {
        return match quick(py, x, index) {
            Some(part) => part.map_err(|error| *error),
            None => object(py, picked(py, &Cpu, &x.get().inner, index, |array| array)?),
        };
    };
    let tape = gradients::tape();
    let mut items = SmallVec::new();
    let part = match plain(index, &mut items)? {
        true => slice(&tape, &var, Items(items)).or_raise(py)?,
        false => picked(py, &tape, &var, index, |array| tape.constant(array))?,
    };
    gradients::var_object(py, part)
}

/// Part of a tensor by one array of whole numbers and nothing else, which is `take` along the first axis; `None` where
/// that is not what it is, or fails: any other index is read with more care.
fn taken<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyTensor>,
    index: &Bound<'py, PyAny>,
) -> Option<Quick<'py>> {
    let index = index.cast::<PyTensor>().ok()?;
    let (from, at) = (&x.get().inner, &index.get().inner);
    if from.rank() == 0 || at.rank() == 0 || !at.dtype().is_integer() {
        return None;
    }
    let take = Take {
        axis: Some(0),
        mode: Mode::Raise,
    };
    take.lower(&Objects(py), &[x, index]).ok().map(Ok)
}

/// Reads an index of ints, slices, `None` and `...` alone, as nearly all are; `false` for any other.
#[inline]
fn plain(index: &Bound<'_, PyAny>, items: &mut SmallVec<[Item; 8]>) -> PyResult<bool> {
    // Each kind is added for itself, so that it is written where it stays.
    let mut one = |item: &Bound<'_, PyAny>| -> PyResult<bool> {
        // SAFETY: the object is alive.
        if let Some(at) = unsafe { plain_number(item.as_ptr()) } {
            items.push(Item::At(at));
        } else if item.is_none() {
            items.push(Item::NewAxis);
        } else if is_ellipsis(item) {
            items.push(Item::Rest);
        } else if let Ok(slice) = item.cast::<PySlice>() {
            let (start, stop, step) = range(slice)?;
            items.push(Item::Range { start, stop, step });
        } else {
            return Ok(false);
        }
        Ok(true)
    };
    let Ok(tuple) = index.cast::<PyTuple>() else {
        return one(index);
    };
    for item in tuple.iter_borrowed() {
        if !one(&item)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether it is `...`, of which there is one.
#[inline]
fn is_ellipsis(item: &Bound<'_, PyAny>) -> bool {
    // SAFETY: it lives as long as the interpreter.
    ptr::eq(item.as_ptr(), unsafe { ffi::Py_Ellipsis() })
}

/// Part of a tensor, by any index; `lift` brings its arrays to the engine.
#[inline(never)]
fn picked<E: Engine<Value: Send + Sync> + Sync>(
    py: Python<'_>,
    engine: &E,
    x: &E::Value,
    index: &Bound<'_, PyAny>,
    lift: impl Fn(Tensor) -> E::Value,
) -> PyResult<E::Value> {
    let mut arrays = Vec::new();
    let mut picks: SmallVec<[Pick; 8]> = SmallVec::new();
    match index.cast::<PyTuple>() {
        Ok(tuple) => {
            for item in tuple.iter() {
                picks.push(pick(&item, &mut arrays)?);
            }
        }
        Err(_) => picks.push(pick(index, &mut arrays)?),
    }
    if arrays.is_empty() {
        return basic(engine, x, &picks).or_raise(py);
    }
    let operator = GetItem {
        picks: picks.into_vec(),
    };
    let arrays: Vec<E::Value> = arrays.into_iter().map(lift).collect();
    py.detach(|| {
        let inputs: Vec<&E::Value> = [x].into_iter().chain(&arrays).collect();
        engine.apply(&operator, &inputs)
    })
    .or_raise(py)
}

/// Part of a tensor of a graph.
pub(crate) fn of_graph<'py>(
    py: Python<'py>,
    x: &Symbolic,
    index: &Bound<'py, PyAny>,
) -> PyResult<Symbolic> {
    let graph = x.graph();
    graph.at(source(py), None);
    let given = |item: &Bound<'py, PyAny>| {
        let array = item.cast::<PySymbolic>().ok()?;
        Some(array.get().0.clone())
    };
    let lift = |_: &Bound<'py, PyAny>, array: Tensor| Ok(constant(graph, &array)?);
    of_many(graph, x, index, given, lift)
        .map_err(|raised| raised.exception(py, GetItem::NAME, None))
}

/// Part of a tensor of another engine, of which an index may hold arrays too: `given` says which, and `lift` brings
/// all others to the engine.
pub(crate) fn of_many<'py, E: Engine>(
    engine: &E,
    x: &E::Value,
    index: &Bound<'py, PyAny>,
    given: impl Fn(&Bound<'py, PyAny>) -> Option<E::Value>,
    lift: impl Fn(&Bound<'py, PyAny>, Tensor) -> Result<E::Value, Raised>,
) -> Result<E::Value, Raised> {
    let items: Vec<Bound<'py, PyAny>> = match index.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().collect(),
        Err(_) => vec![index.clone()],
    };
    let mut arrays = Vec::new();
    let mut picks = Vec::with_capacity(items.len());
    for item in &items {
        if let Some(array) = given(item) {
            arrays.push(array);
            picks.push(Pick::Array);
            continue;
        }
        let mut constants = Vec::new();
        picks.push(pick(item, &mut constants)?);
        for array in constants {
            arrays.push(lift(item, array)?);
        }
    }
    if arrays.is_empty() {
        return Ok(basic(engine, x, &picks)?);
    }
    let inputs: Vec<&E::Value> = [x].into_iter().chain(&arrays).collect();
    Ok(engine.apply(&GetItem { picks }, &inputs)?)
}

/// The slice at one index of the first axis.
pub(crate) fn row<E: Engine>(engine: &E, x: &E::Value, at: usize) -> stridewise::Result<E::Value> {
    basic(engine, x, &[Pick::Item(Item::from(at))])
}

/// A view: an index without arrays.
fn basic<E: Engine>(engine: &E, x: &E::Value, picks: &[Pick]) -> stridewise::Result<E::Value> {
    let items = picks.iter().filter_map(|pick| match pick {
        Pick::Item(item) => Some(*item),
        Pick::Array => None,
    });
    slice(engine, x, Items(items.collect()))
}

fn slice<E: Engine>(engine: &E, x: &E::Value, items: Items) -> stridewise::Result<E::Value> {
    engine
        .run(&Slice { items }, &[x])
        .map_err(|error| error.within(GetItem::NAME))
}

/// One item of an index; an array is put among the arrays.
fn pick(item: &Bound<'_, PyAny>, arrays: &mut Vec<Tensor>) -> PyResult<Pick> {
    let py = item.py();
    if item.is_instance_of::<PyBool>() {
        return Err(mask()).or_raise(py);
    }
    if item.is_instance_of::<PyInt>() {
        return whole(item);
    }
    if let Ok(slice) = item.cast::<PySlice>() {
        let (start, stop, step) = range(slice)?;
        return Ok(Pick::Item(Item::Range { start, stop, step }));
    }
    if item.is_none() {
        return Ok(Pick::Item(Item::NewAxis));
    }
    if is_ellipsis(item) {
        return Ok(Pick::Item(Item::Rest));
    }
    if let Ok(tensor) = item.cast::<PyTensor>() {
        return array(py, Tensor::clone(&tensor.get().inner), arrays);
    }
    if item.is_instance_of::<PyList>()
        || item.is_instance_of::<PyTuple>()
        || item.is_instance_of::<PyRange>()
    {
        return array(py, tensor_of(item, GetItem::NAME, "index")?, arrays);
    }
    let text = item.is_instance_of::<PyString>()
        || item.is_instance_of::<PyBytes>()
        || item.is_instance_of::<PyByteArray>();
    if !text {
        // Arrays first: a list of one integer is not that integer, though some libraries convert it.
        if let Some(tensor) = foreign::tensor(item)? {
            return array(py, tensor, arrays);
        }
        // SAFETY: asks about a live object.
        if unsafe { ffi::PyIndex_Check(item.as_ptr()) } != 0 {
            return whole(&item.call_method0("__index__")?);
        }
    }
    let class = item.get_type();
    Err(Error::type_(format!(
        "{} is no index; an int, a slice, None, `...` or an integer array is needed",
        class.name()?
    ))
    .at_argument("index")
    .within(GetItem::NAME))
    .or_raise(py)
}

/// An index array; one of rank 0 is a whole number.
fn array(py: Python<'_>, index: Tensor, arrays: &mut Vec<Tensor>) -> PyResult<Pick> {
    if index.dtype() == DType::Bool {
        return Err(mask()).or_raise(py);
    }
    if index.rank() > 0 || !index.dtype().is_integer() {
        arrays.push(index);
        return Ok(Pick::Array);
    }
    let number = match index.dtype() {
        DType::U64 => index.item::<u64>().map(i128::from),
        _ => index
            .cast(DType::I64)
            .and_then(|index| index.item::<i64>())
            .map(i128::from),
    };
    let number = number.or_raise(py)?;
    match isize::try_from(number) {
        Ok(at) => Ok(Pick::Item(Item::At(at))),
        Err(_) => Err(too_far(number)).or_raise(py),
    }
}

fn whole(index: &Bound<'_, PyAny>) -> PyResult<Pick> {
    match index.extract::<isize>() {
        Ok(at) => Ok(Pick::Item(Item::At(at))),
        Err(_) => Err(too_far(index.str()?)).or_raise(index.py()),
    }
}

fn too_far(index: impl std::fmt::Display) -> Error {
    Error::index(format!("index {index} is out of range for every axis"))
        .at_argument("index")
        .sizes("an index of an axis", index)
        .within(GetItem::NAME)
}

fn mask() -> Error {
    Error::dtype("a bool mask is not an index: how much it picks is not known before it is read")
        .at_argument("index")
        .sizes("an integer dtype", DType::Bool)
        .help("give the positions as integers: `x[np.nonzero(mask)]`")
        .within(GetItem::NAME)
}

/// A slice that cannot be read: a step of 0 is refused where the axis is known; any other error is the user's own.
#[cold]
fn odd_range(slice: &Bound<'_, PySlice>) -> PyResult<Ends> {
    let error = PyErr::fetch(slice.py());
    let zero = error.is_instance_of::<PyValueError>(slice.py())
        && slice.getattr("step")?.eq(0).unwrap_or(false);
    match zero {
        true => Ok((None, None, 0)),
        false => Err(error),
    }
}

/// Where a range starts and stops, and its step.
type Ends = (Option<isize>, Option<isize>, isize);

#[inline(always)]
fn range(slice: &Bound<'_, PySlice>) -> PyResult<Ends> {
    let (mut start, mut stop, mut step) = (0, 0, 0);
    // SAFETY: a live slice object, and room for the three numbers.
    let read = unsafe { ffi::PySlice_Unpack(slice.as_ptr(), &mut start, &mut stop, &mut step) };
    if read != 0 {
        return Python::attach(|_| odd_range(slice));
    }
    // Absent ends come as the furthest ones.
    let (near, far) = match step > 0 {
        true => (0, isize::MAX),
        false => (isize::MAX, isize::MIN),
    };
    Ok((
        (start != near).then_some(start),
        (stop != far).then_some(stop),
        step,
    ))
}

/// One element, for `item(*index)`: as many whole numbers as there are axes.
pub(crate) fn element(py: Python<'_>, x: &Tensor, index: &Bound<'_, PyTuple>) -> PyResult<Tensor> {
    let whole = |item: &Bound<'_, PyAny>| -> PyResult<Pick> {
        match pick(item, &mut Vec::new())? {
            at @ Pick::Item(Item::At(_)) => Ok(at),
            _ => Err(PyTypeError::new_err(
                "item: an index is an int for each axis",
            )),
        }
    };
    let mut picks = Vec::with_capacity(index.len());
    // A tuple counts as its items, and a single number counts the elements row by row.
    match index.len() {
        1 => match index.get_item(0)?.cast_into::<PyTuple>() {
            Ok(inner) => {
                for item in inner.iter() {
                    picks.push(whole(&item)?);
                }
            }
            Err(error) => {
                let flat = x.take(&position(py, error.into_inner())?, None, Mode::Raise);
                return flat.or_raise(py);
            }
        },
        _ => {
            for item in index.iter() {
                picks.push(whole(&item)?);
            }
        }
    }
    if picks.len() != x.rank() {
        let message = format!(
            "{} indices were given for a tensor of rank {}",
            picks.len(),
            x.rank()
        );
        return Err(Error::shape(message)
            .sizes(x.rank(), picks.len())
            .within("item"))
        .or_raise(py);
    }
    basic(&Cpu, x, &picks).or_raise(py)
}

fn position(py: Python<'_>, item: Bound<'_, PyAny>) -> PyResult<Tensor> {
    match pick(&item, &mut Vec::new())? {
        Pick::Item(Item::At(at)) => Tensor::scalar(at as i64).or_raise(py),
        _ => Err(PyTypeError::new_err(
            "item: an index is an int, or one for each axis",
        )),
    }
}
