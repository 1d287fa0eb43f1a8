//! Moves the blocks of a plan, each by the way the plan says, and brings the next one's source near meanwhile.

use super::ahead::{self, Ahead};
use super::collapse::{Axes, Axis, Simplest};
use super::plan::{self, Move, Plan};
use super::steps::Cursor;
use super::strided::each;
use super::turned::{Area, Block, Leaving};
use super::{backwards, in_place, stream, tile};
use crate::kernels::{lines, prefetch};
use core::mem::MaybeUninit;

/// Bytes written between looks at the next source.
const PIECE: usize = stream::FEW * 64;

/// A copy on its way to several threads.
pub(super) struct Job<'a> {
    pub(super) plan: Plan,
    pub(super) simple: &'a Simplest,
}

// SAFETY: the source is only read, and threads write blocks that share no cell (K3).
unsafe impl Sync for Job<'_> {}

/// Where blocks are built, and where sources are made compact.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Stage<const BUILT: usize, const COMPACT: usize> {
    built: [u8; BUILT],
    compact: [u8; COMPACT],
}

impl Job<'_> {
    /// Moves the blocks numbered `from` up to `to`.
    pub(super) unsafe fn blocks(&self, from: usize, to: usize) {
        let Job { plan, simple } = self;
        let mut at = Cursor::new(&plan.steps, &plan.block, from);
        // SAFETY: a cursor leads to a block inside the copy (K1); blocks share no cell (K3).
        unsafe {
            match plan.how {
                // A small stage is quicker to have.
                Move::Staged if !plan.ahead => {
                    self.blocks_staged::<{ plan::SMALL_STAGE }, 0>(at, to - from);
                }
                Move::Staged | Move::Rows(_) => {
                    self.blocks_staged::<{ plan::STAGE }, { ahead::COMPACT }>(at, to - from);
                }
                Move::Turned if plan.stream => self.blocks_turned(at, to - from),
                Move::Turned => self.blocks_turned_straight(at, to - from),
                Move::Lines => self.blocks_of_lines(at, to - from),
                Move::Places(further) => self.blocks_of_places(at, to - from, further),
                Move::InPlace => {
                    for _ in from..to {
                        let (src, dst) = (simple.src.offset(at.src), simple.dst.offset(at.dst));
                        in_place(&at.block, src, dst, simple.cell);
                        at.advance();
                    }
                }
                Move::Run => {
                    for _ in from..to {
                        let (src, dst) = (simple.src.offset(at.src), simple.dst.offset(at.dst));
                        self.write(src, dst, at.block[0].size * simple.cell);
                        at.advance();
                    }
                }
            }
        }
        if plan.stream {
            stream::fence();
        }
    }

    /// Moves `count` blocks from the cursor on, each built in a staging area first. Nothing is made compact
    /// unless the plan looks ahead.
    #[inline(never)]
    unsafe fn blocks_staged<const BUILT: usize, const COMPACT: usize>(
        &self,
        mut at: Cursor<'_>,
        count: usize,
    ) {
        let Job { plan, simple } = self;
        let mut memory = MaybeUninit::<Stage<BUILT, COMPACT>>::uninit();
        let memory = memory.as_mut_ptr();
        // SAFETY: the memory is ours alone, and only raw pointers into it are made.
        let (stage, compact) = unsafe {
            (
                (&raw mut (*memory).built).cast::<u8>(),
                (&raw mut (*memory).compact).cast::<u8>(),
            )
        };
        let ahead = |at: &Cursor<'_>| {
            let src = simple.src.wrapping_offset(at.src);
            Ahead::of(&at.block, src, simple.cell, compact)
        };
        let mut coming = plan.ahead.then(|| ahead(&at));
        let mut built = false;
        for left in (0..count).rev() {
            // SAFETY: a cursor leads to a block inside the copy (K1); blocks share no cell (K3), and the
            // stage is as large as plans assume. What is built for a whole block starts with what any cut
            // of a repeated axis needs. The compact area is free again once the block is built.
            unsafe {
                if plan.stream {
                    self.ask_for_edges(&at);
                }
                if !built {
                    let (block, src) = match coming.take() {
                        Some(coming) => coming.finish(),
                        None => (at.block.clone(), simple.src.offset(at.src)),
                    };
                    tile::build(&self.whole(block), src, stage, simple.cell);
                }
                let block = at.block.clone();
                let dst = simple.dst.offset(at.dst);
                let new_source = at.advance();
                if plan.ahead && new_source && left > 0 {
                    coming = Some(ahead(&at));
                }
                built = !new_source;
                self.write_stage(stage, dst, &block, coming.as_mut());
            }
        }
    }

    /// Moves `count` blocks from the cursor on, each turned into one area while the one before leaves another.
    #[inline(never)]
    unsafe fn blocks_turned(&self, mut at: Cursor<'_>, count: usize) {
        let Job { simple, .. } = self;
        let mut memory = MaybeUninit::<[Area; 2]>::uninit();
        let areas = memory.as_mut_ptr().cast::<Area>();
        let mut blocks = [Block::new(), Block::new()];
        let mut before = None;
        for number in 0..count {
            let [one, other] = &mut blocks;
            let (block, last) = match number % 2 {
                0 => (one, other),
                _ => (other, one),
            };
            block.set(&at.block, simple.cell);
            let (from, to) = (at.src, simple.dst.wrapping_offset(at.dst));
            at.advance();
            let next = if number + 1 < count { at.src - from } else { 0 };
            // SAFETY: a cursor leads to a block inside the copy (K1); blocks share no cell (K3), and plans see to it that
            // they fit their areas, of which each has been written before it is sent off (K4).
            unsafe {
                let area = areas.add(number % 2).cast::<u8>();
                let mut leaving = match before {
                    Some((area, to)) => Leaving::new(last, area, to),
                    None => Leaving::nothing(),
                };
                let src = simple.src.offset(from);
                block.build(src, area, simple.cell, next, &mut leaving);
                leaving.finish();
                before = Some((area.cast_const(), to));
            }
        }
        if let Some((area, to)) = before {
            // SAFETY: as above.
            unsafe { Leaving::new(&blocks[(count + 1) % 2], area, to).finish() };
        }
    }

    /// Moves `count` blocks from the cursor on, each turned straight to where it belongs, since that stays in the cache.
    #[inline(never)]
    unsafe fn blocks_turned_straight(&self, mut at: Cursor<'_>, count: usize) {
        let Job { simple, .. } = self;
        let mut block = Block::new();
        for left in (0..count).rev() {
            block.set_straight(&at.block, simple.cell);
            let (from, to) = (at.src, at.dst);
            at.advance();
            let next = if left > 0 { at.src - from } else { 0 };
            // SAFETY: a cursor leads to a block inside the copy (K1), and blocks share no cell (K3).
            unsafe {
                let (src, dst) = (simple.src.offset(from), simple.dst.offset(to));
                block.build(src, dst, simple.cell, next, &mut Leaving::nothing());
            }
        }
    }

    /// Moves `count` blocks from the cursor on, of runs that are whole lines, a few that follow each other in the output at
    /// a time; what is near in the source is read on, for each of them.
    #[inline(never)]
    unsafe fn blocks_of_places(&self, mut at: Cursor<'_>, count: usize, further: Option<isize>) {
        let Job { simple, .. } = self;
        for left in (0..count).rev() {
            let mut outer = at.block.clone();
            let (Some(run), Some(places)) = (outer.pop(), outer.pop()) else {
                return;
            };
            outer.sort_unstable_by_key(|axis| core::cmp::Reverse(axis.src.unsigned_abs()));
            let (from, to) = (at.src, at.dst);
            at.advance();
            let next = simple.src.wrapping_offset(at.src);
            let nowhere = core::ptr::null_mut();
            let ahead = further.is_none() && left > 0;
            let mut coming = ahead.then(|| Ahead::of(&at.block, next, simple.cell, nowhere));
            let stretches = outer.iter().map(|axis| axis.size).product();
            let mut done = 0;
            // SAFETY: a cursor leads to a block inside the copy (K1); blocks share no cell (K3). The last axis is a run of
            // whole lines, from a line of the output on (K4).
            unsafe {
                let (src, dst) = (simple.src.offset(from), simple.dst.offset(to));
                each(&outer, src, dst, &mut |src, dst| {
                    let rows = stream::Rows {
                        count: places.size,
                        lines: run.size * simple.cell / 64,
                        src,
                        pitch: places.src,
                        dst,
                        gap: places.dst,
                    };
                    rows.copy_asking(further.unwrap_or(0));
                    done += 1;
                    if let Some(coming) = &mut coming {
                        coming.bring_at_once(done, stretches);
                    }
                });
            }
        }
    }

    /// Moves `count` blocks from the cursor on, of runs that are whole lines, forwards or backwards, and brings the next
    /// source near meanwhile if the plan looks ahead.
    #[inline(never)]
    unsafe fn blocks_of_lines(&self, mut at: Cursor<'_>, count: usize) {
        let Job { plan, simple } = self;
        for left in (0..count).rev() {
            let block = at.block.clone();
            let Some((run, outer)) = block.split_last() else {
                return;
            };
            let lines = run.size * simple.cell / 64;
            let total = outer.iter().fold(lines, |lines, axis| lines * axis.size);
            let (mut done, mut told) = (0, 0);
            // SAFETY: a cursor leads to a block inside the copy (K1); blocks share no cell (K3). The last axis is a run of
            // whole lines, from a line of the output on (K4).
            unsafe {
                let (src, dst) = (simple.src.offset(at.src), simple.dst.offset(at.dst));
                at.advance();
                let next = simple.src.wrapping_offset(at.src);
                let nowhere = core::ptr::null_mut();
                let ahead = plan.ahead && left > 0;
                let mut coming = ahead.then(|| Ahead::of(&at.block, next, simple.cell, nowhere));
                each(outer, src, dst, &mut |src, dst| {
                    match run.src < 0 {
                        true => backwards::lines(src, dst, lines, simple.cell),
                        false => stream::run(src, dst, lines),
                    }
                    done += lines;
                    if (done - told) * 64 >= PIECE || done == total {
                        told = done;
                        if let Some(coming) = &mut coming {
                            coming.bring(done, total);
                        }
                    }
                });
            }
        }
    }

    /// The block to build for `block` and the blocks that follow it without a change of source: where a
    /// repeated axis is cut, all of it.
    fn whole(&self, mut block: Axes) -> Axes {
        for (axis, whole) in block.iter_mut().zip(&self.plan.block) {
            if axis.src == 0 {
                axis.size = whole.size;
            }
        }
        block
    }

    /// Asks for the lines that rows of the output share with what is around them: those are not written past the caches,
    /// and whatever is written after them would have to wait until they have come.
    fn ask_for_edges(&self, at: &Cursor<'_>) {
        let Move::Rows(gap) = self.plan.how else {
            return;
        };
        let bytes = match at.block.get(1) {
            Some(axis) => axis.size * axis.dst as usize,
            None => self.simple.cell,
        };
        let start = self.simple.dst.wrapping_offset(at.dst);
        if (start as usize | bytes | gap as usize).is_multiple_of(64) {
            return;
        }
        for i in 0..at.block[0].size as isize {
            let start = start.wrapping_offset(i * gap);
            for edge in [start, start.wrapping_add(bytes)] {
                if !(edge as usize).is_multiple_of(64) {
                    prefetch::second(edge);
                }
            }
        }
    }

    /// Writes out the built cells of `block`, and brings the next source near meanwhile.
    unsafe fn write_stage(
        &self,
        stage: *const u8,
        dst: *mut u8,
        block: &[Axis],
        mut coming: Option<&mut Ahead>,
    ) {
        let (rows, gap, pitch, row) = match self.plan.how {
            Move::Rows(gap) => (block[0].size, gap, block[0].dst, &block[1..]),
            _ => (1, 0, 0, block),
        };
        let bytes = row
            .first()
            .map_or(self.simple.cell, |axis| axis.size * axis.dst as usize);
        if let Some(coming) = coming.as_mut()
            && self.plan.stream
            && (dst as usize | bytes | gap as usize).is_multiple_of(64)
        {
            let lines = bytes / 64;
            let rows = stream::Rows {
                count: rows,
                lines,
                src: stage,
                pitch,
                dst,
                gap,
            };
            // SAFETY: the rows are inside the stage and the output, whole lines of it (K1, K3, K4).
            return unsafe {
                rows.copy(|done| coming.bring_at_once(done, rows.count * lines));
            };
        }
        for i in 0..rows {
            // SAFETY: the row was built at `pitch` and belongs at `gap` from the one before (K1, K3, K4).
            unsafe {
                let src = stage.offset(i as isize * pitch);
                let dst = dst.offset(i as isize * gap);
                let Some(coming) = coming.as_mut() else {
                    self.write(src, dst, bytes);
                    continue;
                };
                // The first piece ends on a line, so that no other line is written in parts.
                let mut end = (PIECE + dst.align_offset(64)).min(bytes);
                let mut start = 0;
                while start < bytes {
                    self.write(src.add(start), dst.add(start), end - start);
                    coming.bring(i * bytes + end, rows * bytes);
                    (start, end) = (end, (end + PIECE).min(bytes));
                }
            }
        }
    }

    /// Writes one stretch of the output.
    #[inline]
    unsafe fn write(&self, src: *const u8, dst: *mut u8, bytes: usize) {
        // SAFETY: passed on unchanged (K1, K3, K4).
        unsafe {
            if self.plan.stream && matches!(self.plan.how, Move::Rows(_)) {
                stream::stream_apart(src, dst, bytes);
            } else if self.plan.stream {
                stream::stream(src, dst, bytes);
            } else if bytes <= plan::NEAR {
                lines::copy_near(src, dst, bytes);
            } else {
                core::ptr::copy_nonoverlapping(src, dst, bytes);
            }
        }
    }
}
