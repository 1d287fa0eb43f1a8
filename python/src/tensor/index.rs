//! `x[...]`.

use pyo3::prelude::*;
use stridewise::operators::{TABLE, call_at};
use stridewise::{Cpu, Tensor};

use crate::arguments::Object;
use crate::tensor::PyTensor;

/// Part of a tensor.
pub(crate) fn get(py: Python<'_>, x: &Tensor, index: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let line = TABLE
        .iter()
        .position(|entry| entry.name == "slice")
        .unwrap_or(0);
    let receiver = Object::from(Bound::new(py, PyTensor::from(x.clone()))?.into_any());
    let none: [(&str, Object<'_>); 0] = [];
    call_at(&Cpu, line, &[receiver, Object::from(index.clone())], &none)
        .map_err(|raised| raised.exception(py, None))
}
