//! Sums of neighbouring outputs side by side, for reduced axes that lie outside the kept ones: each term is
//! a row of adjacent elements, added to a row of lanes. Every column follows the same tree as any other sum.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::{BLOCK, LANES};
use crate::element::Number;
use crate::kernels::loops::Loops;

/// What the eight lanes take: half of a first-level cache.
const BYTES: usize = 16 * 1024;

/// Rows that lie further apart than this, in bytes, are on different pages, and the machine does not foresee them.
const PAGE: usize = 4096;

/// How many bytes come from memory at a time.
const LINE: usize = 64;

/// A tile of columns with their lanes, and their binary counters for the tree of blocks.
pub(super) struct Columns<T: Number> {
    /// Lane `j` of column `c` is sum `j * width + c`.
    lanes: [MaybeUninit<u128>; BYTES / size_of::<u128>()],
    /// Digit `i` of column `c` is sum `i * width + c`.
    digits: Vec<T::Accumulator>,
    width: usize,
    blocks: usize,
}

/// How the terms of a tile are taken.
#[derive(Clone, Copy)]
enum Way {
    /// One by one: a row of memory after the other, as fast as it comes.
    Each,
    /// Up to so many at a time, with the sums in registers.
    Runs(usize),
    /// Eight at a time, which lie as their lanes do.
    Packed,
}

impl Way {
    /// For columns that are adjacent and terms that are not few.
    fn of<T: Number>(width: usize, stride: isize, far: bool) -> Way {
        let (row, pitch) = (
            width * size_of::<T>(),
            stride.unsigned_abs() * size_of::<T>(),
        );
        let packed = stride == width as isize;
        // Narrow elements do not widen in registers.
        let narrow = size_of::<T>() < 4;
        if packed && (far || narrow || row < LINE) {
            Way::Packed
        } else if narrow || far && pitch <= PAGE && row > 2 * LINE {
            Way::Each
        } else if far && pitch > PAGE {
            // Few pages at a time.
            Way::Runs(2 * LANES)
        } else {
            Way::Runs(BLOCK)
        }
    }
}

impl<T: Number> Columns<T> {
    /// The most columns a tile can have.
    pub(super) const WIDEST: usize = BYTES / LANES / size_of::<T::Accumulator>();

    /// Room for one tile after the other.
    pub(super) fn new() -> Columns<T> {
        const { assert!(align_of::<T::Accumulator>() <= align_of::<u128>()) };
        let lanes = [MaybeUninit::uninit(); BYTES / size_of::<u128>()];
        Columns {
            lanes,
            digits: Vec::new(),
            width: 0,
            blocks: 0,
        }
    }

