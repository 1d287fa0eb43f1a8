//! What the bits of an element mean, for all fifteen dtypes, and the rules of a cast. Written from the
//! definitions, with none of the engines' code, so that engines can be held to it.

use std::fmt;

use half::{bf16, f16};
use stridewise_core::dtype::{DType, Family};

/// The bits of one element, in the machine's order; only the first `width` bytes count.
pub type Cell = [u8; 16];

/// The value of an element. A bool is 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A bool or an integer.
    Int(i128),
    /// A float; every float dtype fits into a double.
    Float(f64),
    /// Real and imaginary part.
    Complex(f64, f64),
}

impl From<i32> for Number {
    fn from(n: i32) -> Number {
        Number::Int(n.into())
    }
}

impl From<i64> for Number {
    fn from(n: i64) -> Number {
        Number::Int(n.into())
    }
}

impl From<f64> for Number {
    fn from(x: f64) -> Number {
        Number::Float(x)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Int(n) => n.fmt(f),
            Number::Float(x) => write!(f, "{x:?}"),
            Number::Complex(re, im) => write!(f, "({re:?}{im:+?}j)"),
        }
    }
}

impl Number {
    /// The real part.
    pub fn real(self) -> f64 {
        match self {
            Number::Int(n) => n as f64,
            Number::Float(x) | Number::Complex(x, _) => x,
        }
    }

    fn parts(self) -> (f64, f64) {
        match self {
            Number::Complex(re, im) => (re, im),
            other => (other.real(), 0.0),
        }
    }

    /// The value as an element of `dtype` has it, by NumPy's `astype`: integers wrap, floats truncate
    /// toward zero and stop at the ends of the target's range, NaN becomes 0, anything but 0 is true, floats
    /// round to nearest even once, and a complex number drops its imaginary part.
    pub fn cast(self, dtype: DType) -> Number {
        match dtype.family() {
            Family::Bool => Number::Int(match self {
                Number::Int(n) => i128::from(n != 0),
                Number::Float(x) => i128::from(x != 0.0),
                Number::Complex(re, im) => i128::from(re != 0.0 || im != 0.0),
            }),
            Family::Unsigned | Family::Signed => {
                let (low, high) = int_range(dtype);
                Number::Int(match self {
                    Number::Int(n) => (n - low).rem_euclid(high - low + 1) + low,
                    float => (float.real() as i128).clamp(low, high),
                })
            }
            Family::Float => Number::Float(self.rounded(dtype)),
            Family::Complex => {
                let part = match dtype {
                    DType::C64 => DType::F32,
                    _ => DType::F64,
                };
                let (_, im) = self.parts();
                Number::Complex(self.rounded(part), Number::Float(im).rounded(part))
            }
        }
    }

    fn rounded(self, dtype: DType) -> f64 {
        // Digits of the significand, the least exponent, and the largest finite value.
        let (digits, least, most) = match dtype {
            DType::F16 => (11, -14, 65504.0),
            DType::BF16 => (8, -126, f64::from(bf16::MAX.to_f32())),
            DType::F32 => {
                return match self {
                    Number::Int(n) => f64::from(n as f32),
                    other => f64::from(other.real() as f32),
                };
            }
            _ => return self.real(),
        };
        let x = match self {
            Number::Int(n) => round_int(n, digits),
            other => other.real(),
        };
        if x == 0.0 || !x.is_finite() {
            return x;
        }
        let exponent = ((x.abs().to_bits() >> 52) as i32 - 1023).max(least);
        let unit = 2f64.powi(exponent - digits + 1);
        let rounded = (x / unit).round_ties_even() * unit;
        if rounded.abs() > most {
            f64::INFINITY.copysign(x)
        } else {
            rounded
        }
    }

    /// The bits of an element of `dtype` with this value, which the dtype can hold.
    pub fn encode(self, dtype: DType) -> Cell {
        let int = match self {
            Number::Int(n) => n,
            other => other.real() as i128,
        };
        let (re, im) = self.parts();
        let mut cell = [0; 16];
        let mut put = |at: usize, bytes: &[u8]| cell[at..at + bytes.len()].copy_from_slice(bytes);
        match dtype {
            DType::Bool => put(0, &[u8::from(int != 0)]),
            DType::U8 => put(0, &(int as u8).to_ne_bytes()),
            DType::U16 => put(0, &(int as u16).to_ne_bytes()),
            DType::U32 => put(0, &(int as u32).to_ne_bytes()),
            DType::U64 => put(0, &(int as u64).to_ne_bytes()),
            DType::I8 => put(0, &(int as i8).to_ne_bytes()),
            DType::I16 => put(0, &(int as i16).to_ne_bytes()),
            DType::I32 => put(0, &(int as i32).to_ne_bytes()),
            DType::I64 => put(0, &(int as i64).to_ne_bytes()),
            DType::F16 => put(0, &f16::from_f32(re as f32).to_ne_bytes()),
            DType::BF16 => put(0, &bf16::from_f32(re as f32).to_ne_bytes()),
            DType::F32 => put(0, &(re as f32).to_ne_bytes()),
            DType::F64 => put(0, &re.to_ne_bytes()),
            DType::C64 => {
                put(0, &(re as f32).to_ne_bytes());
                put(4, &(im as f32).to_ne_bytes());
            }
            DType::C128 => {
                put(0, &re.to_ne_bytes());
                put(8, &im.to_ne_bytes());
            }
        }
        cell
    }

