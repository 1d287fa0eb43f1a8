//! Sums of neighbouring outputs side by side, for reduced axes that lie outside the kept ones: each term is
//! a row of adjacent elements, added to a row of lanes. Every column follows the same tree as any other sum.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::{BLOCK, LANES};
use crate::element::Number;
use crate::kernels::loops::Loops;

/// What the eight lanes take: half of a first-level cache.
const BYTES: usize = 16 * 1024;

/// How many columns are kept in registers at a time.
const ABREAST: usize = 8;

/// A tile of columns with their lanes, and their binary counters for the tree of blocks.
pub(super) struct Columns<T: Number> {
    /// Lane `j` of column `c` is sum `j * WIDEST + c`.
    lanes: [MaybeUninit<u128>; BYTES / size_of::<u128>()],
    /// Digit `i` of column `c` is sum `i * width + c`.
    digits: Vec<T::Accumulator>,
    width: usize,
    blocks: usize,
}

impl<T: Number> Columns<T> {
    /// The most columns a tile can have.
    pub(super) const WIDEST: usize = BYTES / LANES / size_of::<T::Accumulator>();

    /// A tile of `width` columns.
    pub(super) fn new(width: usize) -> Columns<T> {
        assert!(width <= Self::WIDEST && align_of::<T::Accumulator>() <= align_of::<u128>());
        let lanes = [MaybeUninit::uninit(); BYTES / size_of::<u128>()];
        Columns {
            lanes,
            digits: Vec::new(),
            width,
            blocks: 0,
        }
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
    ) -> &[T::Accumulator] {
        let [stride] = terms.steps();
        let start = range.start;
        let total = range.len();
        // Eight columns of narrow elements do not fill a register, and widening does not vectorise there.
        let by_block = step == 1 && size_of::<T>() >= 4;
        terms.spans(range, |at, len, [offset]| {
            let mut i = 0;
            while i < len {
                let k = at - start + i;
                // SAFETY: K1, K2, K4: term `k` of each of the columns, and all terms of the block if it
                // lies in this span; a block's terms come in order.
                unsafe {
                    let row = corner.offset(offset + i as isize * stride);
                    if by_block && k.is_multiple_of(BLOCK) && len - i >= BLOCK {
                        self.take_block(row, stride);
                        i += BLOCK;
                    } else {
                        self.take(k % BLOCK, row, step);
                        i += 1;
                    }
                    let taken = at - start + i;
                    if taken.is_multiple_of(BLOCK) || taken == total {
                        self.close_block(((taken - 1) % BLOCK + 1).min(LANES), taken == total);
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

    /// Adds all the terms of a block to their lanes, with the sums in registers: what [`Columns::take`] does
    /// for each term, in the same order for each lane.
    ///
    /// # Safety
    /// K1, K2, K4 for rows of `width` adjacent elements, `stride` apart, one for each term.
    unsafe fn take_block(&mut self, first: *const T, stride: isize) {
        let whole = self.width - self.width % ABREAST;
        for j in 0..LANES {
            let lane = self.lane_start(j);
            // SAFETY: the caller's.
            unsafe {
                let term =
                    |t: usize, c: usize| first.offset((j + t * LANES) as isize * stride).add(c);
                for c in (0..whole).step_by(ABREAST) {
                    let mut sums = (*term(0, c).cast::<[T; ABREAST]>()).map(T::widen);
                    for t in 1..BLOCK / LANES {
                        let row = &*term(t, c).cast::<[T; ABREAST]>();
                        for (sum, x) in sums.iter_mut().zip(row) {
                            *sum = T::add(*sum, x.widen());
                        }
                    }
                    lane.add(c).cast::<[T::Accumulator; ABREAST]>().write(sums);
                }
                for c in whole..self.width {
                    let mut sum = (*term(0, c)).widen();
                    for t in 1..BLOCK / LANES {
                        sum = T::add(sum, (*term(t, c)).widen());
                    }
                    lane.add(c).write(sum);
                }
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

    fn lane_start(&mut self, j: usize) -> *mut T::Accumulator {
        self.lanes
            .as_mut_ptr()
            .cast::<T::Accumulator>()
            .wrapping_add(j * Self::WIDEST)
    }

    /// # Safety
    /// The lane was written.
    unsafe fn lane(&self, j: usize) -> &[T::Accumulator] {
        let start = self.lanes.as_ptr().cast::<T::Accumulator>();
        // SAFETY: eight lanes of `WIDEST` sums fill the array, and `width` is no more than that.
        unsafe { std::slice::from_raw_parts(start.add(j * Self::WIDEST), self.width) }
    }
}
