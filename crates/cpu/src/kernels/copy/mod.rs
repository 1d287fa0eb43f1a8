//! The copy kernel: every element of one strided block to the same index of another. It is what makes a
//! view real (repeat, permute, flip, contiguous) and what fills a part of a larger output (concat).
//!
//! A copy is brought into its simplest form (`collapse`), cut into blocks that fit the caches (`plan`),
//! and each block is moved by the loop that suits it: a run, plain strided loops (`strided`), squares
//! turned in registers (`transpose`), or a replicated tile (`tile`). Large outputs are written past the
//! caches (`stream`), planes of whole lines without a stop on the way (`straight`), and by several threads, each
//! of which asks for its next block meanwhile (`ahead`). Planes of a few rows or columns are put together
//! (`interleave`, `rows`) or taken apart (`deinterleave`) as a whole; what repeats as a whole is written in order
//! (`periodic`).

pub(crate) mod ahead;
mod collapse;
mod deinterleave;
mod few;
pub(crate) mod interleave;
mod periodic;
mod plan;
pub(crate) mod rows;
mod straight;
pub(crate) mod stream;
mod strided;
mod tile;
mod transpose;

#[cfg(test)]
mod tests;

use super::{Block, BlockMut, lines, threads};
use ahead::Ahead;
use collapse::{Axes, Axis, Simplest};
use core::mem::MaybeUninit;
use deinterleave::Deinterleave;
use few::Few;
use periodic::Periodic;
use plan::{Move, Plan};
use rows::Rows;
use smallvec::SmallVec;
use strided::each;

/// Up to this many bytes, planning costs more than it saves.
const SMALL: usize = 1 << 10;
/// From this many bytes on, waking other threads pays.
const THREADED: usize = 256 << 10;
/// Bytes written between looks at the next source.
const PIECE: usize = 1 << 10;
/// Parts per thread, so that a thread that is late holds up little.
const PARTS: usize = 4;

/// Copies every element of `src` to the same index of `dst`. Elements are `width` bytes: 1, 2, 4, 8 or 16.
///
/// # Safety
/// Sizes and ranks of both agree. K1, K2 and K4 hold for `src`; K1, K2 and K3 for `dst`.
///
/// # Panics
/// When no element is `width` bytes wide.
///
/// ```
/// use stridewise_cpu::kernels::{Block, BlockMut, copy::copy};
///
/// let rows: [u16; 6] = [1, 2, 3, 4, 5, 6];
/// let mut columns = [0u16; 6];
/// let from = Block { start: rows.as_ptr().cast(), sizes: &[3, 2], strides: &[1, 3] };
/// let to = BlockMut { start: columns.as_mut_ptr().cast(), sizes: &[3, 2], strides: &[2, 1] };
/// // SAFETY: both blocks cover their six-element arrays, and nothing else uses `columns`.
/// unsafe { copy(from, to, 2) };
/// assert_eq!(columns, [1, 4, 2, 5, 3, 6]);
/// ```
pub unsafe fn copy(src: Block<'_>, dst: BlockMut<'_>, width: usize) {
    // SAFETY: passed on unchanged.
    unsafe { copy_part(src, dst, width, 0) }
}

/// As [`copy`], where `dst` is part of an output of `total` bytes that is written along with it.
///
/// # Safety
/// As for [`copy`].
pub(crate) unsafe fn copy_part(src: Block<'_>, dst: BlockMut<'_>, width: usize, total: usize) {
    debug_assert_eq!(src.sizes, dst.sizes);
    let axes = src.sizes.iter().zip(src.strides).zip(dst.strides);
    let axes = axes.map(|((&size, &src), &dst)| (size, src, dst));
    // SAFETY: the caller's.
    unsafe { copy_axes(src.start, dst.start, width, total, axes) }
}

/// As [`copy_part`], over axes of which each has a size and its strides in source and destination, in elements.
///
/// # Safety
/// As for [`copy`].
#[inline]
pub(crate) unsafe fn copy_axes<A>(src: *const u8, dst: *mut u8, width: usize, total: usize, axes: A)
where
    A: DoubleEndedIterator<Item = (usize, isize, isize)> + Clone,
{
    // SAFETY: the caller's.
    unsafe {
        match Few::of(width, axes.clone().rev()) {
            Some(few) => few.copy(src, dst),
            None => any(src, dst, width, total, axes),
        }
    }
}

