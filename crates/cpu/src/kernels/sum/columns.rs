//! Sums of neighbouring outputs side by side, for reduced axes that lie outside the kept ones: each term is
//! a row of adjacent elements, added to a row of lanes. Every column follows the same tree as any other sum.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::{BLOCK, LANES};
use crate::element::Number;
use crate::kernels::loops::Loops;

/// What the eight lanes take: a quarter of the first-level cache.
const BYTES: usize = 8 * 1024;

/// A tile of columns with their lanes, and their binary counters for the tree of blocks.
pub(super) struct Columns<T: Number> {
    /// Lane `j` of column `c` is sum `j * WIDEST + c`.
    lanes: [MaybeUninit<u128>; BYTES / size_of::<u128>()],
    /// Digit `i` of column `c` is sum `i * width + c`.
    digits: Vec<T::Sum>,
    width: usize,
    blocks: usize,
}

impl<T: Number> Columns<T> {
    /// The most columns a tile can have.
    pub(super) const WIDEST: usize = BYTES / LANES / size_of::<T::Sum>();

    /// A tile of `width` columns.
    pub(super) fn new(width: usize) -> Columns<T> {
        assert!(width <= Self::WIDEST && align_of::<T::Sum>() <= align_of::<u128>());
        let lanes = [MaybeUninit::uninit(); BYTES / size_of::<u128>()];
        Columns { lanes, digits: Vec::new(), width, blocks: 0 }
    }

    /// The sum of each column over a range of terms; the first column starts at `corner` and the others
    /// follow at `step`.
    ///
    /// # Safety
    /// K1, K2, K4: `corner`, plus a column times `step`, plus the offset of each term in `range`, is an
    /// element; the range is not empty and starts at a block.
    pub(super) unsafe fn sum(
        &mut self,
        corner: *const T,
        step: isize,
        terms: &Loops<1>,
        range: Range<usize>,
    ) -> &[T::Sum] {
        let [stride] = terms.steps();
        let start = range.start;
        let last = range.len() - 1;
        terms.spans(range, |at, len, [offset]| {
            for i in 0..len {
                let k = at - start + i;
                // SAFETY: K1, K2, K4: term `k` of each of the columns; a block's terms come in order.
                unsafe {
                    let row = corner.offset(offset + i as isize * stride);
                    self.take(k % BLOCK, row, step);
                    if k % BLOCK == BLOCK - 1 || k == last {
                        self.close_block((k % BLOCK + 1).min(LANES), k == last);
                    }
                }
            }
        });
        // SAFETY: the last block left its sums, or those of the whole tree, in the first lane.
        unsafe { self.lane(0) }
    }

    /// Adds term `k` of a block to its lane.
    ///
    /// # Safety
    /// K1, K2, K4 for a row of `width` elements at `step`; terms 0 to `k - 1` were taken before.
    #[inline]
    unsafe fn take(&mut self, k: usize, row: *const T, step: isize) {
        let width = self.width;
        let lane = self.lane_start(k % LANES);
        // SAFETY: the caller's; a lane's first term is written before others are added. The packed cases
        // are spelled out so that they vectorise.
        unsafe {
            let add = |c: usize, term: T| *lane.add(c) = T::add(*lane.add(c), term.widen());
            match (k < LANES, step == 1) {
                (true, true) => (0..width).for_each(|c| lane.add(c).write((*row.add(c)).widen())),
                (true, false) => (0..width).for_each(|c| {
                    lane.add(c).write((*row.offset(c as isize * step)).widen());
                }),
                (false, true) => (0..width).for_each(|c| add(c, *row.add(c))),
                (false, false) => (0..width).for_each(|c| add(c, *row.offset(c as isize * step))),
            }
        }
    }

    /// Combines the lanes, then carries in the counter, or, for the last block, folds the whole counter.
    ///
    /// # Safety
    /// The first `active` lanes were written.
    unsafe fn close_block(&mut self, active: usize, last: bool) {
        let width = self.width;
        let first = self.lane_start(0);
        for gap in [1, 2, 4] {
            for j in (0..LANES).step_by(2 * gap).filter(|j| j + gap < active) {
                let (left, right) = (self.lane_start(j), self.lane_start(j + gap));
                // SAFETY: both lanes are active.
                unsafe {
                    (0..width).for_each(|c| *left.add(c) = T::add(*left.add(c), *right.add(c)));
                }
            }
        }
        let carries = self.blocks.trailing_ones() as usize;
        for (i, digit) in self.digits.chunks_exact(width).enumerate() {
            if i < carries || last && self.blocks >> i & 1 == 1 {
                for (c, &left) in digit.iter().enumerate() {
                    // SAFETY: the first lane holds the block's sums.
                    unsafe { *first.add(c) = T::add(left, *first.add(c)) };
                }
            }
        }
        if !last {
            // SAFETY: the first lane holds the block's sums.
            let sums = unsafe { std::slice::from_raw_parts(first, width) };
            if self.digits.len() == carries * width {
                self.digits.extend_from_slice(sums);
            } else {
                self.digits[carries * width..][..width].copy_from_slice(sums);
            }
        }
        self.blocks += 1;
    }

    fn lane_start(&mut self, j: usize) -> *mut T::Sum {
        self.lanes.as_mut_ptr().cast::<T::Sum>().wrapping_add(j * Self::WIDEST)
    }

    /// # Safety
    /// The lane was written.
    unsafe fn lane(&self, j: usize) -> &[T::Sum] {
        let start = self.lanes.as_ptr().cast::<T::Sum>();
        // SAFETY: eight lanes of `WIDEST` sums fill the array, and `width` is no more than that.
        unsafe { std::slice::from_raw_parts(start.add(j * Self::WIDEST), self.width) }
    }
}
