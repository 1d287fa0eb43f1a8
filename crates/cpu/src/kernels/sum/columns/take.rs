//! How terms are added to the lanes of their columns: each way gives the same sums, and each is the fastest somewhere.

use super::{Columns, LANES, LINE, Number, PAGE};
use crate::kernels::prefetch;

/// How many bytes further on a row is asked for, where several are read line by line: the processor does not foresee as many.
const AHEAD: usize = 4 * LINE;

impl<T: Number> Columns<T> {
    /// Adds a run of terms to their lanes, in the order in which they lie in memory where that matters.
    ///
    /// # Safety
    /// As for `take_run`.
    #[inline(always)]
    pub(super) unsafe fn take_many<const VECTORS: bool>(
        &mut self,
        start: bool,
        (first, stride): (*const T, isize),
        count: usize,
    ) {
        let (width, row) = (self.width, self.width * size_of::<T>());
        let packed = stride == width as isize;
        let one_page = stride.unsigned_abs() * size_of::<T>() <= PAGE;
        // SAFETY: the caller's.
        unsafe {
            match width {
                1 if packed => self.take_narrow::<1, VECTORS>(start, first, count),
                2 if packed => self.take_narrow::<2, VECTORS>(start, first, count),
                3 if packed => self.take_narrow::<3, VECTORS>(start, first, count),
                4 if packed => self.take_narrow::<4, VECTORS>(start, first, count),
                _ if packed && (row < LINE || self.far && one_page) => {
                    // Eight rows lie as their lanes do, and are added as one.
                    let all = LANES * width;
                    for group in 0..count / LANES {
                        let starts = start && group == 0;
                        self.take_adjacent::<VECTORS>(starts, 0, first.add(group * all), all);
                    }
                }
                _ if self.far && one_page && row > 2 * LINE => {
                    for t in 0..count {
                        let starts = start && t < LANES;
                        let row = first.offset(t as isize * stride);
                        self.take_adjacent::<VECTORS>(starts, t % LANES, row, width);
                    }
                }
                _ => self.take_run::<VECTORS>(start, (first, stride), count),
            }
        }
    }

    /// Adds term `k` of a block to its lane.
    ///
    /// # Safety
    /// K1, K2, K4 for a row of `width` elements at `step`; terms 0 to `k - 1` were taken before.
    #[inline(always)]
    pub(super) unsafe fn take<const VECTORS: bool>(
        &mut self,
        k: usize,
        row: *const T,
        step: isize,
    ) {
        // SAFETY: the caller's; a lane's first term is written before others are added.
        unsafe {
            if step == 1 {
                return self.take_adjacent::<VECTORS>(k < LANES, k % LANES, row, self.width);
            }
            let lane = self.lane_start(k % LANES);
            for c in 0..self.width {
                let term = (*row.offset(c as isize * step)).widen();
                let sum = lane.add(c);
                sum.write(if k < LANES { term } else { T::add(*sum, term) });
            }
        }
    }

    /// Adds adjacent elements to as many sums from the start of a lane, or starts these.
    ///
    /// # Safety
    /// K1, K2, K4 for `len` elements; there are so many sums, and they were written unless this starts them.
    #[inline(always)]
    unsafe fn take_adjacent<const VECTORS: bool>(
        &mut self,
        starts: bool,
        lane: usize,
        row: *const T,
        len: usize,
    ) {
        let sums = self.lane_start(lane);
        let mut c = 0;
        // SAFETY: the caller's, for elements and sums below `len`.
        unsafe {
            while c + 2 * LANES <= len {
                add_adjacent::<T, { 2 * LANES }, VECTORS>(starts, row.add(c), sums.add(c));
                c += 2 * LANES;
            }
            if c + LANES <= len {
                add_adjacent::<T, LANES, VECTORS>(starts, row.add(c), sums.add(c));
                c += LANES;
            }
            while c < len {
                add_adjacent::<T, 1, VECTORS>(starts, row.add(c), sums.add(c));
                c += 1;
            }
        }
    }

    /// As [`Columns::take_run`] for `WIDTH` columns whose rows follow each other: eight of them lie as their lanes do, and
    /// registers hold them all.
    ///
    /// # Safety
    /// As for `take_run`, with as many columns, and a stride of as many.
    #[inline(always)]
    unsafe fn take_narrow<const WIDTH: usize, const VECTORS: bool>(
        &mut self,
        start: bool,
        first: *const T,
        count: usize,
    ) {
        let lanes = self
            .lane_start(0)
            .cast::<[[T::Accumulator; LANES]; WIDTH]>();
        // SAFETY: the caller's: eight rows of the run at a time; the lanes were written unless this starts them.
        unsafe {
            let terms = |group: usize, i: usize| {
                T::widen_adjacent::<LANES, VECTORS>(first.add((group * WIDTH + i) * LANES))
            };
            let mut sums = match start {
                true => std::array::from_fn(|i| terms(0, i)),
                false => *lanes,
            };
            for group in usize::from(start)..count / LANES {
                for (i, sums) in sums.iter_mut().enumerate() {
                    for (sum, term) in sums.iter_mut().zip(terms(group, i)) {
                        *sum = T::add(*sum, term);
                    }
                }
            }
            lanes.write(sums);
        }
    }

