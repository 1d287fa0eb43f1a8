//! The Rust types behind the fifteen dtypes, and the one place that matches a dtype to its type.
//!
//! Kernels see memory as [`Number`]s, for which every bit pattern is a value. The only host type for which
//! that fails is `bool`, since files may hold bytes other than 0 and 1; its cell in memory is [`Flag`].

use std::convert::identity as same;
use std::fmt;

use half::{bf16, f16};
use num_complex::Complex;
use stridewise_core::DType;

pub(crate) mod half_float;

/// A Rust type whose values can be stored in a tensor and read back.
///
/// ```
/// use stridewise_cpu::element::{Element, Flag};
///
/// assert_eq!(f32::DTYPE.width(), size_of::<f32>());
/// assert!(bool::from_cell(Flag::from_byte(7)));
/// ```
///
/// # Safety
/// `Self` has the size and alignment of `Cell`, every value of it is the bit pattern of a cell, and `DTYPE`
/// is the one `with_dtype!` gives the cell for.
pub unsafe trait Element: Copy + Send + Sync + fmt::Debug + 'static {
    /// The dtype of a tensor of these.
    const DTYPE: DType;
    /// What kernels see in memory.
    type Cell: Number;
    /// Reads a cell as a value.
    fn from_cell(cell: Self::Cell) -> Self;
}

/// A cell of memory, and the arithmetic of its dtype.
///
/// # Safety
/// Every bit pattern is a value, and there is no padding.
pub unsafe trait Number: Copy + Send + Sync + fmt::Debug + 'static {
    /// Zero, which is all zero bytes for every dtype.
    const ZERO: Self;
    /// What sums are kept in: `f32` for the 16-bit floats, the type itself for all others.
    type Accumulator: Copy + Send + Sync + fmt::Debug + 'static;
    /// Whether a sum is the same in any order: so for integers and bool.
    const ANY_ORDER: bool;
    /// Into a sum; exact.
    fn widen(self) -> Self::Accumulator;
    /// Adjacent numbers into sums; exact, so that `VECTORS` changes nothing but the speed.
    ///
    /// # Safety
    /// `N` numbers can be read there, and with `VECTORS` the machine has AVX2 and F16C.
    #[inline(always)]
    unsafe fn widen_adjacent<const N: usize, const VECTORS: bool>(
        numbers: *const Self,
    ) -> [Self::Accumulator; N] {
        // SAFETY: the caller's.
        unsafe { *numbers.cast::<[Self; N]>() }.map(Self::widen)
    }
    /// Out of a sum; the 16-bit floats round to nearest even.
    fn narrow(sum: Self::Accumulator) -> Self;
    /// Integers wrap around; for bool it is the logical or.
    fn add(a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator;
}

/// A `bool` as it lies in memory: any byte but zero is true.
///
/// ```
/// use stridewise_cpu::element::Flag;
///
/// assert_eq!(Flag::from_byte(2), Flag::from(true));
/// ```
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Flag(u8);

impl Flag {
    /// The cell with this byte in it.
    pub const fn from_byte(byte: u8) -> Flag {
        Flag(byte)
    }