/// Copies to packed memory the elements at `src` over axes of the given sizes and strides, in elements.
///
/// # Safety
/// K1, K2 and K4 hold for the axes at `src`; `dst` has room for the elements, under K2 and K3.
#[inline]
pub(crate) unsafe fn pack<A>(src: *const u8, axes: A, dst: *mut u8, width: usize)
where
    A: DoubleEndedIterator<Item = (usize, isize)> + Clone,
{
    let mut next = 1;
    let few = axes.clone().rev().map(|(size, stride)| {
        let step = next;
        next *= size as isize;
        (size, stride, step)
    });
    // SAFETY: the caller's; the strides made here are those of packed memory.
    unsafe {
        match Few::of(width, few) {
            Some(few) => few.copy(src, dst),
            None => {
                let mut left = axes.clone().map(|axis| axis.0).product::<usize>() as isize;
                let each = axes.map(|(size, stride)| {
                    left /= size.max(1) as isize;
                    (size, stride, left)
                });
                any(src, dst, width, 0, each);
            }
        }
    }
}

/// [`copy_axes`] where there is much to copy, or there are many axes: by the form it is brought into.
#[inline(never)]
unsafe fn any(
    src: *const u8,
    dst: *mut u8,
    width: usize,
    total: usize,
    axes: impl Iterator<Item = (usize, isize, isize)>,
) {
    let Some(simple) = collapse::simplest(src, dst, width, axes) else {
        return;
    };
    let bytes = simple.bytes();
    if bytes <= SMALL {
        // SAFETY: K1, K3 and K4 carry over to the simplest form.
        return unsafe { strided::copy(&simple.axes, simple.src, simple.dst, simple.cell) };
    }
    // SAFETY: as above.
    unsafe { large(&simple, bytes, total.max(bytes), stream::last_cache()) }
}

/// As [`copy`], but that the target is left to memory, not to the cache: for somebody else to read.
///
/// # Safety
/// As for [`copy`].
pub(crate) unsafe fn copy_past_cache(src: Block<'_>, dst: BlockMut<'_>, width: usize) {
    let axes = src.sizes.iter().zip(src.strides).zip(dst.strides);
    let axes = axes.map(|((&size, &src), &dst)| (size, src, dst));
    if let Some(simple) = collapse::simplest(src.start, dst.start, width, axes) {
        // SAFETY: K1, K3 and K4 carry over to the simplest form.
        unsafe { large(&simple, simple.bytes(), 0, 0) }
    }
}

/// Fills `count` elements of `pattern.len()` bytes each, one after the other, with `pattern`.
///
/// # Safety
/// `dst` starts `count * pattern.len()` bytes that are live and reachable through nothing else (K1, K3).
///
/// # Panics
/// When no element is as wide as `pattern`.
pub unsafe fn fill(dst: *mut u8, pattern: &[u8], count: usize) {
    let src = Block {
        start: pattern.as_ptr(),
        sizes: &[count],
        strides: &[0],
    };
    let dst = BlockMut {
        start: dst,
        sizes: &[count],
        strides: &[1],
    };
    // SAFETY: a stride of 0 stays on the pattern; the caller vouches for the rest (K1, K3, K4).
    unsafe { copy(src, dst, pattern.len()) }
}

/// A copy on its way to several threads.
struct Job<'a> {
    plan: Plan,
    simple: &'a Simplest,
}

// SAFETY: the source is only read, and threads write blocks that share no cell (K3).
unsafe impl Sync for Job<'_> {}

