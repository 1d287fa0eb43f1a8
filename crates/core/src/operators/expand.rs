//! `expand`, `expand_as` and `broadcast_to`: axes of size 1 repeated without moving data, by a stride of 0.

use crate::axis::Axis;
use crate::engine::{Condition, Engine};
use crate::error::{Error, Result};
use crate::operator::Operator;
use crate::params::{Extent, Sizes};
use crate::size::{Size, Truth, counted};

/// Expands to the given sizes; `-1` keeps an axis, sizes in front add axes.
#[derive(Clone, Debug)]
pub struct Expand<S> {
    /// The size of every axis of the result.
    pub sizes: Sizes<S>,
}

/// Expands to the shape of another tensor.
#[derive(Clone, Debug)]
pub struct ExpandAs {}

/// NumPy's spelling of expand: every size is given, `-1` has no meaning.
#[derive(Clone, Debug)]
pub struct BroadcastTo<S> {
    /// The shape of the result.
    pub shape: Sizes<S>,
}

impl<E: Engine> Operator<E> for Expand<E::Size> {
    type Output = E::Value;

    fn sizes(&self) -> Option<&Sizes<E::Size>> {
        Some(&self.sizes)
    }

    #[inline]
    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        stretch(
            engine,
            inputs[0],
            Wanted::given(&self.sizes, &|| self.sizes.to_string()),
            Wording {
                argument: "sizes",
                list: "sizes",
                keeps: true,
            },
        )
    }
}

impl<E: Engine> Operator<E> for ExpandAs {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let other = inputs[1];
        let wanted = Wanted {
            count: engine.rank(other)?,
            get: |at| Extent::Is(engine.size(other, at)),
            text: &|| engine.shape_text(other),
        };
        let wording = Wording {
            argument: "other",
            list: "other.shape",
            keeps: false,
        };
        stretch(engine, inputs[0], wanted, wording)
    }
}

impl<E: Engine> Operator<E> for BroadcastTo<E::Size> {
    type Output = E::Value;

    fn sizes(&self) -> Option<&Sizes<E::Size>> {
        Some(&self.shape)
    }

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        stretch(
            engine,
            inputs[0],
            Wanted::given(&self.shape, &|| self.shape.to_string()),
            Wording {
                argument: "shape",
                list: "shape",
                keeps: false,
            },
        )
    }
}

/// How a call speaks of its sizes.
#[derive(Clone, Copy)]
struct Wording {
    /// The argument that brings them.
    argument: &'static str,
    /// What the list is called.
    list: &'static str,
    /// Whether `-1` keeps an axis.
    keeps: bool,
}

/// The sizes a tensor is to get, read where they are: a copy of another tensor's shape would cost as much as the
/// view.
struct Wanted<'a, G> {
    count: usize,
    get: G,
    /// What an error shows.
    text: &'a dyn Fn() -> String,
}

impl<'a> Wanted<'a, ()> {
    #[inline]
    fn given<S: Size>(
        sizes: &'a Sizes<S>,
        text: &'a dyn Fn() -> String,
    ) -> Wanted<'a, impl Fn(usize) -> Extent<S>> {
        Wanted {
            count: sizes.len(),
            get: |at| sizes.get(at),
            text,
        }
    }
}

