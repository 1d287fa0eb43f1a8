//! What an engine must do: a closed set of primitives. Every operator is a lowering to these, so whoever
//! implements them has all operators.

use std::ops::Range;

use crate::axis::Axis;
use crate::call::Parameters;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::operator::Operator;
use crate::params::{Extent, Mode, Scalar, Symbol};
use crate::size::{Shape, Size, Truth, tuple};

/// A tensor of some engine, and the way back to that engine.
pub trait Value: Clone + Sized {
    /// The engine it belongs to.
    type Engine: Engine<Value = Self>;

    /// That engine.
    fn engine(&self) -> Self::Engine;
}

/// The size type of a value's engine.
pub type SizeOf<V> = <<V as Value>::Engine as Engine>::Size;

/// Which cells of a source each index of a gather or scatter addresses.
#[derive(Clone, Debug, PartialEq)]
pub enum Along {
    /// A run of source axes, read as if flattened. The result has the source's axes with the run replaced
    /// by the index's axes. An empty run of a rank-0 source has one cell.
    Run(Range<usize>),
    /// One axis, where the index has the source's rank: each index moves along that axis only, and all
    /// other sizes are equal. The result has the index's shape.
    Aligned(usize),
}

impl Along {
    /// How many cells an index can address.
    #[inline]
    pub fn cells(&self, source: &[usize]) -> usize {
        match self {
            Along::Run(run) => source[run.clone()].iter().product(),
            Along::Aligned(axis) => source[*axis],
        }
    }
}

/// A fact about sizes that an operator needs.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition<S> {
    /// Two sizes are equal.
    Same(S, S),
    /// The first divides the second (0 divides only 0).
    Divides(S, S),
    /// An axis of one size can be read as one of the other: they are equal, or it has size 1.
    Stretches {
        /// The size it has.
        from: S,
        /// The size it is read as.
        to: S,
    },
    /// An index, counted from either end, lies inside.
    Inside {
        /// The size of the axis.
        size: S,
        /// The index.
        index: isize,
    },
    /// There is something to read: `reads` is 0, or `from` is not.
    Readable {
        /// How many reads there are.
        reads: S,
        /// How many cells they read from.
        from: S,
    },
}

impl<S> Condition<S> {
    /// The same with other sizes.
    pub fn try_map<T, F>(
        &self,
        mut size: impl FnMut(&S) -> Result<T, F>,
    ) -> Result<Condition<T>, F> {
        Ok(match self {
            Condition::Same(a, b) => Condition::Same(size(a)?, size(b)?),
            Condition::Divides(a, b) => Condition::Divides(size(a)?, size(b)?),
            Condition::Stretches { from, to } => Condition::Stretches {
                from: size(from)?,
                to: size(to)?,
            },
            Condition::Inside { size: of, index } => Condition::Inside {
                size: size(of)?,
                index: *index,
            },
            Condition::Readable { reads, from } => Condition::Readable {
                reads: size(reads)?,
                from: size(from)?,
            },
        })
    }
}

impl<S: Size> Condition<S> {
    /// Whether it holds, as far as is known.
    #[inline]
    pub fn holds(&self) -> Truth {
        match self {
            Condition::Same(a, b) => a.same(b),
            Condition::Divides(a, b) => match (a.known(), b.known()) {
                (Some(1), _) | (_, Some(0)) => Truth::Yes,
                _ => a.divides(b),
            },
            Condition::Stretches { from, to } => match (from.same(to), from.is(1)) {
                (Truth::Yes, _) | (_, Truth::Yes) => Truth::Yes,
                (Truth::No, Truth::No) => Truth::No,
                _ => Truth::Unknown,
            },
            Condition::Inside { size, index } => {
                // As many indices as the furthest one wants, counted from either end.
                let wanted = match usize::try_from(*index) {
                    Ok(index) => index.saturating_add(1),
                    Err(_) => index.unsigned_abs(),
                };
                size.at_least(wanted)
            }
            Condition::Readable { reads, from } => match (reads.is(0), from.is(0)) {
                (Truth::Yes, _) | (_, Truth::No) => Truth::Yes,
                (Truth::No, Truth::Yes) => Truth::No,
                _ => Truth::Unknown,
            },
        }
    }
}

