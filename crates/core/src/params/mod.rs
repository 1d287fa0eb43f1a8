//! The kinds of arguments operators take beside tensors: sizes, axes, slices, scalars, modes, shape patterns.
//! Each is one small type with the conversions that let a call read naturally.

mod axes;
mod items;
mod mode;
mod pattern;
mod place;
mod scalar;
mod sizes;

pub use axes::{Axes, resolve_axis};
pub use items::{Item, Items, NewAxis};
pub use mode::Mode;
pub use pattern::{Pattern, Piece, Symbol, any, dim};
pub use place::Place;
pub use scalar::Scalar;
pub use sizes::{Extent, Sizes};

pub(crate) use axes::resolve_all;