// Not inlined, so that the axis map has one caller and is compiled into the loop over the axes.
#[inline(never)]
fn stretch<E: Engine>(
    engine: &E,
    x: &E::Value,
    wanted: Wanted<impl Fn(usize) -> Extent<E::Size>>,
    wording: Wording,
) -> Result<E::Value> {
    let rank = engine.rank(x)?;
    let refusal = Refusal {
        engine,
        x,
        text: wanted.text,
        wording,
    };
    let Some(new) = wanted.count.checked_sub(rank) else {
        return Err(refusal.too_few(rank, wanted.count));
    };
    engine.try_view(x, wanted.count, |at| {
        match ((wanted.get)(at), at.checked_sub(new)) {
            (Extent::Is(wanted), None) => Ok(Axis::Fresh(wanted)),
            (Extent::Is(wanted), Some(axis)) => {
                let size = engine.size(x, axis);
                if size.same(&wanted) == Truth::Yes {
                    return Ok(Axis::Of(axis));
                }
                if size.is(1) == Truth::Yes {
                    return Ok(Axis::Fresh(wanted));
                }
                let fits = Condition::Stretches {
                    from: size.clone(),
                    to: wanted.clone(),
                };
                engine.require(fits, || refusal.cannot_expand(at, axis, &size, &wanted))?;
                Ok(Axis::Stretch {
                    of: axis,
                    len: wanted,
                })
            }
            (Extent::Infer, Some(axis)) if wording.keeps => Ok(Axis::Of(axis)),
            (negative, _) => Err(refusal.negative(at, &negative)),
        }
    })
}

/// What a call is refused with; kept apart so that the way of a call that succeeds is short.
#[derive(Clone, Copy)]
struct Refusal<'a, E: Engine> {
    engine: &'a E,
    x: &'a E::Value,
    text: &'a dyn Fn() -> String,
    wording: Wording,
}

impl<E: Engine> Refusal<'_, E> {
    #[cold]
    fn blame(&self, error: Error) -> Error {
        error
            .at_argument(self.wording.argument)
            .note("input shape", self.engine.shape_text(self.x))
            .note(self.wording.list, (self.text)())
    }

    #[cold]
    fn too_few(&self, rank: usize, count: usize) -> Error {
        let given = counted(count, "size");
        let message = format!(
            "{} has {given}, but the input has rank {rank}",
            self.wording.list
        );
        let how = if self.wording.keeps {
            " (-1 keeps it)"
        } else {
            ""
        };
        self.blame(Error::shape(message).sizes(rank, count))
            .help(format!(
                "give a size for every axis{how}; sizes in front add axes"
            ))
    }

    #[cold]
    fn cannot_expand(&self, at: usize, axis: usize, size: &E::Size, wanted: &E::Size) -> Error {
        let message = format!(
            "{}[{at}] is {wanted}, but axis {axis} of the input has size {size}, \
             and only an axis of size 1 can be expanded",
            self.wording.list
        );
        let error = Error::shape(message)
            .at_axis(axis)
            .at_item(at)
            .sizes(size, wanted);
        let keep = if self.wording.keeps {
            format!("-1 or {size}")
        } else {
            size.to_string()
        };
        self.blame(error).help(match size.is(0) {
            Truth::Yes => format!("use {keep}: an empty axis has nothing to repeat"),
            _ => format!("use {keep} to keep the axis, or `repeat` to copy it"),
        })
    }

    #[cold]
    fn negative(&self, at: usize, extent: &Extent<E::Size>) -> Error {
        let list = self.wording.list;
        if self.wording.keeps && matches!(extent, Extent::Infer) {
            let message = format!("{list}[{at}] is -1, but a new axis has no size to keep");
            return self
                .blame(Error::shape(message).at_item(at))
                .help("give the new axis a size");
        }
        let message = format!("{list}[{at}] is {extent}, but a size cannot be negative");
        let error = Error::shape(message)
            .at_item(at)
            .sizes("a size of at least 0", extent);
        self.blame(error).help(match self.wording.keeps {
            true => "-1 keeps an axis; no other negative number has a meaning",
            false => "`expand` takes -1 to keep an axis",
        })
    }
}

/// The size two sizes broadcast to, by NumPy's rule, if they do.
pub(crate) fn broadcast<S: Size>(a: &S, b: &S) -> Result<Option<S>> {
    match (a.same(b), a.is(1), b.is(1)) {
        (Truth::Yes, _, _) | (_, _, Truth::Yes) => Ok(Some(a.clone())),
        (_, Truth::Yes, _) => Ok(Some(b.clone())),
        (Truth::No, Truth::No, Truth::No) => Ok(None),
        _ => Err(Error::too_early(format!(
            "whether {a} and {b} are equal, or one of them is 1, is not known yet"
        ))),
    }
}
