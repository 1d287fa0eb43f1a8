//! Conversions to and from the 16-bit floats that round exactly once, to nearest even. Written as selects
//! over bits, without branches or calls, so that loops over them vectorise on any target; and because
//! `half::f16::from_f64` rounds twice where the machine has F16C, and drops low bits where it has not.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m128i, __m256, _mm_loadu_si128, _mm256_castsi256_ps, _mm256_cvtepu16_epi32, _mm256_cvtph_ps,
    _mm256_slli_epi32, _mm256_storeu_ps,
};

use half::{bf16, f16};

/// Exact.
#[inline(always)]
pub(crate) fn f16_to_f32(x: f16) -> f32 {
    let bits = u32::from(x.to_bits());
    let shifted = (bits & 0x7fff) << 13;
    let exponent = shifted & 0x0f80_0000;
    // The bias grows from 15 to 127.
    let normal = shifted + (112 << 23);
    let infinite_or_nan = normal + (112 << 23);
    // A subnormal has no implicit one: give it one, then take it away in floating point.
    let subnormal = (f32::from_bits(normal + (1 << 23)) - f32::from_bits(113 << 23)).to_bits();
    let magnitude = if exponent == 0x0f80_0000 {
        infinite_or_nan
    } else if exponent == 0 {
        subnormal
    } else {
        normal
    };
    f32::from_bits(magnitude | (bits & 0x8000) << 16)
}

/// To nearest even.
#[inline(always)]
pub(crate) fn f32_to_f16(x: f32) -> f16 {
    // Adding this float leaves the significand of a subnormal f16 in the low bits, rounded by the hardware.
    const SUBNORMAL: u32 = 126 << 23;
    let bits = x.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    let odd = (magnitude >> 13) & 1;
    let normal = magnitude.wrapping_sub((112 << 23) - 0xfff - odd) >> 13;
    let subnormal = (f32::from_bits(magnitude) + f32::from_bits(SUBNORMAL))
        .to_bits()
        .wrapping_sub(SUBNORMAL);
    let nan = 0x7e00 | (magnitude >> 13) & 0x3ff;
    let rounded = if magnitude > 0x7f80_0000 {
        nan
    } else if magnitude >= 143 << 23 {
        0x7c00
    } else if magnitude < 113 << 23 {
        subnormal
    } else {
        normal
    };
    f16::from_bits((rounded | (bits >> 16) & 0x8000) as u16)
}

/// Exact.
#[inline(always)]
pub(crate) fn bf16_to_f32(x: bf16) -> f32 {
    f32::from_bits(u32::from(x.to_bits()) << 16)
}

/// To nearest even.
#[inline(always)]
pub(crate) fn f32_to_bf16(x: f32) -> bf16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16;
    let nan = (bits >> 16) | 0x40;
    let is_nan = bits & 0x7fff_ffff > 0x7f80_0000;
    bf16::from_bits(if is_nan { nan } else { rounded } as u16)
}

/// As [`f16_to_f32`] for adjacent numbers; with `VECTORS` eight at a time, by the machine's own instruction.
///
/// # Safety
/// `N` numbers can be read there, and with `VECTORS` the machine has AVX2 and F16C.
#[inline(always)]
pub(crate) unsafe fn f16s_to_f32<const N: usize, const VECTORS: bool>(
    numbers: *const f16,
) -> [f32; N] {
    #[cfg(target_arch = "x86_64")]
    if VECTORS && N.is_multiple_of(8) {
        // SAFETY: the caller's: the machine has F16C.
        let widen = |eight| unsafe { _mm256_cvtph_ps(eight) };
        // SAFETY: the caller's.
        return unsafe { by_eights(numbers.cast(), widen) };
    }
    // SAFETY: the caller's.
    unsafe { *numbers.cast::<[f16; N]>() }.map(f16_to_f32)
}