/// An engine: holds tensors in its own way and implements the primitives on them.
///
/// Arguments are already checked by the operators; what is left to an engine are indices inside tensors,
/// memory, and conditions it cannot decide yet.
pub trait Engine: Sized {
    /// How it counts: `usize` while running, a symbolic dim while tracing.
    type Size: Size;
    /// Its tensors.
    type Value: Clone;

    /// How many axes; [`Error::TooEarly`] where that is not known yet.
    fn rank(&self, x: &Self::Value) -> Result<usize>;

    /// The size of an axis below the rank.
    fn size(&self, x: &Self::Value, axis: usize) -> Self::Size;

    /// The element type.
    fn dtype(&self, x: &Self::Value) -> DType;

    /// A tensor of one value. The value fits the dtype.
    fn full(&self, dtype: DType, value: Scalar, sizes: &[Self::Size]) -> Result<Self::Value>;

    /// `start, start + step, …`. All values fit the dtype.
    fn range(
        &self,
        dtype: DType,
        start: Scalar,
        step: Scalar,
        len: Self::Size,
    ) -> Result<Self::Value>;

    /// A small tensor of the given values, row-major. All values fit the dtype.
    fn literal(&self, dtype: DType, sizes: &[usize], values: &[Scalar]) -> Result<Self::Value>;

    /// The numbers as a 1-D `int64` tensor.
    fn integers(&self, numbers: &[isize]) -> Result<Self::Value> {
        let values: Vec<Scalar> = numbers.iter().map(|&n| Scalar::Int(n as i128)).collect();
        self.literal(DType::I64, &[numbers.len()], &values)
    }

    /// The sizes themselves as a 1-D `int64` tensor.
    fn sizes(&self, sizes: &[Self::Size]) -> Result<Self::Value>;

    /// The 1-D `int64` index that reads slice `i` `counts[i]` times: `0, 0, 1, 2, 2, 2, …`.
    fn runs(&self, counts: &[Self::Size]) -> Result<Self::Value>;

    /// The elements of an integer tensor of rank 0 or 1, as sizes.
    fn read_sizes(&self, x: &Self::Value) -> Result<Vec<Extent<Self::Size>>>;

    /// The element of an integer tensor of rank 0, as a size.
    fn read_size(&self, x: &Self::Value) -> Result<Extent<Self::Size>> {
        let none = || Error::type_("a size is read from a tensor without elements");
        self.read_sizes(x)?.pop().ok_or_else(none)
    }

    /// The tensor seen through an axis map, which is asked for every output axis and may refuse. No data
    /// moves, but for a merge that memory does not allow.
    fn try_view(
        &self,
        x: &Self::Value,
        rank: usize,
        axes: impl Fn(usize) -> Result<Axis<Self::Size>>,
    ) -> Result<Self::Value>;

    /// The tensor seen through an axis map that has been checked.
    #[inline]
    fn view(
        &self,
        x: &Self::Value,
        rank: usize,
        axes: impl Fn(usize) -> Axis<Self::Size>,
    ) -> Result<Self::Value> {
        self.try_view(x, rank, |out| Ok(axes(out)))
    }

    /// The tensor at single indices of some axes, which the map of the others leaves out. The indices are below
    /// the sizes.
    #[inline]
    fn view_at(
        &self,
        x: &Self::Value,
        at: &[(usize, usize)],
        rank: usize,
        axes: impl Fn(usize) -> Axis<Self::Size>,
    ) -> Result<Self::Value> {
        let cut = self.view(x, self.rank(x)?, |out| {
            match at.iter().find(|(axis, _)| *axis == out) {
                Some(&(of, start)) => Axis::Slice {
                    of,
                    start: start.into(),
                    len: 1.into(),
                    step: 1,
                },
                None => Axis::Of(out),
            }
        })?;
        self.view(&cut, rank, axes)
    }

