//! The scope `shapes()`, in which several checks of shapes share their symbols, and `repeat_plan`.

use std::borrow::Borrow;
use std::fmt::Display;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use stridewise::call::{Argument, Bind, Given, literal};
use stridewise::dim::Dim;
use stridewise::operators::RepeatPlan;
use stridewise::params::{Pattern, Sizes};
use stridewise::prelude::*;
use stridewise::repeat_plan as plan;
use stridewise::{Error, Graph};

use crate::arguments::{Object, Raised, sizes_found};
use crate::errors::OrRaise;
use crate::foreign;
use crate::gradients;
use crate::graphs::dim::size_object;
use crate::graphs::symbolic::PySymbolic;
use crate::graphs::trace::source;

/// A scope for checks of shapes: a symbol bound by one check holds in the next.
///
/// Examples
/// --------
/// >>> import stridewise as sw
/// >>> with sw.shapes() as s:
/// ...     x, _ = s.enforce(sw.zeros([4, 3]), ["B", "C"])
/// ...     y, _ = s.enforce(sw.zeros([4]), ["B"])
/// >>> s.sizes
/// {'B': 4, 'C': 3}
#[pyclass(name = "shapes", module = "stridewise", frozen)]
pub(crate) struct PyShapes {
    sizes: Shapes<usize>,
    /// The same for tensors of graphs.
    dims: Shapes<Dim>,
}

#[pymethods]
impl PyShapes {
    #[new]
    fn new() -> PyShapes {
        PyShapes {
            sizes: Shapes::new(),
            dims: Shapes::new(),
        }
    }

    /// ``enforce_shape`` with the symbols of this scope. A check that fails binds nothing.
    #[pyo3(signature = (x, pattern, name=None))]
    fn enforce(
        &self,
        x: &Bound<'_, PyAny>,
        pattern: &Bound<'_, PyAny>,
        name: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let py = x.py();
        let name = match name.map(|name| (name, name.cast::<PyString>())) {
            None => None,
            Some((_, Ok(name))) => Some(name.to_str()?.to_string()),
            Some((other, Err(_))) => {
                let class = other.get_type().name()?;
                let message =
                    format!("name is an object of type `{class}`, but a string or None is needed");
                let error = Error::type_(message).at_argument("name");
                return Err(error.within("enforce_shape")).or_raise(py);
            }
        };
        let check = || -> Result<Py<PyAny>, Raised> {
            let pattern = Object::from(pattern.clone());
            if let Ok(x) = x.cast::<PySymbolic>() {
                let x = &x.get().0;
                x.graph().at(source(py), name.clone());
                let pattern = Pattern::<Dim>::bind(Given::one(x.graph(), "pattern", &pattern))?;
                let checked = self.dims.enforce(x, pattern)?;
                return <Object<'_> as Argument<Graph>>::checked(checked, None);
            }
            let pattern = Pattern::<usize>::bind(Given::one(&Cpu, "pattern", &pattern))?;
            // A foreign array is checked by its shape alone and handed back as it is.
            if let Some(stand_in) = foreign::shape::stand_in(x)? {
                let (_, dims) = self.sizes.enforce(&stand_in, pattern)?;
                return Ok((x, sizes_found(py, &dims)?).into_py_any(py)?);
            }
            let mut x = Object::from(x.clone());
            if gradients::wanted([&x])? {
                x = Object::from(gradients::literal_object(x.get(), "x")?.into_any());
            }
            let held = literal(&Cpu, &x, "x")?;
            let checked = self
                .sizes
                .enforce(Borrow::<Tensor>::borrow(&held), pattern)?;
            <Object<'_> as Argument<Cpu>>::checked(checked, Some(&held))
        };
        check().map_err(|raised| raised.exception(py, "enforce_shape", name.clone()))
    }

    /// The sizes of the symbols bound so far, by name.
    #[getter]
    fn sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let sizes = PyDict::new(py);
        for (symbol, size) in self.sizes.sizes() {
            sizes.set_item(symbol.name(), size)?;
        }
        for (symbol, size) in self.dims.sizes() {
            sizes.set_item(symbol.name(), size_object(py, &size)?)?;
        }
        Ok(sizes)
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) -> bool {
        false
    }

    fn __repr__(&self) -> String {
        let text = |symbol: &Symbol, size: &dyn Display| format!("{symbol}={size}");
        let (sizes, dims) = (self.sizes.sizes(), self.dims.sizes());
        let bound = sizes.iter().map(|(symbol, size)| text(symbol, size));
        let bound = bound.chain(dims.iter().map(|(symbol, size)| text(symbol, size)));
        format!("shapes({})", bound.collect::<Vec<_>>().join(", "))
    }
}

/// The three shapes that make `repeat` out of reshape, expand and reshape.
///
/// Returns
/// -------
/// tuple of three tuples
///     The shape to reshape the input to, the shape to expand that to, and the shape to reshape that to.
///
/// Examples
/// --------
/// >>> import stridewise as sw
/// >>> sw.repeat_plan([2, 3], [4, 2])
/// ((1, 2, 1, 3), (4, 2, 2, 3), (8, 6))
#[pyfunction]
pub(crate) fn repeat_plan<'py>(
    shape: &Bound<'py, PyAny>,
    sizes: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = shape.py();
    let read = |object: &Bound<'py, PyAny>, name: &'static str| -> Result<Sizes<usize>, Raised> {
        Sizes::bind(Given::one(&Cpu, name, &Object::from(object.clone())))
    };
    let work = || -> Result<RepeatPlan, Raised> {
        let given = read(shape, "shape")?.all_given("shape", "size")?;
        Ok(plan(&given, read(sizes, "sizes")?)?)
    };
    let plan = work().map_err(|raised| raised.exception(py, "repeat_plan", None))?;
    PyTuple::new(
        py,
        [
            PyTuple::new(py, plan.reshape_input)?,
            PyTuple::new(py, plan.expand)?,
            PyTuple::new(py, plan.reshape_output)?,
        ],
    )
}

/// Adds the scope and the plan to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyShapes>()?;
    module.add_function(wrap_pyfunction!(repeat_plan, module)?)
}
