//! `take`, `index_select`, `take_along_axis` and `index_add`: elements read, or added, at given indices.

use crate::axis::Axis;
use crate::dtype::DType;
use crate::engine::{Along, Condition, Engine, describe};
use crate::error::{Error, Result};
use crate::operator::Operator;
use crate::operators::expand::broadcast;
use crate::operators::reshape::axis_or_flat;
use crate::params::{Mode, resolve_axis};
use crate::size::{Shape, Size, Truth};

/// Reads the input at an index of any shape, along an axis or as if the input were flat.
#[derive(Clone, Debug)]
pub struct Take {
    /// The axis; `None` reads the input as if flattened.
    pub axis: Option<isize>,
    /// What an index outside the input means.
    pub mode: Mode,
}

/// Picks whole slices along an axis by a 1-D index.
#[derive(Clone, Debug)]
pub struct IndexSelect {
    /// The axis.
    pub axis: isize,
}

/// Reads along an axis where the index has the input's rank, as `sort`'s indices do.
#[derive(Clone, Debug)]
pub struct TakeAlongAxis {
    /// The axis; `None` reads the input as if flattened.
    pub axis: Option<isize>,
}

/// The input with the slices of `source` added at a 1-D index; duplicates add up.
#[derive(Clone, Debug)]
pub struct IndexAdd {
    /// The axis.
    pub axis: isize,
}

impl Take {
    /// Checks a call and says which axes of `x` the index addresses.
    #[inline]
    pub fn along<E: Engine>(&self, engine: &E, x: &E::Value, index: &E::Value) -> Result<Along> {
        require_integers(engine, x, index)?;
        if let Mode::Fill(value) = self.mode {
            value.require_fit(engine.dtype(x), "fill_value")?;
        }
        let rank = engine.rank(x)?;
        let run = match self.axis {
            None => 0..rank,
            Some(axis) => {
                let axis = resolve_axis(axis, rank, "axis", || engine.shape_text(x))?;
                axis..axis + 1
            }
        };
        if !matches!(self.mode, Mode::Fill(_)) {
            let from = match self.axis {
                Some(_) => engine.size(x, run.start),
                None => engine.count(x)?,
            };
            require_readable(engine, x, index, from, self.axis.map(|_| run.start))?;
        }
        Ok(Along::Run(run))
    }
}

impl<E: Engine> Operator<E> for Take {
    type Output = E::Value;

    #[inline]
    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let along = self.along(engine, inputs[0], inputs[1])?;
        engine.gather(inputs[0], inputs[1], &along, self.mode)
    }
}

impl<E: Engine> Operator<E> for IndexSelect {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let index = list(engine, inputs[1], "`take` accepts an index of any shape")?;
        Take {
            axis: Some(self.axis),
            mode: Mode::Raise,
        }
        .lower(engine, &[inputs[0], &index])
    }
}

impl<E: Engine> Operator<E> for TakeAlongAxis {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let index = inputs[1];
        require_integers(engine, inputs[0], index)?;
        let (x, axis) = &axis_or_flat(engine, inputs[0], self.axis)?;
        let axis = *axis;
        let (rank, index_rank) = (engine.rank(x)?, engine.rank(index)?);
        let blame = |error: Error| {
            error
                .at_argument("index")
                .note("input shape", engine.shape_text(inputs[0]))
                .note("index shape", engine.shape_text(index))
        };
        if rank != index_rank {
            let message = match self.axis {
                Some(_) => format!("index has rank {index_rank}, but the input has rank {rank}"),
                None => format!(
                    "index has rank {index_rank}, but without an axis the input is read as flat"
                ),
            };
            return Err(blame(Error::shape(message).sizes(rank, index_rank)).help(
                "the index must have an axis for every axis of the input; `take` has no such rule",
            ));
        }
        let mut source_shape: Shape<E::Size> = engine.shape(x)?;
        let mut index_shape: Shape<E::Size> = engine.shape(index)?;
        for at in (0..rank).filter(|at| *at != axis) {
            let (a, b) = (&source_shape[at], &index_shape[at]);
            let Some(both) = broadcast(a, b)? else {
                let message = format!("axis {at} has size {a} in the input and {b} in the index");
                return Err(blame(Error::shape(message).at_axis(at).sizes(a, b))
                    .help("off the axis taken, sizes must be equal, or one of them 1"));
            };
            source_shape[at] = both.clone();
            index_shape[at] = both;
        }
        let from = source_shape[axis].clone();
        let source = stretched(engine, x, &source_shape)?;
        let index = stretched(engine, index, &index_shape)?;
        require_readable(engine, x, &index, from, Some(axis))?;
        engine.gather(&source, &index, &Along::Aligned(axis), Mode::Raise)
    }
}

