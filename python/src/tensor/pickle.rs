//! Pickling: a tensor keeps its own elements, packed, whatever storage they lie in. From protocol 5 on the
//! bytes are handed over as a buffer, which need not be copied.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple, PyType};
use stridewise::internals::storage::Storage;
use stridewise::prelude::*;
use stridewise::{Error, Layout};

use crate::errors::OrRaise;
use crate::foreign;
use crate::tensor::PyTensor;

/// What `__reduce_ex__` gives: a function and its arguments, and the attributes of a subclass.
pub(crate) fn reduce<'py>(
    slf: &Bound<'py, PyTensor>,
    protocol: usize,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = slf.py();
    let x = &slf.get().inner;
    let packed = py.detach(|| x.contiguous()).or_raise(py)?;
    let elements = match protocol >= 5 && !packed.is_empty() {
        true => {
            let bytes = bytes_of(&packed).or_raise(py)?;
            let bytes = Bound::new(py, PyTensor::from(bytes))?;
            py.import("pickle")?
                .getattr("PickleBuffer")?
                .call1((bytes,))?
        }
        false => PyBytes::new(py, &packed.to_bytes().or_raise(py)?).into_any(),
    };
    let rebuild = py.import("stridewise._stridewise")?.getattr("_rebuild")?;
    let (name, shape) = (x.dtype().name(), PyTuple::new(py, x.shape())?);
    let class = slf.get_type();
    match class.is(py.get_type::<PyTensor>()) {
        true => (rebuild, (elements, name, shape)).into_pyobject(py),
        false => {
            let state = slf
                .getattr("__dict__")
                .unwrap_or_else(|_| py.None().into_bound(py));
            (rebuild, (elements, name, shape, class), state).into_pyobject(py)
        }
    }
}

/// The bytes of a packed tensor, over the same memory.
fn bytes_of(x: &Tensor) -> stridewise::Result<Tensor> {
    let offset = x.layout().offset() * x.dtype().width();
    let layout = Layout::new(1, [x.nbytes()].as_slice(), [1].as_slice(), offset)?;
    Tensor::new(x.storage().clone(), DType::U8, layout)
}

/// A tensor from what `Tensor.__reduce_ex__` keeps.
#[pyfunction]
#[pyo3(signature = (elements, dtype, shape, class=None))]
pub(crate) fn _rebuild<'py>(
    elements: &Bound<'py, PyAny>,
    dtype: &str,
    shape: Vec<usize>,
    class: Option<&Bound<'py, PyType>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = elements.py();
    let dtype: DType = dtype.parse().or_raise(py)?;
    let x = match elements.cast::<PyBytes>() {
        Ok(bytes) => Tensor::from_bytes(dtype, &shape, bytes.as_bytes()).or_raise(py)?,
        Err(_) => match foreign::tensor(elements)? {
            Some(bytes) => seen_as(bytes, dtype, &shape).or_raise(py)?,
            None => {
                return Err(Error::type_("the elements of a tensor are bytes")).or_raise(py);
            }
        },
    };
    let x = Bound::new(py, PyTensor::from(x))?.into_any();
    match class {
        None => Ok(x),
        Some(class) => class.call_method1("__new__", (class, x)),
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
