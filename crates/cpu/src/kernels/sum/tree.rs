//! The parts of the tree in the header of `sum`: blocks of adjacent terms, and what combines the sums of blocks.

use std::mem::MaybeUninit;

use super::{BLOCK, LANES};
use crate::element::Number;

/// Steps 2 and 3 for adjacent terms, from 1 to 128 of them; in whatever order is fastest where that makes no
/// difference.
///
/// # Safety
/// K1, K2, K4 for `len` elements; with `VECTORS` the machine has them.
#[inline(always)]
pub(super) unsafe fn block<T: Number, const VECTORS: bool>(
    terms: *const T,
    len: usize,
) -> T::Accumulator {
    // SAFETY: the caller's.
    let slice = unsafe { std::slice::from_raw_parts(terms, len) };
    if T::ANY_ORDER {
        let terms = slice.iter().map(|term| term.widen());
        return terms.fold(T::ZERO.widen(), T::add);
    }
    if VECTORS || size_of::<T>() == size_of::<T::Accumulator>() || len <= 2 * LANES {
        // SAFETY: the caller's, for eight of the terms.
        let eight = |at: usize| unsafe { T::widen_adjacent::<LANES, VECTORS>(terms.add(at)) };
        return lanes_of::<T>(len, eight, |at| slice[at].widen());
    }
    // Widening vectorises on its own, but not in the midst of the lanes.
    let mut wide = [MaybeUninit::<T::Accumulator>::uninit(); BLOCK];
    for (wide, term) in wide.iter_mut().zip(slice) {
        wide.write(term.widen());
    }
    // SAFETY: as many as there are terms were written.
    let one = |at: usize| unsafe { wide[at].assume_init() };
    lanes_of::<T>(len, |at| std::array::from_fn(|j| one(at + j)), one)
}

/// [`block`] for several rows of as many terms, whose lanes are added in turn where they are all full: no row waits for
/// another, as the terms of one wait for each other.
///
/// # Safety
/// As for `block`, for each row.
#[inline(always)]
pub(super) unsafe fn blocks<T: Number, const N: usize, const VECTORS: bool>(
    rows: [*const T; N],
    len: usize,
) -> [T::Accumulator; N] {
    // Terms that are widened first have enough to do meanwhile.
    let grows = size_of::<T>() < size_of::<T::Accumulator>();
    if N == 1 || T::ANY_ORDER || grows || !len.is_multiple_of(LANES) {
        let mut sums = [T::ZERO.widen(); N];
        // No closure: one may be compiled apart, without the vectors.
        for (sum, row) in sums.iter_mut().zip(rows) {
            // SAFETY: the caller's.
            *sum = unsafe { block::<T, VECTORS>(row, len) };
        }
        return sums;
    }
    // SAFETY: the caller's, for eight of the terms.
    let eight = |row: *const T, at| unsafe { T::widen_adjacent::<LANES, VECTORS>(row.add(at)) };
    let mut sums = rows.map(|row| eight(row, 0));
    for at in (LANES..len).step_by(LANES) {
        for (lanes, row) in sums.iter_mut().zip(rows) {
            for (lane, term) in lanes.iter_mut().zip(eight(row, at)) {
                *lane = T::add(*lane, term);
            }
        }
    }
    sums.map(|lanes| combine::<T>(lanes, LANES))
}

/// Steps 2 and 3, for terms that are read as sums, eight at a time or one by one.
#[inline(always)]
fn lanes_of<T: Number>(
    len: usize,
    eight: impl Fn(usize) -> [T::Accumulator; LANES],
    one: impl Fn(usize) -> T::Accumulator,
) -> T::Accumulator {
    let whole = len / LANES * LANES;
    if whole == 0 {
        let lane = |j: usize| if j < len { one(j) } else { T::ZERO.widen() };
        return combine::<T>(std::array::from_fn(lane), len);
    }
    let mut lanes = eight(0);
    for at in (LANES..whole).step_by(LANES) {
        for (lane, term) in lanes.iter_mut().zip(eight(at)) {
            *lane = T::add(*lane, term);
        }
    }
    // Lane by lane, each at a place that is known here: others would send all lanes through memory.
    for (j, lane) in lanes.iter_mut().enumerate() {
        if whole + j < len {
            *lane = T::add(*lane, one(whole + j));
        }
    }
    combine::<T>(lanes, LANES)
}

/// Step 3: the first `active` lanes have terms.
#[inline(always)]
pub(super) fn combine<T: Number>(
    mut lanes: [T::Accumulator; LANES],
    active: usize,
) -> T::Accumulator {
    for gap in [1, 2, 4] {
        for j in (0..LANES).step_by(2 * gap) {
            if j + gap < active {
                lanes[j] = T::add(lanes[j], lanes[j + gap]);
            }
        }
    }
    lanes[0]
}

/// Step 4 for sums that arrive from left to right: a binary counter whose digit `i` holds the sum of a full
/// subtree of `2^i` blocks.
pub(super) struct Tree<T: Number> {
    digits: [MaybeUninit<T::Accumulator>; usize::BITS as usize],
    count: usize,
}

impl<T: Number> Tree<T> {
    pub(super) const fn new() -> Tree<T> {
        Tree {
            digits: [MaybeUninit::uninit(); usize::BITS as usize],
            count: 0,
        }
    }

    #[inline]
    pub(super) fn push(&mut self, mut sum: T::Accumulator) {
        let carries = self.count.trailing_ones() as usize;
        for digit in &self.digits[..carries] {
            // SAFETY: a digit whose bit is set in the count was written.
            sum = T::add(unsafe { digit.assume_init() }, sum);
        }
        self.digits[carries] = MaybeUninit::new(sum);
        self.count += 1;
    }

    /// At least one sum has been pushed.
    pub(super) fn root(&self) -> T::Accumulator {
        let mut bits = self.count;
        let mut next = || {
            let digit = bits.trailing_zeros() as usize;
            bits &= bits.wrapping_sub(1);
            // SAFETY: a digit whose bit is set in the count was written.
            self.digits
                .get(digit)
                .map(|sum| unsafe { sum.assume_init() })
        };
        let mut sum = next().expect("a tree is never empty");
        while let Some(left) = next() {
            sum = T::add(left, sum);
        }
        sum
    }
}

/// Step 4 for rows of sums, which end up in the first of them.
pub(super) fn join<T: Number>(sums: &mut [T::Accumulator], width: usize) {
    let rows = sums.len() / width;
    let mut gap = 1;
    while gap < rows {
        for row in (0..rows - gap).step_by(2 * gap) {
            let (left, right) = sums[row * width..].split_at_mut(gap * width);
            for (left, &right) in left[..width].iter_mut().zip(&right[..width]) {
                *left = T::add(*left, right);
            }
        }
        gap *= 2;
    }
}
