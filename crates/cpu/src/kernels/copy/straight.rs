//! Turns planes straight into an output that is written past the caches. A tile is a line of cells both ways: its
//! lines are read whole, turned near, and every line of the output leaves the processor in one piece. Nothing is
//! staged, so that memory never waits for a block to be built.

use super::collapse::{Axes, Axis};
use super::stream::stream;
use super::strided::each;
use super::transpose::{starts, turn_near};
use core::mem::MaybeUninit;

/// Bytes in a cache line.
pub(super) const LINE: usize = 64;

/// Turns one tile: from rows `across` bytes apart to rows `run` bytes apart.
type Tile = unsafe fn(*const u8, isize, *mut u8, isize);

/// Whether planes of this output can be turned straight: every row of it starts and ends on a line, and both axes
/// of the plane are a tile long.
pub(super) fn fits(axes: &[Axis], turn: usize, dst: *const u8, cell: usize) -> bool {
    let Some((last, outer)) = axes.split_last() else {
        return false;
    };
    axes[turn].src == cell as isize
        && axes[turn].size * cell >= LINE
        && last.dst == cell as isize
        && (last.size * cell).is_multiple_of(LINE)
        && (dst as usize).is_multiple_of(LINE)
        && outer.iter().all(|axis| axis.dst % LINE as isize == 0)
        && axes.iter().all(|axis| axis.src != 0)
}

/// Copies every cell of `axes`, and tells `done` after each tile how many there are of how many.
///
/// # Safety
/// K1, K3 and K4 for `src` and `dst` over `axes`, whose strides are in bytes, and [`fits`] for one of them. Call
/// [`super::stream::fence`] before another thread may look.
pub(super) unsafe fn copy(
    axes: &[Axis],
    src: *const u8,
    dst: *mut u8,
    cell: usize,
    mut done: impl FnMut(usize, usize),
) {
    let side = LINE / cell;
    let Some((&last, outer)) = axes.split_last() else {
        return;
    };
    let Some(turn) = outer.iter().position(|axis| axis.src == cell as isize) else {
        return;
    };
    let run = outer[turn];
    let mut rest = Axes::from_slice(outer);
    rest.remove(turn);
    let planes: usize = rest.iter().map(|axis| axis.size).product();
    let total = planes * run.size.div_ceil(side) * (last.size / side);
    // Small tiles are told of together.
    let every = (cell / 4).max(1);
    let mut count = 0;
    let tile = wide(cell).unwrap_or(plain(cell));
    // SAFETY: a tile lies inside the plane, which lies inside at every index of the rest (K1, K3, K4). Rows of the
    // output start on a line and tiles on a line of them.
    unsafe {
        each(&rest, src, dst, &mut |src, dst| {
            for r in starts(run.size, side) {
                for a in 0..(last.size / side) as isize {
                    let src = src.offset(a * side as isize * last.src + r * cell as isize);
                    let dst = dst.offset(a * LINE as isize + r * run.dst);
                    tile(src, last.src, dst, run.dst);
                    count += 1;
                    if count % every == 0 || count == total {
                        done(count, total);
                    }
                }
            }
        });
    }
}

/// The way to turn a tile in vectors of a whole line, where there are such.
fn wide(cell: usize) -> Option<Tile> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512bw") {
        return Some(match cell {
            1 => avx512::tile_1,
            2 => avx512::tile_2,
            4 => avx512::tile_4,
            8 => avx512::tile_8,
            _ => avx512::tile_16,
        });
    }
    let _ = cell;
    None
}

/// A line of bytes, moved as one.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "only moved")] [u8; LINE]);

/// The way to turn a tile anywhere.
fn plain(cell: usize) -> Tile {
    match cell {
        1 => plain_tile::<1>,
        2 => plain_tile::<2>,
        4 => plain_tile::<4>,
        8 => plain_tile::<8>,
        _ => plain_tile::<16>,
    }
}

