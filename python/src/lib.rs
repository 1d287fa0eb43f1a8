//! The native part of the Python package: the class `Tensor`, and every operator as a function and a method,
//! made from the operator table when the module is loaded.

mod arguments;
mod docs;
mod dtype;
mod elsewhere;
mod entry;
mod errors;
mod files;
mod foreign;
mod globals;
mod gpu;
mod gradients;
mod graphs;
mod look;
mod seldom;
mod shapes;
mod symbol;
mod tensor;
mod unlocked;

use pyo3::prelude::*;
use stridewise::DType;
use stridewise::operators::TABLE;

use dtype::PyDType;
use symbol::PySymbol;
use tensor::PyTensor;

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
    // A benchmark says so when it is given a build that is not worth timing.
    module.setattr("_debug", cfg!(debug_assertions))?;
    module.setattr("_has_mpi", cfg!(feature = "mpi"))?;
    module.add_class::<PyTensor>()?;
    module.add_class::<PyDType>()?;
    module.add_class::<PySymbol>()?;
    module.add_function(wrap_pyfunction!(foreign::asarray::asarray, module)?)?;
    tensor::register(module)?;
    shapes::register(module)?;
    files::register(module)?;
    gradients::register(module)?;
    graphs::register(module)?;
    globals::register(module)?;
    gpu::register(module)?;
    module.add_function(wrap_pyfunction!(_table, module)?)?;
    for dtype in DType::ALL {
        module.add(dtype.name(), PyDType::object(module.py(), dtype)?)?;
    }
    entry::register(module)
}
