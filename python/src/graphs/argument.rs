//! Python objects as arguments of operators that are recorded: tensors of the graph, and everything else as ever,
//! with tensors in main memory as constants.

use std::borrow::Borrow;

use pyo3::prelude::*;
use pyo3::types::PyList;
use smallvec::SmallVec;
use stridewise::call::{Argument, Look};
use stridewise::dim::Dim;
use stridewise::operators::{Dim as Entry, Dims};
use stridewise::table::{Kind, ParamKind};
use stridewise::{Cpu, Engine, Error, Graph, Symbolic, Tensor};

use crate::arguments::{Held, Object, Raised};
use crate::gradients;
use crate::graphs::dim::{PyDim, size_object};
use crate::graphs::symbolic::{PySymbolic, symbolic_object, tuple_of};
use crate::graphs::trace::current;
use crate::tensor::PyTensor;

/// A tensor among arguments.
pub(crate) struct Recorded(Symbolic);

impl Borrow<Symbolic> for Recorded {
    fn borrow(&self) -> &Symbolic {
        &self.0
    }
}

impl From<Symbolic> for Recorded {
    fn from(x: Symbolic) -> Recorded {
        Recorded(x)
    }
}

/// A tensor in main memory, as one of the graph: with the elements it has now, so that all runs have the same.
pub(crate) fn constant(graph: &Graph, tensor: &Tensor) -> stridewise::Result<Symbolic> {
    Ok(graph.constant(&Cpu.as_it_is(tensor)?))
}

/// The same for a tensor of Python's, which must not have a history: no gradient would come back to it.
pub(crate) fn constant_of(graph: &Graph, tensor: &PyTensor) -> stridewise::Result<Symbolic> {
    if gradients::tracked(tensor).is_some() {
        return Err(Error::gradient(
            "a tensor that requires a gradient is a constant of the graph, so that no gradient would come back to it",
        )
        .help("make it an input of the graph, or call `detach()` first"));
    }
    constant(graph, &tensor.inner)
}

/// A tensor among arguments, as one of the graph that is being traced.
fn recorded(held: &Held<'_>) -> Result<Recorded, Raised> {
    let Some(graph) = current() else {
        return Err(Error::too_early("no graph is being traced").into());
    };
    Ok(Recorded(match held {
        Held::Given(tensor) => constant_of(&graph, tensor.get())?,
        Held::Made(tensor) => constant(&graph, tensor)?,
    }))
}

impl<'py> Argument<Graph> for Object<'py> {
    type Error = Raised;
    type Tensor = Recorded;
    type Output = Py<PyAny>;

    fn look(&self, wanted: ParamKind) -> Result<Look<'_, Dim>, Raised> {
        let object = self.get();
        if object.cast::<PySymbolic>().is_ok() {
            return Ok(Look::Tensor);
        }
        if let Ok(dim) = object.cast::<PyDim>() {
            return Ok(Look::Extent(&dim.get().0));
        }
        Ok(Argument::<Cpu>::look(self, wanted)?.elsewhere())
    }

    fn tensor(&self) -> Result<Recorded, Raised> {
        match self.get().cast::<PySymbolic>() {
            Ok(x) => Ok(Recorded(x.get().0.clone())),
            Err(_) => recorded(&Argument::<Cpu>::tensor(self)?),
        }
    }

    fn items(&self) -> impl ExactSizeIterator<Item: Borrow<Self>> {
        Argument::<Cpu>::items(self)
    }

    fn whole_list(&self) -> Result<Option<Recorded>, Raised> {
        match Argument::<Cpu>::whole_list(self)? {
            Some(held) => recorded(&held).map(Some),
            None => Ok(None),
        }
    }

    fn plain_number(&self) -> Option<isize> {
        Argument::<Cpu>::plain_number(self)
    }

    fn plain_numbers(&self, into: &mut SmallVec<[isize; 8]>) -> bool {
        Argument::<Cpu>::plain_numbers(self, into)
    }

    fn one(
        _kind: Kind,
        _inputs: &[&Symbolic],
        work: impl Fn() -> Result<Symbolic, Error>,
        _origin: Option<&Recorded>,
    ) -> Result<Py<PyAny>, Raised> {
        handed_out(work()?)
    }

    fn many(values: Vec<Symbolic>, _origins: &[Recorded]) -> Result<Py<PyAny>, Raised> {
        // SAFETY: results are handed out within the call from the interpreter.
        let py = unsafe { Python::assume_attached() };
        let objects = values.into_iter().map(handed_out);
        let objects = objects.collect::<Result<Vec<_>, Raised>>()?;
        Ok(PyList::new(py, objects)?.into_any().unbind())
    }

    fn checked(
        (value, dims): (Symbolic, Dims<Dim>),
        _origin: Option<&Recorded>,
    ) -> Result<Py<PyAny>, Raised> {
        // SAFETY: as above.
        let py = unsafe { Python::assume_attached() };
        let pair = (handed_out(value)?, sizes_found(py, &dims)?);
        Ok(pair.into_pyobject(py)?.into_any().unbind())
    }
}

fn handed_out(x: Symbolic) -> Result<Py<PyAny>, Raised> {
    // SAFETY: as above.
    let py = unsafe { Python::assume_attached() };
    Ok(symbolic_object(py, x)?.into_any().unbind())
}

/// The sizes that `enforce_shape` found, one entry for each piece of the pattern.
pub(crate) fn sizes_found<'py>(py: Python<'py>, dims: &Dims<Dim>) -> PyResult<Bound<'py, PyList>> {
    let entries = dims.iter().map(|entry| match entry {
        Entry::Size(size) => size_object(py, size),
        Entry::Rest(axes, count) => {
            let axes = axes.iter().map(|axis| size_object(py, axis));
            let axes = tuple_of(py, axes.collect::<PyResult<Vec<_>>>()?)?;
            Ok((axes, size_object(py, count)?)
                .into_pyobject(py)?
                .into_any())
        }
    });
    PyList::new(py, entries.collect::<PyResult<Vec<_>>>()?)
}
