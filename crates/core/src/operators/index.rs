//! `x[...]` with integer arrays among the items, by NumPy's rules: arrays broadcast together, and what they
//! read stands where they stood, or in front where something else stands between them. One gather, however
//! many arrays: their indices are first made into one index of the axes they address, read as if flattened.

use std::fmt;

use smallvec::SmallVec;

use crate::axis::Axis;
use crate::call::Parameters;
use crate::dtype::DType;
use crate::engine::{Along, Engine};
use crate::error::{Error, Result};
use crate::operator::{Named, Operator, Written};
use crate::operators::Slice;
use crate::operators::expand::broadcast;
use crate::operators::take::{require_integers, require_readable};
use crate::params::{Item, Items, Mode, Scalar};
use crate::rules::index_range;
use crate::size::{Shape, Size, Truth};

/// What stands between the brackets at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pick {
    /// A whole number, a range, a new axis or the ellipsis.
    Item(Item),
    /// The next integer array of the inputs.
    Array,
}

/// Reads a tensor at items and integer arrays. The inputs are the tensor, then the arrays in order.
///
/// It is no line of the operator table, which has no operators of varying tensors beside a first one.
#[derive(Clone, Debug)]
pub struct GetItem {
    /// The items, in order; axes not mentioned are kept whole.
    pub picks: Vec<Pick>,
}

impl Named for GetItem {
    const NAME: &'static str = "index";
}

impl<S: Size> Written<S> for GetItem {
    fn parameters(&self) -> Parameters<S> {
        Vec::new()
    }
}

impl fmt::Display for GetItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let picks: Vec<String> = self
            .picks
            .iter()
            .map(|pick| match pick {
                Pick::Item(item) => item.to_string(),
                Pick::Array => "<array>".to_string(),
            })
            .collect();
        write!(f, "[{}]", picks.join(", "))
    }
}

/// An axis that an array addresses: in the tensor given, and in its basic view.
struct Addressed {
    of_input: usize,
    of_view: usize,
}

impl<E: Engine> Operator<E> for GetItem {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let (x, arrays) = (inputs[0], &inputs[1..]);
        let wanted = self.picks.iter().filter(|p| **p == Pick::Array).count();
        if wanted != arrays.len() {
            let message = format!(
                "the index has {wanted} arrays, but {} were given",
                arrays.len()
            );
            return Err(Error::type_(message).sizes(wanted, arrays.len()));
        }
        let whole = Item::from(..);
        let items: SmallVec<[Item; 8]> = self
            .picks
            .iter()
            .map(|pick| match pick {
                Pick::Item(item) => *item,
                Pick::Array => whole,
            })
            .collect();
        for (at, array) in arrays.iter().enumerate() {
            require_integers(engine, x, array).map_err(|error| error.at_item(at))?;
        }
        // Where everything beside the arrays is whole there is nothing to slice.
        let fits = engine.rank(x).is_ok_and(|rank| items.len() <= rank);
        let basic = match fits && items.iter().all(|item| *item == whole) {
            true => None,
            false => Some(
                Slice {
                    items: Items(items),
                }
                .lower(engine, &[x])?,
            ),
        };
        let basic = basic.as_ref().unwrap_or(x);
        if arrays.is_empty() {
            return Ok(basic.clone());
        }
        let (axes, place) = self.addressed(engine.rank(x)?);
        let in_place = |(at, axis): (usize, &Addressed)| axis.of_view == place + at;
        let source = match axes.iter().enumerate().all(in_place) {
            true => None,
            false => Some(side_by_side(engine, basic, &axes, place)?),
        };
        let source = source.as_ref().unwrap_or(basic);
        let run = place..place + axes.len();
        // One array is read as it is: there is nothing to broadcast it with.
        if let [array] = arrays {
            let reader = Reader {
                engine,
                x,
                arrays,
                axes: &axes,
            };
            reader.require_readable(source, place)?;
            // This is where its indices are checked.
            return engine
                .gather(source, array, &Along::Run(run), Mode::Raise)
                .map_err(|error| reader.outside(error, 0));
        }
        let shape = broadcast_shape(engine, x, arrays)?;
        // Where there is nothing to read there is nothing to be outside of, as in NumPy.
        let none = shape.iter().any(|size| size.is(0) == Truth::Yes);
        let stretched: Vec<E::Value> = arrays
            .iter()
            .filter(|_| none)
            .map(|array| stretched(engine, array, &shape))
            .collect::<Result<_>>()?;
        let stretched: Vec<&E::Value> = stretched.iter().collect();
        let arrays = if none { &stretched[..] } else { arrays };
        let reader = Reader {
            engine,
            x,
            arrays,
            axes: &axes,
        };
        reader.require_readable(source, place)?;
        let index = reader.flat(source, place, &shape)?;
        engine.gather(source, &index, &Along::Run(run), Mode::Raise)
    }
}

