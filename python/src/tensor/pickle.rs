//! Pickling: a tensor keeps its own elements, packed, whatever storage they lie in. From protocol 5 on the
//! bytes are handed over as a buffer, which need not be copied. Here is also what else keeps all elements: bytes
//! and deep copies.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple, PyType};
use stridewise::internals::storage::{Arc, Storage};
use stridewise::prelude::*;
use stridewise::{Error, Layout};

use crate::arguments::Raised;
use crate::errors::{OrRaise, exception};
use crate::foreign;
use crate::gradients::leaf;
use crate::tensor::{PyTensor, Slot, object};

/// What `__reduce_ex__` gives: a function and its arguments, and the attributes of a subclass.
pub(crate) fn reduce<'py>(
    slf: &Bound<'py, PyTensor>,
    protocol: usize,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = slf.py();
    let x = &slf.get().inner;
    let named = |error: Error| error.within("pickle");
    let is_leaf = require_leaf(x).map_err(named).or_raise(py)?;
    let packed = py.detach(|| packed(x)).map_err(named).or_raise(py)?;
    let elements = match protocol >= 5 && !packed.is_empty() {
        true => {
            let bytes = bytes_of(&packed).map_err(named).or_raise(py)?;
            let bytes = Bound::new(py, PyTensor::from(bytes))?;
            py.import("pickle")?
                .getattr("PickleBuffer")?
                .call1((bytes,))?
        }
        false => bytes(py, &packed, "pickle")?.into_any(),
    };
    let rebuild = py.import("stridewise._stridewise")?.getattr("_rebuild")?;
    let (name, shape) = (x.dtype().name(), PyTuple::new(py, x.shape())?);
    let class = slf.get_type();
    match (class.is(py.get_type::<PyTensor>()), is_leaf) {
        (true, false) => (rebuild, (elements, name, shape)).into_pyobject(py),
        (true, true) => (rebuild, (elements, name, shape, py.None(), true)).into_pyobject(py),
        (false, _) => {
            // The attributes, those in slots among them.
            let state = slf.call_method0("__getstate__")?;
            let kept = (elements, name, shape, class, is_leaf);
            (rebuild, kept, state).into_pyobject(py)
        }
    }
}

/// Whether a tensor is one to differentiate by. One with a longer history has no copy: what it was made from stays.
fn require_leaf(x: &Slot) -> stridewise::Result<bool> {
    match x.kept() {
        None => Ok(false),
        Some(kept) if kept.leaf.is_some() => Ok(true),
        Some(_) => Err(Error::gradient(
            "the tensor has a history, which cannot be copied: it leads to tensors that stay",
        )
        .help("call `detach()` first")),
    }
}

/// The bytes of the elements, row-major, for `operator`; others may run while they are copied.
pub(crate) fn bytes<'py>(
    py: Python<'py>,
    x: &Tensor,
    operator: &'static str,
) -> PyResult<Bound<'py, PyBytes>> {
    let packed = py
        .detach(|| packed(x))
        .map_err(|error| error.within(operator))
        .or_raise(py)?;
    let len = packed.nbytes();
    // SAFETY: without bytes to copy from, the interpreter gives memory of that length, or raises.
    let made = unsafe {
        let made = ffi::PyBytes_FromStringAndSize(std::ptr::null(), len as ffi::Py_ssize_t);
        Bound::from_owned_ptr_or_err(py, made)
    };
    let made = made.map_err(|_| {
        let message = format!("{len} bytes are needed, but memory has not that much");
        exception(py, &Error::memory(message).within(operator))
    })?;
    // SAFETY: the object was just made as bytes.
    let made = unsafe { made.cast_into_unchecked::<PyBytes>() };
    if len > 0 {
        // SAFETY: the object is bytes.
        let start = unsafe { ffi::PyBytes_AsString(made.as_ptr()) };
        let place = Place(start.cast());
        // SAFETY: nobody else has the object yet, so its `len` bytes may be written with the lock let go; a
        // contiguous tensor has as many from index zero on, and the two do not overlap.
        py.detach(|| unsafe { std::ptr::copy_nonoverlapping(packed.as_ptr(), place.start(), len) });
    }
    Ok(made)
}

/// The tensor itself where its elements lie row-major without gaps, otherwise a copy that does.
fn packed(x: &Tensor) -> stridewise::Result<Tensor> {
    match x.is_contiguous() {
        true => Ok(x.clone()),
        false => Cpu.copy(x),
    }
}

/// Memory of a new object, on its way out of the interpreter's lock.
struct Place(*mut u8);

// SAFETY: `detach` runs its work on the same thread, and nobody else knows the address.
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}

impl Place {
    fn start(&self) -> *mut u8 {
        self.0
    }
}

/// A copy with memory of its own, and with a copy of its gradient.
pub(crate) fn deepcopy<'py>(
    slf: &Bound<'py, PyTensor>,
    memo: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let copy = copied(slf, memo)?;
    if let Some(grad) = slf.get().grad(slf.py()) {
        copy.setattr("grad", deepcopy(grad.bind(slf.py()), memo)?)?;
    }
    Ok(copy)
}

