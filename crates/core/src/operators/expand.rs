//! `expand`, `expand_as` and `broadcast_to`: axes of size 1 repeated without moving data, by a stride of 0.

use crate::axis::Axis;
use crate::engine::{Condition, Engine};
use crate::error::{Error, Result};
use crate::operator::Operator;
use crate::params::{Extent, Sizes};
use crate::size::{Size, Truth};

/// Expands to the given sizes; `-1` keeps an axis, sizes in front add axes.
#[derive(Clone, Debug)]
pub struct Expand<S> {
    /// The size of every axis of the result.
    pub sizes: Sizes<S>,
}

/// Expands to the shape of another tensor.
#[derive(Clone, Debug)]
pub struct ExpandAs {}

/// NumPy's spelling of expand: every size is given, `-1` has no meaning.
#[derive(Clone, Debug)]
pub struct BroadcastTo<S> {
    /// The shape of the result.
    pub shape: Sizes<S>,
}

impl<E: Engine> Operator<E> for Expand<E::Size> {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        stretch(engine, inputs[0], &self.sizes, "sizes")
    }
}

impl<E: Engine> Operator<E> for ExpandAs {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let shape = engine.shape(inputs[1])?;
        stretch(engine, inputs[0], &shape.into(), "other.shape")
    }
}

impl<E: Engine> Operator<E> for BroadcastTo<E::Size> {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        self.shape.all_given("shape")?;
        stretch(engine, inputs[0], &self.shape, "shape")
    }
}

#[inline]
fn stretch<E: Engine>(
    engine: &E,
    x: &E::Value,
    sizes: &Sizes<E::Size>,
    argument: &'static str,
) -> Result<E::Value> {
    let rank = engine.rank(x)?;
    let blame = |error: Error| {
        error
            .at_argument(argument)
            .note("input shape", engine.shape_text(x))
            .note(argument, sizes)
    };
    let Some(new) = sizes.len().checked_sub(rank) else {
        let message = format!(
            "{argument} has {} sizes, but the input has rank {rank}",
            sizes.len()
        );
        return Err(blame(Error::shape(message).sizes(rank, sizes.len()))
            .help("give a size for every axis (-1 keeps it); sizes in front add axes"));
    };
    for (at, extent) in sizes.iter().enumerate() {
        match (extent, at.checked_sub(new)) {
            (Extent::Is(_), None) | (Extent::Infer, Some(_)) => {}
            (Extent::Is(wanted), Some(axis)) => {
                let size = engine.size(x, axis);
                if size.same(wanted) == Truth::Yes || size.is(1) == Truth::Yes {
                    continue;
                }
                engine.require(Condition::Same(size.clone(), wanted.clone()), || {
                    let message = format!(
                        "{argument}[{at}] is {wanted}, but axis {axis} of the input has size {size}, \
                         and only an axis of size 1 can be expanded"
                    );
                    blame(Error::shape(message).at_axis(axis).sizes(wanted, &size))
                        .help(format!("use -1 or {size} to keep the axis, or `repeat` to copy it"))
                })?;
            }
            (Extent::Infer, None) => {
                let message = format!("{argument}[{at}] is -1, but a new axis has no size to keep");
                return Err(blame(Error::shape(message)).help("give the new axis a size"));
            }
            (Extent::Negative(n), _) => {
                let message = format!("{argument}[{at}] is {n}, but a size cannot be negative");
                return Err(blame(Error::shape(message).sizes("a size, or -1", n))
                    .help("-1 keeps an axis; no other negative number has a meaning"));
            }
        }
    }
    engine.view(x, sizes.len(), |out| {
        match (&sizes[out], out.checked_sub(new)) {
            (Extent::Is(size), Some(axis)) if engine.size(x, axis).same(size) != Truth::Yes => {
                Axis::Fresh(size.clone())
            }
            (Extent::Is(size), None) => Axis::Fresh(size.clone()),
            (_, axis) => Axis::Of(axis.unwrap_or(0)),
        }
    })
}

/// The shape two shapes broadcast to, by NumPy's rule, if they do.
pub(crate) fn broadcast<S: Size>(a: &S, b: &S) -> Option<S> {
    match (a.same(b), a.is(1), b.is(1)) {
        (Truth::Yes, _, _) | (_, _, Truth::Yes) => Some(a.clone()),
        (_, Truth::Yes, _) => Some(b.clone()),
        _ => None,
    }
}
