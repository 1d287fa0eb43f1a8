//! `backward` and `grad`: gradients that come to the tensors made with `requires_grad=True` and add up there.

use std::sync::Arc;

use pyo3::prelude::*;
use stridewise::engine::describe;
use stridewise::spread::on_behalf_of;
use stridewise::{Engine, Error, Value, Var};

use crate::errors::OrRaise;
use crate::gradients::class::{Class, ValueOf, tape_of};
use crate::gradients::kept::Leaf;
use crate::unlocked::unlocked;

/// Adds the gradient of a tensor by each leaf it depends on to the leaf's `grad`.
pub(crate) fn backward<C: Class>(
    slf: &Bound<'_, C>,
    grad: Option<&Bound<'_, PyAny>>,
    retain_graph: bool,
    create_graph: bool,
) -> PyResult<()> {
    let py = slf.py();
    let named = |error: Error| error.within("backward");
    let y = slf.get().var();
    let Some(history) = y.history() else {
        return Err(named(without_history())).or_raise(py);
    };
    let seed = grad.map(|grad| C::gradient(grad, "grad", y.value(), create_graph));
    let seed = seed
        .transpose()
        .map_err(|raised| raised.exception(py, "backward", None))?;
    let tape = tape_of::<C>(&y);
    let work = || tape.gradients_by_watched(&y, seed.as_ref());
    let found = unlocked(py, || on_behalf_of("backward", work))
        .map_err(|error| named(blamed(error)))
        .or_raise(py)?;
    // Whose tensor is gone has nobody left to ask for its gradient.
    let parts = found.into_iter().filter_map(|(watched, gradient)| {
        let leaf = Leaf::numbered(watched.number())?;
        Some(Part { leaf, gradient })
    });
    let parts: Vec<Part<C>> = parts.collect();
    while !added(py, &parts, create_graph)? {}
    if !(retain_graph || create_graph) {
        py.detach(|| history.free());
    }
    Ok(())
}

/// A gradient on its way to a leaf.
struct Part<C: Class> {
    leaf: Arc<Leaf<C>>,
    gradient: Var<C::Engine>,
}

/// The gradient, added to what the leaf has.
fn sum<C: Class>(
    gradient: &Var<C::Engine>,
    held: Option<&Var<C::Engine>>,
    tracked: bool,
) -> stridewise::Result<Var<C::Engine>> {
    let sum = match held {
        Some(held) => tape_of::<C>(gradient).add(held, gradient)?,
        None => gradient.clone(),
    };
    Ok(if tracked { sum } else { sum.detach() })
}

/// Adds all parts where they belong, or none: when a gradient has changed meanwhile it is for the caller to try again.
fn added<C: Class>(py: Python<'_>, parts: &[Part<C>], tracked: bool) -> PyResult<bool> {
    let before: Vec<_> = parts.iter().map(|part| part.leaf.grad(py)).collect();
    let held = before.iter().map(|grad| Some(grad.as_ref()?.get().var()));
    let held: Vec<Option<Var<C::Engine>>> = held.collect();
    let gradients: Vec<&Var<C::Engine>> = parts.iter().map(|part| &part.gradient).collect();
    let sums = unlocked(py, || -> stridewise::Result<Vec<_>> {
        let pairs = gradients.iter().zip(&held);
        let sums = pairs.map(|(gradient, held)| sum::<C>(gradient, held.as_ref(), tracked));
        on_behalf_of("backward", || sums.collect())
    });
    let sums = sums
        .map_err(|error| error.within("backward"))
        .or_raise(py)?;
    let objects = sums.into_iter().map(|sum| C::var_object(py, sum));
    let objects = objects.collect::<PyResult<Vec<_>>>()?;
    // From here on no other thread has the interpreter.
    let unchanged = |(part, before): (&Part<C>, &Option<Py<C>>)| {
        let now = part.leaf.grad(py).map(|now| now.as_ptr());
        now == before.as_ref().map(|before| before.as_ptr())
    };
    if !parts.iter().zip(&before).all(unchanged) {
        return Ok(false);
    }
    for (part, object) in parts.iter().zip(objects) {
        part.leaf.set(Some(object.unbind()));
    }
    Ok(true)
}

/// An error about the seed, which `backward` calls `grad`.
fn blamed(error: Error) -> Error {
    match error.report().argument() {
        Some("seed") => error.at_argument("grad"),
        _ => error,
    }
}

fn without_history() -> Error {
    Error::gradient("the tensor has no history to go back through")
        .help("make a tensor it depends on with `requires_grad=True`, and outside of `no_grad`")
}

/// Sets the gradient of a leaf, or takes it away.
pub(crate) fn assign<C: Class>(
    slf: &Bound<'_, C>,
    grad: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let py = slf.py();
    let leaf = slf.get().kept().and_then(|kept| kept.leaf.as_ref());
    let Some(grad) = grad else {
        if let Some(leaf) = leaf {
            leaf.set(None);
        }
        return Ok(());
    };
    let named = |error: Error| error.at_argument("grad").within("grad");
    let Some(leaf) = leaf else {
        let error =
            Error::gradient("only a tensor made with `requires_grad=True` keeps a gradient");
        return Err(named(error)).or_raise(py);
    };
    if grad.is(slf) {
        return Err(named(Error::argument(
            "a tensor cannot be its own gradient",
        )))
        .or_raise(py);
    }
    let grad = match grad.cast::<C>() {
        Ok(tensor) => tensor.clone(),
        Err(_) => {
            let made = C::gradient(grad, "grad", slf.get().value(), true);
            C::var_object(
                py,
                made.map_err(|raised| raised.exception(py, "grad", None))?,
            )?
        }
    };
    require_fit::<C>(slf.get().value(), grad.get().value())
        .map_err(named)
        .or_raise(py)?;
    leaf.set(Some(grad.unbind()));
    Ok(())
}

/// A gradient has the tensor's shape and dtype.
fn require_fit<C: Class>(x: &ValueOf<C>, grad: &ValueOf<C>) -> stridewise::Result<()> {
    C::require_beside(x, grad)?;
    let engine = x.engine();
    let note = |error: Error| error.note("the tensor is", describe(&engine, x));
    let text = format!("the gradient is {}", describe(&engine, grad));
    if engine.shape(x)? != engine.shape(grad)? {
        let message = format!("{text}, which is not the tensor's shape");
        return Err(note(Error::shape(message)));
    }
    let (own, other) = (engine.dtype(x), engine.dtype(grad));
    if own != other {
        let message = format!("{text}, which is not the tensor's dtype");
        return Err(note(Error::dtype(message).sizes(own, other)));
    }
    Ok(())
}