/// A copy of a tensor alone. One of a subclass keeps its class and its attributes, which are copied too.
fn copied<'py>(
    slf: &Bound<'py, PyTensor>,
    memo: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = slf.py();
    if slf.get_type().is(py.get_type::<PyTensor>()) {
        let x = &slf.get().inner;
        let named = |error: Error| error.within("deepcopy");
        let is_leaf = require_leaf(x).map_err(named).or_raise(py)?;
        let tensor = &**x;
        let copy = py.detach(|| Cpu.copy(tensor)).map_err(named).or_raise(py)?;
        if !is_leaf {
            return Ok(object(py, copy)?.into_any());
        }
        let copy = leaf(py, copy).map_err(named).or_raise(py)??;
        return Ok(copy.into_any());
    }
    // What `copy.deepcopy` does with an object that says how it is reduced.
    let reduced = slf.call_method1("__reduce_ex__", (4,))?;
    let Ok(reduced) = reduced.cast::<PyTuple>() else {
        // A name stands for an object that there is once.
        return Ok(slf.clone().into_any());
    };
    let deep = py.import("copy")?.getattr("deepcopy")?;
    let deep = |object: Bound<'py, PyAny>| deep.call1((object, memo));
    let arguments = deep(reduced.get_item(1)?)?;
    let copy = reduced
        .get_item(0)?
        .call1(arguments.cast_into::<PyTuple>()?)?;
    // An attribute may lead back to the tensor.
    if !memo.is_none() {
        memo.set_item(slf.as_ptr().addr(), &copy)?;
    }
    let state = match reduced.len() {
        0..=2 => return Ok(copy),
        _ => reduced.get_item(2)?,
    };
    if !state.is_none() {
        restore(&copy, deep(state)?)?;
    }
    Ok(copy)
}

/// Gives an object its attributes, as pickle does.
fn restore<'py>(object: &Bound<'py, PyAny>, state: Bound<'py, PyAny>) -> PyResult<()> {
    if object.hasattr("__setstate__")? {
        object.call_method1("__setstate__", (state,))?;
        return Ok(());
    }
    let (attributes, slots) = match state.cast::<PyTuple>() {
        Ok(pair) if pair.len() == 2 => (pair.get_item(0)?, Some(pair.get_item(1)?)),
        _ => (state, None),
    };
    if attributes.is_truthy()? {
        object
            .getattr("__dict__")?
            .call_method1("update", (attributes,))?;
    }
    if let Some(slots) = slots.filter(|slots| !slots.is_none()) {
        for (name, value) in slots.cast::<PyDict>()?.iter() {
            object.setattr(name.cast_into::<PyString>()?, value)?;
        }
    }
    Ok(())
}

/// The bytes of a packed tensor, over the same memory.
fn bytes_of(x: &Tensor) -> stridewise::Result<Tensor> {
    let offset = x.layout().offset() * x.dtype().width();
    let layout = Layout::new(1, [x.nbytes()].as_slice(), [1].as_slice(), offset)?;
    Tensor::new(x.storage().clone(), DType::U8, layout)
}

/// A tensor from what `Tensor.__reduce_ex__` keeps.
#[pyfunction]
#[pyo3(signature = (elements, dtype, shape, class=None, requires_grad=false))]
pub(crate) fn _rebuild<'py>(
    elements: &Bound<'py, PyAny>,
    dtype: &str,
    shape: Vec<usize>,
    class: Option<&Bound<'py, PyType>>,
    requires_grad: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = elements.py();
    let work = || -> Result<Tensor, Raised> {
        let dtype: DType = dtype.parse()?;
        if let Ok(bytes) = elements.cast::<PyBytes>() {
            let bytes = bytes.as_bytes();
            return Ok(py.detach(|| Tensor::from_bytes(dtype, &shape, bytes))?);
        }
        match foreign::tensor(elements)? {
            Some(bytes) => Ok(py.detach(|| seen_as(bytes, dtype, &shape))?),
            None => Err(Error::type_("the elements of a tensor are bytes").into()),
        }
    };
    let x = work().map_err(|raised| raised.exception(py, "pickle", None))?;
    let named = |error: Error| error.within("pickle");
    match class {
        None if requires_grad => leaf(py, x)
            .map_err(named)
            .or_raise(py)?
            .map(Bound::into_any),
        None => Ok(object(py, x)?.into_any()),
        // By the method of Tensor itself: that of the class may want other arguments.
        Some(class) => {
            let options = PyDict::new(py);
            if requires_grad {
                options.set_item("requires_grad", true)?;
            }
            let make = py.get_type::<PyTensor>().getattr("__new__")?;
            make.call((class, object(py, x)?), Some(&options))
        }
    }
}

/// Bytes as elements, where they lie if they are aligned.
fn seen_as(bytes: Tensor, dtype: DType, shape: &[usize]) -> stridewise::Result<Tensor> {
    let layout = Layout::packed(dtype.width(), shape)?;
    let whole = bytes.is_contiguous() && bytes.nbytes() == layout.count() * dtype.width();
    let aligned = bytes.as_ptr().addr().is_multiple_of(dtype.width().min(8));
    if !(whole && aligned) || bytes.is_empty() {
        return Tensor::from_bytes(dtype, shape, &bytes.to_bytes()?);
    }
    let (start, len) = (bytes.as_ptr(), bytes.nbytes());
    // SAFETY: the bytes are those a packed tensor reaches, and it keeps them alive as the owner. They are
    // taken as read-only.
    let storage = unsafe { Storage::foreign(start, len, false, Box::new(bytes)) };
    Tensor::new(Arc::new(storage), dtype, layout)
}
