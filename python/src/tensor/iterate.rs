//! Iteration over the first axis: each slice is made when it is asked for.

use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::prelude::*;
use stridewise::{Cpu, Var};

use crate::errors::OrRaise;
use crate::gradients;
use crate::tensor::index::row;
use crate::tensor::{PyTensor, object};

/// The slices of a tensor along its first axis, one after another.
#[pyclass(name = "TensorIterator", module = "stridewise", frozen)]
pub(crate) struct PyTensorIterator {
    tensor: Var<Cpu>,
    next: AtomicUsize,
}

impl PyTensorIterator {
    pub(crate) fn new(tensor: Var<Cpu>) -> PyTensorIterator {
        PyTensorIterator {
            tensor,
            next: AtomicUsize::new(0),
        }
    }

    fn row<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyTensor>> {
        match self.tensor.is_tracked() && gradients::is_on() {
            true => {
                let row = row(&gradients::tape(), &self.tensor, at);
                gradients::var_object(py, row.or_raise(py)?)
            }
            false => object(py, row(&Cpu, self.tensor.value(), at).or_raise(py)?),
        }
    }

    fn len(&self) -> usize {
        self.tensor.value().shape().first().copied().unwrap_or(0)
    }
}

#[pymethods]
impl PyTensorIterator {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTensor>>> {
        let len = self.len();
        let step = |at| (at < len).then_some(at + 1);
        match self
            .next
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, step)
        {
            Ok(at) => self.row(py, at).map(Some),
            Err(_) => Ok(None),
        }
    }

    fn __length_hint__(&self) -> usize {
        self.len().saturating_sub(self.next.load(Ordering::Relaxed))
    }
}
