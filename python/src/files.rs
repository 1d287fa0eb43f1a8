//! Tensors in files: `load` and `save` of `.npy` and `.safetensors`.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use stridewise::{Tensor, files};

use crate::arguments::tensor_of;
use crate::errors::OrRaise;
use crate::tensor::PyTensor;

/// The tensor of an ``.npy`` file, or a dict of those of a ``.safetensors`` file. Files are mapped: memory is
/// used for what is looked at.
#[pyfunction]
fn load(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyAny>> {
    let named = path
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("safetensors"));
    let wrapped = |x: Tensor| Bound::new(py, PyTensor::from(x));
    if !named {
        let x = py.detach(|| files::load(&path)).or_raise(py)?;
        return Ok(wrapped(x)?.into_any());
    }
    let tensors = PyDict::new(py);
    for (name, x) in py.detach(|| files::load_all(&path)).or_raise(py)? {
        tensors.set_item(name, wrapped(x)?)?;
    }
    Ok(tensors.into_any())
}

/// Writes a tensor or array to an ``.npy`` or ``.safetensors`` file, or a dict of them by name to the latter.
#[pyfunction]
fn save(py: Python<'_>, path: PathBuf, x: &Bound<'_, PyAny>) -> PyResult<()> {
    match x.cast::<PyDict>() {
        Ok(named) => {
            let mut tensors = Vec::with_capacity(named.len());
            for (name, x) in named.iter() {
                tensors.push((name.extract::<String>()?, tensor_of(&x, "save", "x")?));
            }
            py.detach(|| files::save_all(&path, &tensors)).or_raise(py)
        }
        Err(_) => {
            let x = tensor_of(x, "save", "x")?;
            py.detach(|| files::save(&path, &x)).or_raise(py)
        }
    }
}

/// Adds both to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(load, module)?)?;
    module.add_function(wrap_pyfunction!(save, module)?)
}
