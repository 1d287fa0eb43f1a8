//! The fifteen element types. Moving data only needs [`DType::width`]; arithmetic lives in the engines.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// What a type of element is made of, for rules such as "an index must be an integer".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// `bool`.
    Bool,
    /// `uint8` to `uint64`.
    Unsigned,
    /// `int8` to `int64`.
    Signed,
    /// `float16`, `bfloat16`, `float32`, `float64`.
    Float,
    /// `complex64`, `complex128`.
    Complex,
}

macro_rules! dtypes {
    ($($variant:ident $name:literal $short:literal $width:literal $family:ident;)*) => {
        /// The type of a tensor's elements.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum DType {
            $(#[doc = concat!("`", $name, "`, ", stringify!($width), " bytes.")] $variant,)*
        }

        impl DType {
            /// All of them, in the order NumPy promotes them.
            pub const ALL: [DType; 15] = [$(DType::$variant),*];

            /// NumPy's name: `float32`, `complex64`, ….
            pub const fn name(self) -> &'static str {
                match self { $(DType::$variant => $name),* }
            }

            /// The short name: `f32`, `c64`, ….
            pub const fn short_name(self) -> &'static str {
                match self { $(DType::$variant => $short),* }
            }

            /// Bytes an element takes: 1, 2, 4, 8 or 16.
            pub const fn width(self) -> usize {
                match self { $(DType::$variant => $width),* }
            }

            /// What the elements are made of.
            pub const fn family(self) -> Family {
                match self { $(DType::$variant => Family::$family),* }
            }
        }
    };
}

dtypes! {
    Bool "bool" "bool" 1 Bool;
    U8 "uint8" "u8" 1 Unsigned;
    U16 "uint16" "u16" 2 Unsigned;
    U32 "uint32" "u32" 4 Unsigned;
    U64 "uint64" "u64" 8 Unsigned;
    I8 "int8" "i8" 1 Signed;
    I16 "int16" "i16" 2 Signed;
    I32 "int32" "i32" 4 Signed;
    I64 "int64" "i64" 8 Signed;
    F16 "float16" "f16" 2 Float;
    BF16 "bfloat16" "bf16" 2 Float;
    F32 "float32" "f32" 4 Float;
    F64 "float64" "f64" 8 Float;
    C64 "complex64" "c64" 8 Complex;
    C128 "complex128" "c128" 16 Complex;
}

impl DType {
    /// Whether an element can serve as an index: any integer, but not bool.
    pub const fn is_integer(self) -> bool {
        matches!(self.family(), Family::Signed | Family::Unsigned)
    }

    /// The type that both can be compared in, by NumPy's rule: the smallest that holds every value of both,
    /// but for 64-bit integers among floats.
    ///
    /// ```
    /// use stridewise_core::dtype::DType;
    /// assert_eq!(DType::F32.promote(DType::I16), DType::F32);
    /// assert_eq!(DType::F32.promote(DType::I32), DType::F64);
    /// assert_eq!(DType::U8.promote(DType::I8), DType::I16);
    /// ```
    pub fn promote(self, other: DType) -> DType {
        use Family::{Bool, Complex, Float, Signed, Unsigned};
        // The family that comes later in the order is `high`.
        let rank = |dtype: DType| dtype.family() as usize;
        let (low, high) = match rank(self) <= rank(other) {
            true => (self, other),
            false => (other, self),
        };
        let wider = |a: DType, b: DType| if a.width() >= b.width() { a } else { b };
        match (low.family(), high.family()) {
            _ if low == high => low,
            (Bool, _) => high,
            (Float, Float) if low.width() == high.width() => DType::F32,
            (Unsigned, Signed) => match low.width().max(high.width() / 2) {
                1 => DType::I16,
                2 => DType::I32,
                4 => DType::I64,
                _ => DType::F64,
            },
            (Unsigned | Signed, Float) => match low.width() {
                1 => high,
                2 => wider(high, DType::F32),
                _ => DType::F64,
            },
            (Float | Unsigned | Signed, Complex) => {
                let part = if high == DType::C64 {
                    DType::F32
                } else {
                    DType::F64
                };
                match low.promote(part) {
                    DType::F64 => DType::C128,
                    _ => high,
                }
            }
            _ => wider(low, high),
        }
    }

    /// The type a sum of such elements has, by NumPy's rule: bool and the integers grow to 64 bits.
    pub const fn sum_dtype(self) -> DType {
        match self.family() {
            Family::Bool | Family::Signed => DType::I64,
            Family::Unsigned => DType::U64,
            Family::Float | Family::Complex => self,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for DType {
    type Err = Error;

    /// Reads either name: `float32` or `f32`.
    fn from_str(text: &str) -> Result<DType, Error> {
        DType::ALL
            .into_iter()
            .find(|d| d.name() == text || d.short_name() == text)
            .ok_or_else(|| {
                let names: Vec<_> = DType::ALL.iter().map(|d| d.name()).collect();
                Error::dtype(format!("there is no dtype `{text}`"))
                    .help(format!("use one of {}", names.join(", ")))
            })
    }
}
