//! `slice` and `flip`: parts of axes, forwards and backwards. `slice` has Python's `x[...]` with whole
//! numbers, ranges, `None` and `...`; integer arrays are `take`'s.

use smallvec::SmallVec;

use crate::axis::Axis;
use crate::engine::{Condition, Engine};
use crate::error::{Error, Result};
use crate::operator::Operator;
use crate::params::{Axes, Item, Items, resolve_axis};
use crate::rules::index_range;
use crate::size::Size;

/// Reads part of a tensor, by Python's rules of indexing.
#[derive(Clone, Debug)]
pub struct Slice {
    /// What stands between the brackets.
    pub items: Items,
}

/// Reverses the order along axes.
#[derive(Clone, Debug)]
pub struct Flip {
    /// The axes to reverse.
    pub axis: Axes,
}

impl<E: Engine> Operator<E> for Slice {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let x = inputs[0];
        let rank = engine.rank(x)?;
        let items = &self.items.0;
        let blame = |error: Error| {
            error
                .at_argument("items")
                .note("shape", engine.shape_text(x))
                .note("index", &self.items)
        };
        let (mut indexed, mut rests) = (0, 0);
        for item in items {
            match item {
                Item::At(_) | Item::Range { .. } => indexed += 1,
                Item::Rest => rests += 1,
                Item::NewAxis => {}
            }
        }
        if rests > 1 {
            return Err(blame(
                Error::argument("the index has more than one `...`")
                    .help("leave one; it stands for all axes not mentioned"),
            ));
        }
        let Some(whole) = rank.checked_sub(indexed) else {
            let message = format!("{indexed} axes are indexed, but the input has rank {rank}");
            return Err(blame(Error::shape(message).sizes(rank, indexed)));
        };

        // Axes of single indices are dropped, and new ones put in.
        let mut dropped: SmallVec<[(usize, usize); 8]> = SmallVec::new();
        let mut shaped: SmallVec<[Axis<E::Size>; 8]> = SmallVec::new();
        // Single indices of axes whose sizes are not known yet.
        let mut open: SmallVec<[(usize, isize); 2]> = SmallVec::new();
        let mut axis = 0;
        for (place, &item) in items.iter().enumerate() {
            let blame = |error: Error| blame(error.at_item(place));
            match item {
                Item::NewAxis => {
                    shaped.push(Axis::Fresh(1.into()));
                    continue;
                }
                Item::Rest => {
                    for _ in 0..whole {
                        shaped.push(Axis::Of(axis));
                        axis += 1;
                    }
                    continue;
                }
                Item::At(index) => match at(engine, x, axis, index).map_err(blame)? {
                    Some(index) => dropped.push((axis, index)),
                    None => open.push((axis, index)),
                },
                Item::Range {
                    start: None,
                    stop: None,
                    step: 1,
                } => shaped.push(Axis::Of(axis)),
                Item::Range { start, stop, step } => {
                    shaped.push(range(engine, x, axis, start, stop, step).map_err(blame)?);
                }
            }
            axis += 1;
        }
        // Without a `...` there is one at the end, which need not be written down.
        let (listed, total) = (shaped.len(), shaped.len() + (rank - axis));
        let map = |out: usize| match shaped.get(out) {
            Some(axis) => axis.clone(),
            None => Axis::Of(axis + (out - listed)),
        };
        let cut;
        let x = match open.is_empty() {
            true => x,
            false => {
                cut = cut_open(engine, x, rank, &open)?;
                &cut
            }
        };
        match dropped.is_empty() {
            true => engine.view(x, total, map),
            false => engine.view_at(x, &dropped, total, map),
        }
    }
}

/// The tensor with nothing but single indices left of some axes.
#[cold]
fn cut_open<E: Engine>(
    engine: &E,
    x: &E::Value,
    rank: usize,
    open: &[(usize, isize)],
) -> Result<E::Value> {
    engine.view(x, rank, |out| {
        match open.iter().find(|(axis, _)| *axis == out) {
            Some(&(of, index)) => Axis::Range {
                of,
                start: Some(index),
                stop: (index != -1).then_some(index.wrapping_add(1)),
                step: 1,
            },
            None => Axis::Of(out),
        }
    })
}

/// An index counted from the front; `None` where the size it counts from is not known yet.
#[inline(always)]
fn at<E: Engine>(engine: &E, x: &E::Value, axis: usize, index: isize) -> Result<Option<usize>> {
    let size = engine.size(x, axis);
    let inside = Condition::Inside {
        size: size.clone(),
        index,
    };
    engine.require(inside, || {
        let error = Error::index(format!(
            "index {index} is out of range for axis {axis}, which has size {size}"
        ));
        let range = size.known().map_or_else(|| size.to_string(), index_range);
        error.at_axis(axis).sizes(range, index)
    })?;
    Ok(size.known().map(|size| match usize::try_from(index) {
        Ok(index) => index,
        Err(_) => size - index.unsigned_abs(),
    }))
}

/// `start:stop:step` of an axis.
#[inline(always)]
fn range<E: Engine>(
    engine: &E,
    x: &E::Value,
    axis: usize,
    start: Option<isize>,
    stop: Option<isize>,
    step: isize,
) -> Result<Axis<E::Size>> {
    if step == 0 {
        return Err(Error::argument(format!("the step for axis {axis} is 0"))
            .at_axis(axis)
            .help("use 1 to go forwards, -1 to go backwards"));
    }
    let range = Axis::Range {
        of: axis,
        start,
        stop,
        step,
    };
    Ok(range.settled(|axis| engine.size(x, axis)))
}

impl<E: Engine> Operator<E> for Flip {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let x = inputs[0];
        let rank = engine.rank(x)?;
        let axis = |out: usize, flipped: bool| match flipped {
            true => Axis::Range {
                of: out,
                start: None,
                stop: None,
                step: -1,
            }
            .settled(|axis| engine.size(x, axis)),
            false => Axis::Of(out),
        };
        if let Axes::One(one) = self.axis {
            let one = resolve_axis(one, rank, "axis", || engine.shape_text(x))
                .map_err(|error| error.at_item(0))?;
            return engine.view(x, rank, |out| axis(out, out == one));
        }
        let flipped = self.axis.resolve(engine, x)?;
        engine.view(x, rank, |out| axis(out, flipped.contains(&out)))
    }
}
