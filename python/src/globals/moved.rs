//! The class `Moved`: a change of layout that an operator needed, and what it cost.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use stridewise::spread::{Moved, What};

use crate::dtype::PyDType;

/// A change of layout that was made, and the bytes this rank received from others for it.
#[pyclass(name = "Moved", module = "stridewise", frozen)]
pub(crate) struct PyMoved(pub(super) Moved);

#[pymethods]
impl PyMoved {
    /// The operator or method that needed it.
    #[getter]
    fn operator(&self) -> &'static str {
        self.0.operator
    }

    /// What was done: ``all_gather``, ``all_to_all``, ``reduce_scatter`` or ``all_reduce``.
    #[getter]
    fn what(&self) -> &'static str {
        self.0.what.name()
    }

    /// How the tensor was held before, and how after it; the same twice where only rows of a split went elsewhere.
    #[getter]
    fn change(&self) -> (String, String) {
        match self.0.what {
            What::Change(from, to) => (from.to_string(), to.to_string()),
            What::Rows(axis) => (format!("S({axis})"), format!("S({axis})")),
        }
    }

    /// The logical shape of the tensor.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.shape)
    }

    /// Its element type.
    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<Py<PyDType>> {
        PyDType::object(py, self.0.dtype)
    }

    /// The mesh axis along which it was done.
    #[getter]
    fn mesh_axis(&self) -> usize {
        self.0.mesh_axis
    }

    /// Bytes that this rank received from others.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes
    }

    fn __repr__(&self) -> String {
        format!("<{}>", self.0)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }
}
