//! `squeeze` and `unsqueeze`: axes of size 1 dropped and added.

use smallvec::SmallVec;

use crate::axis::Axis;
use crate::engine::{Condition, Engine};
use crate::error::{Error, Result};
use crate::operator::Operator;
use crate::params::{Axes, resolve_all, resolve_axis};
use crate::size::{Size, Truth};

/// Drops axes of size 1: those named, or all there are.
#[derive(Clone, Debug)]
pub struct Squeeze {
    /// The axes to drop; each must have size 1.
    pub axis: Axes,
}

/// Adds axes of size 1 at the named places of the result.
#[derive(Clone, Debug)]
pub struct Unsqueeze {
    /// Where the new axes are in the result.
    pub axis: Axes,
}

impl<E: Engine> Operator<E> for Squeeze {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let x = inputs[0];
        let rank = engine.rank(x)?;
        let mut kept: SmallVec<[usize; 8]> = SmallVec::new();
        let Some(given) = self.axis.given() else {
            for axis in 0..rank {
                match engine.size(x, axis).is(1) {
                    Truth::Yes => {}
                    Truth::No => kept.push(axis),
                    Truth::Unknown => return Err(unclear(axis, &engine.size(x, axis))),
                }
            }
            return engine.view(x, kept.len(), |out| Axis::Of(kept[out]));
        };
        if let [one] = given {
            let axis = resolve_axis(*one, rank, "axis", || engine.shape_text(x))
                .map_err(|error| error.at_item(0))?;
            require_one(engine, x, axis)?;
            return engine.view(x, rank - 1, |out| Axis::Of(out + usize::from(out >= axis)));
        }
        let dropped = self.axis.resolve(engine, x)?;
        for &axis in &dropped {
            require_one(engine, x, axis)?;
        }
        kept.extend((0..rank).filter(|axis| !dropped.contains(axis)));
        engine.view(x, kept.len(), |out| Axis::Of(kept[out]))
    }
}

/// Whether an axis is dropped is not known yet.
#[cold]
fn unclear<S: Size>(axis: usize, size: &S) -> Error {
    Error::too_early(format!(
        "axis {axis} has size {size}, and whether that is 1 is not known yet"
    ))
    .at_axis(axis)
    .help("name the axes to drop")
}

/// Requires that an axis can be dropped.
#[inline]
fn require_one<E: Engine>(engine: &E, x: &E::Value, axis: usize) -> Result<()> {
    let size = engine.size(x, axis);
    engine.require(Condition::Same(size.clone(), 1.into()), || {
        Error::shape(format!(
            "axis {axis} has size {size}, and only an axis of size 1 can be dropped"
        ))
        .at_argument("axis")
        .at_axis(axis)
        .sizes(1, &size)
        .note("shape", engine.shape_text(x))
        .help("`reshape` merges it with a neighbour, `slice` picks one index")
    })
}

impl<E: Engine> Operator<E> for Unsqueeze {
    type Output = E::Value;

    #[inline]
    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let x = inputs[0];
        let rank = engine.rank(x)?;
        let given = self.axis.given().ok_or_else(|| {
            Error::argument("axis is None, but new axes need places")
                .at_argument("axis")
                .help("name the places of the new axes")
        })?;
        let total = rank + given.len();
        let shape = || engine.shape_text(x);
        let counted =
            |error: Error| error.help(format!("axes count in the result, which has rank {total}"));
        if let [one] = given {
            let axis = resolve_axis(*one, total, "axis", shape).map_err(counted)?;
            return with_axes(engine, x, &[axis]);
        }
        with_axes(
            engine,
            x,
            &resolve_all(given, total, "axis", shape).map_err(counted)?,
        )
    }
}

/// The tensor with axes of size 1 added; `added` counts in the result.
#[inline]
pub(crate) fn with_axes<E: Engine>(engine: &E, x: &E::Value, added: &[usize]) -> Result<E::Value> {
    let total = engine.rank(x)? + added.len();
    engine.view(x, total, |out| match added.contains(&out) {
        true => Axis::Fresh(1.into()),
        false => Axis::Of(out - added.iter().filter(|a| **a < out).count()),
    })
}
