//! `x[...]`.

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use stridewise::call::{Arg, Args};
use stridewise::operators::call;
use stridewise::table::Outcome;
use stridewise::{Cpu, Tensor};

use crate::arguments::argument;
use crate::errors::exception;
use crate::tensor::PyTensor;

/// Part of a tensor.
pub(crate) fn get(py: Python<'_>, x: &Tensor, index: &Bound<'_, PyAny>) -> PyResult<PyTensor> {
    let index = argument(index)?;
    let positional = vec![Arg::Tensor(x.clone())];
    let (name, positional, named) = match index {
        Arg::Tensor(_) => (
            "take",
            [positional, vec![index, Arg::Int(0)]].concat(),
            Vec::new(),
        ),
        Arg::List(items) => (
            "slice",
            positional,
            vec![("items".to_string(), Arg::List(items))],
        ),
        one => (
            "slice",
            positional,
            vec![("items".to_string(), Arg::List(vec![one]))],
        ),
    };
    match call(&Cpu, name, Args { positional, named }) {
        Ok(Outcome::One(x)) => Ok(x.into()),
        Ok(_) => Err(PyIndexError::new_err("an index gives one tensor")),
        Err(error) => Err(exception(py, &error)),
    }
}
