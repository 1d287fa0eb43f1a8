//! Vectors of two lanes, two of which make a line. A lane turns a square, as in `transpose`, and four of them lie side by
//! side in a line of the output.

use super::{FEW, LINE, Leaving, Planes, each_tile};
use crate::kernels::copy::stream;
use crate::kernels::copy::vectors::LANE;
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

/// # Safety
/// Lanes at `at` and `next` bytes further are inside (K1).
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn lanes(at: *const u8, next: isize) -> __m256i {
    // SAFETY: the caller's word.
    unsafe {
        let low = _mm_loadu_si128(at.cast());
        let high = _mm_loadu_si128(at.offset(next).cast());
        _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
    }
}

macro_rules! strip {
    ($name:ident, $width:literal, $low:ident, $high:ident) => {
        /// # Safety
        /// K1, K3 and K4 for the strip.
        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn $name(src: *const u8, across: isize, dst: *mut u8, run: isize) {
            const SIDE: usize = LANE / $width;
            let half = SIDE / 2;
            let next = SIDE as isize * across;
            // SAFETY: a lane of each of the tile's lines is inside (K1, K3, K4).
            unsafe {
                let row = |i: usize| src.offset(i as isize * across);
                let mut left: [_; SIDE] = core::array::from_fn(|i| lanes(row(i), next));
                let mut right: [_; SIDE] = core::array::from_fn(|i| lanes(row(i + 2 * SIDE), next));
                for _ in 0..SIDE.ilog2() {
                    let (l, r) = (left, right);
                    for i in 0..half {
                        left[2 * i] = $low(l[i], l[i + half]);
                        left[2 * i + 1] = $high(l[i], l[i + half]);
                        right[2 * i] = $low(r[i], r[i + half]);
                        right[2 * i + 1] = $high(r[i], r[i + half]);
                    }
                }
                for i in 0..SIDE {
                    let to = dst.offset(i as isize * run).cast::<__m256i>();
                    _mm256_storeu_si256(to, left[i]);
                    _mm256_storeu_si256(to.add(1), right[i]);
                }
            }
        }
    };
}

strip!(strip_1, 1, _mm256_unpacklo_epi8, _mm256_unpackhi_epi8);
strip!(strip_2, 2, _mm256_unpacklo_epi16, _mm256_unpackhi_epi16);
strip!(strip_4, 4, _mm256_unpacklo_epi32, _mm256_unpackhi_epi32);

/// A strip of wider cells, by whole vectors: the lanes of a vector belong to two squares that follow each other along
/// the source's run, and trade places with those of the rows below in the end.
macro_rules! wide_strip {
    ($name:ident, $width:literal) => {
        /// # Safety
        /// K1, K3 and K4 for the strip.
        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn $name(src: *const u8, across: isize, dst: *mut u8, run: isize) {
            const SIDE: usize = LANE / $width;
            let half = SIDE / 2;
            // SAFETY: a vector of each of the tile's lines is inside (K1, K3, K4).
            unsafe {
                let squares = |first: usize| {
                    let mut rows: [_; SIDE] = core::array::from_fn(|i| {
                        let at = src.offset((first + i) as isize * across);
                        _mm256_loadu_si256(at.cast())
                    });
                    for _ in 0..SIDE.ilog2() {
                        let before = rows;
                        for i in 0..half {
                            rows[2 * i] = _mm256_unpacklo_epi64(before[i], before[i + half]);
                            rows[2 * i + 1] = _mm256_unpackhi_epi64(before[i], before[i + half]);
                        }
                    }
                    rows
                };
                let (a, b) = (squares(0), squares(SIDE));
                let (c, d) = (squares(2 * SIDE), squares(3 * SIDE));
                let to = |i: usize| dst.offset(i as isize * run).cast::<__m256i>();
                for i in 0..SIDE {
                    let left = _mm256_permute2x128_si256::<0x20>(a[i], b[i]);
                    let right = _mm256_permute2x128_si256::<0x20>(c[i], d[i]);
                    _mm256_storeu_si256(to(i), left);
                    _mm256_storeu_si256(to(i).add(1), right);
                }
                for i in 0..SIDE {
                    let left = _mm256_permute2x128_si256::<0x31>(a[i], b[i]);
                    let right = _mm256_permute2x128_si256::<0x31>(c[i], d[i]);
                    _mm256_storeu_si256(to(i + SIDE), left);
                    _mm256_storeu_si256(to(i + SIDE).add(1), right);
                }
            }
        }
    };
}

wide_strip!(strip_8, 8);
wide_strip!(strip_16, 16);

macro_rules! planes {
    ($name:ident, $width:literal, $strip:ident, $bytes:expr) => {
        /// # Safety
        /// As for [`super::Block::build`].
        #[target_feature(enable = "avx2")]
        pub(super) unsafe fn $name(
            planes: &Planes,
            src: *const u8,
            area: *mut u8,
            next: isize,
            leaving: &mut Leaving<'_>,
        ) {
            // Narrow cells have so many lines that those a power of two apart push each other out of the cache before they
            // are used up: each is read once.
            const NEAR: usize = if $width <= 2 { LINE / $width } else { 0 };
            let mut near = [MaybeUninit::<[__m256i; 2]>::uninit(); NEAR];
            let mut turn = |mut src: *const u8, mut across: isize, area: *mut u8, run: isize| {
                for (i, line) in near.iter_mut().enumerate() {
                    // SAFETY: the tile's lines are inside (K1, K4).
                    unsafe {
                        let from = src.offset(i as isize * across).cast::<__m256i>();
                        line.write([_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1))]);
                    }
                }
                if NEAR > 0 {
                    (src, across) = (near.as_ptr().cast(), LINE as isize);
                }
                for strip in 0..LINE / $bytes {
                    // SAFETY: a strip of the tile (K1, K3, K4).
                    unsafe {
                        let src = src.add(strip * $bytes);
                        let area = area.offset((strip * $bytes / $width) as isize * run);
                        $strip(src, across, area, run);
                    }
                }
            };
            // SAFETY: the caller's.
            unsafe {
                each_tile!(
                    planes,
                    src,
                    area,
                    next,
                    leaving,
                    $width,
                    turn,
                    |src, dst, lines| {
                        stream::lines_by_halves(src, dst, lines);
                    }
                );
            }
        }
    };
}

planes!(planes_1, 1, strip_1, LANE);
planes!(planes_2, 2, strip_2, LANE);
planes!(planes_4, 4, strip_4, LANE);
planes!(planes_8, 8, strip_8, 2 * LANE);
planes!(planes_16, 16, strip_16, 2 * LANE);
