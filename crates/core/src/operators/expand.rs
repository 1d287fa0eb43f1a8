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

    #[inline]
    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        stretch(
            engine,
            inputs[0],
            &self.sizes,
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
        let shape = engine.shape(inputs[1])?;
        let wording = Wording {
            argument: "other",
            list: "other.shape",
            keeps: false,
        };
        stretch(engine, inputs[0], &shape.into(), wording)
    }
}

impl<E: Engine> Operator<E> for BroadcastTo<E::Size> {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        stretch(
            engine,
            inputs[0],
            &self.shape,
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

#[inline]
fn stretch<E: Engine>(
    engine: &E,
    x: &E::Value,
    sizes: &Sizes<E::Size>,
    wording: Wording,
) -> Result<E::Value> {
    let rank = engine.rank(x)?;
    let Wording {
        argument,
        list,
        keeps,
    } = wording;
    let blame = |error: Error| {
        let shape = engine.shape_text(x);
        error
            .at_argument(argument)
            .note("input shape", shape)
            .note(list, sizes)
    };
    let Some(new) = sizes.len().checked_sub(rank) else {
        let given = counted(sizes.len(), "size");
        let error = Error::shape(format!("{list} has {given}, but the input has rank {rank}"));
        let how = if keeps { " (-1 keeps it)" } else { "" };
        return Err(blame(error.sizes(rank, sizes.len())).help(format!(
            "give a size for every axis{how}; sizes in front add axes"
        )));
    };
    let expanded = engine.try_view(x, sizes.len(), |at| {
        match (sizes.get(at), at.checked_sub(new)) {
            (Extent::Is(wanted), None) => Ok(Axis::Fresh(wanted)),
            (Extent::Is(wanted), Some(axis)) => {
                let size = engine.size(x, axis);
                if size.same(&wanted) == Truth::Yes {
                    return Ok(Axis::Of(axis));
                }
                if size.is(1) == Truth::Yes {
                    return Ok(Axis::Fresh(wanted));
                }
                engine.require(Condition::Same(size.clone(), wanted.clone()), || {
                    let message = format!(
                        "{list}[{at}] is {wanted}, but axis {axis} of the input has size {size}, \
                     and only an axis of size 1 can be expanded"
                    );
                    let keep = if keeps {
                        format!("-1 or {size}")
                    } else {
                        size.to_string()
                    };
                    let error = blame(
                        Error::shape(message)
                            .at_axis(axis)
                            .at_item(at)
                            .sizes(&size, &wanted),
                    );
                    match size.is(0) {
                        Truth::Yes => {
                            error.help(format!("use {keep}: an empty axis has nothing to repeat"))
                        }
                        _ => error.help(format!(
                            "use {keep} to keep the axis, or `repeat` to copy it"
                        )),
                    }
                })?;
                Ok(Axis::Of(axis))
            }
            (Extent::Infer, Some(axis)) if keeps => Ok(Axis::Of(axis)),
            (Extent::Infer, None) if keeps => {
                let message = format!("{list}[{at}] is -1, but a new axis has no size to keep");
                Err(blame(Error::shape(message).at_item(at)).help("give the new axis a size"))
            }
            (negative, _) => {
                let message = format!("{list}[{at}] is {negative}, but a size cannot be negative");
                let error = blame(
                    Error::shape(message)
                        .at_item(at)
                        .sizes("a size of at least 0", negative),
                );
                Err(match keeps {
                    true => error.help("-1 keeps an axis; no other negative number has a meaning"),
                    false => error.help("`expand` takes -1 to keep an axis"),
                })
            }
        }
    });
    match expanded {
        Err(error @ Error::Overflow(_)) => Err(blame(error)),
        done => done,
    }
}

/// The shape two shapes broadcast to, by NumPy's rule, if they do.
pub(crate) fn broadcast<S: Size>(a: &S, b: &S) -> Option<S> {
    match (a.same(b), a.is(1), b.is(1)) {
        (Truth::Yes, _, _) | (_, _, Truth::Yes) => Some(a.clone()),
        (_, Truth::Yes, _) => Some(b.clone()),
        _ => None,
    }
}
