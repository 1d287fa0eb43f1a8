//! Tracing: a function is called once with tensors of a graph, and what it calls on them is recorded.

use std::cell::{Cell, RefCell};

use pyo3::prelude::*;
use pyo3::types::PyString;
use stridewise::Graph;

use crate::arguments::Object;
use crate::graphs::dim::PyDim;
use crate::graphs::symbolic::PySymbolic;
use crate::look::any_item;
use crate::seldom;
use crate::symbol::PySymbol;

thread_local! {
    /// How many graphs are being traced on this thread, one inside another.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static CURRENT: RefCell<Vec<Graph>> = const { RefCell::new(Vec::new()) };
}

/// The graph that is being traced on this thread.
pub(crate) fn current() -> Option<Graph> {
    CURRENT.with_borrow(|graphs| graphs.last().cloned())
}

/// A graph that is being traced, for as long as this lasts.
pub(crate) struct Tracing;

impl Tracing {
    pub(crate) fn begin(graph: &Graph) -> Tracing {
        seldom::begin();
        CURRENT.with_borrow_mut(|graphs| graphs.push(graph.clone()));
        DEPTH.set(DEPTH.get() + 1);
        Tracing
    }
}

impl Drop for Tracing {
    fn drop(&mut self) {
        CURRENT.with_borrow_mut(|graphs| drop(graphs.pop()));
        DEPTH.set(DEPTH.get().saturating_sub(1));
    }
}

/// The graph that a call is to be recorded in: one is being traced, and something of it is among the arguments.
#[inline]
pub(crate) fn wanted<'a, 'py: 'a>(
    arguments: impl Iterator<Item = &'a Object<'py>>,
) -> PyResult<Option<Graph>> {
    match DEPTH.get() {
        0 => Ok(None),
        _ => recorded(arguments),
    }
}

#[cold]
fn recorded<'a, 'py: 'a>(
    arguments: impl Iterator<Item = &'a Object<'py>>,
) -> PyResult<Option<Graph>> {
    let mut such = |object: &Bound<'_, PyAny>| {
        Ok(object.is_instance_of::<PySymbolic>()
            || object.is_instance_of::<PyDim>()
            || object.is_instance_of::<PySymbol>())
    };
    for argument in arguments {
        if any_item(argument.get(), &mut such)? {
            return Ok(current());
        }
    }
    Ok(None)
}

/// The line of the user's program that is being run: the innermost that is not of this package.
pub(crate) fn source(py: Python<'_>) -> Option<String> {
    let mut frame = py
        .import("sys")
        .ok()?
        .getattr("_getframe")
        .ok()?
        .call0()
        .ok()?;
    loop {
        let globals = frame.getattr("f_globals").ok()?;
        let module = globals.get_item("__name__").ok();
        let module = module.and_then(|name| name.extract::<String>().ok());
        let ours =
            module.is_some_and(|name| name == "stridewise" || name.starts_with("stridewise."));
        if !ours {
            let file = frame.getattr("f_code").ok()?.getattr("co_filename").ok()?;
            let file = file.cast::<PyString>().ok()?.to_str().ok()?.to_string();
            let line: usize = frame.getattr("f_lineno").ok()?.extract().ok()?;
            let name = file.rsplit(['/', '\\']).next().unwrap_or(&file);
            return Some(format!("{name}:{line}"));
        }
        frame = frame.getattr("f_back").ok()?;
        if frame.is_none() {
            return None;
        }
    }
}
