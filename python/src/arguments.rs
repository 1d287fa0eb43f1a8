//! Python objects as arguments of operators, by what they are: nothing is converted that is not meant.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyComplex, PyEllipsis, PyFloat, PyInt, PyList, PySlice, PyString, PyTuple,
};
use stridewise::Cpu;
use stridewise::call::Arg;
use stridewise::call::ArgOf;

use crate::dtype::dtype;
use crate::foreign;
use crate::symbol::PySymbol;
use crate::tensor::PyTensor;

/// Lists nested deeper than this are not meant as arrays.
const DEEPEST: usize = 64;

/// An argument of the CPU engine.
pub(crate) type Argument = ArgOf<Cpu>;

/// A Python object as an argument.
pub(crate) fn argument(object: &Bound<'_, PyAny>) -> PyResult<Argument> {
    at_depth(object, 0)
}

fn at_depth(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Argument> {
    if let Ok(tensor) = object.cast::<PyTensor>() {
        return Ok(Arg::Tensor(tensor.get().inner.clone()));
    }
    if let Ok(flag) = object.cast::<PyBool>() {
        return Ok(Arg::Bool(flag.is_true()));
    }
    if object.is_instance_of::<PyInt>() {
        return whole(object);
    }
    if object.is_none() {
        return Ok(Arg::None);
    }
    if let Ok(list) = object.cast::<PyList>() {
        return items(list.iter(), depth);
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return items(tuple.iter(), depth);
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Arg::Text(text.to_cow()?.into_owned()));
    }
    if let Ok(float) = object.cast::<PyFloat>() {
        return Ok(Arg::Float(float.value()));
    }
    if let Ok(complex) = object.cast::<PyComplex>() {
        return Ok(Arg::Complex(complex.real(), complex.imag()));
    }
    if object.is_instance_of::<PyEllipsis>() {
        return Ok(Arg::Rest);
    }
    if let Ok(slice) = object.cast::<PySlice>() {
        return range(slice);
    }
    if let Ok(symbol) = object.cast::<PySymbol>() {
        return Ok(Arg::Symbol(symbol.get().0.clone()));
    }
    if let Some(dtype) = dtype(object)? {
        return Ok(Arg::DType(dtype));
    }
    if let Ok(index) = object.call_method0("__index__") {
        return whole(&index);
    }
    match foreign::tensor(object)? {
        Some(tensor) => Ok(Arg::Tensor(tensor)),
        None => {
            let class = object.get_type();
            Err(PyTypeError::new_err(format!(
                "{} is neither a number, a list nor an array",
                class.name()?
            )))
        }
    }
}

fn items<'py>(items: impl Iterator<Item = Bound<'py, PyAny>>, depth: usize) -> PyResult<Argument> {
    if depth == DEEPEST {
        return Err(PyTypeError::new_err(format!(
            "lists are nested deeper than {DEEPEST}"
        )));
    }
    items
        .map(|item| at_depth(&item, depth + 1))
        .collect::<PyResult<_>>()
        .map(Arg::List)
}

fn whole(object: &Bound<'_, PyAny>) -> PyResult<Argument> {
    match object.extract::<i64>() {
        Ok(n) => Ok(Arg::Int(n.into())),
        // No size, axis or element is that large; the nearest end says so in the error.
        Err(_) => Ok(Arg::Int(match object.lt(0)? {
            true => i128::MIN,
            false => object.extract::<u64>().map_or(i128::MAX, i128::from),
        })),
    }
}

fn range(slice: &Bound<'_, PySlice>) -> PyResult<Argument> {
    let part = |name: &str| -> PyResult<Option<isize>> {
        let value = slice.getattr(name)?;
        if value.is_none() {
            return Ok(None);
        }
        let index = value
            .call_method0("__index__")
            .map_err(|_| PyTypeError::new_err("the parts of a slice are ints or None"))?;
        // Ends past counting mean the same as the furthest one.
        Ok(Some(match index.extract::<isize>() {
            Ok(n) => n,
            Err(_) => {
                if index.lt(0)? {
                    isize::MIN
                } else {
                    isize::MAX
                }
            }
        }))
    };
    Ok(Arg::Range(part("start")?, part("stop")?, part("step")?))
}