/// As [`bf16_to_f32`] for adjacent numbers; with `VECTORS` eight at a time.
///
/// # Safety
/// As for [`f16s_to_f32`].
#[inline(always)]
pub(crate) unsafe fn bf16s_to_f32<const N: usize, const VECTORS: bool>(
    numbers: *const bf16,
) -> [f32; N] {
    #[cfg(target_arch = "x86_64")]
    if VECTORS && N.is_multiple_of(8) {
        let widen = |eight| {
            // SAFETY: the caller's: the machine has AVX2.
            unsafe { _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(eight))) }
        };
        // SAFETY: the caller's.
        return unsafe { by_eights(numbers.cast(), widen) };
    }
    // SAFETY: the caller's.
    unsafe { *numbers.cast::<[bf16; N]>() }.map(bf16_to_f32)
}

/// # Safety
/// `N` numbers of 16 bits can be read there, and the machine has AVX.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn by_eights<const N: usize>(
    numbers: *const __m128i,
    widen: impl Fn(__m128i) -> __m256,
) -> [f32; N] {
    let mut wide = [0.0; N];
    for (i, eight) in wide.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        // SAFETY: the caller's; these are eight of the numbers.
        unsafe {
            let numbers = _mm_loadu_si128(numbers.add(i));
            _mm256_storeu_ps(eight.as_mut_ptr(), widen(numbers));
        }
    }
    wide
}

/// To nearest even, once.
#[inline(always)]
pub(crate) fn f64_to_f16(x: f64) -> f16 {
    f32_to_f16(f64_to_f32_odd(x))
}

/// To nearest even, once.
#[inline(always)]
pub(crate) fn f64_to_bf16(x: f64) -> bf16 {
    f32_to_bf16(f64_to_f32_odd(x))
}

/// Rounds to odd: an inexact result is the neighbour whose last bit is one. Rounding that to a format two or
/// more bits shorter gives what rounding the original would have given (Boldo and Melquiond, 2008).
#[inline(always)]
fn f64_to_f32_odd(x: f64) -> f32 {
    let nearest = x as f32;
    let back = f64::from(nearest);
    let too_far = u32::from(back.abs() > x.abs());
    let inexact = u32::from(back != x);
    f32::from_bits((nearest.to_bits() - too_far) | inexact)
}

/// Rounds to odd, for integers that more than fill a double; smaller ones are exact.
#[inline(always)]
pub(crate) fn u64_to_f64_odd(x: u64) -> f64 {
    let dropped = u64::from(x & 0x7ff != 0) << 11;
    let kept = (x & !0x7ff) | dropped;
    (if x >> 53 == 0 { x } else { kept }) as f64
}

