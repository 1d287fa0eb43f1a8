//! `permute`, `transpose`, `swapaxes` and `moveaxis`: the same axes in another order.

use smallvec::SmallVec;

use crate::axis::Axis;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::operator::Operator;
use crate::params::{Axes, resolve_all, resolve_axis};
use crate::size::tuple;

/// Puts the axes in the given order.
#[derive(Clone, Debug)]
pub struct Permute {
    /// For each axis of the result, the axis of the input.
    pub axes: Axes,
}

/// NumPy's transpose: the axes in the given order, or reversed.
#[derive(Clone, Debug)]
pub struct Transpose {
    /// For each axis of the result, the axis of the input; all axes: reversed.
    pub axes: Axes,
}

/// Swaps two axes: PyTorch's transpose.
#[derive(Clone, Debug)]
pub struct Swapaxes {
    /// One axis.
    pub a: isize,
    /// The other.
    pub b: isize,
}

/// Moves axes to new places; the others keep their order.
#[derive(Clone, Debug)]
pub struct Moveaxis {
    /// The axes that move.
    pub source: Axes,
    /// Where each of them goes.
    pub destination: Axes,
}

impl<E: Engine> Operator<E> for Permute {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let given = self.axes.given().ok_or_else(|| {
            Error::argument("axes is None, but an order is needed")
                .at_argument("axes")
                .help("`transpose` without axes reverses them")
        })?;
        reorder(engine, inputs[0], given)
    }
}

impl<E: Engine> Operator<E> for Transpose {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let x = inputs[0];
        match self.axes.given() {
            Some(given) => reorder(engine, x, given),
            None => {
                let rank = engine.rank(x)?;
                engine.view(x, rank, |out| Axis::Of(rank - 1 - out))
            }
        }
    }
}

fn reorder<E: Engine>(engine: &E, x: &E::Value, given: &[isize]) -> Result<E::Value> {
    let rank = engine.rank(x)?;
    // Nearly all calls name every axis once, which a bit for each tells sooner than a list of them does. Axes 64 apart share
    // a bit, so that of more axes than that the list tells.
    let front = |axis: isize| if axis < 0 { axis.wrapping_add_unsigned(rank) } else { axis } as usize;
    let mut seen = 0u64;
    let mut is_new = |axis: usize| {
        let bit = 1u64.wrapping_shl(axis as u32);
        let new = axis < rank && seen & bit == 0;
        seen |= bit;
        new
    };
    if given.len() == rank && given.iter().all(|axis| is_new(front(*axis))) {
        return engine.view(x, rank, |out| Axis::Of(front(given[out])));
    }
    let order = resolve_all(given, rank, "axes", || engine.shape_text(x))?;
    if order.len() != rank {
        let error = Error::axis(format!(
            "axes names {}, but the input has rank {rank}",
            axes_counted(order.len())
        ))
        .at_argument("axes")
        .sizes(rank, order.len())
        .note("axes", tuple(given))
        .note("shape", engine.shape_text(x));
        return Err(match given {
            [a, b] => error.help(format!("to swap two axes use `swapaxes({a}, {b})`")),
            _ => error.help("name every axis once"),
        });
    }
    engine.view(x, rank, |out| Axis::Of(order[out]))
}

impl<E: Engine> Operator<E> for Swapaxes {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let x = inputs[0];
        let rank = engine.rank(x)?;
        let a = resolve_axis(self.a, rank, "a", || engine.shape_text(x))?;
        let b = resolve_axis(self.b, rank, "b", || engine.shape_text(x))?;
        engine.view(x, rank, |out| {
            Axis::Of(match out {
                _ if out == a => b,
                _ if out == b => a,
                _ => out,
            })
        })
    }
}

impl<E: Engine> Operator<E> for Moveaxis {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let x = inputs[0];
        let rank = engine.rank(x)?;
        if let (Axes::One(source), Axes::One(destination)) = (&self.source, &self.destination) {
            let place = |axis: isize, argument| {
                resolve_axis(axis, rank, argument, || engine.shape_text(x))
                    .map_err(|error| error.at_item(0))
            };
            let (from, to) = (
                place(*source, "source")?,
                place(*destination, "destination")?,
            );
            return engine.view(x, rank, |out| {
                let among_others = out - usize::from(out > to);
                Axis::Of(match out == to {
                    true => from,
                    false => among_others + usize::from(among_others >= from),
                })
            });
        }
        let all = |axes: &Axes, argument| {
            let given: SmallVec<[isize; 8]> = match axes.given() {
                Some(given) => given.into(),
                None => (0..rank as isize).collect(),
            };
            resolve_all(&given, rank, argument, || engine.shape_text(x))
        };
        let source = all(&self.source, "source")?;
        let destination = all(&self.destination, "destination")?;
        if source.len() != destination.len() {
            let message = format!(
                "source names {}, but destination names {}",
                axes_counted(source.len()),
                destination.len()
            );
            return Err(Error::axis(message)
                .at_argument("destination")
                .sizes(source.len(), destination.len())
                .note("source", &self.source)
                .note("destination", &self.destination)
                .note("shape", engine.shape_text(x)));
        }
        let staying: SmallVec<[usize; 8]> =
            (0..rank).filter(|axis| !source.contains(axis)).collect();
        engine.view(x, rank, |out| {
            match destination.iter().position(|d| *d == out) {
                Some(at) => Axis::Of(source[at]),
                None => Axis::Of(staying[out - destination.iter().filter(|d| **d < out).count()]),
            }
        })
    }
}

fn axes_counted(n: usize) -> String {
    if n == 1 {
        "1 axis".to_string()
    } else {
        format!("{n} axes")
    }
}
