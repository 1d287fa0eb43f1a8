//! How terms are added to the lanes of their columns: each way gives the same sums, and each is the fastest somewhere.

use super::{Columns, LANES, LINE, Number};
use crate::kernels::prefetch;

/// How many rows of a lane are added at a time: memory is read fastest at a few places in turn.
const ROWS: usize = 4;

/// Rows that are no further apart than sums of so many bytes are short. Where they are packed eight of them are added as one;
/// otherwise they come from memory faster in the order in which they lie there.
const SHORT: usize = 2 << 10;

/// Short rows that come from memory are asked for so many bytes ahead, at least: the places at which they are read are too
/// near each other to be foreseen.
const AHEAD: usize = 8 << 10;

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

/// Adds `N` rows of `len` adjacent elements, `stride` apart, to `len` sums, or starts these with the first row. With `ASKS`
/// those that follow are asked for.
///
/// # Safety
/// K1, K2, K4 for `len` elements of each row, K3 for the sums, which were written unless this starts them; with `VECTORS`
/// the machine has them.
#[inline(always)]
unsafe fn add_rows<T: Number, const N: usize, const ASKS: bool, const VECTORS: bool>(
    starts: bool,
    rows: (*const T, isize),
    sums: *mut T::Accumulator,
    len: usize,
) {
    // SAFETY: the caller's, and with `VECTORS` the machine has them.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if VECTORS {
            return match starts {
                true => add_vectors::<T, N, ASKS, true>(rows, sums, len),
                false => add_vectors::<T, N, ASKS, false>(rows, sums, len),
            };
        }
        match starts {
            true => add_plainly::<T, N, ASKS, true>(rows, sums, len),
            false => add_plainly::<T, N, ASKS, false>(rows, sums, len),
        }
    }
}

/// As [`add_rows`], compiled once for all who call it.
///
/// # Safety
/// As for [`add_rows`], on a machine with AVX2 and F16C.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,f16c")]
unsafe fn add_vectors<T: Number, const N: usize, const ASKS: bool, const STARTS: bool>(
    rows: (*const T, isize),
    sums: *mut T::Accumulator,
    len: usize,
) {
    // SAFETY: the caller's.
    unsafe { add::<T, N, ASKS, STARTS, true>(rows, sums, len) }
}

/// As [`add_vectors`], on any machine.
///
/// # Safety
/// As for [`add_rows`].
#[inline(never)]
unsafe fn add_plainly<T: Number, const N: usize, const ASKS: bool, const STARTS: bool>(
    rows: (*const T, isize),
    sums: *mut T::Accumulator,
    len: usize,
) {
    // SAFETY: the caller's.
    unsafe { add::<T, N, ASKS, STARTS, false>(rows, sums, len) }
}

/// As [`add_rows`]. What starts the sums is settled outside of the loops, lest addresses be chosen within.
///
/// # Safety
/// As for [`add_rows`].
#[inline(always)]
unsafe fn add<
    T: Number,
    const N: usize,
    const ASKS: bool,
    const STARTS: bool,
    const VECTORS: bool,
>(
    rows: (*const T, isize),
    sums: *mut T::Accumulator,
    len: usize,
) {
    // SAFETY: the caller's. The sums of a whole part are two lines of the cache.
    unsafe {
        match size_of::<T::Accumulator>() {
            1 => add_parts::<T, N, ASKS, STARTS, 128, 32, VECTORS>(rows, sums, len),
            2 => add_parts::<T, N, ASKS, STARTS, 64, 16, VECTORS>(rows, sums, len),
            4 => add_parts::<T, N, ASKS, STARTS, 32, 8, VECTORS>(rows, sums, len),
            8 => add_parts::<T, N, ASKS, STARTS, 16, 4, VECTORS>(rows, sums, len),
            _ => add_parts::<T, N, ASKS, STARTS, 8, 2, VECTORS>(rows, sums, len),
        }
    }
}

/// As [`add_rows`], so many elements at a time, then a few, then single ones.
///
/// # Safety
/// As for [`add_rows`].
#[inline(always)]
unsafe fn add_parts<
    T: Number,
    const N: usize,
    const ASKS: bool,
    const STARTS: bool,
    const WHOLE: usize,
    const FEW: usize,
    const VECTORS: bool,
>(
    (first, stride): (*const T, isize),
    sums: *mut T::Accumulator,
    len: usize,
) {
    let few = len / WHOLE * WHOLE;
    let single = few + (len - few) / FEW * FEW;
    // What follows is asked for in the order in which it lies in memory, as fast as this is read.
    let bytes = N * WHOLE * size_of::<T>();
    let group = N * stride.unsigned_abs() * size_of::<T>();
    let next = first.wrapping_byte_add(group.max(AHEAD)).cast::<u8>();
    // SAFETY: the caller's, for elements and sums below `len`.
    unsafe {
        for c in (0..few).step_by(WHOLE) {
            for line in 0..if ASKS { bytes / LINE } else { 0 } {
                prefetch::second(next.wrapping_add(c / WHOLE * bytes + line * LINE));
            }
            add_part::<T, N, STARTS, WHOLE, VECTORS>((first.add(c), stride), sums.add(c));
        }
        for c in (few..single).step_by(FEW) {
            add_part::<T, N, STARTS, FEW, VECTORS>((first.add(c), stride), sums.add(c));
        }
        for c in single..len {
            add_part::<T, N, STARTS, 1, VECTORS>((first.add(c), stride), sums.add(c));
        }
    }
}

/// As [`add_rows`] of `WIDE` elements of each row, from the first row to the last.
///
/// # Safety
/// As for [`add_rows`].
#[inline(always)]
unsafe fn add_part<
    T: Number,
    const N: usize,
    const STARTS: bool,
    const WIDE: usize,
    const VECTORS: bool,
>(
    (first, stride): (*const T, isize),
    sums: *mut T::Accumulator,
) {
    // SAFETY: the caller's.
    unsafe {
        let sums = sums.cast::<[T::Accumulator; WIDE]>();
        let terms =
            |row: usize| T::widen_adjacent::<WIDE, VECTORS>(first.offset(row as isize * stride));
        let mut added = if STARTS { terms(0) } else { *sums };
        for row in usize::from(STARTS)..N {
            for (sum, term) in added.iter_mut().zip(terms(row)) {
                *sum = T::add(*sum, term);
            }
        }
        sums.write(added);
    }
}