/// A copy worth planning, streamed when an output of `total` bytes is too large for a last cache of `cache`. Out of
/// line, so that small copies do not pay for the staging area.
#[inline(never)]
unsafe fn large(simple: &Simplest, bytes: usize, total: usize, cache: usize) {
    let past = !plan::stays(&simple.axes, total, cache);
    // SAFETY: the caller's.
    if bytes >= THREADED && unsafe { few_rows(simple, past) } {
        return;
    }
    if past
        && bytes >= THREADED
        && let Some(periodic) = Periodic::of(simple, cache)
    {
        let first = periodic.first.bytes();
        // SAFETY: the first stretch is part of the copy, and the rest follows once it is there.
        return unsafe {
            large(&periodic.first, first, first, cache);
            periodic.go_on(bytes, !plan::partly_stays(total, cache));
        };
    }
    let plan = Plan::new(simple, bytes, total, cache);
    let job = Job { plan, simple };
    let blocks = job.plan.blocks();
    let threads = if bytes < THREADED {
        1
    } else {
        threads::count()
    };
    // SAFETY: each block is moved once, by one thread, and lies inside the copy (K1, K3, K4).
    unsafe {
        if threads == 1 {
            return job.blocks(0, blocks);
        }
        let parts = (threads * PARTS).min(blocks);
        threads::each(parts, |part| {
            let from = blocks * part / parts;
            let to = blocks * (part + 1) / parts;
            job.blocks(from, to);
        });
    }
}

/// Copies what turns few rows of the source into narrow rows of the output, or the other way round; does nothing and
/// answers `false` where it is something else, or where one such plane after the other would be small work for several
/// threads.
unsafe fn few_rows(simple: &Simplest, past: bool) -> bool {
    let Simplest {
        axes,
        src,
        dst,
        cell,
    } = simple;
    let (outer, run, across) = match axes[..] {
        [run, across] => (None, run, across),
        [outer, run, across] => (Some(outer), run, across),
        _ => return false,
    };
    if run.size * across.size * cell < THREADED {
        return false;
    }
    let apart = Deinterleave::of(run, across, *cell);
    let parts = |src: *const u8| transpose::parts(run, across, src, *cell).map(Rows::narrow);
    if apart.is_none() && parts(*src).is_none() {
        return false;
    }
    for i in 0..outer.map_or(1, |axis| axis.size) as isize {
        let (from, to) = outer.map_or((0, 0), |axis| (i * axis.src, i * axis.dst));
        // SAFETY: a plane of the copy (K1, K3, K4).
        unsafe {
            let (src, dst) = (src.offset(from), dst.offset(to));
            if let Some(apart) = &apart {
                apart.write(src, across.size, dst, run.dst, past);
            } else if let Some(parts) = parts(src) {
                parts.write(run.size, dst, past);
            }
        }
    }
    true
}

/// Where blocks are built, and where sources are made compact.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Stage<const BUILT: usize, const COMPACT: usize> {
    built: [u8; BUILT],
    compact: [u8; COMPACT],
}

