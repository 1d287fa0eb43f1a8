//! Whether operators note what they do: on each thread unless `no_grad` says otherwise, and only where a tensor that
//! was given has a history.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

use crate::arguments::Object;
use crate::look::any_item;
use crate::tensor::PyTensor;

/// Whether there has ever been a tensor with a history: until then no argument is looked at for one.
static EVER: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// How many times over this thread has said that nothing is to be noted.
    static OFF: Cell<usize> = const { Cell::new(0) };
}

/// Says that there is a tensor with a history.
pub(crate) fn begin() {
    EVER.store(true, Ordering::Relaxed);
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
#[inline]
pub(crate) fn wanted<'a, 'py: 'a>(
    arguments: impl IntoIterator<Item = &'a Object<'py>>,
) -> PyResult<bool> {
    match EVER.load(Ordering::Relaxed) {
        false => Ok(false),
        true => is_among(arguments),
    }
}

#[inline(never)]
fn is_among<'a, 'py: 'a>(arguments: impl IntoIterator<Item = &'a Object<'py>>) -> PyResult<bool> {
    if !is_on() {
        return Ok(false);
    }
    for argument in arguments {
        let found = any_item(argument.get(), &mut |item| {
            let tensor = item.cast::<PyTensor>();
            Ok(tensor.is_ok_and(|x| x.get().inner.kept().is_some()))
        })?;
        if found {
            return Ok(true);
        }
    }
    Ok(false)
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