    /// Whether it is known that there is an axis and an element, and that the elements lie row-major without
    /// gaps, strides of axes of size 1 included: any other shape is then one step away.
    #[inline]
    fn is_one_run(&self, _x: &Self::Value) -> bool {
        false
    }

    /// The elements of one run under other sizes; `None` where they do not multiply to as many, or
    /// [`is_one_run`](Self::is_one_run) does not say that it is one.
    fn view_of_run(
        &self,
        _x: &Self::Value,
        _rank: usize,
        _sizes: impl Fn(usize) -> Self::Size,
    ) -> Result<Option<Self::Value>> {
        Ok(None)
    }

    /// Whether a run of axes can be merged without a copy.
    fn merges(&self, x: &Self::Value, run: Range<usize>) -> Truth;

    /// Whether the elements lie row-major without gaps.
    fn is_packed(&self, x: &Self::Value) -> Truth;

    /// A packed tensor of its own with the same elements.
    fn copy(&self, x: &Self::Value) -> Result<Self::Value>;

    /// A packed tensor of the elements seen through an axis map that has no merges, where each axis of the result is a
    /// run of axes of the view, and the runs follow each other. `blame` adds to errors of the view.
    #[inline]
    fn copy_merged(
        &self,
        x: &Self::Value,
        rank: usize,
        axes: impl Fn(usize) -> Axis<Self::Size>,
        merged: (usize, impl Fn(usize) -> Range<usize>),
        blame: impl Fn(Error) -> Error,
    ) -> Result<Self::Value> {
        copied_then_merged(self, x, rank, axes, merged, blame)
    }

    /// The tensor with the elements it has now, to be read later: a copy where somebody else may write them meanwhile.
    fn as_it_is(&self, x: &Self::Value) -> Result<Self::Value> {
        Ok(x.clone())
    }

    /// Reads `source` at every index.
    fn gather(
        &self,
        source: &Self::Value,
        index: &Self::Value,
        along: &Along,
        mode: Mode,
    ) -> Result<Self::Value>;

    /// `base` with `updates` added at every index, in row-major order; the adjoint of gather.
    fn scatter_add(
        &self,
        base: &Self::Value,
        index: &Self::Value,
        updates: &Self::Value,
        along: &Along,
        mode: Mode,
    ) -> Result<Self::Value>;

    /// The sum over `axes` (ascending, each once), which are dropped, of the elements as `dtype`; integers
    /// wrap.
    fn sum(&self, x: &Self::Value, axes: &[usize], dtype: DType) -> Result<Self::Value>;

    /// Tensors one after another along an axis. At least one; equal dtypes, ranks and other sizes.
    fn concat(&self, xs: &[&Self::Value], axis: usize) -> Result<Self::Value>;

    /// Tensors of one shape and dtype side by side along a new axis. At least one.
    fn stack(&self, xs: &[&Self::Value], axis: usize) -> Result<Self::Value> {
        let raised = raised(self, xs, axis)?;
        self.concat(&raised.iter().collect::<Vec<_>>(), axis)
    }

    /// The elements as another type.
    fn cast(&self, x: &Self::Value, dtype: DType) -> Result<Self::Value>;

    /// The sum of two tensors of one shape and dtype.
    fn add(&self, a: &Self::Value, b: &Self::Value) -> Result<Self::Value>;

    /// Goes on only where the condition holds: checked now if it can be, otherwise when the graph runs.
    #[inline]
    fn require(
        &self,
        condition: Condition<Self::Size>,
        error: impl FnOnce() -> Error,
    ) -> Result<()> {
        match condition.holds() {
            Truth::Yes => Ok(()),
            Truth::No => Err(error()),
            Truth::Unknown => Err(Error::too_early("a size is not known yet")),
        }
    }

    /// Whether operators can be expressed in primitives with such arguments: [`Error::TooEarly`] where some
    /// stand for what is not known yet, be it how many sizes there are. An engine that lowers operators for another asks it first.
    #[inline]
    fn settled(&self, _parameters: impl FnOnce() -> Parameters<Self::Size>) -> Result<()> {
        Ok(())
    }

