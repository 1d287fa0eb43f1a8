//! Turns planes on their way past the caches, by way of two small areas in turn: while one block is turned, tile by tile,
//! into one of them, the block before leaves the other a few lines after each tile, and the lines of the next are asked
//! for. Memory then reads and writes all the time, and mostly in pieces of [`PIECE`] bytes both ways, which it wants.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod leaving;

use super::collapse::{Axes, Axis};
use super::plan::packed_from;
use super::{strided, transpose};
use crate::kernels::caches;
pub(super) use leaving::Leaving;

/// Bytes in a cache line.
const LINE: usize = 64;
/// Bytes that are read and written in one piece. Of less memory moves more than it was asked for: lines that follow each
/// other in pieces of 128 bytes were written at two thirds of the speed, single ones at a third.
pub(super) const PIECE: usize = 4 * LINE;
/// Bytes of the cells of a block, at most.
pub(super) const BLOCK: usize = 64 << 10;
/// Rows of the source that are no more bytes apart have all of a tile's lines in a small nearest cache at a time.
const NEAR_ROWS: usize = 2 << 10;
/// Rows of the source that are so many bytes apart and more have a page each, many of which fall into one set of what the
/// processor remembers of pages: of four-byte cells, half as many are turned at once. Shorter pieces to write cost less then.
pub(super) const FAR_ROWS: usize = 256 << 10;
/// Lines that are asked for at once.
#[cfg(target_arch = "x86_64")]
const FEW: usize = 4;

