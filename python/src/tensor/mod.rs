//! The class `Tensor`: what Python people expect of an array, around a tensor in main memory.

mod export;
mod index;
mod numbers;
mod numpy;
mod slot;

use std::ffi::c_int;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use stridewise::prelude::*;

use crate::dtype::PyDType;
use crate::errors::OrRaise;
use crate::foreign::dlpack;
use numbers::{nest, numbers};
pub(crate) use slot::{Slot, object};

/// A tensor in main memory: an immutable value. Views share memory and cost nothing.
#[pyclass(name = "Tensor", module = "stridewise", frozen, weakref, subclass)]
pub(crate) struct PyTensor {
    pub(crate) inner: Slot,
}

#[pymethods]
impl PyTensor {
    /// The size of each axis.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.shape())
    }

    /// The stride of each axis, in elements.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.strides())
    }

    /// The element type.
    #[getter]
    fn dtype(&self) -> PyDType {
        PyDType(self.inner.dtype())
    }

    /// How many axes.
    #[getter]
    fn ndim(&self) -> usize {
        self.inner.rank()
    }

    /// How many elements.
    #[getter]
    fn size(&self) -> usize {
        self.inner.count()
    }

    /// Bytes of all elements.
    #[getter]
    fn nbytes(&self) -> usize {
        self.inner.nbytes()
    }

    /// Bytes of one element.
    #[getter]
    fn itemsize(&self) -> usize {
        self.inner.dtype().width()
    }

    /// The axes reversed.
    #[getter(T)]
    fn reversed_axes(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.inner.transpose(..).or_raise(py).map(PyTensor::from)
    }

    /// The last two axes swapped.
    #[getter(mT)]
    fn matrix_transpose(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.inner.swapaxes(-2, -1).or_raise(py).map(PyTensor::from)
    }

    /// The address of the element at index zero.
    fn data_ptr(&self) -> usize {
        self.inner.as_ptr().addr()
    }

    /// Whether both look at the same memory.
    fn shares_memory(&self, other: &PyTensor) -> bool {
        self.inner.shares_storage_with(&other.inner)
    }

    /// Whether this is a view of the other's memory.
    fn is_view_of(&self, other: &PyTensor) -> bool {
        self.shares_memory(other)
    }

    /// The elements as nested lists of Python numbers.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let flat = numbers(py, &self.inner)?;
        nest(py, self.inner.shape(), &flat)
    }

    /// The one element as a Python number.
    fn item<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match numbers(py, &self.inner)?.as_slice() {
            [one] => Ok(one.clone()),
            many => Err(PyValueError::new_err(format!(
                "the tensor has {} elements, not one",
                many.len()
            ))),
        }
    }

    /// A NumPy array over the same memory, read-only. bfloat16 needs the package ml_dtypes.
    fn numpy(slf: Bound<'_, PyTensor>) -> PyResult<Bound<'_, PyAny>> {
        numpy::shared(&slf)
    }

    /// A NumPy array, as `numpy.asarray` asks for it.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: Bound<'py, PyTensor>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        numpy::array(&slf, dtype, copy)
    }

    /// A DLPack capsule over the same memory, marked read-only; a copy for libraries that cannot be told so, and
    /// of negative strides, which most misread, unless `copy` is False.
    /// PyTorch and Paddle take the mark but do not heed it: what is written there changes the tensor.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<Bound<'py, PyAny>>,
        dl_device: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = dlpack::Request {
            stream: stream.as_ref(),
            max_version: max_version.as_ref(),
            device: dl_device.as_ref(),
            copy,
        };
        dlpack::export(py, &self.inner, request)
    }

    /// Where the memory is, in DLPack's numbers: the CPU.
    fn __dlpack_device__(&self) -> (i64, i64) {
        dlpack::device()
    }

    /// The bytes of the elements, row-major.
    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.inner.to_bytes()).or_raise(py)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __len__(&self) -> PyResult<usize> {
        let first = self.inner.shape().first().copied();
        first.ok_or_else(|| PyTypeError::new_err("a tensor of rank 0 has no length"))
    }

    fn __getitem__(&self, py: Python<'_>, index: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        index::get(py, &self.inner, index)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let slices = self
            .inner
            .unstack(0)
            .or_raise(py)?
            .into_iter()
            .map(PyTensor::from);
        let slices = slices
            .map(|x| Bound::new(py, x))
            .collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, slices)?.call_method0("__iter__")
    }

    fn __repr__(&self) -> String {
        format!("{:?}", *self.inner)
    }

    fn __str__(&self) -> String {
        self.inner.to_string()
    }

    fn __int__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("builtins")?
            .getattr("int")?
            .call1((self.item(py)?,))
    }

    fn __float__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("builtins")?
            .getattr("float")?
            .call1((self.item(py)?,))
    }

    fn __complex__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("builtins")?
            .getattr("complex")?
            .call1((self.item(py)?,))
    }

    fn __index__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.inner.dtype().is_integer() && self.inner.rank() == 0 {
            true => self.item(py),
            false => Err(PyTypeError::new_err(
                "only an integer tensor of rank 0 is an index",
            )),
        }
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        match self.inner.count() {
            1 => self.item(py)?.is_truthy(),
            count => Err(PyValueError::new_err(format!(
                "the truth of a tensor of {count} elements is ambiguous"
            ))),
        }
    }

    fn __copy__(slf: Bound<'_, PyTensor>) -> Bound<'_, PyTensor> {
        slf
    }

    fn __deepcopy__<'py>(
        slf: Bound<'py, PyTensor>,
        _memo: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyTensor>> {
        let py = slf.py();
        let copy = Cpu.copy(&slf.get().inner).or_raise(py)?;
        Bound::new(py, PyTensor::from(copy))
    }

    #[allow(clippy::type_complexity)]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(
        Bound<'py, PyAny>,
        (Bound<'py, PyBytes>, &'static str, Bound<'py, PyTuple>),
    )> {
        let rebuild = py.import("stridewise._stridewise")?.getattr("_rebuild")?;
        let bytes = PyBytes::new(py, &self.inner.to_bytes().or_raise(py)?);
        Ok((rebuild, (bytes, self.inner.dtype().name(), self.shape(py)?)))
    }

    /// # Safety
    /// Called by the interpreter, with a structure to fill.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        // SAFETY: the interpreter gives a structure to fill.
        unsafe { export::lend(slf, view, flags) }
    }

    /// # Safety
    /// Called by the interpreter, with a structure that `__getbuffer__` has filled.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: the structure is one that `__getbuffer__` has filled, and this is the only release.
        unsafe { export::release(view) }
    }
}

impl From<Tensor> for PyTensor {
    fn from(tensor: Tensor) -> PyTensor {
        PyTensor {
            inner: tensor.into(),
        }
    }
}
