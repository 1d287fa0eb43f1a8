//! The copy kernel: every element of one strided block to the same index of another. It is what makes a
//! view real (repeat, permute, flip, contiguous) and what fills a part of a larger output (concat).
//!
//! A copy is brought into its simplest form (`collapse`), cut into blocks that fit the caches (`plan`, `steps`),
//! and each block is moved (`blocks`) by the loop that suits it: a run, plain strided loops (`strided`), squares
//! turned in registers (`transpose`), or a replicated tile (`tile`, `wheels`). Large outputs are written past the
//! caches (`stream`, which knows where that is slower), planes of whole lines while they are turned (`turned`), whole
//! lines the other way round (`backwards`), and by several threads, each of which asks for its next block meanwhile
//! (`ahead`). Planes of a few rows or columns are put together (`interleave`, `rows`) or taken apart (`deinterleave`) as
//! a whole, by the vectors that the processor has (`vectors`), large ones in whole lines (`weave`); what repeats as a
//! whole is written in order (`periodic`).

pub(crate) mod ahead;
mod backwards;
mod blocks;
mod collapse;
mod deinterleave;
mod few;
pub(crate) mod interleave;
mod periodic;
mod plan;
pub(crate) mod rows;
mod steps;
pub(crate) mod stream;
mod strided;
mod tile;
mod transpose;
mod turned;
mod vectors;
mod weave;
mod wheels;

#[cfg(test)]
mod tests;

use super::{Block, BlockMut, caches, threads};
use blocks::Job;
use collapse::{Axis, Simplest};
use deinterleave::Deinterleave;
use few::Few;
use periodic::Periodic;
use plan::Plan;
use rows::Rows;

/// Up to this many bytes, planning costs more than it saves.
const SMALL: usize = 1 << 10;
/// Up to this many, where nothing repeats, what a plan would be is known: one block in place.
const MIDDLING: usize = 32 << 10;
/// From this many bytes on, waking other threads pays.
const THREADED: usize = 256 << 10;
/// Parts per thread, so that a thread that is late holds up little.
const PARTS: usize = 8;

/// Blocks in a part, if there are as many: one is asked for, or still leaves, while another is moved.
const FEW: usize = 4;

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
    if bytes <= MIDDLING && simple.axes.iter().all(|axis| axis.src != 0) {
        // SAFETY: as above.
        return unsafe { in_place(&simple.axes, simple.src, simple.dst, simple.cell) };
    }
    // SAFETY: as above.
    unsafe { large(&simple, bytes, total.max(bytes), caches::last()) }
}

/// Moves cells or runs one by one to where they belong.
///
/// # Safety
/// K1, K3 and K4 for `src` and `dst` over `axes`, whose strides are in bytes.
unsafe fn in_place(axes: &[Axis], src: *const u8, dst: *mut u8, cell: usize) {
    // SAFETY: the caller's.
    unsafe {
        if !transpose::copy(axes, src, dst, cell) {
            strided::copy(axes, src, dst, cell);
        }
    }
}

/// As [`copy`], but that the target is written as one that no cache holds: for somebody else to read.
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

/// A copy worth planning, streamed when an output of `total` bytes is too large for a last cache of `cache`. Out of
/// line, so that small copies do not pay for the staging area.
#[inline(never)]
unsafe fn large(simple: &Simplest, bytes: usize, total: usize, cache: usize) {
    let past = !plan::stays(&simple.axes, total, cache);
    // Few rows are read in order, all of them.
    let past_in_order = total >= plan::stays_in_order(cache);
    // SAFETY: the caller's.
    if bytes >= THREADED && unsafe { few_rows(simple, past_in_order) } {
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
    let blocks = job.plan.steps.blocks();
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
        let parts = (threads * PARTS)
            .min((blocks / FEW).max(threads))
            .min(blocks);
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
