//! `reshape`, `view` and `flatten`: the same elements in row-major order under other sizes.
//!
//! Axes are matched in groups of equal product, as small as they come, so that a tensor with gaps between
//! its groups still reshapes without a copy.

use std::ops::Range;

use smallvec::SmallVec;

use crate::axis::Axis;
use crate::engine::{Condition, Engine};
use crate::error::{Error, Result};
use crate::operator::Operator;
use crate::operators::unflatten::inner_products;
use crate::params::{Sizes, product, resolve_axis};
use crate::size::{Shape, Size, Truth};

/// The same elements under another shape; a view where strides allow, otherwise a copy.
#[derive(Clone, Debug)]
pub struct Reshape<S> {
    /// The shape of the result; one size may be `-1`.
    pub shape: Sizes<S>,
}

/// Reshape that never copies: an error where strides do not allow a view.
#[derive(Clone, Debug)]
pub struct View<S> {
    /// The shape of the result; one size may be `-1`.
    pub shape: Sizes<S>,
}

/// Merges the axes from `start` to `stop`, both included.
#[derive(Clone, Debug)]
pub struct Flatten {
    /// The first axis merged.
    pub start: isize,
    /// The last axis merged.
    pub stop: isize,
}

impl<E: Engine> Operator<E> for Reshape<E::Size> {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let (shape, groups) = match_up(engine, inputs[0], &self.shape)?;
        rearrange(engine, inputs[0], &shape, &groups)
    }
}

impl<E: Engine> Operator<E> for View<E::Size> {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let x = inputs[0];
        let (shape, groups) = match_up(engine, x, &self.shape)?;
        for group in &groups {
            if group.from.len() > 1 && engine.merges(x, group.from.clone()) == Truth::No {
                let (first, last) = (group.from.start, group.from.end - 1);
                let message = format!(
                    "axes {first} to {last} do not lie in one run of memory, so only a copy can merge them"
                );
                return Err(Error::shape(message)
                    .at_argument("shape")
                    .at_axis(first)
                    .note("input shape", engine.shape_text(x))
                    .note("shape", &self.shape)
                    .help("use `reshape`, which copies where it must"));
            }
        }
        rearrange(engine, x, &shape, &groups)
    }
}

impl<E: Engine> Operator<E> for Flatten {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let x = inputs[0];
        let rank = engine.rank(x)?;
        if rank == 0 && matches!(self.start, 0 | -1) && matches!(self.stop, 0 | -1) {
            return engine.view(x, 1, |_| Axis::Fresh(1.into()));
        }
        let start = resolve_axis(self.start, rank, "start", || engine.shape_text(x))?;
        let stop = resolve_axis(self.stop, rank, "stop", || engine.shape_text(x))?;
        if start > stop {
            let message = format!("start is axis {start}, which lies behind stop, axis {stop}");
            return Err(Error::axis(message)
                .at_argument("start")
                .at_axis(start)
                .note("input shape", engine.shape_text(x)));
        }
        let merged = stop - start;
        engine.view(x, rank - merged, |out| match out {
            _ if out == start && merged > 0 => Axis::Merge(start..stop + 1),
            _ => Axis::Of(if out > start { out + merged } else { out }),
        })
    }
}

/// A run of input axes and the run of output axes that holds the same elements.
struct Group {
    from: Range<usize>,
    to: Range<usize>,
}

type Groups = SmallVec<[Group; 8]>;

/// The sizes of the result, with `-1` worked out, and its groups.
fn match_up<E: Engine>(
    engine: &E,
    x: &E::Value,
    given: &Sizes<E::Size>,
) -> Result<(Shape<E::Size>, Groups)> {
    let old = engine.shape(x)?;
    let count = engine.count(x)?;
    let with_input = |error: Error| error.note("input shape", engine.shape_text(x));
    let new = fit(engine, given, &count, || {
        format!("the input has {count} elements")
    })
    .map_err(with_input)?;
    let groups = group(&old, &new)
        .ok_or_else(|| with_input(Error::overflow("the product of the sizes is too large")))?;
    Ok((new, groups))
}

