//! Brings the next block's source near while the present block is written out. Building a block only reads
//! and writing it out only writes; without this the two would take turns waiting for memory.
//!
//! Lines are asked for by prefetching; runs that lie a stride apart are too far for the processor to guess.
//! For narrow cells that is not enough: a square of them spans more rows than a cache set has ways, and rows
//! a power of two apart all fall into one set. Their runs are copied into a compact area instead.

use super::collapse::{Axes, Axis};

/// Bytes in a cache line.
const LINE: usize = 64;
/// Bytes of the compact area.
pub(super) const COMPACT: usize = 96 << 10;
/// Cells up to this many bytes are narrow.
const NARROW: usize = 2;
/// Bytes that are asked for before they are copied: what memory can have on its way at once.
const ASKED: usize = 4 << 10;
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
    copied: Walk,
    asked: Walk,
    /// Where runs are copied to and how far apart; null when they stay where they are.
    compact: *mut u8,
    pitch: usize,
    /// Lines of the one run, or runs: all of them, and those done.
    total: usize,
    done: usize,
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
            copied: Walk::default(),
            asked: Walk::default(),
            compact: core::ptr::null_mut(),
            pitch: 0,
            total: 0,
            done: 0,
        };
        if order.is_empty() {
            ahead.total = run.div_ceil(LINE);
        } else if order.len() <= DEPTH {
            let runs = order.iter().map(|axis| axis.size).product::<usize>();
            // A line of padding, lest the runs share sets again.
            let pitch = run.next_multiple_of(LINE) + LINE;
            ahead.total = runs;
            // What lies in gaps is not ours to read.
            if cell <= NARROW && !gaps && runs * pitch <= COMPACT {
                ahead.pitch = pitch;
                ahead.compact = compact;
                ahead.move_block(&order);
            }
            ahead.sparse = order;
            if !ahead.compact.is_null() {
                let early = ASKED.div_ceil(run).min(runs);
                (0..early).for_each(|_| ahead.ask_for_run());
            }
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

    /// Goes on until `part` of `parts` is near.
    ///
    /// # Safety
    /// K1 and K4 for the block at its source; the compact area holds [`COMPACT`] bytes and is used by nothing
    /// else (K3).
    #[inline]
    pub(super) unsafe fn bring(&mut self, part: usize, parts: usize) {
        let until = self.total * part / parts;
        while self.done < until {
            if !self.compact.is_null() {
                // SAFETY: a run at an index of the sparse axes (K1, K4); `total` runs fit the area (K3).
                unsafe { self.copy_run() };
            } else if self.sparse.is_empty() {
                prefetch(self.first.wrapping_add(self.done * LINE));
            } else {
                self.ask_for_run();
            }
            self.done += 1;
        }
    }

    /// Copies the next run, and asks for the one that is due a little later.
    unsafe fn copy_run(&mut self) {
        self.ask_for_run();
        let from = self.copied.next(&self.sparse);
        // SAFETY: the caller's word.
        unsafe {
            let to = self.compact.add(self.done * self.pitch);
            core::ptr::copy_nonoverlapping(self.first.offset(from), to, self.run);
        }
    }

    /// Asks for the lines of one more run. The last runs ask past the end, which starts over and is harmless.
    fn ask_for_run(&mut self) {
        let from = self.first.wrapping_offset(self.asked.next(&self.sparse));
        let lines = (from as usize % LINE + self.run).div_ceil(LINE);
        (0..lines).for_each(|i| prefetch(from.wrapping_add(i * LINE)));
    }

    /// The block and its source, all of it near.
    ///
    /// # Safety
    /// As for [`Ahead::bring`].
    pub(super) unsafe fn finish(mut self) -> (Axes, *const u8) {
        if !self.compact.is_null() {
            // SAFETY: the caller's word.
            unsafe { self.bring(1, 1) };
        }
        (self.block, self.src)
    }
}

/// A position among runs.
#[derive(Default)]
struct Walk {
    index: [usize; DEPTH],
}

impl Walk {
    /// The offset of the present run; goes on to the next, and after the last to the first.
    fn next(&mut self, axes: &[Axis]) -> isize {
        let mut offset = 0;
        let mut carry = true;
        for (axis, index) in axes.iter().zip(&mut self.index).rev() {
            offset += *index as isize * axis.src;
            if carry {
                *index += 1;
                carry = *index == axis.size;
                if carry {
                    *index = 0;
                }
            }
        }
        offset
    }
}

/// Asks for the line at `address`, which need not exist, to come as near as the second cache.
#[inline(always)]
fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has SSE, and a prefetch of any address is harmless.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
