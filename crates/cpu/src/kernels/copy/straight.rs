//! Turns planes straight into an output that is written past the caches. A tile is a line of cells both ways: its
//! lines are read whole, turned near, and every line of the output leaves the processor in one piece. Nothing is
//! staged, so that memory never waits for a block to be built.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use super::collapse::{Axes, Axis};
use super::strided::each;
use super::transpose::starts;
#[cfg(target_arch = "x86_64")]
use super::vectors::LANE;

/// Bytes in a cache line.
const LINE: usize = 64;

/// A way to turn a tile: strip by strip, each of so many bytes along the source's run, from rows `across` bytes apart to
/// rows `run` bytes apart.
#[derive(Clone, Copy)]
struct Way {
    strip: unsafe fn(*const u8, isize, *mut u8, isize),
    bytes: usize,
}

/// Whether planes of this output can be turned straight: every row of it starts and ends on a line, and both axes
/// of the plane are a tile long.
pub(super) fn fits(axes: &[Axis], turn: usize, dst: *const u8, cell: usize) -> bool {
    let Some((last, outer)) = axes.split_last() else {
        return false;
    };
    wide(cell).is_some()
        && axes[turn].src == cell as isize
        && axes[turn].size * cell >= LINE
        && last.dst == cell as isize
        && (last.size * cell).is_multiple_of(LINE)
        && (dst as usize).is_multiple_of(LINE)
        && outer.iter().all(|axis| axis.dst % LINE as isize == 0)
        && axes.iter().all(|axis| axis.src != 0)
}

/// Copies every cell of `axes`, and tells `done` after every strip or two how many there are of how many.
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
    let Some(way) = wide(cell) else {
        return;
    };
    let planes: usize = rest.iter().map(|axis| axis.size).product();
    let strips = LINE / way.bytes;
    let total = planes * run.size.div_ceil(side) * (last.size / side) * strips;
    // Small strips are told of together.
    let every = (cell / 4).max(1);
    let mut count = 0;
    // SAFETY: a tile lies inside the plane, which lies inside at every index of the rest (K1, K3, K4). Rows of the
    // output start on a line and tiles on a line of them.
    unsafe {
        each(&rest, src, dst, &mut |src, dst| {
            for r in starts(run.size, side) {
                for a in 0..(last.size / side) as isize {
                    let src = src.offset(a * side as isize * last.src + r * cell as isize);
                    let dst = dst.offset(a * LINE as isize + r * run.dst);
                    for strip in 0..strips {
                        let src = src.add(strip * way.bytes);
                        let dst = dst.offset((strip * way.bytes / cell) as isize * run.dst);
                        (way.strip)(src, last.src, dst, run.dst);
                        count += 1;
                        if count % every == 0 || count == total {
                            done(count, total);
                        }
                    }
                }
            }
        });
    }
}

/// The widest way to turn a tile in vectors, where there are such.
fn wide(cell: usize) -> Option<Way> {
    ways(cell).next()
}

/// Whether a vector is a whole line, so that each line is read once.
pub(super) fn has_line_vectors() -> bool {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512bw") {
        return true;
    }
    false
}

/// All ways that this processor has, the widest first.
fn ways(cell: usize) -> impl Iterator<Item = Way> {
    let mut ways: [Option<Way>; 2] = [None; 2];
    #[cfg(target_arch = "x86_64")]
    {
        ways[0] = has_line_vectors().then_some(Way {
            strip: match cell {
                1 => avx512::tile_1,
                2 => avx512::tile_2,
                4 => avx512::tile_4,
                8 => avx512::tile_8,
                _ => avx512::tile_16,
            },
            bytes: LINE,
        });
        ways[1] = std::arch::is_x86_feature_detected!("avx2").then_some(Way {
            strip: match cell {
                1 => avx2::strip_1,
                2 => avx2::strip_2,
                4 => avx2::strip_4,
                8 => avx2::strip_8,
                _ => avx2::strip_16,
            },
            bytes: if cell < 8 { LANE } else { 2 * LANE },
        });
    }
    let _ = cell;
    ways.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of bytes.
    #[derive(Clone, Copy)]
    #[repr(align(64))]
    struct Line(#[allow(dead_code, reason = "only moved")] [u8; LINE]);

    /// Rows of the source and of the target are some lines apart, more than a tile needs.
    const PITCH: usize = 3 * LINE;

    #[test]
    fn every_way_to_turn_a_tile_exchanges_row_and_column() {
        let src: Vec<u8> = (0..PITCH * LINE)
            .map(|i| (i * 31 + i / 251) as u8)
            .collect();
        for cell in [1, 2, 4, 8, 16] {
            let side = LINE / cell;
            for way in ways(cell) {
                let mut dst = vec![Line([0xa5; LINE]); LINE * PITCH / LINE];
                // SAFETY: both areas hold as many rows as any tile has; lines are aligned (K1, K3, K4).
                let got = unsafe {
                    let to = dst.as_mut_ptr().cast::<u8>();
                    for strip in 0..LINE / way.bytes {
                        let from = src.as_ptr().add(strip * way.bytes);
                        let to = to.add(strip * way.bytes / cell * PITCH);
                        (way.strip)(from, PITCH as isize, to, PITCH as isize);
                    }
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
