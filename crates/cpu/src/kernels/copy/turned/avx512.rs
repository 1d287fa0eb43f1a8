//! Vectors of four lanes: a whole line. A lane turns a square, as in `transpose`, and four of them lie side by side in a
//! line of the output.

use super::{FEW, LINE, Leaving, Planes, each_tile};
use crate::kernels::copy::vectors::LANE;
use core::arch::asm;
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

/// Turns the lanes of four lines: the first of each, then the second, and so on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn lanes([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let (ab, ab_high) = (
        _mm512_shuffle_i32x4::<0b01_00_01_00>(a, b),
        _mm512_shuffle_i32x4::<0b11_10_11_10>(a, b),
    );
    let (cd, cd_high) = (
        _mm512_shuffle_i32x4::<0b01_00_01_00>(c, d),
        _mm512_shuffle_i32x4::<0b11_10_11_10>(c, d),
    );
    [
        _mm512_shuffle_i32x4::<0b10_00_10_00>(ab, cd),
        _mm512_shuffle_i32x4::<0b11_01_11_01>(ab, cd),
        _mm512_shuffle_i32x4::<0b10_00_10_00>(ab_high, cd_high),
        _mm512_shuffle_i32x4::<0b11_01_11_01>(ab_high, cd_high),
    ]
}

/// Reads a line, once: lines a power of two apart push each other out of the cache.
///
/// # Safety
/// K1 and K4 for the line.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn read(src: *const u8) -> __m512i {
    // SAFETY: the caller's; no instruction is in what keeps the compiler from reading halves of the line again later.
    unsafe {
        let mut line = _mm512_loadu_si512(src.cast());
        asm!("/* {0} */", inout(zmm_reg) line, options(pure, nomem, nostack, preserves_flags));
        line
    }
}

/// Copies lines past the caches.
///
/// # Safety
/// K1, K3 and K4 for lines of both.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn send(src: *const u8, dst: *mut u8, lines: usize) {
    for i in 0..lines {
        // SAFETY: the caller's.
        unsafe {
            let line = _mm512_load_si512(src.add(i * LINE).cast());
            _mm512_stream_si512(dst.add(i * LINE).cast(), line);
        }
    }
}

macro_rules! planes {
    ($name:ident, $width:literal, $shuffled:ident) => {
        /// # Safety
        /// As for [`super::Block::build`].
        #[target_feature(enable = "avx512f,avx512bw")]
        pub(super) unsafe fn $name(
            planes: &Planes,
            src: *const u8,
            area: *mut u8,
            next: isize,
            leaving: &mut Leaving<'_>,
        ) {
            const SIDE: usize = LANE / $width;
            let turn = |src: *const u8, across: isize, area: *mut u8, run: isize| {
                let mut near = [MaybeUninit::<__m512i>::uninit(); LINE / $width];
                // SAFETY: the tile's lines are inside (K1, K3, K4), and all of `near` is written first.
                unsafe {
                    let line = |i: usize| read(src.offset(i as isize * across));
                    for i in 0..SIDE {
                        let [a, b, c, d] = lanes([
                            line(i),
                            line(i + SIDE),
                            line(i + 2 * SIDE),
                            line(i + 3 * SIDE),
                        ]);
                        near[i].write(a);
                        near[i + SIDE].write(b);
                        near[i + 2 * SIDE].write(c);
                        near[i + 3 * SIDE].write(d);
                    }
                    for part in 0..LINE / LANE {
                        let rows = core::array::from_fn(|i| near[part * SIDE + i].assume_init());
                        for (i, row) in $shuffled(rows).iter().enumerate() {
                            let to = area.offset((part * SIDE + i) as isize * run);
                            _mm512_storeu_si512(to.cast(), *row);
                        }
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
                        send(src, dst, lines);
                    }
                );
            }
        }
    };
}

/// Four perfect shuffles of sixteen rows. Spelt out, since the compiler keeps larger arrays in memory.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn shuffled_1(r: [__m512i; 16]) -> [__m512i; 16] {
    macro_rules! once {
        ($r:ident: $($i:literal)*) => {
            [$(_mm512_unpacklo_epi8($r[$i], $r[$i + 8]), _mm512_unpackhi_epi8($r[$i], $r[$i + 8])),*]
        };
    }
    let r = once!(r: 0 1 2 3 4 5 6 7);
    let r = once!(r: 0 1 2 3 4 5 6 7);
    let r = once!(r: 0 1 2 3 4 5 6 7);
    once!(r: 0 1 2 3 4 5 6 7)
}

/// Three perfect shuffles of eight rows.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn shuffled_2(r: [__m512i; 8]) -> [__m512i; 8] {
    macro_rules! once {
        ($r:ident: $($i:literal)*) => {
            [$(_mm512_unpacklo_epi16($r[$i], $r[$i + 4]), _mm512_unpackhi_epi16($r[$i], $r[$i + 4])),*]
        };
    }
    let r = once!(r: 0 1 2 3);
    let r = once!(r: 0 1 2 3);
    once!(r: 0 1 2 3)
}

/// Two perfect shuffles of four rows.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn shuffled_4(r: [__m512i; 4]) -> [__m512i; 4] {
    macro_rules! once {
        ($r:ident: $($i:literal)*) => {
            [$(_mm512_unpacklo_epi32($r[$i], $r[$i + 2]), _mm512_unpackhi_epi32($r[$i], $r[$i + 2])),*]
        };
    }
    let r = once!(r: 0 1);
    once!(r: 0 1)
}

/// A perfect shuffle of two rows.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn shuffled_8([a, b]: [__m512i; 2]) -> [__m512i; 2] {
    [_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)]
}

/// A row alone stays as it is.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn shuffled_16(row: [__m512i; 1]) -> [__m512i; 1] {
    row
}

planes!(planes_1, 1, shuffled_1);
planes!(planes_2, 2, shuffled_2);
planes!(planes_4, 4, shuffled_4);
planes!(planes_8, 8, shuffled_8);
planes!(planes_16, 16, shuffled_16);
