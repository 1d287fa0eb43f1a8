//! Brings the next block's source near while the present block is written out. Building a block only reads
//! and writing it out only writes; without this the two would take turns waiting for memory.
//!
//! Lines are asked for by prefetching; runs that lie a stride apart are too far for the processor to guess.
//! For narrow cells that is not enough: a square of them spans more rows than a cache set has ways, and rows
//! a power of two apart all fall into one set. Their runs are copied into a compact area instead.

use super::collapse::{Axes, Axis};
use crate::kernels::prefetch;

/// Bytes in a cache line.
const LINE: usize = 64;
/// Bytes of the compact area.
pub(super) const COMPACT: usize = 96 << 10;
/// Cells up to this many bytes are narrow.
const NARROW: usize = 2;
/// Bytes of a run that is copied without a call: a pair of lines.
const PIECE: usize = 2 * LINE;
/// Sparse axes deeper than this are left where they are; blocks rarely have more than three.
const DEPTH: usize = 4;

/// The source of a block, on its way.
pub(super) struct Ahead {
    /// The block, as it will be found once it is near.
    block: Axes,
    src: *const u8,
    /// Where its runs are now: the first one, its length, and the axes that lead to the others.
    first: *const u8,
    run: usize,
    sparse: Axes,
    /// Where runs are copied to and how far apart; null when they stay where they are.
    compact: *mut u8,
    pitch: usize,
    /// How many runs there are, and how many lines each of them touches at most.
    runs: usize,
    lines: usize,
    /// The next line to ask for, how many are left of its run, the runs after that one, and how many lines were asked for.
    line: *const u8,
    left: usize,
    walk: Walk,
    asked: usize,
}

impl Ahead {
    /// The source of `block` at `src`, to be made compact in `compact` if need be.
    pub(super) fn of(block: &Axes, src: *const u8, cell: usize, compact: *mut u8) -> Ahead {
        let mut order: Axes = block.iter().copied().filter(|axis| axis.src != 0).collect();
        order.sort_unstable_by_key(|axis| core::cmp::Reverse(axis.src.unsigned_abs()));
        let (mut first, mut run, mut gaps) = (src, cell, false);
        // Axes that leave no line out make one run.
        while let Some(&axis) = order.last()
            && axis.src.unsigned_abs() < run + LINE
        {
            gaps |= axis.src.unsigned_abs() > run;
            let span = (axis.size as isize - 1) * axis.src;
            first = first.wrapping_offset(span.min(0));
            run += span.unsigned_abs();
            order.pop();
        }
        let mut ahead = Ahead {
            block: block.clone(),
            src,
            first,
            run,
            sparse: Axes::new(),
            compact: core::ptr::null_mut(),
            pitch: 0,
            runs: 0,
            lines: 0,
            line: first,
            left: 0,
            walk: Walk::default(),
            asked: 0,
        };
        if order.len() <= DEPTH {
            let runs = order.iter().map(|axis| axis.size).product::<usize>();
            // A line of padding, lest the runs share sets again.
            let pitch = run.next_multiple_of(LINE) + LINE;
            let aligned = order.iter().all(|axis| axis.src % LINE as isize == 0);
            let within = if aligned {
                first as usize % LINE
            } else {
                LINE - 1
            };
            ahead.runs = runs;
            ahead.lines = (within + run).div_ceil(LINE);
            // What lies in gaps is not ours to read.
            let narrow = cell <= NARROW && !order.is_empty();
            if narrow && !gaps && !compact.is_null() && runs * pitch <= COMPACT {
                ahead.pitch = pitch;
                ahead.compact = compact;
                ahead.move_block(&order);
            }
            ahead.sparse = order;
        }
        ahead
    }

    /// Points the block at the compact area, where the runs of the `sparse` axes follow each other.
    fn move_block(&mut self, sparse: &[Axis]) {
        let within = self.src as usize - self.first as usize;
        self.src = self.compact.wrapping_add(within);
        let mut step = self.pitch;
        for axis in sparse.iter().rev() {
            for moved in self.block.iter_mut().filter(|moved| moved.dst == axis.dst) {
                moved.src = step as isize;
            }
            step *= axis.size;
        }
    }

    /// Goes on asking until `part` of `parts` has been asked for.
    #[inline(never)]
    pub(super) fn bring(&mut self, part: usize, parts: usize) {
        self.bring_at_once(part, parts);
    }

    /// [`Ahead::bring`] without a call, where so little is written in between that every instruction counts.
    #[inline(always)]
    pub(super) fn bring_at_once(&mut self, part: usize, parts: usize) {
        let until = self.runs * self.lines * part / parts;
        let mut count = until.saturating_sub(self.asked);
        self.asked += count;
        while count > 0 {
            if self.left == 0 {
                self.line = self.first.wrapping_offset(self.walk.offset);
                self.walk.next(&self.sparse, 1);
                self.left = self.lines;
            }
            let now = count.min(self.left);
            (0..now).for_each(|i| prefetch::second(self.line.wrapping_add(i * LINE)));
            self.line = self.line.wrapping_add(now * LINE);
            self.left -= now;
            count -= now;
        }
    }

    /// Bytes from a run to the next.
    #[inline]
    fn step(&self) -> isize {
        self.sparse.last().map_or(0, |axis| axis.src)
    }

    /// The block and its source, all of it near.
    ///
    /// # Safety
    /// K1 and K4 for the block at its source; the compact area holds [`COMPACT`] bytes and is used by nothing else (K3).
    pub(super) unsafe fn finish(self) -> (Axes, *const u8) {
        if !self.compact.is_null() {
            // SAFETY: the caller's.
            unsafe { self.copy_runs() };
        }
        (self.block, self.src)
    }

    /// Copies the runs, which are near by now, to the compact area. All at once: runs that are copied as they come hold
    /// up what is written meanwhile.
    unsafe fn copy_runs(&self) {
        let (step, mut walk, mut to) = (self.step(), Walk::default(), self.compact);
        let mut left = self.runs;
        while left > 0 {
            let mut from = self.first.wrapping_offset(walk.offset);
            let count = walk.next(&self.sparse, left);
            for _ in 0..count {
                // SAFETY: runs at indices of the sparse axes (K1, K4); all of them fit the area (K3).
                unsafe {
                    if self.run == PIECE {
                        // Not worth a call.
                        type Piece = [u8; PIECE];
                        to.cast::<Piece>().write(from.cast::<Piece>().read());
                    } else {
                        core::ptr::copy_nonoverlapping(from, to, self.run);
                    }
                }
                (from, to) = (from.wrapping_offset(step), to.wrapping_add(self.pitch));
            }
            left -= count;
        }
    }
}

/// A position among runs.
#[derive(Default)]
struct Walk {
    index: [usize; DEPTH],
    offset: isize,
}

impl Walk {
    /// How many runs follow each other along the last axis from the present one on, `most` at most; goes on past
    /// them, and after the last run to the first.
    #[inline]
    fn next(&mut self, axes: &[Axis], most: usize) -> usize {
        let Some((last, index)) = axes.last().zip(self.index.get_mut(..axes.len())) else {
            return 1;
        };
        let at = &mut index[axes.len() - 1];
        let left = last.size - *at;
        if most < left {
            *at += most;
            self.offset += most as isize * last.src;
            return most;
        }
        let mut steps = left;
        for (axis, index) in axes.iter().zip(index).rev() {
            *index += steps;
            self.offset += steps as isize * axis.src;
            if *index < axis.size {
                break;
            }
            self.offset -= axis.size as isize * axis.src;
            (*index, steps) = (0, 1);
        }
        left
    }
}
