//! `backward` and `grad`: gradients that come to the tensors made with `requires_grad=True` and add up there.

use std::sync::Arc;

use pyo3::prelude::*;
use stridewise::dtype::Family;
use stridewise::engine::describe;
use stridewise::prelude::*;
use stridewise::{Error, Tensor, Var};

use crate::arguments::Raised;
use crate::errors::OrRaise;
use crate::foreign::asarray::{convert, is_of_numbers};
use crate::gradients::kept::Leaf;
use crate::gradients::{tape, var, var_object};
use crate::tensor::PyTensor;

/// Adds the gradient of a tensor by each leaf it depends on to the leaf's `grad`.
pub(crate) fn backward(
    slf: &Bound<'_, PyTensor>,
    grad: Option<&Bound<'_, PyAny>>,
    retain_graph: bool,
    create_graph: bool,
) -> PyResult<()> {
    let py = slf.py();
    let named = |error: Error| error.within("backward");
    let y = var(slf.get());
    let Some(history) = y.history() else {
        return Err(named(without_history())).or_raise(py);
    };
    let dtype = slf.get().inner.dtype();
    let seed = grad.map(|grad| given(grad, "grad", dtype, create_graph));
    let seed = seed
        .transpose()
        .map_err(|raised| raised.exception(py, "backward", None))?;
    let found = py
        .detach(|| tape().gradients_by_watched(&y, seed.as_ref()))
        .map_err(|error| named(blamed(error)))
        .or_raise(py)?;
    // Whose tensor is gone has nobody left to ask for its gradient.
    let parts = found.into_iter().filter_map(|(watched, gradient)| {
        let leaf = Leaf::numbered(watched.number())?;
        Some(Part { leaf, gradient })
    });
    let parts: Vec<Part> = parts.collect();
    while !added(py, &parts, create_graph)? {}
    if !(retain_graph || create_graph) {
        py.detach(|| history.free());
    }
    Ok(())
}

/// A gradient on its way to a leaf.
struct Part {
    leaf: Arc<Leaf>,
    gradient: Var<Cpu>,
}

impl Part {
    /// The gradient, added to what the leaf has.
    fn sum(&self, held: Option<&Var<Cpu>>, tracked: bool) -> stridewise::Result<Var<Cpu>> {
        let sum = match held {
            Some(held) => tape().add(held, &self.gradient)?,
            None => self.gradient.clone(),
        };
        Ok(if tracked { sum } else { sum.detach() })
    }
}

/// Adds all parts where they belong, or none: when a gradient has changed meanwhile it is for the caller to try again.
fn added(py: Python<'_>, parts: &[Part], tracked: bool) -> PyResult<bool> {
    let before: Vec<_> = parts.iter().map(|part| part.leaf.grad(py)).collect();
    let held = before.iter().map(|grad| Some(var(grad.as_ref()?.get())));
    let held: Vec<Option<Var<Cpu>>> = held.collect();
    let sums = py.detach(|| -> stridewise::Result<Vec<_>> {
        let parts = parts.iter().zip(&held);
        let sums = parts.map(|(part, held)| part.sum(held.as_ref(), tracked));
        sums.collect()
    });
    let sums = sums
        .map_err(|error| error.within("backward"))
        .or_raise(py)?;
    let objects = sums.into_iter().map(|sum| var_object(py, sum));
    let objects = objects.collect::<PyResult<Vec<_>>>()?;
    // From here on no other thread has the interpreter.
    let unchanged = |(part, before): (&Part, &Option<Py<PyTensor>>)| {
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

/// A gradient, such as the one to begin with, from whatever stands for one; `dtype` is that of the tensor it is a
/// gradient of, which numbers of Python take. An array of another library is copied: it may change, and a gradient may
/// be no more than a look at it.
pub(crate) fn given(
    object: &Bound<'_, PyAny>,
    name: &'static str,
    dtype: DType,
    tracked: bool,
) -> Result<Var<Cpu>, Raised> {
    if let Ok(tensor) = object.cast::<PyTensor>() {
        let seed = var(tensor.get());
        return Ok(if tracked { seed } else { seed.detach() });
    }
    let seed = var(convert(object, None, None, name)?.get());
    if tracked && seed.is_tracked() {
        return Ok(seed);
    }
    let seed = seed.value();
    let weak = seed.dtype() != dtype
        && (seed.dtype() != DType::C128 || dtype.family() == Family::Complex)
        && is_of_numbers(object)?;
    Ok(tape().constant(match weak {
        true => seed.cast(dtype)?,
        false => Cpu.copy(seed)?,
    }))
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

/// Sets the gradient of a leaf, or takes it a
pub(crate) fn assign(slf: &Bound<'_, PyTensor>, grad: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let py = slf.py();
    let leaf = slf.get().inner.kept().and_then(|kept| kept.leaf.as_ref());
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
    let grad = match grad.cast::<PyTensor>() {
        Ok(tensor) => tensor.clone(),
        Err(_) => {
            let made = given(grad, "grad", slf.get().inner.dtype(), true);
            var_object(
                py,
                made.map_err(|raised| raised.exception(py, "grad", None))?,
            )?
        }
    };
    let (x, g) = (&slf.get().inner, &grad.get().inner);
    require_fit(x, g).map_err(named).or_raise(py)?;
    leaf.set(Some(grad.unbind()));
    Ok(())
}

/// A gradient has the tensor's shape and dtype.
fn require_fit(x: &Tensor, grad: &Tensor) -> stridewise::Result<()> {
    let note = |error: Error| error.note("the tensor is", describe(&Cpu, x));
    let text = format!("the gradient is {}", describe(&Cpu, grad));
    if x.shape() != grad.shape() {
        let message = format!("{text}, which is not the tensor's shape");
        return Err(note(Error::shape(message)));
    }
    if x.dtype() != grad.dtype() {
        let message = format!("{text}, which is not the tensor's dtype");
        return Err(note(Error::dtype(message).sizes(x.dtype(), grad.dtype())));
    }
    Ok(())
}
