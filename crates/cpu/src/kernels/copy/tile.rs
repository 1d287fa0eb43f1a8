//! Builds one packed block of the output in a staging area that stays in the nearest caches. What the source
//! repeats (stride 0) is read once and replicated here, so a tiled output costs what writing it costs.

use super::collapse::Axis;
use super::strided::{self, each};
use super::transpose;
use super::wheels::Wheels;
use crate::kernels::width::{Cell, with_cell};
use core::mem::MaybeUninit;

/// Bytes past the end of a block that may be scribbled over while it is built: whole vectors are written
/// in rising order, and the next write covers what the last one spilled.
pub(super) const SLACK: usize = 64;

/// A replicated group shorter than this, in bytes, is left to the strided loops.
const SHORT: usize = 48;

/// Writes every cell of `axes` to `stage`.
///
/// # Safety
/// K1 and K4 for `src` over `axes`; the destination strides of `axes` are packed (the first may be wider)
/// and `stage` holds them all and [`SLACK`] more bytes, reachable through nothing else (K3).
pub(super) unsafe fn build(axes: &[Axis], src: *const u8, stage: *mut u8, cell: usize) {
    // SAFETY: the repeated axis reads index 0 only; the group it repeats is packed, so its copies follow each
    // other up to the end of the axis (K1, K3, K4).
    unsafe {
        let Some(zero) = axes.iter().position(|axis| axis.src == 0) else {
            if !transpose::copy(axes, src, stage, cell) {
                strided::copy(axes, src, stage, cell);
            }
            return;
        };
        let (outer, inner) = (&axes[..zero], &axes[zero + 1..]);
        let (group, copies) = (axes[zero].dst as usize, axes[zero].size);
        if inner.is_empty()
            && let Some((&walk, outer)) = outer.split_last()
        {
            with_cell!(cell, C => each(outer, src, stage, &mut |src, stage| {
                spread::<C>(walk, copies, src, stage);
            }));
        } else if let [run] = inner
            && run.src == cell as isize
            && let Some(wheels) = Wheels::of(group, copies)
        {
            // SAFETY: the group is a run of the source, and its copies follow each other in the stage (K1, K3, K4).
            wheels.write(outer, src, stage);
        } else if group * copies < SHORT && !outer.is_empty() {
            strided::copy(axes, src, stage, cell);
        } else {
            each(outer, src, stage, &mut |src, stage| {
                build(inner, src, stage, cell);
                replicate(stage, group, copies);
            });
        }
    }
}

/// Writes each cell along `walk` `copies` times in a row.
unsafe fn spread<C: Cell>(walk: Axis, copies: usize, src: *const u8, stage: *mut u8) {
    const VECTOR: usize = 16;
    let vectors = (copies * C::WIDTH).div_ceil(VECTOR);
    for i in 0..walk.size as isize {
        // SAFETY: `i` is an index of the axis (K1, K4); the last vector spills less than `SLACK` bytes, over
        // what is written next (K3).
        unsafe {
            let value = src.offset(i * walk.src).cast::<C>().read_unaligned();
            let splat = [value; VECTOR];
            let mut to = stage.offset(i * walk.dst);
            // One vector is the common case, and quicker for being known when compiled.
            core::ptr::copy_nonoverlapping(splat.as_ptr().cast::<u8>(), to, VECTOR);
            for _ in 1..vectors {
                to = to.add(VECTOR);
                core::ptr::copy_nonoverlapping(splat.as_ptr().cast::<u8>(), to, VECTOR);
            }
        }
    }
}

/// Repeats the first `group` bytes at `start` until there are `copies` of them.
unsafe fn replicate(start: *mut u8, group: usize, copies: usize) {
    /// Not all of it need be initialised: it is only moved.
    type Pattern = [MaybeUninit<u64>; SLACK / 8];
    let total = group * copies;
    // SAFETY: every write starts below `total` and is at most `SLACK` long (K1, K3); what it carries beyond
    // the periodic part is overwritten by the next, and beyond `total` it is slack.
    unsafe {
        if group > SLACK {
            let mut filled = group;
            while filled < total {
                let more = filled.min(total - filled);
                core::ptr::copy_nonoverlapping(start, start.add(filled), more);
                filled += more;
            }
            return;
        }
        let whole = (SLACK / group).min(copies);
        let read = || start.cast::<Pattern>().read_unaligned();
        let write = |at: usize, p: Pattern| start.add(at).cast::<Pattern>().write_unaligned(p);
        let once = read();
        (1..whole).for_each(|i| write(i * group, once));
        let pattern = read();
        let step = whole * group;
        let mut at = step;
        while at < total {
            write(at, pattern);
            at += step;
        }
    }
}
