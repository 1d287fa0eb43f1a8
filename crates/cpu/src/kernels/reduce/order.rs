//! The order in which a largest and a smallest element are found. It is total, so that the result does not depend on
//! the order of the elements: -0.0 is below +0.0, and NaN wins over everything, whether the largest or the smallest
//! is looked for. NaNs lose their sign, and the one with the largest payload wins.

use half::{bf16, f16};

use crate::element::{Flag, Number};

/// A number as an integer key: the element that is looked for is the one with the largest key.
pub(super) trait Ordered: Number {
    type Key: Copy + Ord;
    /// Where a number stands, when the largest (or the smallest) is looked for.
    fn key<const MAX: bool>(self) -> Self::Key;
    /// The number that stands there.
    fn of<const MAX: bool>(key: Self::Key) -> Self;
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Ordered for $type {
            type Key = $type;
            #[inline(always)]
            fn key<const MAX: bool>(self) -> $type {
                // All bits flipped: the order is turned round, and nothing overflows.
                if MAX { self } else { !self }
            }
            #[inline(always)]
            fn of<const MAX: bool>(key: $type) -> $type {
                if MAX { key } else { !key }
            }
        }
    )*};
}

integers! { u8 u16 u32 u64 i8 i16 i32 i64 }

impl Ordered for Flag {
    type Key = u8;
    #[inline(always)]
    fn key<const MAX: bool>(self) -> u8 {
        u8::from(self.get() == MAX)
    }
    #[inline(always)]
    fn of<const MAX: bool>(key: u8) -> Flag {
        Flag::from((key != 0) == MAX)
    }
}

/// As signed integers the bits of floats are in order, once those below the sign are flipped where it is set.
/// Infinity's bits are the largest that are no NaN.
macro_rules! floats {
    ($($type:ty, $bits:ty, $key:ty, $infinity:literal;)*) => {$(
        impl Ordered for $type {
            type Key = $key;
            #[inline(always)]
            fn key<const MAX: bool>(self) -> $key {
                let bits = self.to_bits();
                let magnitude = bits & <$bits>::MAX >> 1;
                // The smallest is the largest of all with their signs turned round.
                let turned = if MAX { bits } else { bits ^ !(<$bits>::MAX >> 1) };
                let key = ordered(turned as $key, <$key>::MAX);
                if magnitude > $infinity { magnitude as $key } else { key }
            }
            #[inline(always)]
            fn of<const MAX: bool>(key: $key) -> $type {
                let turned = ordered(key, <$key>::MAX) as $bits;
                let bits = if MAX { turned } else { turned ^ !(<$bits>::MAX >> 1) };
                // Only a NaN has a key above infinity's; it is its own bits.
                <$type>::from_bits(if key > $infinity { key as $bits } else { bits })
            }
        }
    )*};
}

floats! {
    f16, u16, i16, 0x7c00;
    bf16, u16, i16, 0x7f80;
    f32, u32, i32, 0x7f80_0000;
    f64, u64, i64, 0x7ff0_0000_0000_0000;
}

/// Flips the bits below the sign where it is set; doing so twice does nothing.
#[inline(always)]
fn ordered<K>(bits: K, below_sign: K) -> K
where
    K: Copy + PartialOrd + Default + std::ops::BitXor<Output = K>,
{
    if bits < K::default() {
        bits ^ below_sign
    } else {
        bits
    }
}