/// Rounds to odd, as [`u64_to_f64_odd`].
#[inline(always)]
pub(crate) fn i64_to_f64_odd(x: i64) -> f64 {
    let magnitude = u64_to_f64_odd(x.unsigned_abs());
    if x < 0 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Widened = ([f32; 8], [f32; 8]);

    /// # Safety
    /// On a machine with AVX2 and F16C.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,f16c")]
    unsafe fn by_machine(h: [f16; 8], b: [bf16; 8]) -> Widened {
        // SAFETY: eight numbers of each kind.
        unsafe {
            (
                f16s_to_f32::<8, true>(h.as_ptr()),
                bf16s_to_f32::<8, true>(b.as_ptr()),
            )
        }
    }

    #[test]
    fn adjacent_halves_widen_as_single_ones() {
        for first in (0..=u16::MAX).step_by(8) {
            let bits: [u16; 8] = std::array::from_fn(|i| first + i as u16);
            let (h, b) = (bits.map(f16::from_bits), bits.map(bf16::from_bits));
            let agrees = |(wide_h, wide_b): Widened| {
                for i in 0..8 {
                    for (wide, one) in [
                        (wide_h[i], f16_to_f32(h[i])),
                        (wide_b[i], bf16_to_f32(b[i])),
                    ] {
                        let same = wide.to_bits() == one.to_bits();
                        assert!(same || wide.is_nan() && one.is_nan(), "{:x}", bits[i]);
                    }
                }
            };
            // SAFETY: eight numbers of each kind.
            agrees(unsafe {
                (
                    f16s_to_f32::<8, false>(h.as_ptr()),
                    bf16s_to_f32::<8, false>(b.as_ptr()),
                )
            });
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx2")
                && std::arch::is_x86_feature_detected!("f16c")
            {
                // SAFETY: the machine has both.
                agrees(unsafe { by_machine(h, b) });
            }
        }
    }

    #[test]
    fn every_half_widens_as_the_half_crate_says() {
        for bits in 0..=u16::MAX {
            let (h, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            if h.is_nan() {
                assert!(f16_to_f32(h).is_nan());
                assert!(f32_to_f16(f16_to_f32(h)).is_nan());
            } else {
                assert_eq!(f16_to_f32(h).to_bits(), h.to_f32_const().to_bits());
                assert_eq!(f32_to_f16(f16_to_f32(h)).to_bits(), bits);
            }
            if b.is_nan() {
                assert!(bf16_to_f32(b).is_nan());
                assert!(f32_to_bf16(bf16_to_f32(b)).is_nan());
            } else {
                assert_eq!(bf16_to_f32(b).to_bits(), b.to_f32_const().to_bits());
                assert_eq!(f32_to_bf16(bf16_to_f32(b)).to_bits(), bits);
            }
        }
    }

    #[test]
    fn floats_narrow_as_the_half_crate_says() {
        for bits in (0..=u32::MAX).step_by(1999) {
            for x in [f32::from_bits(bits), f32::from_bits(bits & 0xffff_f000)] {
                if x.is_nan() {
                    assert!(f32_to_f16(x).is_nan() && f32_to_bf16(x).is_nan());
                    continue;
                }
                assert_eq!(f32_to_f16(x), f16::from_f32_const(x), "{x:e}");
                assert_eq!(f32_to_bf16(x), bf16::from_f32_const(x), "{x:e}");
                assert_eq!(f64_to_f16(f64::from(x)), f16::from_f32_const(x), "{x:e}");
                assert_eq!(f64_to_bf16(f64::from(x)), bf16::from_f32_const(x), "{x:e}");
            }
        }
    }

    /// Between each pair of neighbours: just below the middle, the middle, just above it.
    #[test]
    fn doubles_round_once_around_every_midpoint() {
        for bits in 0..0x7bff_u16 {
            let (low, high) = (f16::from_bits(bits), f16::from_bits(bits + 1));
            let middle = (f64::from(f16_to_f32(low)) + f64::from(f16_to_f32(high))) / 2.0;
            let even = if bits & 1 == 0 { low } else { high };
            for (x, wanted) in [
                (middle.next_down(), low),
                (middle, even),
                (middle.next_up(), high),
            ] {
                assert_eq!(f64_to_f16(x), wanted, "{x:e}");
                assert_eq!(f64_to_f16(-x), -wanted, "{x:e}");
            }
        }
        for bits in 0..0x7f7f_u16 {
            let (low, high) = (bf16::from_bits(bits), bf16::from_bits(bits + 1));
            let middle = (f64::from(bf16_to_f32(low)) + f64::from(bf16_to_f32(high))) / 2.0;
            let even = if bits & 1 == 0 { low } else { high };
            for (x, wanted) in [
                (middle.next_down(), low),
                (middle, even),
                (middle.next_up(), high),
            ] {
                assert_eq!(f64_to_bf16(x), wanted, "{x:e}");
                assert_eq!(f64_to_bf16(-x), -wanted, "{x:e}");
            }
        }
        assert_eq!(f64_to_f16(65519.999999999), f16::MAX);
        assert_eq!(f64_to_f16(65520.0), f16::INFINITY);
        assert_eq!(f64_to_bf16(f64::MAX), bf16::INFINITY);
        assert_eq!(f64_to_bf16(f64::MIN_POSITIVE), bf16::ZERO);
    }
}
