//! One number of any type, as an argument: exact for every integer dtype.

use std::fmt;

use crate::dtype::{DType, Family};
use crate::error::{Error, Result};

/// A number that has not been given an element type yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// True or false.
    Bool(bool),
    /// A whole number; wide enough for `int64` and `uint64` alike.
    Int(i128),
    /// A floating-point number.
    Float(f64),
    /// Real and imaginary part.
    Complex(f64, f64),
}

impl Scalar {
    /// The dtype such a number has by itself, as in NumPy: `bool`, `int64`, `float64`, `complex128`.
    pub fn dtype(self) -> DType {
        match self {
            Scalar::Bool(_) => DType::Bool,
            Scalar::Int(n) if n > i64::MAX as i128 => DType::U64,
            Scalar::Int(_) => DType::I64,
            Scalar::Float(_) => DType::F64,
            Scalar::Complex(..) => DType::C128,
        }
    }

    /// Requires that an element of `dtype` can hold this number without a change of kind or a wrap.
    /// Rounding within floats is not a change of kind.
    pub fn require_fit(self, dtype: DType, argument: &'static str) -> Result<()> {
        let fits = match (self, dtype.family()) {
            (Scalar::Bool(_), _) => true,
            (Scalar::Int(n), Family::Bool) => n == 0 || n == 1,
            (Scalar::Int(n), Family::Unsigned) => (0..1i128 << (8 * dtype.width())).contains(&n),
            (Scalar::Int(n), Family::Signed) => {
                let half = 1i128 << (8 * dtype.width() - 1);
                (-half..half).contains(&n)
            }
            (Scalar::Int(_) | Scalar::Float(_), Family::Float | Family::Complex) => true,
            (Scalar::Complex(..), Family::Complex) => true,
            _ => false,
        };
        if fits {
            return Ok(());
        }
        Err(
            Error::dtype(format!("{argument} {self} does not fit {dtype}"))
                .at_argument(argument)
                .sizes(dtype, self)
                .help("nothing is cast silently: give a value that fits, or use another dtype"),
        )
    }

    /// The value as a real number.
    pub fn real(self) -> f64 {
        match self {
            Scalar::Bool(b) => f64::from(b),
            Scalar::Int(n) => n as f64,
            Scalar::Float(x) | Scalar::Complex(x, _) => x,
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Bool(true) => f.write_str("True"),
            Scalar::Bool(false) => f.write_str("False"),
            Scalar::Int(n) => n.fmt(f),
            Scalar::Float(x) => write!(f, "{x:?}"),
            Scalar::Complex(re, im) => write!(f, "({re:?}{im:+?}j)"),
        }
    }
}

macro_rules! from_numbers {
    ($($variant:ident: $($t:ty)*;)*) => {$($(
        impl From<$t> for Scalar {
            fn from(n: $t) -> Scalar {
                Scalar::$variant(n.into())
            }
        }
    )*)*};
}

impl From<usize> for Scalar {
    fn from(n: usize) -> Scalar {
        Scalar::Int(n as i128)
    }
}

impl From<isize> for Scalar {
    fn from(n: isize) -> Scalar {
        Scalar::Int(n as i128)
    }
}

from_numbers! {
    Bool: bool;
    Int: i8 i16 i32 i64 u8 u16 u32 u64;
    Float: f32 f64;
}
