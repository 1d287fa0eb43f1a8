//! Vectors of four lanes: a whole line. A lane turns a square, as in `transpose`, and four of them lie side by side in a
//! line of the output.

use super::LINE;
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

/// Bytes in a lane.
const LANE: usize = 16;

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

/// Interleaves the first half of the rows with the second.
macro_rules! shuffle {
    ($rows:ident, $low:ident, $high:ident) => {{
        let mut out = $rows;
        let mut i = 0;
        while i < SIDE / 2 {
            out[2 * i] = $low($rows[i], $rows[i + SIDE / 2]);
            out[2 * i + 1] = $high($rows[i], $rows[i + SIDE / 2]);
            i += 1;
        }
        out
    }};
}

macro_rules! tile {
    ($name:ident, $width:literal, $low:ident, $high:ident) => {
        /// # Safety
        /// K1, K3 and K4 for the tile; `dst` and `run` are whole lines.
        #[target_feature(enable = "avx512f,avx512bw")]
        pub(super) unsafe fn $name(src: *const u8, across: isize, dst: *mut u8, run: isize) {
            const SIDE: usize = LANE / $width;
            let mut near = [MaybeUninit::<__m512i>::uninit(); LINE / $width];
            // SAFETY: the tile's lines are inside (K1, K3, K4), and all of `near` is written first.
            unsafe {
                // Whole lines, each read once: those a power of two apart push each other out of the cache.
                let line = |i: usize| _mm512_loadu_si512(src.offset(i as isize * across).cast());
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
                    let mut rows: [__m512i; SIDE] =
                        core::array::from_fn(|i| near[part * SIDE + i].assume_init());
                    // One perfect shuffle for each doubling of the side.
                    if SIDE > 1 {
                        rows = shuffle!(rows, $low, $high);
                    }
                    if SIDE > 2 {
                        rows = shuffle!(rows, $low, $high);
                    }
                    for (i, row) in rows.iter().enumerate() {
                        let to = dst.offset((part * SIDE + i) as isize * run);
                        _mm512_stream_si512(to.cast(), *row);
                    }
                }
            }
        }
    };
}

/// As `tile`, for cells so narrow that a tile has more lines than there are registers: its lanes are read one by
/// one, from lines that are near.
macro_rules! narrow_tile {
    ($name:ident, $width:literal, $shuffled:ident) => {
        /// # Safety
        /// K1, K3 and K4 for the tile; `dst` and `run` are whole lines.
        #[target_feature(enable = "avx512f,avx512bw")]
        pub(super) unsafe fn $name(src: *const u8, across: isize, dst: *mut u8, run: isize) {
            const SIDE: usize = LANE / $width;
            for part in 0..LINE / LANE {
                // SAFETY: the tile's lines are inside (K1, K3, K4).
                unsafe {
                    let src = src.add(part * LANE);
                    let mut rows = [_mm512_setzero_si512(); SIDE];
                    for (i, row) in rows.iter_mut().enumerate() {
                        *row = gathered(src.offset(i as isize * across), SIDE as isize * across);
                    }
                    let rows = $shuffled(rows);
                    for (i, row) in rows.iter().enumerate() {
                        let to = dst.offset((part * SIDE + i) as isize * run);
                        _mm512_stream_si512(to.cast(), *row);
                    }
                }
            }
        }
    };
}

/// # Safety
/// Lanes at `at` and at `next` bytes thrice further are inside (K1).
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn gathered(at: *const u8, next: isize) -> __m512i {
    // SAFETY: the caller's word.
    unsafe {
        let lane = |i: isize| _mm_loadu_si128(at.offset(i * next).cast());
        let line = _mm512_castsi128_si512(lane(0));
        let line = _mm512_inserti32x4::<1>(line, lane(1));
        let line = _mm512_inserti32x4::<2>(line, lane(2));
        _mm512_inserti32x4::<3>(line, lane(3))
    }
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

narrow_tile!(tile_1, 1, shuffled_1);
narrow_tile!(tile_2, 2, shuffled_2);
tile!(tile_4, 4, _mm512_unpacklo_epi32, _mm512_unpackhi_epi32);
tile!(tile_8, 8, _mm512_unpacklo_epi64, _mm512_unpackhi_epi64);
tile!(tile_16, 16, _mm512_unpacklo_epi64, _mm512_unpackhi_epi64);
