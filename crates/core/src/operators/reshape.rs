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
use crate::operators::squeeze::with_axes;
use crate::params::{Extent, Sizes, resolve_axis};
use crate::size::{Shape, Size, Truth, counted};

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

    fn sizes(&self) -> Option<&Sizes<E::Size>> {
        Some(&self.shape)
    }

    #[inline]
    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        if let Some(view) = of_run(engine, inputs[0], &self.shape)? {
            return Ok(view);
        }
        let (shape, groups) = match_up(engine, inputs[0], &self.shape)?;
        rearrange(engine, inputs[0], &shape, &groups)
    }
}

impl<E: Engine> Operator<E> for View<E::Size> {
    type Output = E::Value;

    fn sizes(&self) -> Option<&Sizes<E::Size>> {
        Some(&self.shape)
    }

    #[inline]
    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let x = inputs[0];
        if let Some(view) = of_run(engine, x, &self.shape)? {
            return Ok(view);
        }
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
        // A tensor of rank 0 counts as a row of one.
        let start = resolve_axis(self.start, rank.max(1), "start", || engine.shape_text(x))?;
        let stop = resolve_axis(self.stop, rank.max(1), "stop", || engine.shape_text(x))?;
        if rank == 0 {
            return with_axes(engine, x, &[0]);
        }
        if start > stop {
            let message = format!("start is axis {start}, which lies behind stop, axis {stop}");
            return Err(Error::axis(message)
                .at_argument("start")
                .at_axis(start)
                .note("input shape", engine.shape_text(x)));
        }
        let merged = stop - start;
        // The product is part of one that the tensor has, if it is one run.
        let size = || {
            let sizes = (start..=stop).map(|axis| engine.size(x, axis));
            sizes.fold(E::Size::from(1), |product, size| {
                product.times(&size).unwrap_or(product)
            })
        };
        let run = engine.view_of_run(x, rank - merged, |out| match out {
            _ if out == start => size(),
            _ => engine.size(x, if out > start { out + merged } else { out }),
        })?;
        if let Some(view) = run {
            return Ok(view);
        }
        engine.view(x, rank - merged, |out| match out {
            _ if out == start && merged > 0 => Axis::Merge(start..stop + 1),
            _ => Axis::Of(if out > start { out + merged } else { out }),
        })
    }
}

/// One run of memory under other sizes.
#[inline]
fn of_run<E: Engine>(engine: &E, x: &E::Value, shape: &Sizes<E::Size>) -> Result<Option<E::Value>> {
    if !engine.is_one_run(x) {
        return Ok(None);
    }
    let new = fitted(engine, x, shape)?;
    engine.view_of_run(x, shape.len(), |at| new.size(at))
}

/// The tensor and its axis of that number; without one, the tensor flat and its only axis.
pub(crate) fn axis_or_flat<E: Engine>(
    engine: &E,
    x: &E::Value,
    axis: Option<isize>,
) -> Result<(E::Value, usize)> {
    match axis {
        Some(axis) => {
            let axis = resolve_axis(axis, engine.rank(x)?, "axis", || engine.shape_text(x))?;
            Ok((x.clone(), axis))
        }
        None => Ok((Reshape { shape: [-1].into() }.lower(engine, &[x])?, 0)),
    }
}

/// A run of input axes and the run of output axes that holds the same elements.
struct Group {
    from: Range<usize>,
    to: Range<usize>,
    /// Whether they hold equally many for certain. Where all elements are counted together, and another group is
    /// empty, they need not.
    exact: bool,
}

type Groups = SmallVec<[Group; 8]>;

/// The sizes of the result, with `-1` worked out, and its groups.
fn match_up<E: Engine>(
    engine: &E,
    x: &E::Value,
    given: &Sizes<E::Size>,
) -> Result<(Shape<E::Size>, Groups)> {
    let old = engine.shape(x)?;
    let new = fitted(engine, x, given)?;
    let new: Shape<E::Size> = (0..given.len()).map(|at| new.size(at)).collect();
    let groups = group(&old, &new)
        .ok_or_else(|| no_product(&new).note("input shape", engine.shape_text(x)))?;
    Ok((new, groups))
}

/// Sizes that have no product: numbers that are too large, or symbols of which a run must tell more first.
#[cold]
fn no_product<S: Size>(sizes: &[S]) -> Error {
    match sizes.iter().all(|size| size.known().is_some()) {
        true => Error::overflow("the product of the sizes is too large"),
        false => Error::too_early("what the sizes multiply to is only known when the graph runs"),
    }
}

/// The sizes of the result, with `-1` worked out.
#[inline]
fn fitted<'a, E: Engine>(
    engine: &E,
    x: &E::Value,
    given: &'a Sizes<E::Size>,
) -> Result<Fitted<'a, E::Size>> {
    let count = engine.count(x)?;
    fit(engine, given, &count, || {
        format!("the input has {}", counted(&count, "element"))
    })
    .map_err(|error| error.note("input shape", engine.shape_text(x)))
}

