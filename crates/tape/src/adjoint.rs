//! The adjoint of every primitive, and so the gradient of every operator.

use std::sync::Arc;

use stridewise_core::axis::Axis;
use stridewise_core::dtype::DType;
use stridewise_core::engine::Engine;
use stridewise_core::error::{Error, Result};
use stridewise_core::params::{Mode, Scalar};
use stridewise_core::size::Size;

use crate::inverse;
use crate::node::{Node, Step};

/// A part of a gradient, and the node it belongs to.
pub(crate) type Part<E, V> = (Arc<Node<E>>, V);

/// What a gradient `g` of a node says of those it was made from. It is worked out on any engine that counts as the
/// node's does; `lift` brings the indices there.
pub(crate) fn adjoint<E: Engine, G: Engine<Size = E::Size>>(
    engine: &G,
    node: &Node<E>,
    g: &G::Value,
    lift: impl Fn(&E::Value) -> G::Value,
) -> Result<Vec<Part<E, G::Value>>> {
    let mut parts = Vec::new();
    match &*node.step() {
        Step::Watched => {}
        Step::Freed => return Err(freed()),
        Step::View { x, axes } => {
            if let Some(x) = x {
                parts.push((x.clone(), inverse::view(engine, axes, &x.shape, g)?));
            }
        }
        Step::Same { x } | Step::Copy { x } => {
            parts.extend(x.iter().map(|x| (x.clone(), g.clone())));
        }
        Step::Cast { x } => {
            if let Some(x) = x {
                parts.push((x.clone(), cast(engine, g, x.dtype)?));
            }
        }
        Step::Add { a, b } => {
            let given = [a, b].into_iter().flatten();
            parts.extend(given.map(|x| (x.clone(), g.clone())));
        }
        Step::Sum { x, axes } => {
            if let Some(x) = x {
                let spread = spread(engine, g, axes, &x.shape)?;
                parts.push((x.clone(), cast(engine, &spread, x.dtype)?));
            }
        }
        Step::Gather {
            source,
            index,
            along,
            mode,
        } => {
            if let Some(x) = source {
                let zeros = engine.full(x.dtype, Scalar::Int(0), &x.shape)?;
                let added =
                    engine.scatter_add(&zeros, &lift(index), g, along, without_fill(*mode))?;
                parts.push((x.clone(), added));
            }
        }
        Step::ScatterAdd {
            base,
            updates,
            index,
            along,
            mode,
        } => {
            parts.extend(base.iter().map(|x| (x.clone(), g.clone())));
            if let Some(x) = updates {
                let read = engine.gather(g, &lift(index), along, without_fill(*mode))?;
                parts.push((x.clone(), read));
            }
        }
        Step::Concat { xs, sizes, axis } => {
            let mut start = E::Size::from(0);
            for (x, len) in xs.iter().zip(sizes) {
                if let Some(x) = x {
                    let part = inverse::cut(engine, g, *axis, &start, len)?;
                    parts.push((x.clone(), part));
                }
                start = start.plus(len).ok_or_else(too_long)?;
            }
        }
    }
    Ok(parts)
}

fn freed() -> Error {
    Error::gradient("the history has been let go, as it is once gradients were taken through it")
        .help("keep it for another time with `backward(retain_graph=True)`")
}

fn too_long() -> Error {
    Error::overflow("the axis is longer than any machine can address")
}

/// The gradient of a sum reaches every element that was added.
fn spread<G: Engine>(
    engine: &G,
    g: &G::Value,
    axes: &[usize],
    shape: &[G::Size],
) -> Result<G::Value> {
    engine.view(g, shape.len(), |out| match axes.contains(&out) {
        true => Axis::Fresh(shape[out].clone()),
        false => Axis::Of(out - axes.iter().filter(|axis| **axis < out).count()),
    })
}

fn cast<G: Engine>(engine: &G, g: &G::Value, dtype: DType) -> Result<G::Value> {
    match engine.dtype(g) == dtype {
        true => Ok(g.clone()),
        false => engine.cast(g, dtype),
    }
}

/// The mode of the adjoint: what was read outside has no gradient.
fn without_fill(mode: Mode) -> Mode {
    match mode {
        Mode::Fill(_) => Mode::Fill(Scalar::Int(0)),
        other => other,
    }
}
