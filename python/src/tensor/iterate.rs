//! Iteration over the first axis: each slice is made when it is asked for.

use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::prelude::*;
use stridewise::Tensor;

use crate::errors::OrRaise;
use crate::tensor::PyTensor;
use crate::tensor::index::row;

/// The slices of a tensor along its first axis, one after another.
#[pyclass(name = "TensorIterator", module = "stridewise", frozen)]
pub(crate) struct PyTensorIterator {
    tensor: Tensor,
    next: AtomicUsize,
}

impl PyTensorIterator {
    pub(crate) fn new(tensor: Tensor) -> PyTensorIterator {
        PyTensorIterator {
            tensor,
            next: AtomicUsize::new(0),
        }
    }

    fn len(&self) -> usize {
        self.tensor.shape().first().copied().unwrap_or(0)
    }
}

#[pymethods]
impl PyTensorIterator {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<PyTensor>> {
        let len = self.len();
        let step = |at| (at < len).then_some(at + 1);
        match self
            .next
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, step)
        {
            Ok(at) => row(&self.tensor, at)
                .or_raise(py)
                .map(PyTensor::from)
                .map(Some),
            Err(_) => Ok(None),
        }
    }

    fn __length_hint__(&self) -> usize {
        self.len().saturating_sub(self.next.load(Ordering::Relaxed))
    }
}