impl GetItem {
    /// The axes that arrays address, and where the arrays' own axes go among those that are left. Slice has
    /// checked that the items fit the rank.
    fn addressed(&self, rank: usize) -> (SmallVec<[Addressed; 4]>, usize) {
        let takes = |pick: &&Pick| !matches!(pick, Pick::Item(Item::NewAxis | Item::Rest));
        let rest = rank - self.picks.iter().filter(takes).count().min(rank);
        let (mut of_input, mut of_view) = (0, 0);
        let mut axes = SmallVec::new();
        // Whole numbers beside arrays count as arrays.
        let (mut first, mut last, mut counted, mut place) = (None, 0, 0, 0);
        for (at, pick) in self.picks.iter().enumerate() {
            if matches!(pick, Pick::Array | Pick::Item(Item::At(_))) {
                if first.is_none() {
                    (first, place) = (Some(at), of_view);
                }
                last = at;
                counted += 1;
            }
            match pick {
                Pick::Array => {
                    axes.push(Addressed { of_input, of_view });
                    (of_input, of_view) = (of_input + 1, of_view + 1);
                }
                Pick::Item(Item::At(_)) => of_input += 1,
                Pick::Item(Item::Range { .. }) => {
                    (of_input, of_view) = (of_input + 1, of_view + 1);
                }
                Pick::Item(Item::NewAxis) => of_view += 1,
                Pick::Item(Item::Rest) => (of_input, of_view) = (of_input + rest, of_view + rest),
            }
        }
        let adjacent = first.is_some_and(|first| last - first + 1 == counted);
        (axes, if adjacent { place } else { 0 })
    }
}

/// The view with the addressed axes side by side from `place` on, the others in their order.
fn side_by_side<E: Engine>(
    engine: &E,
    view: &E::Value,
    axes: &[Addressed],
    place: usize,
) -> Result<E::Value> {
    let rank = engine.rank(view)?;
    let others: SmallVec<[usize; 8]> = (0..rank)
        .filter(|axis| axes.iter().all(|a| a.of_view != *axis))
        .collect();
    engine.view(view, rank, |out| {
        Axis::Of(match out.checked_sub(place) {
            None => others[out],
            Some(at) if at < axes.len() => axes[at].of_view,
            Some(_) => others[out - axes.len()],
        })
    })
}

/// The shape all arrays broadcast to.
fn broadcast_shape<E: Engine>(
    engine: &E,
    x: &E::Value,
    arrays: &[&E::Value],
) -> Result<Shape<E::Size>> {
    let mut all: Shape<E::Size> = Shape::new();
    for array in arrays {
        let shape = engine.shape(array)?;
        while all.len() < shape.len() {
            all.insert(0, 1.into());
        }
        let front = all.len() - shape.len();
        for (size, other) in all[front..].iter_mut().zip(&shape) {
            *size = broadcast(size, other)?.ok_or_else(|| {
                let shapes: Vec<String> = arrays
                    .iter()
                    .map(|array| engine.shape_text(array))
                    .collect();
                let message = format!("the index arrays have sizes {size} and {other} on one axis");
                Error::shape(message)
                    .at_argument("index")
                    .sizes(&*size, other)
                    .note("input shape", engine.shape_text(x))
                    .note("index shapes", shapes.join(", "))
                    .help("index arrays broadcast together: sizes are equal, or one of them 1")
            })?;
        }
    }
    Ok(all)
}

/// The arrays of one call, and what errors about them say.
struct Reader<'a, E: Engine> {
    engine: &'a E,
    x: &'a E::Value,
    arrays: &'a [&'a E::Value],
    axes: &'a [Addressed],
}

