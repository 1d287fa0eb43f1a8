//! The class `Sbp`: how the ranks along one mesh axis hold a tensor; and what can be said instead of it.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use stridewise::internals::smallvec::SmallVec;
use stridewise::spread::sbp::parse;
use stridewise::spread::{NdSbp, Reduction};
use stridewise::{Error, Mesh, Sbp};

use crate::arguments::Raised;
use crate::errors::OrRaise;

/// How the ranks along one mesh axis hold a tensor: each a part of an axis, each all of it, or each a summand.
///
/// Made by ``stridewise.sbp``: ``sbp.split(0)``, ``sbp.broadcast``, ``sbp.partial_sum``, or from its text.
///
/// Examples
/// --------
/// >>> import stridewise as sw
/// >>> sw.sbp.split(0), sw.sbp.broadcast, sw.sbp.partial_sum
/// (S(0), B, P)
/// >>> sw.Sbp("S(1)") == sw.sbp.split(1)
/// True
#[pyclass(name = "Sbp", module = "stridewise", frozen)]
pub(crate) struct PySbp(Sbp);

#[pymethods]
impl PySbp {
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<PySbp> {
        let read = text.trim().parse();
        let read = read.map_err(|error: Error| error.within("Sbp"));
        Ok(PySbp(read.or_raise(py)?))
    }

    /// The tensor's axis that is split; None where none is.
    #[getter]
    fn axis(&self) -> Option<usize> {
        self.0.axis()
    }

    /// Whether each rank has a part of an axis.
    #[getter]
    fn is_split(&self) -> bool {
        self.0.axis().is_some()
    }

    /// Whether each rank has all of it.
    #[getter]
    fn is_broadcast(&self) -> bool {
        self.0 == Sbp::Broadcast
    }

    /// Whether all ranks together, reduced, have it.
    #[getter]
    fn is_partial(&self) -> bool {
        matches!(self.0, Sbp::Partial(_))
    }

    // The text it is printed as is equal, and has the same hash.
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        match (other.cast::<PySbp>(), other.cast::<PyString>()) {
            (Ok(other), _) => self.0 == other.get().0,
            (_, Ok(text)) => text.to_str().is_ok_and(|text| text == self.0.to_string()),
            _ => false,
        }
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyString::new(py, &self.0.to_string()).hash()
    }

    fn __repr__(&self) -> String {
        self.0.to_string()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let arguments = PyTuple::new(slf.py(), [slf.get().0.to_string()])?;
        PyTuple::new(slf.py(), [slf.get_type().into_any(), arguments.into_any()])
    }
}

/// All of them as a tuple.
pub(super) fn objects<'py>(py: Python<'py>, sbp: &[Sbp]) -> PyResult<Bound<'py, PyTuple>> {
    let all = sbp.iter().map(|sbp| Bound::new(py, PySbp(*sbp)));
    PyTuple::new(py, all.collect::<PyResult<Vec<_>>>()?)
}

/// Every rank has all of it.
pub(super) fn broadcast(mesh: &Mesh) -> NdSbp {
    SmallVec::from_elem(Sbp::Broadcast, mesh.rank())
}

/// One `Sbp` for each mesh axis: from one, from a text, or from a list or tuple of these.
pub(crate) fn held_as(given: &Bound<'_, PyAny>) -> Result<NdSbp, Raised> {
    if let Ok(one) = given.cast::<PySbp>() {
        return Ok(SmallVec::from_elem(one.get().0, 1));
    }
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(parse(text.to_str()?)?);
    }
    let mut all = NdSbp::new();
    if given.is_instance_of::<PyTuple>() || given.is_instance_of::<PyList>() {
        for (at, item) in given.try_iter()?.enumerate() {
            let item = item?;
            let one = match (item.cast::<PySbp>(), item.cast::<PyString>()) {
                (Ok(one), _) => one.get().0,
                (_, Ok(text)) => text.to_str()?.trim().parse()?,
                _ => return Err(no_sbp(&item)?.at_item(at).into()),
            };
            all.push(one);
        }
        return Ok(all);
    }
    Err(no_sbp(given)?.into())
}

fn no_sbp(given: &Bound<'_, PyAny>) -> PyResult<Error> {
    let class = given.get_type().name()?;
    let message = format!(
        "sbp is an object of type `{class}`, but one of split(axis), broadcast and partial_sum for each mesh axis is \
         needed"
    );
    let error = Error::type_(message).at_argument("sbp");
    Ok(error.help(
        "write `sw.sbp.split(0)` or \"S(0)\", and for several mesh axes a tuple or \"S(0),B\"",
    ))
}

/// A split of an axis.
#[pyfunction]
pub(super) fn _split(py: Python<'_>, axis: isize) -> PyResult<PySbp> {
    let axis = usize::try_from(axis).map_err(|_| {
        let message = format!("axis {axis} of a tensor that is not there yet counts from no end");
        let error = Error::axis(message).at_argument("axis").within("split");
        error.help("give an axis of at least 0")
    });
    Ok(PySbp(Sbp::Split(axis.or_raise(py)?)))
}

/// Adds the constants to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let constants = [
        ("_broadcast", Sbp::Broadcast),
        ("_partial_sum", Sbp::Partial(Reduction::Sum)),
        ("_partial_max", Sbp::Partial(Reduction::Max)),
        ("_partial_min", Sbp::Partial(Reduction::Min)),
    ];
    for (name, sbp) in constants {
        module.add(name, PySbp(sbp))?;
    }
    module.add_function(wrap_pyfunction!(_split, module)?)
}