impl Job<'_> {
    /// Moves the blocks numbered `from` up to `to`.
    unsafe fn blocks(&self, from: usize, to: usize) {
        let Job { plan, simple } = self;
        let mut at = Cursor::new(plan, from);
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
                Move::Straight => self.blocks_straight(at, to - from),
                Move::Lines => self.blocks_of_lines(at, to - from),
                Move::InPlace => {
                    for _ in from..to {
                        let (src, dst) = (simple.src.offset(at.src), simple.dst.offset(at.dst));
                        if !transpose::copy(&at.block, src, dst, simple.cell) {
                            strided::copy(&at.block, src, dst, simple.cell);
                        }
                        at.advance(plan);
                    }
                }
                Move::Run => {
                    for _ in from..to {
                        let (src, dst) = (simple.src.offset(at.src), simple.dst.offset(at.dst));
                        self.write(src, dst, at.block[0].size * simple.cell);
                        at.advance(plan);
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
        mut at: Cursor,
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
        let ahead = |at: &Cursor| {
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
                let new_source = at.advance(plan);
                if plan.ahead && new_source && left > 0 {
                    coming = Some(ahead(&at));
                }
                built = !new_source;
                self.write_stage(stage, dst, &block, coming.as_mut());
            }
        }
    }

    /// Moves `count` blocks from the cursor on, each turned straight into the output, and brings the next source near
    /// meanwhile.
    #[inline(never)]
    unsafe fn blocks_straight(&self, mut at: Cursor, count: usize) {
        let Job { plan, simple } = self;
        let mut memory = MaybeUninit::<Stage<0, { ahead::COMPACT }>>::uninit();
        let compact = memory.as_mut_ptr().cast::<u8>();
        let ahead = |at: &Cursor| {
            let src = simple.src.wrapping_offset(at.src);
            Ahead::of(&at.block, src, simple.cell, compact)
        };
        // SAFETY: a cursor leads to a block inside the copy (K1); blocks share no cell (K3). The compact area
        // is free again once its block is turned.
        unsafe {
            let mut coming = Some(ahead(&at));
            if let Some(first) = &mut coming {
                first.bring(1, 1);
            }
            for left in (0..count).rev() {
                let dst = simple.dst.offset(at.dst);
                let (block, src) = match coming.take() {
                    Some(coming) => coming.finish(),
                    None => (at.block.clone(), simple.src.offset(at.src)),
                };
                at.advance(plan);
                coming = (left > 0).then(|| ahead(&at));
                straight::copy(&block, src, dst, simple.cell, |part, parts| {
                    if let Some(coming) = &mut coming {
                        coming.bring(part, parts);
                    }
                });
            }
        }
    }

    /// Moves `count` blocks from the cursor on, of runs that are whole lines, and brings the next source near meanwhile.
    #[inline(never)]
    unsafe fn blocks_of_lines(&self, mut at: Cursor, count: usize) {
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
                at.advance(plan);
                let next = simple.src.wrapping_offset(at.src);
                let nowhere = core::ptr::null_mut();
                let mut coming =
                    (left > 0).then(|| Ahead::of(&at.block, next, simple.cell, nowhere));
                each(outer, src, dst, &mut |src, dst| {
                    stream::lines(src, dst, lines);
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
    fn ask_for_edges(&self, at: &Cursor) {
        let Move::Rows(gap) = self.plan.how else {
            return;
        };
        let bytes = match at.block.get(1) {
            Some(axis) => axis.size * axis.dst as usize,
            None => self.simple.cell,
        };
        let start = self.simple.dst.wrapping_offset(at.dst);
        for i in 0..at.block[0].size as isize {
            let start = start.wrapping_offset(i * gap);
            for edge in [start, start.wrapping_add(bytes)] {
                if !(edge as usize).is_multiple_of(64) {
                    ahead::prefetch(edge);
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
            if self.plan.stream {
                stream::stream(src, dst, bytes);
            } else if bytes <= plan::NEAR {
                lines::copy_near(src, dst, bytes);
            } else {
                core::ptr::copy_nonoverlapping(src, dst, bytes);
            }
        }
    }
}

/// Where one block starts, and the axes it has there.
struct Cursor {
    index: SmallVec<[usize; 8]>,
    /// Bytes from the start of the copy.
    src: isize,
    dst: isize,
    block: Axes,
}

impl Cursor {
    /// The block with the given number.
    fn new(plan: &Plan, number: usize) -> Cursor {
        let mut index = SmallVec::from_elem(0, plan.steps.len());
        let mut left = number;
        for (step, index) in plan.steps.iter().zip(&mut index).rev() {
            *index = left % step.count;
            left /= step.count;
        }
        let mut cursor = Cursor {
            index,
            src: 0,
            dst: 0,
            block: plan.block.clone(),
        };
        cursor.locate(plan);
        cursor
    }

    /// Goes on to the next block, and says whether it reads another part of the source.
    fn advance(&mut self, plan: &Plan) -> bool {
        let mut new_source = false;
        for (i, (step, index)) in plan.steps.iter().zip(&mut self.index).enumerate().rev() {
            new_source |= i < plan.walks;
            *index += 1;
            if *index < step.count {
                break;
            }
            *index = 0;
        }
        self.locate(plan);
        new_source
    }

    fn locate(&mut self, plan: &Plan) {
        (self.src, self.dst) = (0, 0);
        for (step, &index) in plan.steps.iter().zip(&self.index) {
            self.src += index as isize * step.src;
            self.dst += index as isize * step.dst;
            if let Some((axis, rest)) = step.cut {
                let whole = plan.block[axis].size;
                self.block[axis].size = if index + 1 < step.count { whole } else { rest };
            }
        }
    }
}
