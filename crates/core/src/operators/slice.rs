//! `slice` and `flip`: parts of axes, forwards and backwards. `slice` has Python's `x[...]` with whole
//! numbers, ranges, `None` and `...`; integer arrays are `take`'s.

use smallvec::SmallVec;

use crate::axis::Axis;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::operator::Operator;
use crate::params::{Axes, Item, Items};
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
        let indexed = items
            .iter()
            .filter(|i| matches!(i, Item::At(_) | Item::Range { .. }))
            .count();
        if items.iter().filter(|i| matches!(i, Item::Rest)).count() > 1 {
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
        let mut axis = 0;
        let rest = (!items.contains(&Item::Rest)).then_some(&Item::Rest);
        for (place, &item) in items.iter().chain(rest).enumerate() {
            let blame = |error: Error| blame(error.at_item(place));
            match item {
                Item::NewAxis => {
                    shaped.push(Axis::Fresh(1.into()));
                    continue;
                }
                Item::Rest => {
                    shaped.extend((axis..axis + whole).map(Axis::Of));
                    axis += whole;
                    continue;
                }
                Item::At(index) => {
                    dropped.push((axis, at(engine, x, axis, index).map_err(blame)?));
                }
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
        match dropped.is_empty() {
            true => engine.view(x, shaped.len(), |out| shaped[out].clone()),
            false => engine.view_at(x, &dropped, shaped.len(), |out| shaped[out].clone()),
        }
    }
}

fn known<E: Engine>(engine: &E, x: &E::Value, axis: usize) -> Result<usize> {
    let size = engine.size(x, axis);
    size.known().ok_or_else(|| {
        Error::too_early(format!(
            "axis {axis} has size {size}, which is not known yet"
        ))
        .at_axis(axis)
    })
}

fn at<E: Engine>(engine: &E, x: &E::Value, axis: usize, index: isize) -> Result<usize> {
    let size = known(engine, x, axis)?;
    let from_front = if index < 0 {
        index.wrapping_add_unsigned(size)
    } else {
        index
    };
    match usize::try_from(from_front) {
        Ok(start) if start < size => Ok(start),
        _ => Err(Error::index(format!(
            "index {index} is out of range for axis {axis}, which has size {size}"
        ))
        .at_axis(axis)
        .sizes(index_range(size), index)),
    }
}

/// Python's rule for `start:stop:step`: ends outside are clipped, absent ones mean the whole way.
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
    let size = known(engine, x, axis)? as isize;
    let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
    let clip = |end: isize| {
        let from_front = if end < 0 {
            end.saturating_add(size)
        } else {
            end
        };
        from_front.clamp(low, high)
    };
    let (near, far) = if step > 0 { (low, high) } else { (high, low) };
    let start = start.map_or(near, clip);
    let stop = stop.map_or(far, clip);
    let distance = if step > 0 { stop - start } else { start - stop };
    let len = match usize::try_from(distance) {
        Ok(distance) => distance.div_ceil(step.unsigned_abs()),
        Err(_) => 0,
    };
    let start = if len == 0 { 0 } else { start as usize };
    // A step past the axis is never taken; shortened, it makes a stride that fits any element.
    let reach = size.max(1);
    Ok(Axis::Slice {
        of: axis,
        start: start.into(),
        len: len.into(),
        step: step.clamp(-reach, reach),
    })
}

impl<E: Engine> Operator<E> for Flip {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let x = inputs[0];
        let rank = engine.rank(x)?;
        let flipped = self.axis.resolve(engine, x)?;
        for &axis in &flipped {
            known(engine, x, axis)?;
        }
        engine.view(x, rank, |out| {
            let len = engine.size(x, out);
            match (flipped.contains(&out), len.known()) {
                (true, Some(n)) => Axis::Slice {
                    of: out,
                    start: n.saturating_sub(1).into(),
                    len,
                    step: -1,
                },
                _ => Axis::Of(out),
            }
        })
    }
}
