//! The class `SymbolicTensor`: a tensor of a graph, which has a dtype, as much of a shape as is known, and every
//! operator as a method, but no elements yet.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use stridewise::Error;
use stridewise::Symbolic;
use stridewise::dim::Outline;
use stridewise::graph::{as_spread, spread};
use stridewise::prelude::*;

use crate::dtype::PyDType;
use crate::errors::OrRaise;
use crate::graphs::dim::{PyDim, size_object};
use crate::tensor::index;

/// A tensor of a graph that is being traced.
#[pyclass(name = "SymbolicTensor", module = "stridewise", frozen, weakref)]
pub(crate) struct PySymbolic(pub(crate) Symbolic);

/// The sizes of a shape as a tuple; one of them may stand for many.
pub(crate) fn shape_object<'py>(py: Python<'py>, shape: &Outline) -> PyResult<Bound<'py, PyTuple>> {
    let rest = shape.rest().map(spread);
    let dims = shape.front().iter().chain(&rest).chain(shape.back());
    let sizes = dims.map(|dim| size_object(py, dim));
    tuple_of(py, sizes.collect::<PyResult<Vec<_>>>()?)
}

/// Sizes as a tuple. Where one of them stands for many, it is one that knows that places in it are not axes.
pub(crate) fn tuple_of<'py>(
    py: Python<'py>,
    sizes: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let many = |size: &Bound<'py, PyAny>| {
        let dim = size.cast::<PyDim>();
        dim.is_ok_and(|dim| as_spread(&dim.get().dim()).is_some())
    };
    let open = sizes.iter().any(many);
    let tuple = PyTuple::new(py, sizes)?;
    match open {
        true => {
            let class = py.import("stridewise._graphs")?.getattr("OpenShape")?;
            Ok(class.call1((tuple,))?.cast_into()?)
        }
        false => Ok(tuple),
    }
}

pub(crate) fn symbolic_object(py: Python<'_>, x: Symbolic) -> PyResult<Bound<'_, PySymbolic>> {
    Bound::new(py, PySymbolic(x))
}

impl PySymbolic {
    fn no_elements<T>(&self, py: Python<'_>) -> PyResult<T> {
        let message = format!(
            "a tensor of a graph, {}{}, has no elements before the graph runs",
            self.0.dtype(),
            self.0.shape()
        );
        Err(Error::too_early(message)).or_raise(py)
    }

    fn rank(&self, py: Python<'_>) -> PyResult<usize> {
        self.0.graph().rank(&self.0).or_raise(py)
    }
}

#[pymethods]
impl PySymbolic {
    /// The size of each axis: ints, sizes that are not known yet, and one symbol for axes of unknown number.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        shape_object(py, self.0.shape())
    }

    /// The element type.
    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<Py<PyDType>> {
        PyDType::object(py, self.0.dtype())
    }

    /// How many axes; raises ``TooEarly`` where that is not known.
    #[getter]
    fn ndim(&self, py: Python<'_>) -> PyResult<usize> {
        self.rank(py)
    }

    /// How many elements.
    #[getter]
    fn size<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let count = self.0.shape().count();
        let count = count.ok_or_else(|| Error::overflow("the tensor has too many elements"));
        size_object(py, &count.or_raise(py)?)
    }

    /// The axes reversed.
    #[getter(T)]
    fn reversed_axes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PySymbolic>> {
        symbolic_object(py, self.0.transpose(..).or_raise(py)?)
    }

    /// The last two axes swapped.
    #[getter(mT)]
    fn matrix_transpose<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PySymbolic>> {
        symbolic_object(py, self.0.swapaxes(-2, -1).or_raise(py)?)
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PySymbolic>> {
        symbolic_object(py, index::of_graph(py, &self.0, index)?)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let slices = self.0.unstack(0).or_raise(py)?;
        let slices = slices.into_iter().map(|x| symbolic_object(py, x));
        let list = PyList::new(py, slices.collect::<PyResult<Vec<_>>>()?)?;
        Ok(list.try_iter()?.into_any())
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        use stridewise::size::Size;
        match self.rank(py)? {
            0 => Err(Error::type_("a tensor of rank 0 has no length")).or_raise(py),
            _ => {
                let size = self.0.graph().size(&self.0, 0);
                let known = size.known().ok_or_else(|| {
                    Error::too_early(format!("the length is {size}, which is not known yet"))
                        .help("`x.shape[0]` is a size that goes where sizes go")
                });
                known.or_raise(py)
            }
        }
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        self.no_elements(py)
    }

    fn __int__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.no_elements(py)
    }

    fn __float__(&self, py: Python<'_>) -> PyResult<f64> {
        self.no_elements(py)
    }

    fn __eq__(&self, py: Python<'_>, _other: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.no_elements(py)
    }

    fn __ne__(&self, py: Python<'_>, _other: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.no_elements(py)
    }

    fn __hash__(slf: &Bound<'_, PySymbolic>) -> usize {
        slf.as_ptr().addr()
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__(
        &self,
        py: Python<'_>,
        dtype: Option<&Bound<'_, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        let _ = (dtype, copy);
        self.no_elements(py)
    }

    fn __repr__(&self) -> String {
        format!("SymbolicTensor({}{})", self.0.dtype(), self.0.shape())
    }
}
