//! Tensors on a GPU from Python, in a build with the feature `gpu`; in one without, what says how to get there.

#[cfg(not(feature = "gpu"))]
mod absent;
#[cfg(feature = "gpu")]
mod engine;
#[cfg(feature = "gpu")]
mod graph;
#[cfg(feature = "gpu")]
mod tensor;

use pyo3::prelude::*;
use pyo3::types::PyString;
use stridewise::{Error, Tensor};

#[cfg(not(feature = "gpu"))]
pub(crate) use absent::{OnGpu, PyGpu, counts, info, limit_memory, lose, moved, results};
#[cfg(feature = "gpu")]
pub(crate) use engine::{counts, info, limit_memory, lose};
#[cfg(feature = "gpu")]
pub(crate) use graph::{OnGpu, results};
#[cfg(feature = "gpu")]
pub(crate) use tensor::{PyGpu, moved};

use crate::arguments::Raised;
use crate::errors::OrRaise;
use crate::gradients;
use crate::tensor::PyTensor;

/// Where the elements of a tensor are.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Place {
    Cpu,
    Gpu,
}

/// The device that was named.
pub(crate) fn place(device: &Bound<'_, PyAny>) -> Result<Place, Raised> {
    let Ok(name) = device.cast::<PyString>() else {
        let class = device.get_type().name()?;
        let message = format!("device is an object of type `{class}`, but a string is needed");
        return Err(Error::type_(message).at_argument("device").into());
    };
    match name.to_str()? {
        "cpu" => Ok(Place::Cpu),
        "gpu" => Ok(Place::Gpu),
        other => {
            let message = format!("there is no device \"{}\"", other.escape_debug());
            let error = Error::argument(message).at_argument("device");
            Err(error.help("there are \"cpu\" and \"gpu\"").into())
        }
    }
}

/// A tensor in main memory, brought to a device.
pub(crate) fn to<'py>(
    x: &Bound<'py, PyTensor>,
    device: &Bound<'py, PyAny>,
    requires_grad: bool,
) -> Result<Bound<'py, PyAny>, Raised> {
    if place(device)? == Place::Gpu {
        return moved(x, requires_grad);
    }
    match requires_grad && x.get().inner.kept().is_none() {
        true => Ok(gradients::leaf(x.py(), Tensor::clone(&x.get().inner))??.into_any()),
        false => Ok(x.clone().into_any()),
    }
}

/// What is known of the GPU: number, name, backend, kind, driver, most bytes of a tensor, and all of it as text.
type Known = (usize, String, String, String, String, usize, String);

/// What is known of the GPU.
#[pyfunction]
fn _gpu_info(py: Python<'_>) -> PyResult<Known> {
    py.detach(info)
        .map_err(|error| error.within("gpu.info"))
        .or_raise(py)
}

/// How often the GPU did something: launches, copies, submissions, bytes up, bytes down.
#[pyfunction]
fn _gpu_counts(py: Python<'_>) -> PyResult<[u64; 5]> {
    py.detach(counts)
        .map_err(|error| error.within("gpu.counts"))
        .or_raise(py)
}

/// The GPU holds at most so many bytes from now on; `None` for no limit but its own.
#[pyfunction]
#[pyo3(signature = (bytes))]
fn _gpu_limit_memory(py: Python<'_>, bytes: Option<usize>) -> PyResult<()> {
    py.detach(|| limit_memory(bytes))
        .map_err(|error| error.within("gpu.limit_memory"))
        .or_raise(py)
}

/// Loses the GPU, as a driver that is reset would: for tests.
#[pyfunction]
fn _gpu_lose(py: Python<'_>) -> PyResult<()> {
    py.detach(lose).or_raise(py)
}

/// Adds what belongs to GPUs to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.setattr("_has_gpu", cfg!(feature = "gpu"))?;
    module.add_class::<PyGpu>()?;
    module.add_function(wrap_pyfunction!(_gpu_info, module)?)?;
    module.add_function(wrap_pyfunction!(_gpu_counts, module)?)?;
    module.add_function(wrap_pyfunction!(_gpu_limit_memory, module)?)?;
    module.add_function(wrap_pyfunction!(_gpu_lose, module)?)
}