/// The sizes of `shape`, whose product must be `whole`, with `-1` worked out. `holder` says what `whole` is.
pub(crate) fn fit<E: Engine>(
    engine: &E,
    shape: &Sizes<E::Size>,
    whole: &E::Size,
    holder: impl Fn() -> String,
) -> Result<Shape<E::Size>> {
    let (mut sizes, hole) = shape.with_hole("shape")?;
    let total = product(&sizes, "shape", shape)?;
    let blame = |message: String| {
        Error::shape(message)
            .at_argument("shape")
            .sizes(whole, &total)
            .note("shape", shape)
    };
    let Some(hole) = hole else {
        engine.require(Condition::Same(total.clone(), whole.clone()), || {
            blame(format!(
                "shape {shape} holds {total} elements, but {}",
                holder()
            ))
            .help("the sizes must multiply to that; one of them may be -1")
        })?;
        return Ok(sizes);
    };
    sizes[hole] = whole.over(&total).ok_or_else(|| {
        blame("-1 beside a size of 0 could be any size".to_string())
            .help("write the size in place of -1")
    })?;
    engine.require(Condition::Divides(total.clone(), whole.clone()), || {
        blame(format!(
            "{}, which cannot be divided by {total}, the product beside -1",
            holder()
        ))
    })?;
    Ok(sizes)
}

/// Walks both shapes from the front, closing a group wherever the products meet. Sizes left over at the end
/// of either side (ones, or anything beside a 0) join the last group.
fn group<S: Size>(old: &[S], new: &[S]) -> Option<Groups> {
    let mut groups = Groups::new();
    let (mut from, mut to) = (0..0, 0..0);
    while from.end < old.len() && to.end < new.len() {
        let (mut a, mut b) = (old[from.end].clone(), new[to.end].clone());
        (from.end, to.end) = (from.end + 1, to.end + 1);
        while a.same(&b) != Truth::Yes {
            let shorter = match (a.known(), b.known()) {
                (Some(a), Some(b)) => Some(a < b),
                _ => None,
            };
            let grow_old = from.end < old.len() && shorter != Some(false);
            let grow_new = to.end < new.len() && shorter != Some(true);
            // With one side used up the other must catch up; with neither known, both go on to the end.
            let (grow_old, grow_new) = match (grow_old, grow_new) {
                (false, false) => (from.end < old.len(), to.end < new.len()),
                some => some,
            };
            if !(grow_old || grow_new) {
                break;
            }
            if grow_old {
                a = a.times(&old[from.end])?;
                from.end += 1;
            }
            if grow_new {
                b = b.times(&new[to.end])?;
                to.end += 1;
            }
        }
        groups.push(Group {
            from: from.clone(),
            to: to.clone(),
        });
        (from.start, to.start) = (from.end, to.end);
    }
    if let Some(last) = groups.last_mut() {
        last.from.end = old.len();
        last.to.end = new.len();
    }
    Some(groups)
}

/// Carries out matched groups: one view where each group only merges or only splits, otherwise a view that
/// merges and one that splits.
fn rearrange<E: Engine>(
    engine: &E,
    x: &E::Value,
    shape: &[E::Size],
    groups: &[Group],
) -> Result<E::Value> {
    let inner: SmallVec<[Shape<E::Size>; 4]> = groups
        .iter()
        .map(|g| inner_products(&shape[g.to.clone()]))
        .collect::<Result<_>>()?;
    let place = |out: usize| groups.iter().position(|g| g.to.contains(&out));
    let split = |of: usize, at: usize, out: usize| Axis::Split {
        of,
        len: shape[out].clone(),
        inner: inner[at][out - groups[at].to.start].clone(),
    };
    let both = groups.iter().any(|g| g.from.len() > 1 && g.to.len() > 1);
    let merge = |run: &Range<usize>| match run.len() {
        1 => Axis::Of(run.start),
        _ => Axis::Merge(run.clone()),
    };
    if !both {
        return engine.view(x, shape.len(), |out| match place(out) {
            None => Axis::Fresh(shape[out].clone()),
            Some(at) if groups[at].to.len() == 1 => merge(&groups[at].from),
            Some(at) => split(groups[at].from.start, at, out),
        });
    }
    let merged = engine.view(x, groups.len(), |out| merge(&groups[out].from))?;
    engine.view(&merged, shape.len(), |out| match place(out) {
        None => Axis::Fresh(shape[out].clone()),
        Some(at) if groups[at].to.len() == 1 => Axis::Of(at),
        Some(at) => split(at, at, out),
    })
}