/// Turns all planes of a block into an area: see [`Block::build`].
type Way = unsafe fn(&Planes, *const u8, *mut u8, isize, &mut Leaving<'_>);

/// Whether planes can be turned so: both axes are a tile long.
pub(super) fn fits(axes: &[Axis], turn: usize, cell: usize) -> bool {
    let Some(last) = axes.last() else {
        return false;
    };
    ways(cell).next().is_some()
        && axes[turn].src == cell as isize
        && axes[turn].size * cell >= LINE
        && last.dst == cell as isize
        && last.size * cell >= LINE
        && axes.iter().all(|axis| axis.src != 0)
}

/// Whether every row of the output starts and ends on a line, as those have to that are written past the caches.
pub(super) fn are_lines(axes: &[Axis], dst: *const u8, cell: usize) -> bool {
    let Some((last, outer)) = axes.split_last() else {
        return false;
    };
    (last.size * cell).is_multiple_of(LINE)
        && (dst as usize).is_multiple_of(LINE)
        && outer.iter().all(|axis| axis.dst % LINE as isize == 0)
}

/// How many bytes a block takes of each row of the source, and of each row of the output, past the caches.
///
/// A processor with a small nearest cache was measured to turn 32 rows of the source at a time, of which it takes 256 bytes
/// and more, one and a half times as fast as more rows, unless it takes half a KiB to a KiB of each: most likely it foresees
/// so many places, and forgets the first of more. Narrow cells have to be of more rows, lest pieces to write are single lines.
pub(super) fn pieces(cell: usize, far: bool, small: bool) -> (usize, usize) {
    match cell {
        1 if small => (2 * PIECE, LINE),
        2 | 4 if small => (2 * PIECE, PIECE / 2),
        // A row of narrow cells is made of so many rows of the source that shorter pieces of those fill a block.
        1 | 2 => (PIECE / 2, PIECE),
        _ => (PIECE, row(cell, far)),
    }
}

/// How many bytes a block takes of each row of the output, where it does not matter how many rows of the source are read.
pub(super) fn row(cell: usize, far: bool) -> usize {
    if far && cell == 4 { PIECE / 2 } else { PIECE }
}

/// A place for a block: its cells, and a line between rows, lest they all fall into the same few sets of the cache. A row has
/// a line at least.
#[repr(align(64))]
pub(super) struct Area {
    _bytes: [u8; 2 * BLOCK],
}

/// A block as it lies in an area.
pub(super) struct Block {
    /// Its axes, with the strides they have in the output.
    of: Axes,
    /// With those they have in the area.
    axes: Axes,
    /// The same as planes, if tiles fit.
    planes: Option<(Planes, Way)>,
    /// Where its rows go, in bytes from where the block does; their lines, and how far apart they are in the area.
    rows: Vec<isize>,
    lines: usize,
    pitch: usize,
}

/// Planes that are turned.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
struct Planes {
    /// The axis that the source runs along, and the one that the area runs along.
    run: Axis,
    across: Axis,
    /// From plane to plane.
    rest: Axes,
    /// How many tiles there are in all.
    tiles: usize,
}

impl Block {
    /// None yet.
    pub(super) fn new() -> Block {
        Block {
            of: Axes::new(),
            axes: Axes::new(),
            planes: None,
            rows: Vec::new(),
            lines: 0,
            pitch: 0,
        }
    }

    /// Makes it the block of these axes, which most blocks of a copy have in common.
    pub(super) fn set(&mut self, axes: &[Axis], cell: usize) {
        if self.of[..] == *axes {
            return;
        }
        self.of = Axes::from_slice(axes);
        self.axes = Axes::from_slice(axes);
        let from = packed_from(axes, cell);
        let bytes = axes[from..]
            .iter()
            .fold(cell, |bytes, axis| bytes * axis.size);
        self.lines = bytes / LINE;
        self.pitch = bytes + LINE;
        self.rows.clear();
        self.rows.push(0);
        let mut pitch = self.pitch;
        for axis in self.axes[..from].iter_mut().rev() {
            let inner = self.rows.len();
            for i in 1..axis.size as isize {
                self.rows.extend_from_within(..inner);
                let at = self.rows.len() - inner;
                self.rows[at..]
                    .iter_mut()
                    .for_each(|row| *row += i * axis.dst);
            }
            axis.dst = pitch as isize;
            pitch *= axis.size;
        }
        debug_assert!(bytes.is_multiple_of(LINE) && pitch <= size_of::<Area>());
        self.planes = Planes::of(&self.axes, cell);
    }

    /// As [`Block::set`], for a block that needs no area: it is built where it belongs.
    pub(super) fn set_straight(&mut self, axes: &[Axis], cell: usize) {
        if self.of[..] != *axes {
            self.of = Axes::from_slice(axes);
            self.axes = Axes::from_slice(axes);
            self.planes = Planes::of(&self.axes, cell);
        }
    }

    /// Turns it into an area. What is `next` bytes further is asked for, and what leaves meanwhile goes on after every tile.
    ///
    /// # Safety
    /// K1 and K4 for `src`; the area is an [`Area`], or for a block that needs none where it belongs, that is used by nothing
    /// else (K3), and the block one of a plan whose axes [`fits`] was asked of. Whatever leaves may do so.
    pub(super) unsafe fn build(
        &self,
        src: *const u8,
        area: *mut u8,
        cell: usize,
        next: isize,
        leaving: &mut Leaving<'_>,
    ) {
        // SAFETY: the caller's.
        unsafe {
            match &self.planes {
                Some((planes, way)) => way(planes, src, area, next, leaving),
                None if transpose::copy(&self.axes, src, area, cell) => {}
                None => strided::copy(&self.axes, src, area, cell),
            }
        }
    }
}

impl Planes {
    /// The planes of a block, whose strides are those of an area, and the fastest way to turn them; none where they are
    /// smaller than a tile, or there is no way.
    fn of(axes: &[Axis], cell: usize) -> Option<(Planes, Way)> {
        let (&across, outer) = axes.split_last()?;
        let turn = outer.iter().position(|axis| axis.src == cell as isize)?;
        let (run, side) = (outer[turn], LINE / cell);
        let mut rest = Axes::from_slice(outer);
        rest.remove(turn);
        let planes: usize = rest.iter().map(|axis| axis.size).product();
        let tiles = planes * run.size.div_ceil(side) * across.size.div_ceil(side);
        if run.size < side || across.size < side {
            return None;
        }
        let strips = strips_are_faster(across.src, cell, caches::nearest_is_small());
        let way = ways(cell).take(1 + usize::from(strips)).last()?;
        let planes = Planes {
            run,
            across,
            rest,
            tiles,
        };
        Some((planes, way))
    }
}

/// Whether tiles are turned faster by strips, which read each line in parts, than by vectors of a whole line. So it was on a
/// processor with a small nearest cache, which also works on such vectors in halves, for four-byte cells.
fn strips_are_faster(across: isize, cell: usize, small: bool) -> bool {
    cell == 4 && small && across.unsigned_abs() <= NEAR_ROWS
}

/// Whether what comes next is asked for into the nearest cache. So it was measured to be faster where that is not a small one,
/// but for the many rows of the narrowest cells, and rows very far apart.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
fn goes_near(across: isize, cell: usize, small: bool) -> bool {
    !small && cell > 1 && across.unsigned_abs() <= 2 * FAR_ROWS
}

/// Walks over the tiles of planes, rows of the source a tile at a time; turns each by `$turn`, and then in turns asks for a
/// few lines of what comes next and sends off as many of what leaves. What comes next is asked for row by row: lines that
/// follow each other come sooner than as many of different rows.
#[cfg(target_arch = "x86_64")]
macro_rules! each_tile {
    ($planes:ident, $src:ident, $area:ident, $next:ident, $leaving:ident, $width:literal, $turn:expr, $send:expr) => {{
        use super::goes_near;
        use crate::kernels::copy::{strided::each, transpose::starts};
        use crate::kernels::{caches, prefetch};
        const TILE: usize = LINE / $width;
        let Planes {
            run,
            across,
            rest,
            tiles,
        } = $planes;
        let near = goes_near(across.src, $width, caches::nearest_is_small());
        let few = ($leaving.left() * FEW).div_ceil(tiles * TILE);
        let lines = (run.size * $width).div_ceil(LINE);
        each(rest, $src, $area, &mut |src, area| {
            let (mut row, mut line) = (src.wrapping_offset($next), 0);
            for a in starts(across.size, TILE) {
                for r in starts(run.size, TILE) {
                    let src = src.offset(a * across.src + r * $width);
                    let area = area.offset(a * $width + r * run.dst);
                    $turn(src, across.src, area, run.dst);
                    for _ in 0..TILE / FEW {
                        for _ in 0..FEW {
                            let further = row.wrapping_add(line * LINE);
                            match near {
                                true => prefetch::nearest(further),
                                false => prefetch::second(further),
                            }
                            line += 1;
                            if line == lines {
                                (row, line) = (row.wrapping_offset(across.src), 0);
                            }
                        }
                        $leaving.send(few, $send);
                    }
                }
            }
        });
    }};
}
#[cfg(target_arch = "x86_64")]
use each_tile;

/// All ways that this processor has, the widest first.
fn ways(cell: usize) -> impl Iterator<Item = Way> {
    #[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))]
    let mut ways: [Option<Way>; 2] = [None; 2];
    #[cfg(target_arch = "x86_64")]
    {
        ways[0] = std::arch::is_x86_feature_detected!("avx512bw").then_some(match cell {
            1 => avx512::planes_1,
            2 => avx512::planes_2,
            4 => avx512::planes_4,
            8 => avx512::planes_8,
            _ => avx512::planes_16,
        });
        ways[1] = std::arch::is_x86_feature_detected!("avx2").then_some(match cell {
            1 => avx2::planes_1,
            2 => avx2::planes_2,
            4 => avx2::planes_4,
            8 => avx2::planes_8,
            _ => avx2::planes_16,
        });
    }
    let _ = cell;
    ways.into_iter().flatten()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::kernels::copy::stream;

    #[test]
    fn near_rows_of_four_byte_cells_are_turned_by_strips_where_the_nearest_cache_is_small() {
        assert!(strips_are_faster(1 << 10, 4, true));
        assert!(strips_are_faster(-(2 << 10), 4, true));
        assert!(!strips_are_faster(4 << 10, 4, true));
        assert!(!strips_are_faster(1 << 10, 4, false));
        assert!(!strips_are_faster(1 << 10, 8, true));
    }

    #[test]
    fn what_comes_next_goes_near_unless_it_is_too_much_for_that() {
        assert!(goes_near(16 << 10, 4, false));
        assert!(goes_near(-(512 << 10), 2, false));
        assert!(!goes_near(16 << 10, 4, true));
        assert!(!goes_near(16 << 10, 1, false));
        assert!(!goes_near(1 << 20, 4, false));
    }

    #[test]
    fn a_block_of_any_pieces_has_room_for_a_tile() {
        for cell in [1, 2, 4, 8, 16] {
            for (far, small) in [(false, true), (true, true), (false, false), (true, false)] {
                let (run, row) = pieces(cell, far, small);
                assert!(run >= PIECE / 2 && row >= LINE);
                // Of a short axis all is taken, up to twice as much.
                assert!(2 * run * (LINE / cell) <= BLOCK, "{cell} {far} {small}");
            }
        }
    }

    /// Every way turns a block with gaps all around, while another leaves.
    #[test]
    fn every_way_to_turn_a_block_exchanges_row_and_column_and_lets_the_last_one_go() {
        for cell in [1, 2, 4, 8, 16] {
            let side = LINE / cell;
            for (run, rows, planes) in [
                (side, side, 1),
                (2 * side + side / 2, 3 * side, 1),
                (side + 1, 2 * side, 3),
            ] {
                for way in ways(cell) {
                    turned_and_sent(cell, [planes, run, rows], way);
                }
            }
        }
    }

    /// Turns `[planes, run, rows]` cells twice into areas, the second time while the first leaves.
    fn turned_and_sent(cell: usize, [planes, run, rows]: [usize; 3], way: Way) {
        let (pitch, gap) = (run * cell + 24, rows * cell + 2 * LINE);
        let src: Vec<u8> = (0..planes * rows * pitch)
            .map(|i| (i * 31 + i / 251) as u8)
            .collect();
        let axis = |size, src, dst| Axis {
            size,
            src: src as isize,
            dst: dst as isize,
        };
        let whole_rows = rows;
        let axes = |rows, gap| {
            [
                axis(planes, whole_rows * pitch, run * gap),
                axis(run, cell, gap),
                axis(rows, pitch, cell),
            ]
        };
        let mut block = Block::new();
        block.set(&axes(rows, gap), cell);
        assert!(block.planes.is_some());
        block.planes.as_mut().unwrap().1 = way;
        let mut areas = [const { core::mem::MaybeUninit::<Area>::uninit() }; 2];
        let mut out = vec![0xa5u8; planes * run * gap + LINE];
        let start = out.as_ptr().align_offset(LINE);
        // SAFETY: areas and output are as large as the block needs, and rows go to lines (K1, K3, K4).
        unsafe {
            let [one, other] = areas.each_mut().map(|area| area.as_mut_ptr().cast::<u8>());
            block.build(src.as_ptr(), one, cell, 0, &mut Leaving::nothing());
            let mut leaving = Leaving::new(&block, one, out.as_mut_ptr().add(start));
            block.build(src.as_ptr(), other, cell, 0, &mut leaving);
            assert_eq!(leaving.left(), 0, "all of it leaves while as much is built");
            leaving.finish();
        }
        stream::fence();
        let check = |out: &[u8], rows: usize, gap: usize| {
            for (at, byte) in out.iter().enumerate() {
                let (plane, r, at) = (at / gap / run, at / gap % run, at % gap);
                let expected = match at < rows * cell {
                    true => src[(plane * whole_rows + at / cell) * pitch + r * cell + at % cell],
                    false => 0xa5,
                };
                assert_eq!(*byte, expected, "cells of {cell} bytes, {planes} {r} {at}");
            }
        };
        check(&out[start..][..planes * run * gap], rows, gap);
        // Straight to where it belongs, it is the same, and need not be whole lines.
        let fewer = rows - usize::from(rows > LINE / cell);
        for (rows, gap, start) in [(rows, gap, start), (fewer, gap - LINE / 2, start + cell)] {
            let mut straight = vec![0xa5u8; planes * run * gap + 2 * LINE];
            let axes = axes(rows, gap);
            block.set_straight(&axes[1..], cell);
            block.set_straight(&axes, cell);
            block.planes.as_mut().unwrap().1 = way;
            // SAFETY: the output is as large as the block needs (K1, K3, K4).
            unsafe {
                let to = straight.as_mut_ptr().add(start);
                block.build(src.as_ptr(), to, cell, 0, &mut Leaving::nothing());
            }
            check(&straight[start..][..planes * run * gap], rows, gap);
        }
    }
}
