//! `repeat`, `tile` and `repeat_interleave`: copies of the whole tensor, or of each of its slices.
//!
//! All three are one view (a fresh axis beside each repeated one), one packed copy at memory speed, and one
//! view that merges the pairs again.

use smallvec::SmallVec;

use crate::axis::Axis;
use crate::engine::{Along, Condition, Engine};
use crate::error::{Error, Result};
use crate::operator::Operator;
use crate::operators::reshape::axis_or_flat;
use crate::params::{Mode, Sizes};
use crate::size::{Shape, Size, Truth, counted, tuple};

/// Tiles the whole tensor, `sizes[i]` times along axis `i`; sizes in front add axes.
#[derive(Clone, Debug)]
pub struct Repeat<S> {
    /// How often, for every axis of the result.
    pub sizes: Sizes<S>,
}

/// NumPy's spelling of repeat: missing counts in front are 1.
#[derive(Clone, Debug)]
pub struct Tile<S> {
    /// How often, for the last axes.
    pub reps: Sizes<S>,
}

/// Repeats each slice along an axis, next to itself.
#[derive(Clone, Debug)]
pub struct RepeatInterleave<S> {
    /// How often: one count for all, or one for each slice.
    pub repeats: Sizes<S>,
    /// The axis; `None` reads the tensor as if flattened.
    pub axis: Option<isize>,
}

impl<E: Engine> Operator<E> for Repeat<E::Size> {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let x = inputs[0];
        let sizes = self
            .sizes
            .all_given("sizes", "count")
            .map_err(|e| on(engine, x, e))?;
        let rank = engine.rank(x)?;
        let Some(new) = sizes.len().checked_sub(rank) else {
            let given = counted(sizes.len(), "count");
            let message = format!("sizes has {given}, but the input has rank {rank}");
            return Err(Error::shape(message)
                .at_argument("sizes")
                .sizes(rank, sizes.len())
                .note("input shape", engine.shape_text(x))
                .note("sizes", &self.sizes)
                .help("give a count for every axis (1 keeps it), or use `tile`, which fills up in front"));
        };
        tile(engine, x, &sizes, new, "sizes")
    }
}

impl<E: Engine> Operator<E> for Tile<E::Size> {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let x = inputs[0];
        let reps = self
            .reps
            .all_given("reps", "count")
            .map_err(|e| on(engine, x, e))?;
        let rank = engine.rank(x)?;
        let missing = rank.saturating_sub(reps.len());
        let sizes: Shape<E::Size> = (0..missing).map(|_| 1.into()).chain(reps).collect();
        tile(engine, x, &sizes, sizes.len() - rank, "reps")
    }
}

/// Repeats axis `i` of `x` `sizes[new + i]` times, behind `new` axes of their own.
fn tile<E: Engine>(
    engine: &E,
    x: &E::Value,
    sizes: &[E::Size],
    new: usize,
    argument: &'static str,
) -> Result<E::Value> {
    let repeated = |at: usize| at >= new && sizes[at].is(1) != Truth::Yes;
    for (axis, count) in sizes[new..].iter().enumerate() {
        let size = engine.size(x, axis);
        if size.times(count).is_none() {
            let message = format!(
                "axis {axis} of size {size}, {count} times, is more than any machine can address"
            );
            return Err(on(
                engine,
                x,
                Error::overflow(message).at_argument(argument).at_axis(axis),
            ));
        }
    }
    // For each axis of the view: of which axis of the result it is a part, and whether it is the fresh part.
    let mut spread: SmallVec<[(usize, bool); 16]> = SmallVec::new();
    // Where the part of each axis of the result begins.
    let mut firsts: SmallVec<[usize; 8]> = SmallVec::new();
    for at in 0..sizes.len() {
        firsts.push(spread.len());
        if at < new || repeated(at) {
            spread.push((at, true));
        }
        if at >= new {
            spread.push((at, false));
        }
    }
    let axes = |out: usize| match spread[out] {
        (at, true) => Axis::Fresh(sizes[at].clone()),
        (at, false) => Axis::Of(at - new),
    };
    let run = |out: usize| firsts[out]..firsts.get(out + 1).copied().unwrap_or(spread.len());
    engine.copy_merged(x, spread.len(), axes, (sizes.len(), run), |error| {
        on(engine, x, error.at_argument(argument))
    })
}