impl<E: Engine> Reader<'_, E> {
    fn require_readable(&self, source: &E::Value, place: usize) -> Result<()> {
        let engine = self.engine;
        for (at, (array, axis)) in self.arrays.iter().zip(self.axes).enumerate() {
            let from = engine.size(source, place + at);
            require_readable(engine, self.x, array, from, Some(axis.of_input))
                .map_err(|error| error.at_item(at))?;
        }
        Ok(())
    }

    /// One index of the run of axes from `place` on, read as if flattened: the sum over the axes of index
    /// times stride.
    fn flat(&self, source: &E::Value, place: usize, shape: &[E::Size]) -> Result<E::Value> {
        let mut stride = 1usize;
        let mut sum: Option<E::Value> = None;
        for (at, array) in self.arrays.iter().enumerate().rev() {
            let size = engine_size(self.engine, source, place + at, self.axes[at].of_input)?;
            let part = self
                .scaled(array, size, stride)
                .map_err(|error| self.outside(error, at))?;
            let part = stretched(self.engine, &part, shape)?;
            sum = Some(match sum {
                None => part,
                Some(sum) => self.engine.add(&sum, &part)?,
            });
            // An axis of size 0 is read by nobody, so what stands in front of it may be counted as it likes.
            stride = stride.saturating_mul(size.max(1));
        }
        sum.ok_or_else(|| Error::type_("an index has at least one array"))
    }

    /// Each index counted from the front, times the stride; an error where one is outside.
    fn scaled(&self, array: &E::Value, size: usize, stride: usize) -> Result<E::Value> {
        let engine = self.engine;
        let (stride, along) = (stride as i128, Along::Run(0..1));
        let reads = engine.count(array)?.known();
        let number = |n: i128| engine.literal(DType::I64, &[], &[Scalar::Int(n)]);
        // A table does it all in one pass, and pays where there are not many more cells than indices.
        if reads.is_none_or(|reads| size <= 4 * reads + 1024) {
            let (zero, step) = (Scalar::Int(0), Scalar::Int(stride));
            let table = engine.range(DType::I64, zero, step, size.into())?;
            return engine.gather(&table, array, &along, Mode::Raise);
        }
        // Otherwise arithmetic. Reading a single zero as if there were `size` of them checks the bounds.
        let cells = engine.view(&number(0)?, 1, |_| Axis::Fresh(size.into()))?;
        let zeros = engine.gather(&cells, array, &along, Mode::Raise)?;
        let index = engine.cast(array, DType::I64)?;
        // Below zero, the index plus one is clipped to the first of two cells, which holds the whole way.
        let ones = stretched(engine, &number(1)?, &engine.shape(&index)?)?;
        let below = [Scalar::Int(size as i128 * stride), Scalar::Int(0)];
        let below = engine.literal(DType::I64, &[2], &below)?;
        let wrapped = engine.gather(&below, &engine.add(&index, &ones)?, &along, Mode::Clip)?;
        // Times the stride, by doubling.
        let (mut sum, mut power, mut left) = (engine.add(&wrapped, &zeros)?, index, stride);
        while left > 0 {
            if left & 1 == 1 {
                sum = engine.add(&sum, &power)?;
            }
            left >>= 1;
            if left > 0 {
                power = engine.add(&power, &power)?;
            }
        }
        Ok(sum)
    }

    /// An index outside, told of the axis of the tensor that was given and not of what was made of it.
    #[cold]
    fn outside(&self, error: Error, at: usize) -> Error {
        let Error::Index(report) = &error else {
            return error;
        };
        let axis = self.axes[at].of_input;
        let size = self.engine.size(self.x, axis);
        let (Some(index), Some(bound)) = (report.actual(), size.known()) else {
            return error;
        };
        let found = report.message().split(" is out of range").next();
        let found = found.map_or_else(|| format!("index {index}"), str::to_string);
        Error::index(format!(
            "{found} is out of range for axis {axis}, which has size {size}"
        ))
        .at_argument("index")
        .at_item(at)
        .at_axis(axis)
        .sizes(index_range(bound), index)
        .note("input shape", self.engine.shape_text(self.x))
        .note("index shape", self.engine.shape_text(self.arrays[at]))
        .help(format!(
            "indices run from -{bound} to {}",
            bound.saturating_sub(1)
        ))
    }
}

/// The size of an axis as a number: the stride of the axis in front is counted with it.
fn engine_size<E: Engine>(engine: &E, x: &E::Value, axis: usize, named: usize) -> Result<usize> {
    let size = engine.size(x, axis);
    size.known().ok_or_else(|| {
        Error::too_early(format!(
            "axis {named} has size {size}, which is not known yet"
        ))
        .at_axis(named)
    })
}

/// A view broadcast to a shape of at least its rank.
fn stretched<E: Engine>(engine: &E, x: &E::Value, shape: &[E::Size]) -> Result<E::Value> {
    let front = shape.len() - engine.rank(x)?.min(shape.len());
    engine.view(x, shape.len(), |out| match out.checked_sub(front) {
        Some(axis) if engine.size(x, axis).same(&shape[out]) == Truth::Yes => Axis::Of(axis),
        _ => Axis::Fresh(shape[out].clone()),
    })
}