/// Turns a tile with narrower vectors: its lines are turned next to each other, then sent off.
///
/// # Safety
/// K1, K3 and K4 for the tile.
unsafe fn plain_tile<const CELL: usize>(src: *const u8, across: isize, dst: *mut u8, run: isize) {
    let side = LINE / CELL;
    let mut lines = [MaybeUninit::<Line>::uninit(); LINE];
    let mut turned = [MaybeUninit::<Line>::uninit(); LINE];
    let from = Axis {
        size: side,
        src: CELL as isize,
        dst: LINE as isize,
    };
    let to = Axis {
        size: side,
        src: LINE as isize,
        dst: CELL as isize,
    };
    // SAFETY: the tile's lines are inside (K1, K3, K4), and both areas hold as many.
    unsafe {
        for (i, line) in lines[..side].iter_mut().enumerate() {
            let at = src.offset(i as isize * across);
            core::ptr::copy_nonoverlapping(at, line.as_mut_ptr().cast(), LINE);
        }
        turn_near(CELL)(from, to, lines.as_ptr().cast(), turned.as_mut_ptr().cast());
        for (i, line) in turned[..side].iter().enumerate() {
            stream(line.as_ptr().cast(), dst.offset(i as isize * run), LINE);
        }
    }
}

/// Vectors of four lanes: a whole line. A lane turns a square, as in `transpose`, and four of them lie side by side
/// in a line of the output.
#[cfg(target_arch = "x86_64")]
mod avx512 {
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
            /// As for `plain_tile`; `dst` and `run` are whole lines.
            #[target_feature(enable = "avx512f,avx512bw")]
            pub(super) unsafe fn $name(src: *const u8, across: isize, dst: *mut u8, run: isize) {
                const SIDE: usize = LANE / $width;
                let mut near = [MaybeUninit::<__m512i>::uninit(); LINE / $width];
                // SAFETY: the tile's lines are inside (K1, K3, K4), and all of `near` is written first.
                unsafe {
                    // Whole lines, each read once: those a power of two apart push each other out of the cache.
                    let line =
                        |i: usize| _mm512_loadu_si512(src.offset(i as isize * across).cast());
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
            /// As for `plain_tile`; `dst` and `run` are whole lines.
            #[target_feature(enable = "avx512f,avx512bw")]
            pub(super) unsafe fn $name(src: *const u8, across: isize, dst: *mut u8, run: isize) {
                const SIDE: usize = LANE / $width;
                for part in 0..LINE / LANE {
                    // SAFETY: the tile's lines are inside (K1, K3, K4).
                    unsafe {
                        let src = src.add(part * LANE);
                        let mut rows = [_mm512_setzero_si512(); SIDE];
                        for (i, row) in rows.iter_mut().enumerate() {
                            *row =
                                gathered(src.offset(i as isize * across), SIDE as isize * across);
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of the source and of the target are some lines apart, more than a tile needs.
    const PITCH: usize = 3 * LINE;

    #[test]
    fn every_way_to_turn_a_tile_exchanges_row_and_column() {
        let src: Vec<u8> = (0..PITCH * LINE)
            .map(|i| (i * 31 + i / 251) as u8)
            .collect();
        for cell in [1, 2, 4, 8, 16] {
            let side = LINE / cell;
            for tile in wide(cell).into_iter().chain([plain(cell)]) {
                let mut dst = vec![Line([0xa5; LINE]); LINE * PITCH / LINE];
                // SAFETY: both areas hold as many rows as any tile has; lines are aligned (K1, K3, K4).
                let got = unsafe {
                    let to = dst.as_mut_ptr().cast::<u8>();
                    tile(src.as_ptr(), PITCH as isize, to, PITCH as isize);
                    super::super::stream::fence();
                    core::slice::from_raw_parts(to, dst.len() * LINE)
                };
                let mut expected = vec![0xa5; dst.len() * LINE];
                for (i, j) in (0..side * side).map(|at| (at / side, at % side)) {
                    let (from, to) = (i * PITCH + j * cell, j * PITCH + i * cell);
                    expected[to..to + cell].copy_from_slice(&src[from..from + cell]);
                }
                assert!(got == expected, "cells of {cell} bytes");
            }
        }
    }
}