/// Sizes whose product is known to be right, with `-1` worked out.
pub(crate) struct Fitted<'a, S> {
    given: &'a Sizes<S>,
    hole: S,
}

impl<S: Size> Fitted<'_, S> {
    /// The size at a place.
    #[inline]
    pub(crate) fn size(&self, at: usize) -> S {
        match self.given.get(at) {
            Extent::Is(size) => size,
            _ => self.hole.clone(),
        }
    }

    /// The product of the sizes behind a place; it is part of a product that has been checked.
    #[inline]
    pub(crate) fn inner(&self, at: usize) -> S {
        let behind = (at + 1..self.given.len()).map(|at| self.size(at));
        behind.fold(S::from(1), |inner, size| {
            inner.times(&size).unwrap_or(inner)
        })
    }
}

/// The sizes of `shape`, whose product must be `whole`. `holder` says what `whole` is.
#[inline]
pub(crate) fn fit<'a, E: Engine>(
    engine: &E,
    shape: &'a Sizes<E::Size>,
    whole: &E::Size,
    holder: impl Fn() -> String,
) -> Result<Fitted<'a, E::Size>> {
    let (total, hole) = shape.product_beside_hole("shape")?;
    let blame = |message: String| {
        Error::shape(message)
            .at_argument("shape")
            .sizes(whole, &total)
            .note("shape", shape)
    };
    if hole.is_none() {
        engine.require(Condition::Same(total.clone(), whole.clone()), || {
            blame(format!(
                "shape {shape} holds {}, but {}",
                counted(&total, "element"),
                holder()
            ))
            .help("the sizes must multiply to that; one of them may be -1")
        })?;
        return Ok(Fitted {
            given: shape,
            hole: total,
        });
    }
    let any = || {
        Error::shape("-1 beside a size of 0 could be any size")
            .at_argument("shape")
            .note("shape", shape)
            .help("write the size in place of -1")
    };
    let something = Condition::Inside {
        size: total.clone(),
        index: 0,
    };
    engine.require(something, any)?;
    let hole = whole.over(&total).ok_or_else(any)?;
    engine.require(Condition::Divides(total.clone(), whole.clone()), || {
        blame(format!(
            "{}, which {total}, the product beside -1, does not divide",
            holder()
        ))
        .help("-1 stands for a whole number: change the other sizes")
    })?;
    Ok(Fitted { given: shape, hole })
}

/// Walks both shapes from the front, closing a group wherever the products meet. Sizes left over at the end
/// of either side (they are ones) join the last group.
fn group<S: Size>(old: &[S], new: &[S]) -> Option<Groups> {
    let mut groups = Groups::new();
    // Without elements the products say nothing about which axes belong together.
    if old.iter().any(|size| size.is(0) == Truth::Yes) {
        groups.push(Group {
            from: 0..old.len(),
            to: 0..new.len(),
            exact: true,
        });
        return Some(groups);
    }
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
            exact: true,
        });
        (from.start, to.start) = (from.end, to.end);
    }
    if let Some(last) = groups.last_mut() {
        last.from.end = old.len();
        last.to.end = new.len();
    }
    if old.iter().chain(new).any(|size| size.known().is_none()) {
        for group in &mut groups {
            let held = S::product(&old[group.from.clone()])?;
            let wanted = S::product(&new[group.to.clone()])?;
            group.exact = held.same(&wanted) == Truth::Yes;
        }
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
    let both = groups
        .iter()
        .any(|g| g.from.len() > 1 && (g.to.len() > 1 || !g.exact));
    let keeps = |group: &Group| group.to.len() == 1 && group.exact;
    let merge = |run: &Range<usize>| match run.len() {
        1 => Axis::Of(run.start),
        _ => Axis::Merge(run.clone()),
    };
    if !both {
        return engine.view(x, shape.len(), |out| match place(out) {
            None => Axis::Fresh(shape[out].clone()),
            Some(at) if keeps(&groups[at]) => merge(&groups[at].from),
            Some(at) => split(groups[at].from.start, at, out),
        });
    }
    let merged = engine.view(x, groups.len(), |out| merge(&groups[out].from))?;
    engine.view(&merged, shape.len(), |out| match place(out) {
        None => Axis::Fresh(shape[out].clone()),
        Some(at) if keeps(&groups[at]) => Axis::Of(at),
        Some(at) => split(at, at, out),
    })
}

/// For each size the product of those behind it.
fn inner_products<S: Size>(parts: &[S]) -> Result<Shape<S>> {
    let mut inner: Shape<S> = parts.into();
    let mut next = S::from(1);
    for at in (0..parts.len()).rev() {
        let this = next.clone();
        next = next.times(&parts[at]).ok_or_else(|| no_product(parts))?;
        inner[at] = this;
    }
    Ok(inner)
}