    /// The value of an element's bits.
    pub fn decode(dtype: DType, cell: &Cell) -> Number {
        fn first<const N: usize>(cell: &Cell, at: usize) -> [u8; N] {
            std::array::from_fn(|i| cell[at + i])
        }
        match dtype {
            DType::Bool => Number::Int(i128::from(cell[0] != 0)),
            DType::U8 => Number::Int(u8::from_ne_bytes(first(cell, 0)).into()),
            DType::U16 => Number::Int(u16::from_ne_bytes(first(cell, 0)).into()),
            DType::U32 => Number::Int(u32::from_ne_bytes(first(cell, 0)).into()),
            DType::U64 => Number::Int(u64::from_ne_bytes(first(cell, 0)).into()),
            DType::I8 => Number::Int(i8::from_ne_bytes(first(cell, 0)).into()),
            DType::I16 => Number::Int(i16::from_ne_bytes(first(cell, 0)).into()),
            DType::I32 => Number::Int(i32::from_ne_bytes(first(cell, 0)).into()),
            DType::I64 => Number::Int(i64::from_ne_bytes(first(cell, 0)).into()),
            DType::F16 => Number::Float(f16::from_ne_bytes(first(cell, 0)).to_f64()),
            DType::BF16 => Number::Float(bf16::from_ne_bytes(first(cell, 0)).to_f64()),
            DType::F32 => Number::Float(f32::from_ne_bytes(first(cell, 0)).into()),
            DType::F64 => Number::Float(f64::from_ne_bytes(first(cell, 0))),
            DType::C64 => Number::Complex(
                f32::from_ne_bytes(first(cell, 0)).into(),
                f32::from_ne_bytes(first(cell, 4)).into(),
            ),
            DType::C128 => Number::Complex(
                f64::from_ne_bytes(first(cell, 0)),
                f64::from_ne_bytes(first(cell, 8)),
            ),
        }
    }

    /// The sum of two elements of `dtype`: integers wrap, bool is the logical or.
    pub fn plus(self, other: Number, dtype: DType) -> Number {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => Number::Int(a + b).cast(dtype),
            (Number::Complex(a, b), Number::Complex(c, d)) => Number::Complex(a + c, b + d),
            (a, b) => Number::Float(a.real() + b.real()),
        }
    }

    /// Whether two elements of `dtype` are equal to its rounding; `scale` is the largest magnitude that took
    /// part. NaN is equal to NaN.
    pub fn is_near(self, other: Number, dtype: DType, scale: f64) -> bool {
        let digits = match dtype {
            DType::BF16 => 8,
            DType::F16 => 11,
            DType::F32 | DType::C64 => 24,
            _ => 53,
        };
        let near = |a: f64, b: f64| {
            (a.is_nan() && b.is_nan())
                || a == b
                || (a - b).abs() <= 4.0 * scale.max(a.abs()) * 2f64.powi(-digits)
        };
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => a == b,
            (a, b) => {
                let ((a, b), (c, d)) = (a.parts(), b.parts());
                near(a, c) && near(b, d)
            }
        }
    }
}

/// The least and the largest value of an integer dtype.
pub fn int_range(dtype: DType) -> (i128, i128) {
    let bits = 8 * dtype.width() as u32;
    match dtype.family() {
        Family::Signed => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        _ => (0, (1 << bits) - 1),
    }
}

/// The nearest number of so many binary digits, ties to even.
fn round_int(n: i128, digits: i32) -> f64 {
    let magnitude = n.unsigned_abs();
    let used = 128 - magnitude.leading_zeros() as i32;
    if used <= digits {
        return n as f64;
    }
    let unit = 1u128 << (used - digits);
    let (quotient, rest) = (magnitude / unit, magnitude % unit);
    let up = rest * 2 > unit || (rest * 2 == unit && quotient % 2 == 1);
    let rounded = (quotient + u128::from(up)) * unit;
    if n < 0 {
        -(rounded as f64)
    } else {
        rounded as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_the_16_bit_floats_survives_decoding_casting_and_encoding() {
        for dtype in [DType::F16, DType::BF16] {
            for bits in 0..=u16::MAX {
                let mut cell = [0; 16];
                cell[..2].copy_from_slice(&bits.to_ne_bytes());
                let value = Number::decode(dtype, &cell);
                if !value.real().is_nan() {
                    assert_eq!(value.cast(dtype).encode(dtype), cell, "{dtype} {bits:#x}");
                }
            }
        }
    }

    #[test]
    fn casts_follow_the_rules_of_astype() {
        let cases = [
            (Number::Int(300), DType::U8, Number::Int(44)),
            (Number::Int(-1), DType::U64, Number::Int(u64::MAX.into())),
            (Number::Int(200), DType::I8, Number::Int(-56)),
            (Number::Float(-1.9), DType::I32, Number::Int(-1)),
            (Number::Float(1e300), DType::I16, Number::Int(32767)),
            (Number::Float(f64::NAN), DType::I64, Number::Int(0)),
            (Number::Float(f64::NAN), DType::Bool, Number::Int(1)),
            (Number::Complex(0.0, 2.0), DType::Bool, Number::Int(1)),
            (Number::Complex(3.5, 2.0), DType::U8, Number::Int(3)),
            (Number::Float(65519.9), DType::F16, Number::Float(65504.0)),
            (
                Number::Float(65520.0),
                DType::F16,
                Number::Float(f64::INFINITY),
            ),
            (Number::Int(257), DType::BF16, Number::Float(256.0)),
            (Number::Int(259), DType::BF16, Number::Float(260.0)),
            ((1 << 24 | 1).into(), DType::F32, Number::Float(16777216.0)),
        ];
        for (from, dtype, to) in cases {
            assert_eq!(from.cast(dtype), to, "{from:?} as {dtype}");
        }
    }
}
