//! `enforce_shape` on arrays of other libraries: by their shape alone.

use std::sync::OnceLock;

use pyo3::intern;
use pyo3::prelude::*;
use smallvec::SmallVec;
use stridewise::prelude::Methods;
use stridewise::{DType, Tensor, zeros};

use crate::errors::OrRaise;
use crate::look::plain_numbers;
use crate::tensor::PyTensor;

/// The shape of a foreign array, as whole numbers; `None` for an object without one.
pub(crate) fn shape(object: &Bound<'_, PyAny>) -> PyResult<Option<SmallVec<[usize; 8]>>> {
    let Some(shape) = object.getattr_opt(intern!(object.py(), "shape"))? else {
        return Ok(None);
    };
    let mut plain = SmallVec::new();
    if plain_numbers(&shape, &mut plain) {
        return Ok(plain.iter().map(|&n| usize::try_from(n).ok()).collect());
    }
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
    // One element serves all of them: nothing is ever read from it.
    static ONE: OnceLock<Tensor> = OnceLock::new();
    let one = match ONE.get() {
        Some(one) => one,
        None => {
            let one = zeros((), DType::Bool).or_raise(py)?;
            ONE.get_or_init(|| one)
        }
    };
    one.expand(shape.as_slice()).or_raise(py).map(Some)
}

/// Whether the elements of a foreign array are bools.
pub(crate) fn is_bool(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    match object.getattr_opt("dtype")? {
        Some(dtype) => Ok(dtype.str()?.to_str()?.ends_with("bool")),
        None => Ok(false),
    }
}
