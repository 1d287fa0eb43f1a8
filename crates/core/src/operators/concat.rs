//! `concat`, `stack` and `unstack`: several tensors as one, and back.

use crate::axis::Axis;
use crate::engine::{Condition, Engine, describe};
use crate::error::{Error, Result};
use crate::operator::Operator;
use crate::params::resolve_axis;
use crate::size::Size;

/// Tensors one after another along an axis they all have.
#[derive(Clone, Debug)]
pub struct Concat {
    /// The axis.
    pub axis: isize,
}

/// Tensors of one shape side by side along a new axis.
#[derive(Clone, Debug)]
pub struct Stack {
    /// Where the new axis is in the result.
    pub axis: isize,
}

/// The slices along an axis, each without it.
#[derive(Clone, Debug)]
pub struct Unstack {
    /// The axis.
    pub axis: isize,
}

impl<E: Engine> Operator<E> for Concat {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let first = first_of(inputs)?;
        let rank = engine.rank(first)?;
        let axis = resolve_axis(self.axis, rank, "axis", || engine.shape_text(first)).map_err(
            |error| {
                if rank == 0 {
                    error.help("tensors of rank 0 can be stacked")
                } else {
                    error
                }
            },
        )?;
        require_alike(engine, inputs, Some(axis))?;
        engine.concat(inputs, axis)
    }
}

impl<E: Engine> Operator<E> for Stack {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let first = first_of(inputs)?;
        let rank = engine.rank(first)?;
        let axis = resolve_axis(self.axis, rank + 1, "axis", || engine.shape_text(first)).map_err(
            |error| {
                error.help(format!(
                    "axes count in the result, which has rank {}",
                    rank + 1
                ))
            },
        )?;
        require_alike(engine, inputs, None)?;
        engine.stack(inputs, axis)
    }
}

impl<E: Engine> Operator<E> for Unstack {
    type Output = Vec<E::Value>;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<Vec<E::Value>> {
        let x = inputs[0];
        let rank = engine.rank(x)?;
        let axis = resolve_axis(self.axis, rank, "axis", || engine.shape_text(x))?;
        let size = engine.size(x, axis);
        let count = size.known().ok_or_else(|| {
            Error::too_early(format!(
                "axis {axis} has size {size}, which is not known yet"
            ))
            .at_axis(axis)
        })?;
        let mut slices = Vec::new();
        slices.try_reserve_exact(count).map_err(|_| {
            Error::memory(format!("{count} slices are more than memory holds")).at_axis(axis)
        })?;
        for start in 0..count {
            slices.push(engine.view_at(x, &[(axis, start)], rank - 1, |out| {
                Axis::Of(out + usize::from(out >= axis))
            })?);
        }
        Ok(slices)
    }
}

fn first_of<'a, V>(inputs: &[&'a V]) -> Result<&'a V> {
    inputs.first().copied().ok_or_else(|| {
        Error::argument("no tensors were given")
            .at_argument("inputs")
            .help("give at least one")
    })
}

/// Requires equal dtypes and shapes, but for the size of one axis.
fn require_alike<E: Engine>(engine: &E, inputs: &[&E::Value], except: Option<usize>) -> Result<()> {
    let first = first_of(inputs)?;
    let rank = engine.rank(first)?;
    for (at, x) in inputs.iter().enumerate().skip(1) {
        let blame = |error: Error| {
            error
                .at_argument("inputs")
                .at_item(at)
                .note("inputs[0]", describe(engine, first))
                .note("the other", describe(engine, x))
        };
        if engine.dtype(x) != engine.dtype(first) {
            let message = format!(
                "inputs[{at}] is {}, but inputs[0] is {}",
                engine.dtype(x),
                engine.dtype(first)
            );
            return Err(
                blame(Error::dtype(message).sizes(engine.dtype(first), engine.dtype(x)))
                    .help("nothing is cast silently: use `cast` on one of them"),
            );
        }
        if engine.rank(x)? != rank {
            let message = format!(
                "inputs[{at}] has rank {}, but inputs[0] has rank {rank}",
                engine.rank(x)?
            );
            return Err(blame(Error::shape(message).sizes(rank, engine.rank(x)?)));
        }
        for axis in (0..rank).filter(|axis| Some(*axis) != except) {
            let (wanted, size) = (engine.size(first, axis), engine.size(x, axis));
            engine.require(Condition::Same(wanted.clone(), size.clone()), || {
                let message = format!(
                    "axis {axis} has size {size} in inputs[{at}], but {wanted} in inputs[0]"
                );
                blame(Error::shape(message).at_axis(axis).sizes(&wanted, &size))
            })?;
        }
    }
    Ok(())
}
