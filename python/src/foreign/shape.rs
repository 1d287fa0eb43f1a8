//! `enforce_shape` on arrays of other libraries: by their shape alone.

use pyo3::prelude::*;
use stridewise::prelude::Methods;
use stridewise::{DType, Tensor, zeros};

use crate::errors::OrRaise;
use crate::tensor::PyTensor;

/// The shape of a foreign array, as whole numbers; `None` for an object without one.
pub(crate) fn shape(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<usize>>> {
    let Some(shape) = object.getattr_opt("shape")? else {
        return Ok(None);
    };
    let Ok(sizes) = shape.try_iter() else {
        return Ok(None);
    };
    Ok(sizes
        .map(|size| size?.extract())
        .collect::<PyResult<_>>()
        .ok())
}

/// A tensor of the array's shape and no data of its own; `None` for a tensor and for what has no shape.
pub(crate) fn stand_in(object: &Bound<'_, PyAny>) -> PyResult<Option<Tensor>> {
    if object.is_instance_of::<PyTensor>() {
        return Ok(None);
    }
    let Some(shape) = shape(object)? else {
        return Ok(None);
    };
    let py = object.py();
    let one = zeros((), DType::Bool).or_raise(py)?;
    one.expand(shape).or_raise(py).map(Some)
}
