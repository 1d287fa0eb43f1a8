//! Sums of integers and bool in 64 bits, which is what a sum of them gives: each term grows as it is read.

use stridewise_core::DType;

use super::{Block, over};
use crate::element::{Flag, Number};

/// A sum over flagged axes, as [`super::sum`] with the dtypes chosen, under the same conditions.
pub type GrownSum = unsafe fn(Block, &[bool], *mut u8);

/// The sum of elements of one dtype in another, if these are an integer or bool and an integer of 64 bits.
pub fn in_64_bits(from: DType, to: DType) -> Option<GrownSum> {
    // Whether it has a sign makes no difference to a sum that wraps.
    if !matches!(to, DType::I64 | DType::U64) {
        return None;
    }
    Some(match from {
        DType::Bool => grown::<Grown<Flag>>,
        DType::U8 => grown::<Grown<u8>>,
        DType::U16 => grown::<Grown<u16>>,
        DType::U32 => grown::<Grown<u32>>,
        DType::I8 => grown::<Grown<i8>>,
        DType::I16 => grown::<Grown<i16>>,
        DType::I32 => grown::<Grown<i32>>,
        DType::I64 | DType::U64 => grown::<u64>,
        _ => return None,
    })
}

/// # Safety
/// As for [`super::sum`], with elements `T` and sums of 64 bits.
unsafe fn grown<T: Number<Accumulator = u64>>(src: Block, reduced: &[bool], dst: *mut u8) {
    // SAFETY: the caller's.
    unsafe { over::<T, u64>(src, reduced, dst.cast(), |sum| sum) };
}

/// An integer or bool whose sums have 64 bits.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
struct Grown<T>(T);

macro_rules! grown {
    ($($type:ty, $grow:expr, $shrink:expr;)*) => {$(
        // SAFETY: it is its only field.
        unsafe impl Number for Grown<$type> {
            const ZERO: Self = Grown(<$type as Number>::ZERO);
            type Accumulator = u64;
            const ANY_ORDER: bool = true;
            #[inline(always)]
            fn widen(self) -> u64 {
                $grow(self.0)
            }
            #[inline(always)]
            fn narrow(sum: u64) -> Self {
                Grown($shrink(sum))
            }
            #[inline(always)]
            fn add(a: u64, b: u64) -> u64 {
                a.wrapping_add(b)
            }
        }
    )*};
}

grown! {
    Flag, |x: Flag| u64::from(x.get()), |sum| Flag::from(sum != 0);
    u8, u64::from, |sum| sum as u8;
    u16, u64::from, |sum| sum as u16;
    u32, u64::from, |sum| sum as u32;
    i8, |x| x as u64, |sum| sum as i8;
    i16, |x| x as u64, |sum| sum as i16;
    i32, |x| x as u64, |sum| sum as i32;
}
