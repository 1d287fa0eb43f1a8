//! Arrays of other libraries: shared without a copy where that can be, and checked by their shape. Each protocol
//! has its file and ends in a [`Lent`]; this one knows in which order they are asked.

pub(crate) mod asarray;
pub(crate) mod buffer;
pub(crate) mod dlpack;
pub(crate) mod format;
pub(crate) mod lent;
pub(crate) mod numpy;
mod owner;
pub(crate) mod shape;

use pyo3::prelude::*;
use pyo3::types::PyType;
use stridewise::{Error, Tensor};

use crate::arguments::Raised;
use crate::tensor::PyTensor;
use buffer::Failure;
use lent::{Lent, no_copy};

/// Whether an object is an array.
pub(crate) fn is_array(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    // A class has the methods of its objects, but is no array.
    Ok(!object.is_instance_of::<PyType>()
        && (buffer::speaks(object) || dlpack::speaks(object)? || numpy::speaks(object)?))
}

/// The array as a tensor, over the same memory where that can be; `None` for an object that is no array.
pub(crate) fn tensor(object: &Bound<'_, PyAny>) -> PyResult<Option<Tensor>> {
    import(object, None)
}

/// The array as a tensor, copied or not as asked; `None` for an object that is no array.
pub(crate) fn import(object: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<Option<Tensor>> {
    let py = object.py();
    match borrow(object, copy)? {
        Some(lent) => lent.tensor(py, copy).map(Some),
        None => Ok(None),
    }
}

fn borrow(object: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<Option<Lent>> {
    if object.is_instance_of::<PyType>() {
        return Ok(None);
    }
    let mut denied = None;
    if buffer::speaks(object) {
        match buffer::borrow(object, false) {
            Ok(lent) => return Ok(Some(lent)),
            Err(Failure::Final(why)) => return Err(why),
            Err(Failure::Denied(why)) if numpy::is_array(object)? => {
                return numpy::borrow(object, false, why).map(Some);
            }
            Err(Failure::Denied(why)) => denied = Some(why),
        }
    }
    if dlpack::speaks(object)? {
        if !dlpack::is_negated(object)? {
            return dlpack::borrow(object).map(Some);
        }
        if copy == Some(false) {
            let why = "its elements are the negatives of what lies in its memory";
            return Err(no_copy(object.py(), why));
        }
        return dlpack::borrow(&dlpack::without_negation(object)?).map(Some);
    }
    if let Some(array) = numpy::converted(object, copy)? {
        return match buffer::borrow(&array, false) {
            Ok(lent) => Ok(Some(lent)),
            Err(Failure::Final(why)) => Err(why),
            Err(Failure::Denied(why)) => numpy::borrow(&array, false, why).map(Some),
        };
    }
    match denied {
        Some(why) => Err(why),
        None => Ok(None),
    }
}

/// A tensor over memory that may be written: a NumPy array, another writable buffer, or a DLPack tensor that is
/// not marked read-only. Nobody else has its storage.
pub(crate) fn writable(object: &Bound<'_, PyAny>) -> Result<Tensor, Raised> {
    let py = object.py();
    let class = object.get_type().name()?;
    let blame = |error: Error| Raised::Ours(error.at_argument("out"));
    let denied = |why: &PyErr| {
        let message = format!("out cannot be written: {}", why.value(py));
        blame(Error::argument(message))
    };
    if object.is_instance_of::<PyTensor>() {
        let error = Error::type_("out is a Tensor, and tensors are immutable");
        return Err(blame(
            error.help("give a NumPy array or another writable buffer"),
        ));
    }
    let lent = if object.is_instance_of::<PyType>() {
        None
    } else if buffer::speaks(object) {
        // Whoever denies the buffer to a writer is not asked by another protocol, which may not know.
        match buffer::borrow(object, true) {
            Ok(lent) => Some(lent),
            Err(Failure::Final(why)) => return Err(why.into()),
            Err(Failure::Denied(why)) => {
                let free = numpy::is_array(object)?
                    && object.getattr("flags")?.getattr("writeable")?.is_truthy()?;
                match free {
                    true => Some(numpy::borrow(object, true, why)?),
                    false => return Err(denied(&why)),
                }
            }
        }
    } else if dlpack::speaks(object)? {
        if dlpack::is_negated(object)? {
            let message = "out cannot be written in place: its elements are the negatives of what lies in its memory";
            return Err(blame(Error::argument(message)));
        }
        Some(dlpack::borrow(object)?)
    } else {
        None
    };
    let Some(lent) = lent else {
        return Err(blame(Error::type_(format!(
            "out is an object of type `{class}`, but a NumPy array or another writable buffer is needed"
        ))));
    };
    if !lent.is_writable() {
        return Err(blame(Error::argument(
            "out cannot be written: it is read-only",
        )));
    }
    match lent.obstacle() {
        Some(why) => Err(blame(Error::argument(format!(
            "out cannot be written in place: {why}"
        )))),
        None => Ok(lent.shared()?),
    }
}
