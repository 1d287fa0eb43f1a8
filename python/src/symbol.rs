//! The class `Symbol`.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use stridewise::dim::Dim;
use stridewise::params::Symbol;
use stridewise::size::Size;

use crate::graphs::dim::computed;

type Computed<'py> = PyResult<Bound<'py, PyAny>>;

/// A name for a size, in patterns and in graphs.
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

    fn __add__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> Computed<'py> {
        computed(py, Dim::symbol(&self.0), other, "+", Dim::plus)
    }

    fn __radd__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> Computed<'py> {
        computed(py, Dim::symbol(&self.0), other, "+", |a, b| b.plus(a))
    }

    fn __sub__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> Computed<'py> {
        computed(py, Dim::symbol(&self.0), other, "-", Dim::minus)
    }

    fn __rsub__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> Computed<'py> {
        computed(py, Dim::symbol(&self.0), other, "-", |a, b| b.minus(a))
    }

    fn __mul__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> Computed<'py> {
        computed(py, Dim::symbol(&self.0), other, "*", Dim::times)
    }

    fn __rmul__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> Computed<'py> {
        computed(py, Dim::symbol(&self.0), other, "*", |a, b| b.times(a))
    }

    fn __floordiv__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> Computed<'py> {
        computed(py, Dim::symbol(&self.0), other, "//", Dim::over)
    }

    fn __rfloordiv__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> Computed<'py> {
        computed(py, Dim::symbol(&self.0), other, "//", |a, b| b.over(a))
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
