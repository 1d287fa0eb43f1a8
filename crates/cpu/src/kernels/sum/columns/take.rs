//! How terms are added to the lanes of their columns: each way gives the same sums, and each is the fastest somewhere.

use super::add::add_rows;
use super::{Columns, LANES, LINE, Number};

/// How many rows of a lane are added at a time: memory is read fastest at a few places in turn.
const ROWS: usize = 4;

/// Rows that are no further apart than sums of so many bytes are short. Where they are packed eight of them are added as one;
/// otherwise they come from memory faster in the order in which they lie there.
const SHORT: usize = 2 << 10;

impl<T: Number> Columns<T> {
    /// Adds a run of terms to their lanes: what [`Columns::take`] does for each term, in the same order for each lane.
    ///
    /// # Safety
    /// K1, K2, K4 for rows of `width` adjacent elements, `stride` apart, `count` of them, which is a multiple of the
    /// lanes; the next term belongs to the first lane, and lanes were written unless this starts them.
    #[inline(always)]
    pub(super) unsafe fn take_run<const VECTORS: bool>(
        &mut self,
        start: bool,
        (first, stride): (*const T, isize),
        count: usize,
    ) {
        let (width, times) = (self.width, count / LANES);
        let packed = stride == width as isize;
        let pitch = stride.unsigned_abs();
        // Little is between them.
        let short = pitch * size_of::<T::Accumulator>() <= SHORT && pitch <= 2 * width;
        // SAFETY: the caller's. Packed rows lie as their lanes do.
        unsafe {
            match width {
                1 if packed => self.take_narrow::<1, VECTORS>(start, first, count),
                2 if packed => self.take_narrow::<2, VECTORS>(start, first, count),
                3 if packed => self.take_narrow::<3, VECTORS>(start, first, count),
                4 if packed => self.take_narrow::<4, VECTORS>(start, first, count),
                _ if short && packed => {
                    let all = LANES * width;
                    let rows = (first, all as isize);
                    match self.far {
                        true => self.take_rows::<1, true, VECTORS>(start, rows, all, times),
                        false => self.take_rows::<1, false, VECTORS>(start, rows, all, times),
                    }
                }
                _ if width * size_of::<T>() <= LINE => {
                    self.take_parts::<VECTORS>(start, (first, stride), count);
                }
                _ if short && self.far => {
                    for t in 0..count {
                        let row = first.offset(t as isize * stride);
                        self.take::<VECTORS>(t + if start { 0 } else { LANES }, row, 1);
                    }
                }
                _ => {
                    let rows = (first, stride);
                    self.take_rows::<LANES, false, VECTORS>(start, rows, width, times);
                }
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
                let sums = self.lane_start(k % LANES);
                return add_rows::<T, 1, false, VECTORS>(k < LANES, (row, 0), sums, self.width);
            }
            let lane = self.lane_start(k % LANES);
            for c in 0..self.width {
                let term = (*row.offset(c as isize * step)).widen();
                let sum = lane.add(c);
                sum.write(if k < LANES { term } else { T::add(*sum, term) });
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

    /// As [`Columns::take_run`], a few columns after the other, whose sums are in registers for all of the run.
    ///
    /// # Safety
    /// As for `take_run`.
    #[inline(always)]
    unsafe fn take_parts<const VECTORS: bool>(
        &mut self,
        start: bool,
        rows: (*const T, isize),
        count: usize,
    ) {
        const FEW: usize = LANES / 2;
        let mut c = 0;
        // SAFETY: the caller's, for as many columns as there are.
        unsafe {
            while c + LANES <= self.width {
                self.take_part::<LANES, VECTORS>(start, rows, count, c);
                c += LANES;
            }
            while c + FEW <= self.width {
                self.take_part::<FEW, VECTORS>(start, rows, count, c);
                c += FEW;
            }
            while c < self.width {
                self.take_part::<1, VECTORS>(start, rows, count, c);
                c += 1;
            }
        }
    }

    /// `WIDE` columns from `c` on.
    ///
    /// # Safety
    /// As for `take_run`; there are so many columns.
    #[inline(always)]
    unsafe fn take_part<const WIDE: usize, const VECTORS: bool>(
        &mut self,
        start: bool,
        (first, stride): (*const T, isize),
        count: usize,
        c: usize,
    ) {
        let lanes: [_; LANES] = std::array::from_fn(|j| self.lane_start(j));
        // SAFETY: the caller's: terms of the run, and lanes that were written unless this starts them.
        unsafe {
            let term = |t: usize| {
                T::widen_adjacent::<WIDE, VECTORS>(first.offset(t as isize * stride).add(c))
            };
            let lane = |j: usize| lanes[j].add(c).cast::<[T::Accumulator; WIDE]>();
            let mut sums: [_; LANES] = std::array::from_fn(|j| match start {
                true => term(j),
                false => *lane(j),
            });
            for t in (if start { LANES } else { 0 }..count).step_by(LANES) {
                for (j, sums) in sums.iter_mut().enumerate() {
                    for (sum, term) in sums.iter_mut().zip(term(t + j)) {
                        *sum = T::add(*sum, term);
                    }
                }
            }
            for (j, sums) in sums.into_iter().enumerate() {
                lane(j).write(sums);
            }
        }
    }

    /// Adds rows to `IN` lanes of `width` sums, one to each of them, so many times over. A lane gets [`ROWS`] of its rows at a
    /// time: memory is read at as many places, at each for long, and the sums, which may be in the second cache, are fetched
    /// and put back once for all of them. With `ASKS` those that follow are asked for.
    ///
    /// # Safety
    /// K1, K2, K4 for all rows, `stride` apart; there are so many lanes of so many sums, and they were written unless this
    /// starts them.
    #[inline(always)]
    unsafe fn take_rows<const IN: usize, const ASKS: bool, const VECTORS: bool>(
        &mut self,
        start: bool,
        (first, stride): (*const T, isize),
        width: usize,
        times: usize,
    ) {
        let all = IN as isize * stride;
        let sums = self.lane_start(0);
        let mut t = 0;
        while t < times {
            let many = times - t >= ROWS;
            for lane in 0..IN {
                let starts = start && t == 0;
                // SAFETY: the caller's: rows of the run, every one of them of this lane.
                unsafe {
                    let row = first.offset(t as isize * all + lane as isize * stride);
                    let (rows, sums) = ((row, all), sums.add(lane * width));
                    match many {
                        true => add_rows::<T, ROWS, ASKS, VECTORS>(starts, rows, sums, width),
                        false => add_rows::<T, 1, false, VECTORS>(starts, rows, sums, width),
                    }
                }
            }
            t += if many { ROWS } else { 1 };
        }
    }
}
