//! Tensors in files: `load` and `save` of `.npy` and `.safetensors`.

use std::fs::File;
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use stridewise::{Error, Tensor, files};

use crate::arguments::tensor_of;
use crate::errors::{OrRaise, exception};
use crate::tensor::PyTensor;

/// The tensor of an ``.npy`` file, or a dict of those of a ``.safetensors`` file. Files are mapped: memory is
/// used for what is looked at.
#[pyfunction]
fn load<'py>(py: Python<'py>, path: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let path = path_of(path, "load")?;
    let failed = |error: Error| raised(py, error.within("load"), &path, cause(&path));
    let named = path
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("safetensors"));
    let wrapped = |x: Tensor| Bound::new(py, PyTensor::from(x));
    if !named {
        let x = py.detach(|| files::load(&path));
        return Ok(wrapped(x.map_err(failed)?)?.into_any());
    }
    let tensors = PyDict::new(py);
    let found = py.detach(|| files::load_all(&path));
    for (name, x) in found.map_err(failed)? {
        tensors.set_item(name, wrapped(x)?)?;
    }
    Ok(tensors.into_any())
}

/// Writes a tensor or array to an ``.npy`` or ``.safetensors`` file, or a dict of them by name to the latter.
#[pyfunction]
fn save(py: Python<'_>, path: &Bound<'_, PyAny>, x: &Bound<'_, PyAny>) -> PyResult<()> {
    let path = path_of(path, "save")?;
    let written = match x.cast::<PyDict>() {
        Ok(named) => {
            let mut tensors = Vec::with_capacity(named.len());
            for (name, x) in named.iter() {
                let Ok(name) = name.cast::<PyString>() else {
                    let class = name.get_type().name()?;
                    let message = format!("x has a name that is an object of type `{class}`");
                    let error = Error::type_(message).within("save").at_argument("x");
                    return Err(error.help("tensors have strings as their names")).or_raise(py);
                };
                tensors.push((name.to_str()?.to_string(), tensor_of(&x, "save", "x")?));
            }
            py.detach(|| files::save_all(&path, &tensors))
        }
        Err(_) => {
            let x = tensor_of(x, "save", "x")?;
            py.detach(|| files::save(&path, &x))
        }
    };
    written.map_err(|error| raised(py, error.within("save"), &path, None))
}

fn path_of(path: &Bound<'_, PyAny>, operator: &'static str) -> PyResult<PathBuf> {
    let py = path.py();
    let class = path.get_type().name()?;
    path.extract().map_err(
        |error: PyErr| match error.is_instance_of::<PyTypeError>(py) {
            true => {
                let message = format!(
                    "path is an object of type `{class}`, but a string or a path is needed"
                );
                let error = Error::type_(message).at_argument("path");
                exception(py, &error.within(operator))
            }
            // What the object's own `__fspath__` raised.
            false => error,
        },
    )
}

/// The exception for an error, with the fields that every `OSError` has.
fn raised(py: Python<'_>, error: Error, path: &Path, cause: Option<i32>) -> PyErr {
    let raised = exception(py, &error);
    if !matches!(error, Error::File(_)) {
        return raised;
    }
    let value = raised.value(py);
    let set = || -> PyResult<()> {
        value.setattr("filename", path.as_os_str())?;
        if let Some(cause) = cause {
            value.setattr("errno", cause)?;
            let words = py.import("os")?.call_method1("strerror", (cause,))?;
            value.setattr("strerror", words)?;
        }
        Ok(())
    };
    match set() {
        Ok(()) => raised,
        Err(other) => other,
    }
}

/// The system's number for why a file cannot be opened. The report has it in words only, so this looks again.
fn cause(path: &Path) -> Option<i32> {
    File::open(path).err()?.raw_os_error()
}

/// Adds both to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(load, module)?)?;
    module.add_function(wrap_pyfunction!(save, module)?)
}
