//! Graphs called with tensors on a GPU: they run there whole, and their results stay there.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use stridewise::graph::Placed;
use stridewise::{Gpu, Program, Result, Tape, Tensor};

use super::PyGpu;
use crate::arguments::{Object, Raised};
use crate::elsewhere::{methods, wanted};
use crate::errors::OrRaise;
use crate::gradients::Class;
use crate::unlocked::unlocked;

/// A graph whose constants were brought to the GPU that it was last run on.
pub(crate) type OnGpu = Mutex<Option<Arc<Placed<Tape<Gpu>>>>>;

/// What a graph gives, where an input is on a GPU.
pub(crate) fn results<'py>(
    py: Python<'py>,
    program: &Program,
    there: &OnGpu,
    given: &[Bound<'py, PyAny>],
) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    let raised = |raised: Raised| raised.exception(py, "graph", None);
    let objects: Vec<Object> = given.iter().cloned().map(Object::from).collect();
    let Some(call) = wanted::<Gpu>(objects.iter()).map_err(raised)? else {
        return Ok(None);
    };
    let input = |x: &Bound<'py, PyAny>| Ok(methods::convert::<Gpu>(x, "inputs")?.get().noted());
    let inputs = || given.iter().map(input).collect::<Result<Vec<_>, Raised>>();
    let inputs = call.during("graph", inputs).map_err(raised)?;
    let gpu = call.engine();
    let ran = unlocked(py, || placed(program, there, gpu)?.run(&inputs));
    let results = ran.or_raise(py)?.into_iter();
    let results = results.map(|x| Ok(PyGpu::var_object(py, x)?.into_any()));
    results.collect::<PyResult<_>>().map(Some)
}

/// The graph on that GPU.
fn placed(program: &Program, there: &OnGpu, gpu: Gpu) -> Result<Arc<Placed<Tape<Gpu>>>> {
    let mut there = there.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(placed) = &*there
        && placed.engine().inner().device().is(gpu.device())
    {
        return Ok(Arc::clone(placed));
    }
    let tape = Tape::over(gpu);
    let constant = |x: &Tensor| Ok(tape.constant(tape.inner().upload(x)?));
    let placed = Arc::new(program.place(&tape, constant)?);
    Ok(Arc::clone(there.insert(placed)))
}
