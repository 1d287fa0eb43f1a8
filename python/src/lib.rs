//! The native part of the Python package: the class `Tensor`, and every operator as a function and a method,
//! made from the operator table when the module is loaded.

mod arguments;
mod dtype;
mod entry;
mod errors;
mod foreign;
mod symbol;
mod tensor;

use pyo3::prelude::*;
use std::borrow::Borrow;

use stridewise::call::literal;
use stridewise::operators::{Methods, TABLE};
use stridewise::{Cpu, DType, Engine, Tensor};

use arguments::Object;
use dtype::{PyDType, named_dtype};
use errors::OrRaise;
use symbol::PySymbol;
use tensor::PyTensor;

/// A tensor from a tensor, an array of another library, a number, or nested lists of numbers or tensors. Arrays
/// are shared, not copied, unless a copy is asked for or needed.
#[pyfunction]
#[pyo3(signature = (obj, dtype=None, copy=None))]
fn asarray<'py>(
    obj: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = obj.py();
    let wanted = dtype.map(named_dtype).transpose()?;
    let object = Object::from(obj.clone());
    let shared = foreign::is_array(obj)?;
    let x = literal(&Cpu, &object, "obj").map_err(|raised| raised.exception(py, None))?;
    let mut x: Tensor = Borrow::<Tensor>::borrow(&x).clone();
    let cast = wanted.is_some_and(|dtype| dtype != x.dtype());
    if copy == Some(false) && (cast || !shared) {
        return Err(pyo3::exceptions::PyValueError::new_err(
            "asarray: this cannot be done without a copy",
        ));
    }
    if let Some(dtype) = wanted {
        x = x.cast(dtype).or_raise(py)?;
    }
    if copy == Some(true) && shared && !cast {
        x = Cpu.copy(&x).or_raise(py)?;
    }
    if obj.is_instance_of::<PyTensor>() && copy != Some(true) && !cast {
        return Ok(obj.clone());
    }
    Ok(Bound::new(py, PyTensor::from(x))?.into_any())
}

/// A tensor from what `Tensor.__reduce__` keeps.
#[pyfunction]
fn _rebuild(py: Python<'_>, bytes: &[u8], dtype: &str, shape: Vec<usize>) -> PyResult<PyTensor> {
    let dtype: DType = dtype.parse().or_raise(py)?;
    Tensor::from_bytes(dtype, &shape, bytes)
        .or_raise(py)
        .map(PyTensor::from)
}

/// The operator table as data: name, signature, what happens to the data, one sentence.
#[pyfunction]
fn _table() -> Vec<(&'static str, String, String, &'static str)> {
    TABLE
        .iter()
        .map(|e| (e.name, e.signature(), format!("{:?}", e.kind), e.summary))
        .collect()
}

/// The native part of the package `stridewise`.
#[pymodule]
fn _stridewise(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyTensor>()?;
    module.add_class::<PyDType>()?;
    module.add_class::<PySymbol>()?;
    module.add_function(wrap_pyfunction!(asarray, module)?)?;
    module.add_function(wrap_pyfunction!(_rebuild, module)?)?;
    module.add_function(wrap_pyfunction!(_table, module)?)?;
    for dtype in DType::ALL {
        module.add(dtype.name(), PyDType(dtype))?;
    }
    entry::register(module)
}