/// A view with axes of size 1 stretched to a shape of the same rank.
fn stretched<E: Engine>(engine: &E, x: &E::Value, shape: &[E::Size]) -> Result<E::Value> {
    engine.view(x, shape.len(), |out| {
        match engine.size(x, out).same(&shape[out]) {
            Truth::Yes => Axis::Of(out),
            _ => Axis::Fresh(shape[out].clone()),
        }
    })
}

impl<E: Engine> Operator<E> for IndexAdd {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let (x, index, source) = (inputs[0], inputs[1], inputs[2]);
        let rank = engine.rank(x)?;
        let axis = resolve_axis(self.axis, rank, "axis", || engine.shape_text(x))?;
        require_integers(engine, x, index)?;
        let index = &list(engine, index, "flatten the index first")?;
        let blame = |error: Error| {
            error
                .at_argument("source")
                .note("input", describe(engine, x))
                .note("index shape", engine.shape_text(index))
                .note("source", describe(engine, source))
        };
        if engine.dtype(source) != engine.dtype(x) {
            let message = format!(
                "source is {}, but the input is {}",
                engine.dtype(source),
                engine.dtype(x)
            );
            return Err(
                blame(Error::dtype(message).sizes(engine.dtype(x), engine.dtype(source)))
                    .help("nothing is cast silently: use `cast` on one of them"),
            );
        }
        let source_rank = engine.rank(source)?;
        if source_rank != rank {
            let message = format!("source has rank {source_rank}, but the input has rank {rank}");
            return Err(blame(Error::shape(message).sizes(rank, source_rank)));
        }
        for at in 0..rank {
            let wanted = if at == axis {
                engine.size(index, 0)
            } else {
                engine.size(x, at)
            };
            let size = engine.size(source, at);
            engine.require(Condition::Same(size.clone(), wanted.clone()), || {
                let message =
                    format!("axis {at} of source has size {size}, but {wanted} is needed");
                blame(Error::shape(message).at_axis(at).sizes(&wanted, &size))
                    .help("source has the input's shape, with the index's length on the axis")
            })?;
        }
        require_readable(engine, x, index, engine.size(x, axis), Some(axis))?;
        engine.scatter_add(x, index, source, &Along::Run(axis..axis + 1), Mode::Raise)
    }
}

#[inline]
pub(crate) fn require_integers<E: Engine>(
    engine: &E,
    x: &E::Value,
    index: &E::Value,
) -> Result<()> {
    match engine.dtype(index).is_integer() {
        true => Ok(()),
        false => Err(no_integers(engine, x, index)),
    }
}

#[cold]
fn no_integers<E: Engine>(engine: &E, x: &E::Value, index: &E::Value) -> Error {
    let dtype = engine.dtype(index);
    Error::dtype(format!(
        "index has dtype {dtype}, but an index must be an integer"
    ))
    .at_argument("index")
    .sizes("an integer dtype", dtype)
    .note("input shape", engine.shape_text(x))
    .note("index shape", engine.shape_text(index))
    .help(match dtype {
        DType::Bool => "a mask is not an index; give the positions",
        _ => "give whole numbers, or use `cast` to int64",
    })
}

/// A 1-D index; a single one counts as a list of one.
fn list<E: Engine>(engine: &E, index: &E::Value, help: &str) -> Result<E::Value> {
    match engine.rank(index)? {
        0 => engine.view(index, 1, |_| Axis::Fresh(1.into())),
        1 => Ok(index.clone()),
        rank => Err(
            Error::shape(format!("index has rank {rank}, but a 1-D index is needed"))
                .at_argument("index")
                .sizes(1, rank)
                .note("index shape", engine.shape_text(index))
                .help(help),
        ),
    }
}

#[inline]
pub(crate) fn require_readable<E: Engine>(
    engine: &E,
    x: &E::Value,
    index: &E::Value,
    from: E::Size,
    axis: Option<usize>,
) -> Result<()> {
    let reads = engine.count(index)?;
    engine.require(Condition::Readable { reads, from }, || {
        unreadable(engine, x, index, axis)
    })
}

#[cold]
fn unreadable<E: Engine>(engine: &E, x: &E::Value, index: &E::Value, axis: Option<usize>) -> Error {
    let what = axis.map_or("the input is empty".to_string(), |a| {
        format!("axis {a} of the input is empty")
    });
    let error = Error::index(format!("{what}, so there is nothing to take"))
        .at_argument("index")
        .note("input shape", engine.shape_text(x))
        .note("index shape", engine.shape_text(index))
        .help("only an empty index can read an empty input");
    axis.map_or(error.clone(), |axis| error.at_axis(axis))
}
