//! `enforce_shape` on arrays of other libraries: by their shape alone.

use pyo3::prelude::*;
use stridewise::call::{Arg, Args};
use stridewise::operators::{Dims, call};
use stridewise::table::Outcome;
use stridewise::{Cpu, DType, Dry, Engine, Sketch};

use crate::arguments::Argument;

/// The shape of a foreign array, as whole numbers; `None` for an object without one.
pub(crate) fn shape(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<usize>>> {
    match object.getattr("shape") {
        Ok(shape) => Ok(shape
            .try_iter()?
            .map(|size| size?.extract())
            .collect::<PyResult<_>>()
            .ok()),
        Err(_) => Ok(None),
    }
}

/// `enforce_shape` on nothing but a shape.
pub(crate) fn enforce(
    shape: &[usize],
    rest: Vec<Argument>,
    named: Vec<(String, Argument)>,
) -> stridewise::Result<Dims<usize>> {
    let dry = Dry::new();
    let mut positional = vec![Arg::Tensor(dry.tensor(DType::Bool, shape)?)];
    for arg in rest {
        positional.push(without_data(arg)?);
    }
    let mut keywords = Vec::new();
    for (name, arg) in named {
        keywords.push((name, without_data(arg)?));
    }
    match call(
        &dry,
        "enforce_shape",
        Args {
            positional,
            named: keywords,
        },
    )? {
        Outcome::Checked((_, dims)) => Ok(dims),
        _ => Err(stridewise::Error::argument("enforce_shape gave no sizes")),
    }
}

/// The same argument for an engine without data; sizes given as integer tensors are read.
fn without_data(arg: Argument) -> stridewise::Result<Arg<Sketch, usize>> {
    Ok(match arg {
        Arg::None => Arg::None,
        Arg::Bool(b) => Arg::Bool(b),
        Arg::Int(n) => Arg::Int(n),
        Arg::Float(x) => Arg::Float(x),
        Arg::Complex(re, im) => Arg::Complex(re, im),
        Arg::Text(text) => Arg::Text(text),
        Arg::Rest => Arg::Rest,
        Arg::Range(start, stop, step) => Arg::Range(start, stop, step),
        Arg::Extent(extent) => Arg::Extent(extent),
        Arg::Symbol(symbol) => Arg::Symbol(symbol),
        Arg::DType(dtype) => Arg::DType(dtype),
        Arg::List(items) => Arg::List(
            items
                .into_iter()
                .map(without_data)
                .collect::<stridewise::Result<_>>()?,
        ),
        Arg::Tensor(x) => Arg::List(Cpu.read_sizes(&x)?.into_iter().map(Arg::Extent).collect()),
    })
}
