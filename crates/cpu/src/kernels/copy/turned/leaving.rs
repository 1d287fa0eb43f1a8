//! What leaves an area past the caches, a few lines at a time.

use super::{Block, LINE};
use crate::kernels::copy::stream;

/// A block on its way from its area to where it belongs.
pub(in super::super) struct Leaving<'a> {
    rows: &'a [isize],
    lines: usize,
    pitch: usize,
    /// The row that is on its way, and how many lines of it have left.
    area: *const u8,
    line: usize,
    /// Where the block goes.
    dst: *mut u8,
    /// How many lines are left in all.
    left: usize,
}

impl Leaving<'_> {
    /// A block that was built in an area, and where it goes.
    pub(in super::super) fn new(block: &Block, area: *const u8, dst: *mut u8) -> Leaving<'_> {
        Leaving {
            rows: &block.rows,
            lines: block.lines,
            pitch: block.pitch,
            area,
            line: 0,
            dst,
            left: block.rows.len() * block.lines,
        }
    }

    /// Nothing that leaves.
    pub(in super::super) fn nothing() -> Leaving<'static> {
        Leaving {
            rows: &[],
            lines: 0,
            pitch: 0,
            area: core::ptr::null(),
            line: 0,
            dst: core::ptr::null_mut(),
            left: 0,
        }
    }

    /// How many lines are left.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    pub(in super::super) fn left(&self) -> usize {
        self.left
    }

    /// Sends off what is left.
    ///
    /// # Safety
    /// K1, K3 and K4 for the rows in their area and where they go, which are lines there.
    pub(in super::super) unsafe fn finish(mut self) {
        self.send(self.left, |src, dst, lines| {
            // SAFETY: the caller's.
            unsafe { stream::lines(src, dst, lines) }
        });
    }

    /// Sends off so many lines more, if there are as many, by `copy`, which is given lines that follow each other.
    #[inline(always)]
    pub(in super::super) fn send(
        &mut self,
        lines: usize,
        copy: impl Fn(*const u8, *mut u8, usize),
    ) {
        let mut lines = lines.min(self.left);
        self.left -= lines;
        while let (1.., [row, rest @ ..]) = (lines, self.rows) {
            let (some, at) = (lines.min(self.lines - self.line), self.line * LINE);
            let dst = self.dst.wrapping_offset(*row);
            copy(self.area.wrapping_add(at), dst.wrapping_add(at), some);
            lines -= some;
            self.line += some;
            if self.line == self.lines {
                (self.rows, self.line) = (rest, 0);
                self.area = self.area.wrapping_add(self.pitch);
            }
        }
    }
}
