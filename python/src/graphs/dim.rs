//! The class `Dim`: a size of a graph that is not known before it runs, and the arithmetic of such sizes.

use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::IntoPyObjectExt;
use pyo3::basic::CompareOp;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyInt;
use stridewise::Error;
use stridewise::dim::Dim;
use stridewise::graph::as_spread;
use stridewise::params::Extent;
use stridewise::size::{Size, Truth};

use crate::errors::{OrRaise, exception};
use crate::symbol::PySymbol;

/// A size of a tensor in a graph, as far as it is known: symbols, numbers, sums, products and exact quotients.
///
/// It goes where sizes go: ``x.reshape(B * 4, -1)``. It is no number, so it cannot be counted with or asked.
#[pyclass(name = "Dim", module = "stridewise", frozen)]
pub(crate) struct PyDim(pub(crate) Extent<Dim>);

impl PyDim {
    pub(crate) fn dim(&self) -> Dim {
        match &self.0 {
            Extent::Is(dim) => dim.clone(),
            _ => Dim::from(0),
        }
    }
}

/// A size as Python has it: an int where it is known.
pub(crate) fn size_object<'py>(py: Python<'py>, dim: &Dim) -> PyResult<Bound<'py, PyAny>> {
    match dim.known() {
        Some(size) => size.into_bound_py_any(py),
        None => Ok(Bound::new(py, PyDim(Extent::Is(dim.clone())))?.into_any()),
    }
}

/// The size that an object is.
pub(crate) fn dim_of(object: &Bound<'_, PyAny>) -> Option<Dim> {
    if let Ok(dim) = object.cast::<PyDim>() {
        return Some(dim.get().dim());
    }
    if let Ok(symbol) = object.cast::<PySymbol>() {
        return Some(Dim::symbol(&symbol.get().0));
    }
    match object.is_exact_instance_of::<PyInt>() {
        true => object.extract::<usize>().ok().map(Dim::from),
        false => None,
    }
}

/// What an operation on sizes gives, or what Python does where it has none.
pub(crate) fn computed<'py>(
    py: Python<'py>,
    a: Dim,
    b: &Bound<'py, PyAny>,
    name: &str,
    work: impl Fn(&Dim, &Dim) -> Option<Dim>,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(b) = dim_of(b) else {
        return Ok(py.NotImplemented().into_bound(py));
    };
    match work(&a, &b) {
        Some(dim) => size_object(py, &dim),
        None => Err(Error::overflow(format!("{a} {name} {b} is no size"))).or_raise(py),
    }
}

fn compared(py: Python<'_>, a: &Dim, b: &Dim, op: CompareOp) -> PyResult<bool> {
    let same = match a.same(b) {
        Truth::Yes => true,
        Truth::No => false,
        Truth::Unknown => {
            let error = Error::too_early(format!(
                "whether {a} equals {b} is not known before the graph runs"
            ));
            let error = error.help("`enforce_shape` makes a check that is done when it runs");
            return Err(exception(py, &error));
        }
    };
    Ok(same == matches!(op, CompareOp::Eq))
}

#[pymethods]
impl PyDim {
    fn __add__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        computed(py, self.dim(), other, "+", Dim::plus)
    }

    fn __radd__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        computed(py, self.dim(), other, "+", |a, b| b.plus(a))
    }

    fn __sub__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        computed(py, self.dim(), other, "-", Dim::minus)
    }

    fn __rsub__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        computed(py, self.dim(), other, "-", |a, b| b.minus(a))
    }

    fn __mul__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        computed(py, self.dim(), other, "*", Dim::times)
    }

    fn __rmul__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        computed(py, self.dim(), other, "*", |a, b| b.times(a))
    }

    fn __floordiv__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        computed(py, self.dim(), other, "//", Dim::over)
    }

    fn __rfloordiv__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        computed(py, self.dim(), other, "//", |a, b| b.over(a))
    }

    fn __richcmp__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        match (dim_of(other), op) {
            (Some(other), CompareOp::Eq | CompareOp::Ne) => {
                compared(py, &self.dim(), &other, op)?.into_bound_py_any(py)
            }
            _ => Ok(py.NotImplemented().into_bound(py)),
        }
    }

    fn __hash__(&self) -> u64 {
        let (mut hasher, dim) = (DefaultHasher::new(), self.dim());
        // A symbol alone equals the object it was declared with, so that both must have one hash.
        match dim.as_symbol() {
            Some(symbol) => PySymbol(symbol.clone()).hash(&mut hasher),
            None => dim.hash(&mut hasher),
        }
        hasher.finish()
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        compared(py, &self.dim(), &Dim::from(0), CompareOp::Ne)
    }

    fn __index__(&self) -> PyResult<usize> {
        Err(PyTypeError::new_err(format!(
            "{} is a size that is not known before the graph runs",
            self.dim()
        )))
    }

    fn __str__(&self) -> String {
        self.__repr__()
    }

    fn __repr__(&self) -> String {
        let dim = self.dim();
        match as_spread(&dim) {
            Some(tuple) => format!("*{tuple}"),
            None => dim.to_string(),
        }
    }
}
