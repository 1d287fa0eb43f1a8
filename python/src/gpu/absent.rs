//! A build without GPUs.

use pyo3::prelude::*;
use stridewise::{Error, Program, Result};

use super::Known;
use crate::arguments::Raised;
use crate::tensor::PyTensor;

/// A tensor on a GPU. This build of the package has none; see ``stridewise.gpu``.
#[pyclass(name = "GpuTensor", module = "stridewise", frozen)]
pub(crate) struct PyGpu;

fn none() -> Error {
    Error::device("this build of stridewise has no GPU engine")
        .help("build it with the feature `gpu`, in the repository `maturin develop --release --features gpu`")
}

pub(crate) fn moved<'py>(_: &Bound<'py, PyTensor>, _: bool) -> Result<Bound<'py, PyAny>, Raised> {
    Err(none().into())
}

pub(crate) fn info() -> Result<Known> {
    Err(none())
}

pub(crate) fn counts() -> Result<[u64; 5]> {
    Err(none())
}

pub(crate) fn limit_memory(_: Option<usize>) -> Result<()> {
    Err(none())
}

pub(crate) fn lose() -> Result<()> {
    Err(none())
}

/// What a graph has on a GPU.
pub(crate) type OnGpu = ();

pub(crate) fn results<'py>(
    _: Python<'py>,
    _: &Program,
    _: &OnGpu,
    _: &[Bound<'py, PyAny>],
) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    Ok(None)
}
