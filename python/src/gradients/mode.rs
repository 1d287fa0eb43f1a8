//! Whether operators note what they do: on each thread unless `no_grad` says otherwise, and only where a tensor that
//! was given has a history.

use std::cell::Cell;

use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyTuple};

use crate::arguments::Object;
use crate::look::any_item;
use crate::seldom::ever;
use crate::tensor::PyTensor;

thread_local! {
    /// How many times over this thread has said that nothing is to be noted.
    static OFF: Cell<usize> = const { Cell::new(0) };
}

/// Whether this thread notes what it does.
pub(crate) fn is_on() -> bool {
    OFF.get() == 0
}

/// Notes what is done until it goes, whatever was said before.
pub(crate) struct On(usize);

impl On {
    pub(crate) fn new() -> On {
        On(OFF.replace(0))
    }
}

impl Drop for On {
    fn drop(&mut self) {
        OFF.set(self.0);
    }
}

/// Whether a call is to be noted: an argument, or a tensor within one, has a history.
#[inline(never)]
pub(crate) fn wanted<'a, 'py: 'a>(
    arguments: impl IntoIterator<Item = &'a Object<'py>>,
) -> PyResult<bool> {
    if !ever() || !is_on() {
        return Ok(false);
    }
    for argument in arguments {
        if holds_history(argument.get())? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether an object is a tensor with a history, or nested lists with one in them.
fn holds_history(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Some(answer) = has_history(object) {
        return Ok(answer);
    }
    // Sizes, axes and indices are mostly a list of ints, which is not worth an iterator.
    let plain = if let Ok(tuple) = object.cast_exact::<PyTuple>() {
        (tuple.iter_borrowed()).all(|item| has_history(&item) == Some(false))
    } else if let Ok(list) = object.cast_exact::<PyList>() {
        list.iter().all(|item| has_history(&item) == Some(false))
    } else {
        false
    };
    if plain {
        return Ok(false);
    }
    any_item(object, &mut |item| {
        let tensor = item.cast::<PyTensor>();
        Ok(tensor.is_ok_and(|x| x.get().inner.kept().is_some()))
    })
}

/// The answer for objects of the very classes that most arguments are.
#[inline]
fn has_history(object: &Bound<'_, PyAny>) -> Option<bool> {
    if object.is_exact_instance_of::<PyInt>() {
        return Some(false);
    }
    let tensor = object.cast_exact::<PyTensor>().ok()?;
    Some(tensor.get().inner.kept().is_some())
}

/// From here on nothing is noted on this thread; once more for each time it is said.
#[pyfunction]
fn _enter_no_grad() {
    OFF.set(OFF.get() + 1);
}

/// Takes back one `_enter_no_grad`.
#[pyfunction]
fn _leave_no_grad() {
    OFF.set(OFF.get().saturating_sub(1));
}

/// Adds the two to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_enter_no_grad, module)?)?;
    module.add_function(wrap_pyfunction!(_leave_no_grad, module)?)
}
