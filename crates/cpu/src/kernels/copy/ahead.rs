//! Asks memory for the next block's source while the present block is written out. Building a block only
//! reads and writing it out only writes; without this the two would take turns waiting for memory. Rows of a
//! turned block lie a stride apart, too far for the processor to guess them by itself.

use super::collapse::{Axes, Axis};

/// Bytes in a cache line.
const LINE: usize = 64;

/// The lines of a block's source that have not been asked for yet.
pub(super) struct Ahead {
    /// The axes between runs of neighbouring lines, and the index along each.
    axes: Axes,
    index: [usize; DEPTH],
    start: *const u8,
    /// The next line, and how many of its run are left.
    line: *const u8,
    run_left: usize,
    run: usize,
    /// Whether lines are left at all.
    more: bool,
}

/// Axes deeper than this are not followed: asking is a hint, and blocks rarely have more than three.
const DEPTH: usize = 4;

impl Ahead {
    /// Nothing to ask for.
    pub(super) fn none() -> Ahead {
        Ahead {
            axes: Axes::new(),
            index: [0; DEPTH],
            start: core::ptr::null(),
            line: core::ptr::null(),
            run_left: 0,
            run: 0,
            more: false,
        }
    }

    /// The lines of the block that starts at `src`, and how many there are.
    pub(super) fn of(block: &[Axis], src: *const u8, cell: usize) -> (Ahead, usize) {
        let mut axes: Axes = block.iter().copied().filter(|axis| axis.src != 0).collect();
        let mut start = src;
        let mut run = cell;
        let nearest = (0..axes.len()).min_by_key(|&i| axes[i].src.unsigned_abs());
        if let Some(nearest) = nearest
            && axes[nearest].src.unsigned_abs() < LINE
        {
            let axis = axes.remove(nearest);
            let span = (axis.size as isize - 1) * axis.src;
            start = start.wrapping_offset(span.min(0));
            run += span.unsigned_abs();
        }
        let skew = start as usize % LINE;
        let run = (skew + run).div_ceil(LINE);
        let excess = axes.len().saturating_sub(DEPTH);
        axes.drain(..excess);
        let lines = axes.iter().fold(run, |lines, axis| lines * axis.size);
        let start = start.wrapping_sub(skew);
        let ahead = Ahead {
            axes,
            index: [0; DEPTH],
            start,
            line: start,
            run_left: run,
            run,
            more: true,
        };
        (ahead, lines)
    }

    /// Asks for the next `lines` lines.
    #[inline(always)]
    pub(super) fn ask(&mut self, lines: usize) {
        for _ in 0..lines {
            if !self.more {
                return;
            }
            prefetch(self.line);
            self.line = self.line.wrapping_add(LINE);
            self.run_left -= 1;
            if self.run_left == 0 {
                self.next_run();
            }
        }
    }

    fn next_run(&mut self) {
        self.more = false;
        for (axis, index) in self.axes.iter().zip(&mut self.index).rev() {
            *index += 1;
            if *index < axis.size {
                self.more = true;
                break;
            }
            *index = 0;
        }
        self.run_left = self.run;
        self.line = self.start;
        for (axis, &index) in self.axes.iter().zip(&self.index) {
            self.line = self.line.wrapping_offset(index as isize * axis.src);
        }
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