    /// The sum of each of `width` columns over a range of terms; the first column starts at `corner` and the others
    /// follow at `step`. Terms that are `far` are in no cache.
    ///
    /// # Safety
    /// K1, K2, K4: `corner`, plus a column times `step`, plus the offset of each term in `range`, is an
    /// element; the range is not empty and starts at a block.
    pub(super) unsafe fn sum(
        &mut self,
        width: usize,
        (corner, step): (*const T, isize),
        terms: &Loops<1>,
        range: Range<usize>,
        far: bool,
    ) -> &[T::Accumulator] {
        assert!(width <= Self::WIDEST);
        self.width = width;
        self.blocks = 0;
        self.digits.clear();
        let [stride] = terms.steps();
        let start = range.start;
        let total = range.len();
        let way = if step == 1 && total >= 2 * LANES {
            Way::of::<T>(width, stride, far)
        } else {
            Way::Each
        };
        terms.spans(range, |at, len, [offset]| {
            let mut i = 0;
            while i < len {
                let k = (at - start + i) % BLOCK;
                let whole = |most: usize| (len - i).min(BLOCK - k).min(most) / LANES * LANES;
                // SAFETY: K1, K2, K4: term `k` of each of the columns, and all terms of the run, which lies in this
                // span and in one block; a block's terms come in order.
                unsafe {
                    let row = corner.offset(offset + i as isize * stride);
                    match way {
                        Way::Runs(most) if k.is_multiple_of(LANES) && len - i >= LANES => {
                            self.take_run(k == 0, (row, stride), whole(most));
                            i += whole(most);
                        }
                        Way::Packed if k.is_multiple_of(LANES) && len - i >= LANES => {
                            self.take_packed(k == 0, row, whole(BLOCK));
                            i += whole(BLOCK);
                        }
                        _ => {
                            self.take(k, row, step);
                            i += 1;
                        }
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
        // Not for short rows, which are done sooner than the call.
        #[cfg(target_arch = "x86_64")]
        if self.width * size_of::<T>() >= 4 * LINE && std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the caller's, and the machine has AVX2.
            return unsafe { self.take_avx2(k, row, step) };
        }
        // SAFETY: the caller's.
        unsafe { self.take_inlined(k, row, step) }
    }

    /// # Safety
    /// As for `take`, on a machine with AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn take_avx2(&mut self, k: usize, row: *const T, step: isize) {
        // SAFETY: the caller's.
        unsafe { self.take_inlined(k, row, step) }
    }

    /// # Safety
    /// As for `take`.
    #[inline(always)]
    unsafe fn take_inlined(&mut self, k: usize, row: *const T, step: isize) {
        let width = self.width;
        let lane = self.lane_start(k % LANES);
        // SAFETY: the caller's; a lane's first term is written before others are added. The packed cases
        // are spelled out so that they vectorise.
        unsafe {
            match (k < LANES, step == 1) {
                (true, true) => {
                    for c in 0..width {
                        lane.add(c).write((*row.add(c)).widen());
                    }
                }
                (true, false) => {
                    for c in 0..width {
                        lane.add(c).write((*row.offset(c as isize * step)).widen());
                    }
                }
                (false, true) => {
                    for c in 0..width {
                        *lane.add(c) = T::add(*lane.add(c), (*row.add(c)).widen());
                    }
                }
                (false, false) => {
                    for c in 0..width {
                        let term = *row.offset(c as isize * step);
                        *lane.add(c) = T::add(*lane.add(c), term.widen());
                    }
                }
            }
        }
    }

    /// Adds a run of terms to their lanes, with the sums in registers: what [`Columns::take`] does for each term, in the
    /// same order for each lane. The first run of a block starts the lanes.
    ///
    /// # Safety
    /// K1, K2, K4 for rows of `width` adjacent elements, `stride` apart, `count` of them, which is a multiple of the
    /// lanes; the next term belongs to the first lane.
    unsafe fn take_run(&mut self, start: bool, rows: (*const T, isize), count: usize) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the caller's, and the machine has AVX2.
            return unsafe { self.take_run_avx2(start, rows, count) };
        }
        // SAFETY: the caller's.
        unsafe { self.take_run_inlined(start, rows, count) }
    }

    /// # Safety
    /// As for `take_run`, on a machine with AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn take_run_avx2(&mut self, start: bool, rows: (*const T, isize), count: usize) {
        // SAFETY: the caller's.
        unsafe { self.take_run_inlined(start, rows, count) }
    }

    /// # Safety
    /// As for `take_run`.
    #[inline(always)]
    unsafe fn take_run_inlined(&mut self, start: bool, rows: (*const T, isize), count: usize) {
        // SAFETY: the caller's.
        unsafe {
            match size_of::<T>() {
                4 => self.take_parts::<16, 4>(start, rows, count),
                8 => self.take_parts::<8, 2>(start, rows, count),
                _ => self.take_parts::<4, 1>(start, rows, count),
            }
        }
    }