/// An error with the input's shape.
fn on<E: Engine>(engine: &E, x: &E::Value, error: Error) -> Error {
    error.note("input shape", engine.shape_text(x))
}

impl<E: Engine> Operator<E> for RepeatInterleave<E::Size> {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let counts = self
            .repeats
            .all_given("repeats", "count")
            .map_err(|e| on(engine, inputs[0], e))?;
        let (x, axis) = &axis_or_flat(engine, inputs[0], self.axis)?;
        let axis = *axis;
        let rank = engine.rank(x)?;
        if let [count] = counts.as_slice() {
            let axes = |out: usize| match out {
                _ if out == axis + 1 => Axis::Fresh(count.clone()),
                _ => Axis::Of(out - usize::from(out > axis)),
            };
            let run = |out: usize| {
                let first = out + usize::from(out > axis);
                first..first + 1 + usize::from(out == axis)
            };
            return engine.copy_merged(x, rank + 1, axes, (rank, run), |error| error);
        }
        let size = engine.size(x, axis);
        engine.require(Condition::Same(size.clone(), counts.len().into()), || {
            let given = counted(counts.len(), "count");
            let holder = match self.axis {
                Some(_) => format!("axis {axis} of the input has size {size}"),
                None => format!("the input, read as flat, has {size} elements"),
            };
            let message = format!("repeats has {given}, but {holder}");
            Error::shape(message)
                .at_argument("repeats")
                .at_axis(axis)
                .sizes(&size, counts.len())
                .note("input shape", engine.shape_text(inputs[0]))
                .note("repeats", &self.repeats)
                .help("give one count for all, or one for each")
        })?;
        let index = engine.runs(&counts)?;
        engine.gather(x, &index, &Along::Run(axis..axis + 1), Mode::Raise)
    }
}

/// The three shapes by which repeat is a reshape, an expand and a reshape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatPlan {
    /// The input with an axis of size 1 before each axis that is truly repeated.
    pub reshape_input: Vec<usize>,
    /// What that is expanded to.
    pub expand: Vec<usize>,
    /// The shape of the result.
    pub reshape_output: Vec<usize>,
}

/// Takes `repeat` apart into reshape, expand and reshape.
///
/// ```
/// use stridewise_core::operators::repeat_plan;
/// let plan = repeat_plan(&[3, 1, 5], [5, 3, 1])?;
/// assert_eq!(plan.reshape_input, [1, 3, 1, 5]);
/// assert_eq!(plan.expand, [5, 3, 3, 5]);
/// assert_eq!(plan.reshape_output, [15, 3, 5]);
/// # Ok::<(), stridewise_core::error::Error>(())
/// ```
pub fn repeat_plan(shape: &[usize], sizes: impl Into<Sizes<usize>>) -> Result<RepeatPlan> {
    let named = |error: Error| error.within("repeat_plan");
    let given: Sizes<usize> = sizes.into();
    let sizes = given.all_given("sizes", "count").map_err(named)?;
    let new = sizes.len().checked_sub(shape.len()).ok_or_else(|| {
        let count = counted(sizes.len(), "count");
        let message = format!("sizes has {count}, but the shape has rank {}", shape.len());
        let error = Error::shape(message)
            .at_argument("sizes")
            .sizes(shape.len(), sizes.len());
        named(error.note("shape", tuple(shape)).note("sizes", &given))
    })?;
    let mut plan = RepeatPlan {
        reshape_input: Vec::new(),
        expand: sizes[..new].to_vec(),
        reshape_output: sizes[..new].to_vec(),
    };
    for (&size, &count) in shape.iter().zip(&sizes[new..]) {
        // An axis of size 1 is expanded where it stands; a longer one needs a partner to be expanded.
        match (size, count) {
            (_, 1) => plan.expand.push(size),
            (1, _) => plan.expand.push(count),
            _ => {
                plan.reshape_input.push(1);
                plan.expand.extend([count, size]);
            }
        }
        plan.reshape_input.push(size);
        plan.reshape_output.push(size.times(&count).ok_or_else(|| {
            named(Error::overflow(format!(
                "{size} × {count} is more than any machine can address"
            )))
        })?);
    }
    Ok(plan)
}
