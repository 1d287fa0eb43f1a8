//! The patterns of `enforce_shape`: what each axis must be, with symbols that stand for one size wherever
//! they appear and one ellipsis for any number of axes.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::size::Size;

/// A name for a size. Two symbols of one name are the same symbol.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(Arc<str>);

impl Symbol {
    /// The symbol of that name.
    pub fn new(name: &str) -> Symbol {
        Symbol(name.into())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Symbol {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What a pattern asks of one axis, or of a run of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece<S> {
    /// This size.
    Is(S),
    /// Any size.
    Any,
    /// The size this symbol stands for.
    Symbol(Symbol),
    /// Any number of axes, none included.
    Rest,
    /// A negative number: an error that the check quotes.
    Negative(isize),
}

/// A pattern, one piece for each axis or run of axes.
///
/// ```
/// use stridewise_core::{params::Pattern, pattern};
/// let p: Pattern<usize> = pattern![1, _, .., "C"];
/// assert_eq!(p.to_string(), "[1, None, ..., C]");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern<S>(pub SmallVec<[Piece<S>; 8]>);

/// Writes a [`Pattern`](crate::params::Pattern): sizes, `_` for any size, `..` for any axes, strings and
/// symbols by name.
#[macro_export]
macro_rules! pattern {
    (@pieces [$($done:expr,)*]) => {
        $crate::params::Pattern($crate::smallvec::smallvec![$($done),*])
    };
    (@pieces [$($done:expr,)*] _ $(, $($rest:tt)*)?) => {
        $crate::pattern!(@pieces [$($done,)* $crate::params::Piece::Any,] $($($rest)*)?)
    };
    (@pieces [$($done:expr,)*] .. $(, $($rest:tt)*)?) => {
        $crate::pattern!(@pieces [$($done,)* $crate::params::Piece::Rest,] $($($rest)*)?)
    };
    (@pieces [$($done:expr,)*] $piece:expr $(, $($rest:tt)*)?) => {
        $crate::pattern!(@pieces [$($done,)* $crate::params::Piece::from($piece),] $($($rest)*)?)
    };
    ($($pieces:tt)*) => { $crate::pattern!(@pieces [] $($pieces)*) };
}

/// A piece that takes any size.
pub fn any<S>() -> Piece<S> {
    Piece::Any
}

/// A piece that takes the size a symbol stands for.
pub fn dim<S>(name: &str) -> Piece<S> {
    Piece::Symbol(Symbol::new(name))
}

impl<S: fmt::Display> fmt::Display for Piece<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Piece::Is(size) => size.fmt(f),
            Piece::Any => f.write_str("None"),
            Piece::Symbol(symbol) => symbol.fmt(f),
            Piece::Rest => f.write_str("..."),
            Piece::Negative(n) => n.fmt(f),
        }
    }
}

impl<S: fmt::Display> fmt::Display for Pattern<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pieces: Vec<String> = self.0.iter().map(Piece::to_string).collect();
        write!(f, "[{}]", pieces.join(", "))
    }
}

macro_rules! from_integers {
    ($($int:ty)*) => {$(
        impl<S: Size> From<$int> for Piece<S> {
            fn from(n: $int) -> Piece<S> {
                let size = usize::try_from(n).map(|size| Piece::Is(S::from(size)));
                size.unwrap_or_else(|_| Piece::Negative(isize::try_from(n).unwrap_or(isize::MIN)))
            }
        }
    )*};
}

from_integers! { isize usize i32 i64 }

impl<S> From<&str> for Piece<S> {
    fn from(name: &str) -> Piece<S> {
        dim(name)
    }
}

impl<S> From<Symbol> for Piece<S> {
    fn from(symbol: Symbol) -> Piece<S> {
        Piece::Symbol(symbol)
    }
}

impl<S> From<&Symbol> for Piece<S> {
    fn from(symbol: &Symbol) -> Piece<S> {
        Piece::Symbol(symbol.clone())
    }
}

impl<S, const N: usize> From<[Piece<S>; N]> for Pattern<S> {
    fn from(pieces: [Piece<S>; N]) -> Pattern<S> {
        Pattern(pieces.into_iter().collect())
    }
}

impl<S> From<Vec<Piece<S>>> for Pattern<S> {
    fn from(pieces: Vec<Piece<S>>) -> Pattern<S> {
        Pattern(pieces.into())
    }
}

impl<S: Clone> From<&Pattern<S>> for Pattern<S> {
    fn from(pattern: &Pattern<S>) -> Pattern<S> {
        pattern.clone()
    }
}