    /// Whole lines of the cache, each read once, by half of the lanes at a time, which is what registers hold; then
    /// `FEW` columns at a time, then single ones.
    ///
    /// # Safety
    /// As for `take_run`.
    #[inline(always)]
    unsafe fn take_parts<const WHOLE: usize, const FEW: usize>(
        &mut self,
        start: bool,
        rows: (*const T, isize),
        count: usize,
    ) {
        let mut c = 0;
        // SAFETY: the caller's, for as many columns as there are.
        unsafe {
            while c + WHOLE <= self.width {
                self.take_part::<WHOLE, { LANES / 2 }>(start, rows, count, c);
                c += WHOLE;
            }
            while c + FEW <= self.width {
                self.take_part::<FEW, LANES>(start, rows, count, c);
                c += FEW;
            }
            while c < self.width {
                self.take_part::<1, LANES>(start, rows, count, c);
                c += 1;
            }
        }
    }

    /// Columns from `c` on, `ONCE` lanes at a time.
    ///
    /// # Safety
    /// As for `take_run`; there are so many columns.
    #[inline(always)]
    unsafe fn take_part<const WIDE: usize, const ONCE: usize>(
        &mut self,
        start: bool,
        (first, stride): (*const T, isize),
        count: usize,
        c: usize,
    ) {
        for j in (0..LANES).step_by(ONCE) {
            let lanes: [_; ONCE] = std::array::from_fn(|l| self.lane_start(j + l));
            // SAFETY: the caller's: terms of the run, and lanes that were written unless this starts them.
            unsafe {
                let term = |t: usize| {
                    let row = first.offset(t as isize * stride).add(c);
                    *row.cast::<[T; WIDE]>()
                };
                let lane = |l: usize| lanes[l].add(c).cast::<[T::Accumulator; WIDE]>();
                let mut sums: [_; ONCE] = std::array::from_fn(|l| match start {
                    true => term(j + l).map(T::widen),
                    false => *lane(l),
                });
                for t in (if start { LANES } else { 0 }..count).step_by(LANES) {
                    for (l, sums) in sums.iter_mut().enumerate() {
                        for (sum, x) in sums.iter_mut().zip(term(t + j + l)) {
                            *sum = T::add(*sum, x.widen());
                        }
                    }
                }
                for (l, sums) in sums.into_iter().enumerate() {
                    lane(l).write(sums);
                }
            }
        }
    }

    /// As [`Columns::take_run`] for rows that follow each other: eight of them lie as their lanes do, and are added as one.
    ///
    /// # Safety
    /// As for `take_run`, with a stride of `width`.
    unsafe fn take_packed(&mut self, start: bool, first: *const T, count: usize) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the caller's, and the machine has AVX2.
            return unsafe { self.take_packed_avx2(start, first, count) };
        }
        // SAFETY: the caller's.
        unsafe { self.take_packed_inlined(start, first, count) }
    }

    /// # Safety
    /// As for `take_packed`, on a machine with AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn take_packed_avx2(&mut self, start: bool, first: *const T, count: usize) {
        // SAFETY: the caller's.
        unsafe { self.take_packed_inlined(start, first, count) }
    }

    /// # Safety
    /// As for `take_packed`.
    #[inline(always)]
    unsafe fn take_packed_inlined(&mut self, start: bool, first: *const T, count: usize) {
        let all = LANES * self.width;
        let lanes = self.lane_start(0);
        for group in 0..count / LANES {
            // SAFETY: the caller's: eight rows of the run; the lanes were written unless this starts them.
            unsafe {
                let rows = first.add(group * all);
                if start && group == 0 {
                    for i in 0..all {
                        lanes.add(i).write((*rows.add(i)).widen());
                    }
                } else {
                    for i in 0..all {
                        *lanes.add(i) = T::add(*lanes.add(i), (*rows.add(i)).widen());
                    }
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
            .wrapping_add(j * self.width)
    }

    /// # Safety
    /// The lane was written.
    unsafe fn lane(&self, j: usize) -> &[T::Accumulator] {
        let start = self.lanes.as_ptr().cast::<T::Accumulator>();
        // SAFETY: eight lanes of `WIDEST` sums fill the array, and `width` is no more than that.
        unsafe { std::slice::from_raw_parts(start.add(j * self.width), self.width) }
    }
}