    /// Runs an operator, whose errors the caller names. An engine may keep it whole instead, or note its name.
    #[inline]
    fn run<O: Operator<Self>>(&self, operator: &O, inputs: &[&Self::Value]) -> Result<O::Output> {
        operator.lower(self, inputs)
    }

    /// Whether [`run`](Self::run) keeps operators whole, so that what they ask is asked again when sizes are known.
    #[inline]
    fn keeps_operators(&self) -> bool {
        false
    }

    /// Runs an operator and names its errors.
    #[inline]
    fn apply<O: Operator<Self>>(&self, operator: &O, inputs: &[&Self::Value]) -> Result<O::Output> {
        // An output is large, and moving it would cost as much as a view. Nothing borrows it here, so that it is
        // written where the caller wants it.
        let output = self.run(operator, inputs);
        output.map_err(|error| error.within(O::NAME))
    }

    /// All sizes of a tensor.
    fn shape(&self, x: &Self::Value) -> Result<Shape<Self::Size>> {
        Ok((0..self.rank(x)?).map(|axis| self.size(x, axis)).collect())
    }

    /// The shape as an error message shows it.
    #[cold]
    fn shape_text(&self, x: &Self::Value) -> String {
        self.shape(x).map_or_else(|_| "unknown".to_string(), tuple)
    }

    /// The sizes of a tensor as a 1-D `int64` tensor, which may have unknown length while the rank is unknown.
    fn sizes_of(&self, x: &Self::Value) -> Result<Self::Value> {
        self.sizes(&self.shape(x)?)
    }

    /// The sizes of a tensor of unknown rank, once it is required to have `front` axes, then any number where
    /// `open` says so, then `back` axes: those in between may be one size that stands for many. Beside them the
    /// product of those in between.
    #[cold]
    fn outlined(
        &self,
        _x: &Self::Value,
        _front: usize,
        _back: usize,
        _open: bool,
    ) -> Result<(Shape<Self::Size>, Self::Size)> {
        Err(Error::too_early("the rank is not known yet"))
    }

    /// The tensor, now that its sizes are known to be these.
    #[inline]
    fn learned(&self, x: &Self::Value, _sizes: &[Self::Size]) -> Self::Value {
        x.clone()
    }

    /// The size that a symbol stands for everywhere on this engine.
    #[inline]
    fn meaning(&self, _symbol: &Symbol) -> Option<Self::Size> {
        None
    }

    /// How many elements.
    fn count(&self, x: &Self::Value) -> Result<Self::Size> {
        let shape = self.shape(x)?;
        Self::Size::product(&shape).ok_or_else(|| {
            Error::overflow("the tensor has more elements than any machine can address")
                .note("shape", tuple(&shape))
        })
    }
}

/// [`Engine::copy_merged`] by the primitives it stands for.
#[inline]
pub fn copied_then_merged<E: Engine>(
    engine: &E,
    x: &E::Value,
    rank: usize,
    axes: impl Fn(usize) -> Axis<E::Size>,
    (merged, runs): (usize, impl Fn(usize) -> Range<usize>),
    blame: impl Fn(Error) -> Error,
) -> Result<E::Value> {
    let seen = engine.view(x, rank, axes).map_err(blame)?;
    engine.view(&engine.copy(&seen)?, merged, |out| match runs(out) {
        run if run.len() == 1 => Axis::Of(run.start),
        run => Axis::Merge(run),
    })
}

/// Tensors with a new axis of size 1, along which they can stand one after another.
#[doc(hidden)]
pub fn raised<E: Engine>(engine: &E, xs: &[&E::Value], axis: usize) -> Result<Vec<E::Value>> {
    let mut raised = Vec::with_capacity(xs.len());
    for x in xs {
        raised.push(engine.view(x, engine.rank(x)? + 1, |out| match out {
            _ if out == axis => Axis::Fresh(1.into()),
            _ => Axis::Of(out - usize::from(out > axis)),
        })?);
    }
    Ok(raised)
}

/// Names a tensor's shape and dtype in one phrase, for messages about several tensors.
pub fn describe<E: Engine>(engine: &E, x: &E::Value) -> String {
    format!("{} of shape {}", engine.dtype(x), engine.shape_text(x))
}
