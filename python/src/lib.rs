//! The native part of the Python package: the class `Tensor`, and every operator as a function and a method,
//! made from the operator table when the module is loaded.

mod arguments;
mod docs;
mod dtype;
mod entry;
mod errors;
mod foreign;
mod symbol;
mod tensor;

use pyo3::prelude::*;
use stridewise::operators::TABLE;
use stridewise::{DType, Tensor};

use dtype::PyDType;
use errors::OrRaise;
use symbol::PySymbol;
use tensor::PyTensor;

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
    // Set, not added: `__all__` is for names of the package.
    module.setattr("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<PyTensor>()?;
    module.add_class::<PyDType>()?;
    module.add_class::<PySymbol>()?;
    module.add_function(wrap_pyfunction!(foreign::asarray::asarray, module)?)?;
    module.add_function(wrap_pyfunction!(_rebuild, module)?)?;
    module.add_function(wrap_pyfunction!(_table, module)?)?;
    for dtype in DType::ALL {
        module.add(dtype.name(), PyDType(dtype))?;
    }
    entry::register(module)
}
