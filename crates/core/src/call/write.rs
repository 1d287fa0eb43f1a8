//! How each kind of parameter becomes an argument again: what `bind` reads, this writes. An engine that keeps
//! operators whole keeps them as calls, which can be printed, sent on to another engine, and made again.

use std::convert::Infallible;

use crate::call::Arg;
use crate::dtype::DType;
use crate::params::{Axes, Extent, Item, Items, Mode, Pattern, Piece, Place, Scalar, Sizes};
use crate::size::Size;

/// An argument that is no tensor.
pub type Plain<S> = Arg<Infallible, S>;

/// The arguments of a call that are no tensors, by name.
pub type Parameters<S> = Vec<(&'static str, Plain<S>)>;

/// A kind of parameter that can be written as the argument it came from.
pub trait Write<S: Size> {
    /// The argument.
    fn write(&self) -> Plain<S>;

    /// Adds the argument under its name, and what else comes with it.
    fn write_as(&self, name: &'static str, into: &mut Parameters<S>) {
        into.push((name, self.write()));
    }
}

impl<S: Size> Write<S> for isize {
    fn write(&self) -> Plain<S> {
        Arg::Int(*self as i128)
    }
}

impl<S: Size> Write<S> for usize {
    fn write(&self) -> Plain<S> {
        Arg::Int(*self as i128)
    }
}

impl<S: Size> Write<S> for bool {
    fn write(&self) -> Plain<S> {
        Arg::Bool(*self)
    }
}

impl<S: Size> Write<S> for DType {
    fn write(&self) -> Plain<S> {
        Arg::DType(*self)
    }
}

impl<S: Size> Write<S> for Place {
    fn write(&self) -> Plain<S> {
        Arg::Text(self.to_string())
    }
}

impl<S: Size> Write<S> for Scalar {
    fn write(&self) -> Plain<S> {
        match *self {
            Scalar::Bool(b) => Arg::Bool(b),
            Scalar::Int(n) => Arg::Int(n),
            Scalar::Float(x) => Arg::Float(x),
            Scalar::Complex(re, im) => Arg::Complex(re, im),
        }
    }
}

impl<S: Size, T: Write<S>> Write<S> for Option<T> {
    fn write(&self) -> Plain<S> {
        self.as_ref().map_or(Arg::None, T::write)
    }
}

impl<S: Size> Write<S> for Mode {
    fn write(&self) -> Plain<S> {
        Arg::Text(self.to_string())
    }

    fn write_as(&self, name: &'static str, into: &mut Parameters<S>) {
        into.push((name, self.write()));
        if let Mode::Fill(value) = self {
            value.write_as("fill_value", into);
        }
    }
}

impl<S: Size> Write<S> for Axes {
    fn write(&self) -> Plain<S> {
        match self {
            Axes::All => Arg::None,
            Axes::One(axis) => axis.write(),
            Axes::These(axes) => Arg::List(axes.iter().map(Write::write).collect()),
        }
    }
}

impl<S: Size> Write<S> for Extent<S> {
    fn write(&self) -> Plain<S> {
        match self {
            Extent::Is(size) => match size.known() {
                Some(size) => size.write(),
                None => Arg::Extent(self.clone()),
            },
            Extent::Infer => Arg::Int(-1),
            Extent::Negative(n) => n.write(),
        }
    }
}

impl<S: Size> Write<S> for Sizes<S> {
    fn write(&self) -> Plain<S> {
        Arg::List(self.iter().map(|extent| extent.write()).collect())
    }
}

impl<S: Size> Write<S> for Items {
    fn write(&self) -> Plain<S> {
        let item = |item: &Item| match *item {
            Item::At(index) => index.write(),
            Item::Range { start, stop, step } => {
                Arg::Range(start, stop, (step != 1).then_some(step))
            }
            Item::NewAxis => Arg::None,
            Item::Rest => Arg::Rest,
        };
        Arg::List(self.0.iter().map(item).collect())
    }
}

impl<S: Size> Write<S> for Pattern<S> {
    fn write(&self) -> Plain<S> {
        let piece = |piece: &Piece<S>| match piece {
            Piece::Is(size) => Extent::Is(size.clone()).write(),
            Piece::Any => Arg::None,
            Piece::Symbol(symbol) => Arg::Symbol(symbol.clone()),
            Piece::Rest => Arg::Rest,
            Piece::Negative(n) => n.write(),
        };
        Arg::List(self.0.iter().map(piece).collect())
    }
}
