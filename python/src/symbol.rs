//! The class `Symbol`.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use stridewise::params::Symbol;

/// A name for a size, in patterns.
#[pyclass(name = "Symbol", module = "stridewise", frozen, eq, hash)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct PySymbol(pub(crate) Symbol);

#[pymethods]
impl PySymbol {
    #[new]
    fn new(name: &str) -> PySymbol {
        PySymbol(Symbol::new(name))
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    fn __str__(&self) -> &str {
        self.0.name()
    }

    fn __repr__(&self) -> String {
        format!("symbol('{}')", self.0.name().escape_debug())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        (py.get_type::<PySymbol>(), (self.0.name(),)).into_pyobject(py)
    }
}