    /// Whether it is true.
    pub const fn get(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for Flag {
    fn from(value: bool) -> Flag {
        Flag(u8::from(value))
    }
}

impl PartialEq for Flag {
    fn eq(&self, other: &Flag) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Flag {}

impl fmt::Debug for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

// SAFETY: a bool is a byte, and both of its values are bytes.
unsafe impl Element for bool {
    const DTYPE: DType = DType::Bool;
    type Cell = Flag;
    #[inline(always)]
    fn from_cell(cell: Flag) -> bool {
        cell.get()
    }
}

// SAFETY: a transparent byte.
unsafe impl Number for Flag {
    const ZERO: Flag = Flag(0);
    type Accumulator = u8;
    const ANY_ORDER: bool = true;
    #[inline(always)]
    fn widen(self) -> u8 {
        self.0
    }
    #[inline(always)]
    fn narrow(sum: u8) -> Flag {
        Flag(u8::from(sum != 0))
    }
    #[inline(always)]
    fn add(a: u8, b: u8) -> u8 {
        a | b
    }
}

macro_rules! numbers {
    ($($type:ty, $dtype:ident, $zero:expr, $sum:ty, $widen:expr, $narrow:expr, $add:expr $(, $adjacent:ident)?;)*) => {$(
        // SAFETY: the type is its own cell.
        unsafe impl Element for $type {
            const DTYPE: DType = DType::$dtype;
            type Cell = $type;
            #[inline(always)]
            fn from_cell(cell: $type) -> $type {
                cell
            }
        }

        // SAFETY: a plain number, or two of them, of the dtype's width.
        unsafe impl Number for $type {
            const ZERO: $type = $zero;
            type Accumulator = $sum;
            const ANY_ORDER: bool = {
                use DType::{BF16, C64, C128, F16, F32, F64};
                !matches!(DType::$dtype, F16 | BF16 | F32 | F64 | C64 | C128)
            };
            #[inline(always)]
            fn widen(self) -> $sum {
                $widen(self)
            }
            $(#[inline(always)]
            unsafe fn widen_adjacent<const N: usize, const VECTORS: bool>(
                numbers: *const $type,
            ) -> [$sum; N] {
                // SAFETY: the caller's.
                unsafe { half_float::$adjacent::<N, VECTORS>(numbers) }
            })?
            #[inline(always)]
            fn narrow(sum: $sum) -> $type {
                $narrow(sum)
            }
            #[inline(always)]
            fn add(a: $sum, b: $sum) -> $sum {
                $add(a, b)
            }
        }
    )*};
}

numbers! {
    u8, U8, 0, u8, same, same, u8::wrapping_add;
    u16, U16, 0, u16, same, same, u16::wrapping_add;
    u32, U32, 0, u32, same, same, u32::wrapping_add;
    u64, U64, 0, u64, same, same, u64::wrapping_add;
    i8, I8, 0, i8, same, same, i8::wrapping_add;
    i16, I16, 0, i16, same, same, i16::wrapping_add;
    i32, I32, 0, i32, same, same, i32::wrapping_add;
    i64, I64, 0, i64, same, same, i64::wrapping_add;
    f16, F16, f16::ZERO, f32, half_float::f16_to_f32, half_float::f32_to_f16, |a, b| a + b, f16s_to_f32;
    bf16, BF16, bf16::ZERO, f32, half_float::bf16_to_f32, half_float::f32_to_bf16, |a, b| a + b, bf16s_to_f32;
    f32, F32, 0.0, f32, same, same, |a, b| a + b;
    f64, F64, 0.0, f64, same, same, |a, b| a + b;
    Complex<f32>, C64, Complex::new(0.0, 0.0), Complex<f32>, same, same, |a, b| a + b;
    Complex<f64>, C128, Complex::new(0.0, 0.0), Complex<f64>, same, same, |a, b| a + b;
}

/// `with_dtype!(dtype, T => expression)` evaluates the expression with `T` naming the dtype's [`Number`].
macro_rules! with_dtype {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::element::with_dtype!(@arms $dtype, $T, $body,
            Bool $crate::element::Flag,
            U8 u8, U16 u16, U32 u32, U64 u64,
            I8 i8, I16 i16, I32 i32, I64 i64,
            F16 ::half::f16, BF16 ::half::bf16, F32 f32, F64 f64,
            C64 ::num_complex::Complex<f32>, C128 ::num_complex::Complex<f64>,
        )
    };
    (@arms $dtype:expr, $T:ident, $body:expr, $($variant:ident $type:ty,)*) => {
        match $dtype {
            $(::stridewise_core::DType::$variant => {
                type $T = $type;
                $body
            })*
        }
    };
}
pub(crate) use with_dtype;

#[cfg(test)]
mod tests {
    use std::any::TypeId;

    use super::*;

    fn cell_of(dtype: DType) -> TypeId {
        fn find<E: Element>(dtype: DType) -> Option<TypeId> {
            (E::DTYPE == dtype).then(TypeId::of::<E::Cell>)
        }
        [
            find::<bool>,
            find::<u8>,
            find::<u16>,
            find::<u32>,
            find::<u64>,
            find::<i8>,
            find::<i16>,
            find::<i32>,
            find::<i64>,
            find::<f16>,
            find::<bf16>,
            find::<f32>,
            find::<f64>,
            find::<Complex<f32>>,
            find::<Complex<f64>>,
        ]
        .iter()
        .find_map(|find| find(dtype))
        .expect("a type for every dtype")
    }

    #[test]
    fn every_dtype_names_a_number_of_its_own_width_whose_zero_is_zero_bytes() {
        for dtype in DType::ALL {
            with_dtype!(dtype, T => {
                assert_eq!(TypeId::of::<T>(), cell_of(dtype));
                assert_eq!(size_of::<T>(), dtype.width());
                let zero = T::ZERO;
                // SAFETY: a number has no padding and lives on this stack.
                let bytes = unsafe {
                    std::slice::from_raw_parts((&raw const zero).cast::<u8>(), size_of::<T>())
                };
                assert!(bytes.iter().all(|&b| b == 0));
            });
        }
    }

    #[test]
    fn any_nonzero_byte_is_true() {
        assert!(bool::from_cell(Flag::from_byte(0x80)));
        assert!(!bool::from_cell(Flag::from_byte(0)));
        let sum = Flag::add(Flag::from_byte(2).widen(), Flag::from_byte(4).widen());
        assert_eq!(Flag::narrow(sum).0, 1);
    }

    #[test]
    fn integers_wrap_and_halves_sum_in_single_precision() {
        assert_eq!(i8::add(127, 1), -128);
        assert_eq!(u64::add(u64::MAX, 2), 1);
        let tiny = f16::from_f32_const(0.0004);
        let sum = f16::add(f16::ONE.widen(), tiny.widen());
        assert!(sum > 1.0 && f16::narrow(sum) == f16::ONE);
    }
}