    /// Adds a run of terms to their lanes, with the sums in registers: what [`Columns::take`] does for each term, in the
    /// same order for each lane. Lines of the cache are read once, by half of the lanes at a time, which is what
    /// registers hold; then a few columns at a time, then single ones.
    ///
    /// # Safety
    /// K1, K2, K4 for rows of `width` adjacent elements, `stride` apart, `count` of them, which is a multiple of the
    /// lanes; the next term belongs to the first lane.
    #[inline(always)]
    unsafe fn take_run<const VECTORS: bool>(
        &mut self,
        start: bool,
        rows: (*const T, isize),
        count: usize,
    ) {
        // SAFETY: the caller's.
        unsafe {
            match size_of::<T::Accumulator>() {
                1 => self.take_parts::<64, 16, VECTORS>(start, rows, count),
                2 => self.take_parts::<32, 8, VECTORS>(start, rows, count),
                4 => self.take_parts::<16, 4, VECTORS>(start, rows, count),
                8 => self.take_parts::<8, 2, VECTORS>(start, rows, count),
                _ => self.take_parts::<4, 1, VECTORS>(start, rows, count),
            }
        }
    }

    /// # Safety
    /// As for `take_run`.
    #[inline(always)]
    unsafe fn take_parts<const WHOLE: usize, const FEW: usize, const VECTORS: bool>(
        &mut self,
        start: bool,
        rows: (*const T, isize),
        count: usize,
    ) {
        let mut c = 0;
        // SAFETY: the caller's, for as many columns as there are.
        unsafe {
            while c + WHOLE <= self.width {
                self.take_part::<WHOLE, { LANES / 2 }, VECTORS>(start, rows, count, c);
                c += WHOLE;
            }
            while c + FEW <= self.width {
                self.take_part::<FEW, LANES, VECTORS>(start, rows, count, c);
                c += FEW;
            }
            while c < self.width {
                self.take_part::<1, LANES, VECTORS>(start, rows, count, c);
                c += 1;
            }
        }
    }

    /// Columns from `c` on, `ONCE` lanes at a time.
    ///
    /// # Safety
    /// As for `take_run`; there are so many columns.
    #[inline(always)]
    unsafe fn take_part<const WIDE: usize, const ONCE: usize, const VECTORS: bool>(
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
                    T::widen_adjacent::<WIDE, VECTORS>(first.offset(t as isize * stride).add(c))
                };
                let lane = |l: usize| lanes[l].add(c).cast::<[T::Accumulator; WIDE]>();
                let mut sums: [_; ONCE] = std::array::from_fn(|l| match start {
                    true => term(j + l),
                    false => *lane(l),
                });
                for t in (if start { LANES } else { 0 }..count).step_by(LANES) {
                    for (l, sums) in sums.iter_mut().enumerate() {
                        if WIDE * size_of::<T>() >= LINE {
                            let row = first.wrapping_offset((t + j + l) as isize * stride);
                            prefetch::second(row.wrapping_add(c).wrapping_byte_add(AHEAD).cast());
                        }
                        for (sum, x) in sums.iter_mut().zip(term(t + j + l)) {
                            *sum = T::add(*sum, x);
                        }
                    }
                }
                for (l, sums) in sums.into_iter().enumerate() {
                    lane(l).write(sums);
                }
            }
        }
    }
}

/// Adds `N` adjacent elements to as many sums, or starts these.
///
/// # Safety
/// K1, K2, K4 for the elements, K3 for the sums, which were written unless this starts them; with `VECTORS` the machine
/// has them.
#[inline(always)]
unsafe fn add_adjacent<T: Number, const N: usize, const VECTORS: bool>(
    starts: bool,
    row: *const T,
    sums: *mut T::Accumulator,
) {
    // SAFETY: the caller's.
    unsafe {
        let sums = sums.cast::<[T::Accumulator; N]>();
        let terms = T::widen_adjacent::<N, VECTORS>(row);
        if starts {
            return sums.write(terms);
        }
        // In place, so that it vectorises.
        for (sum, term) in (*sums).iter_mut().zip(terms) {
            *sum = T::add(*sum, term);
        }
    }
}
