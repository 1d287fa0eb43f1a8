//! Axis arguments: `-rank ..= rank-1`, one or several, or all of them.

use std::fmt;
use std::ops::RangeFull;

use smallvec::SmallVec;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::size::tuple;

/// The axes a call names; `..` names all of them.
///
/// ```
/// use stridewise_core::params::Axes;
/// let one: Axes = (-1).into();
/// let two: Axes = [0, 2].into();
/// let all: Axes = (..).into();
/// assert_eq!((one.to_string(), two.to_string(), all.to_string()),
///            ("-1".into(), "(0, 2)".into(), "None".into()));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Axes {
    /// Every axis of the tensor.
    All,
    /// One axis, given as a number.
    One(isize),
    /// These axes, in this order.
    These(SmallVec<[isize; 8]>),
}

impl Axes {
    /// The axes as given; `None` for all.
    pub fn given(&self) -> Option<&[isize]> {
        match self {
            Axes::All => None,
            Axes::One(axis) => Some(std::slice::from_ref(axis)),
            Axes::These(axes) => Some(axes),
        }
    }

    /// The axes of `x`, counted from the front, each at most once, in the order given.
    pub fn resolve<E: Engine>(&self, engine: &E, x: &E::Value) -> Result<SmallVec<[usize; 8]>> {
        let rank = engine.rank(x)?;
        let shape = || engine.shape_text(x);
        match self.given() {
            None => Ok((0..rank).collect()),
            Some(axes) => resolve_all(axes, rank, "axis", shape),
        }
    }
}

/// Several axes among `rank`, each at most once.
pub(crate) fn resolve_all(
    axes: &[isize],
    rank: usize,
    argument: &'static str,
    shape: impl Fn() -> String,
) -> Result<SmallVec<[usize; 8]>> {
    let mut resolved: SmallVec<[usize; 8]> = SmallVec::new();
    for (at, &given) in axes.iter().enumerate() {
        let axis =
            resolve_axis(given, rank, argument, &shape).map_err(|error| error.at_item(at))?;
        if resolved.contains(&axis) {
            return Err(
                Error::axis(format!("{argument} names axis {axis} more than once"))
                    .at_argument(argument)
                    .at_item(at)
                    .at_axis(axis)
                    .note(argument, tuple(axes))
                    .note("shape", shape()),
            );
        }
        resolved.push(axis);
    }
    Ok(resolved)
}

/// An axis counted from the front, from one counted from either end.
#[inline]
pub fn resolve_axis(
    axis: isize,
    rank: usize,
    argument: &'static str,
    shape: impl Fn() -> String,
) -> Result<usize> {
    let from_front = if axis < 0 {
        axis.wrapping_add_unsigned(rank)
    } else {
        axis
    };
    match usize::try_from(from_front) {
        Ok(resolved) if resolved < rank => Ok(resolved),
        _ => Err(out_of_range(axis, rank, argument, shape())),
    }
}

#[cold]
fn out_of_range(axis: isize, rank: usize, argument: &'static str, shape: String) -> Error {
    let message = match argument {
        "axis" => format!("axis {axis} is out of range for rank {rank}"),
        _ => format!("{argument} names axis {axis}, which is out of range for rank {rank}"),
    };
    let error = Error::axis(message)
        .at_argument(argument)
        .note("shape", shape);
    match rank {
        0 => error
            .sizes("no axis", axis)
            .help("a tensor of rank 0 has no axes; unsqueeze adds one"),
        _ => {
            let range = format!("{} to {}", -(rank as isize), rank - 1);
            error
                .sizes(&range, axis)
                .help(format!("axes run from {range}"))
        }
    }
}

impl fmt::Display for Axes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Axes::All => f.write_str("None"),
            Axes::One(axis) => axis.fmt(f),
            Axes::These(axes) => f.write_str(&tuple(axes)),
        }
    }
}

impl From<RangeFull> for Axes {
    fn from(_: RangeFull) -> Axes {
        Axes::All
    }
}

macro_rules! from_integers {
    ($($int:ty)*) => {$(
        impl From<$int> for Axes {
            fn from(axis: $int) -> Axes {
                Axes::One(isize::try_from(axis).unwrap_or(isize::MAX))
            }
        }

        impl From<&[$int]> for Axes {
            fn from(axes: &[$int]) -> Axes {
                Axes::These(axes.iter().map(|&axis| isize::try_from(axis).unwrap_or(isize::MAX)).collect())
            }
        }

        impl<const N: usize> From<[$int; N]> for Axes {
            fn from(axes: [$int; N]) -> Axes {
                axes.as_slice().into()
            }
        }

        impl<const N: usize> From<&[$int; N]> for Axes {
            fn from(axes: &[$int; N]) -> Axes {
                axes.as_slice().into()
            }
        }

        impl From<Vec<$int>> for Axes {
            fn from(axes: Vec<$int>) -> Axes {
                axes.as_slice().into()
            }
        }
    )*};
}

from_integers! { isize usize i32 i64 }
