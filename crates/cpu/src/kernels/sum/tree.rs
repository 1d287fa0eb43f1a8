//! The parts of the tree in the header of `sum`: blocks of adjacent terms, and what combines the sums of blocks.

use std::array;
use std::hint;
use std::mem::MaybeUninit;

use super::{BLOCK, LANES};
use crate::element::Number;

/// How many terms of each lane are added between looks at whether a block has ended.
const STEPS: usize = 5;
const _: () = assert!((BLOCK / LANES - 1).is_multiple_of(STEPS));
/// Blocks that are summed at once.
pub(super) const EIGHT: usize = 8;

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
    // Terms that are widened first have enough to do meanwhile, and pairs have as many lanes again.
    let grows = size_of::<T>() < size_of::<T::Accumulator>();
    if N == 1 || T::ANY_ORDER || grows || pairs::<T>() || !len.is_multiple_of(LANES) {
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

/// Whether sums are two numbers each.
const fn pairs<T: Number>() -> bool {
    align_of::<T::Accumulator>() < size_of::<T::Accumulator>()
}

/// Whether [`eight`] is faster than [`blocks`]: not where the order makes no difference, nor for pairs of narrow floats, of
/// whose lanes the compiler makes no vectors there.
pub(super) const fn by_eights<T: Number>() -> bool {
    let narrow_pairs = pairs::<T>() && size_of::<T::Accumulator>() == 8;
    !T::ANY_ORDER && !narrow_pairs
}

/// [`block`] for eight whole blocks, `TURNS` of them in turn: what one of them waits for does not hold up the others, and
/// the lanes of all are combined at once. Blocks that take turns are best far apart, since each is then foreseen on its own.
///
/// # Safety
/// As for `block`, for each of them.
#[inline(always)]
pub(super) unsafe fn eight<T: Number, const TURNS: usize, const VECTORS: bool>(
    blocks: [*const T; EIGHT],
) -> [T::Accumulator; EIGHT] {
    let zero = T::ZERO.widen();
    let mut lanes = [[zero; LANES]; EIGHT];
    // Unrolled by so much: the fewer ends of loops there are to be foreseen, the further ahead memory is read. But of a loop
    // that is gone the compiler adds one block after the other, except for terms that are widened or have eight bytes, which
    // are better off so.
    let (term, lane) = (size_of::<T>(), size_of::<T::Accumulator>());
    let (steps, len) = match term < lane || lane == 8 {
        true => (1, BLOCK),
        false => (STEPS, hint::black_box(BLOCK)),
    };
    // No closures around what is read: one may be compiled apart, without the vectors.
    for first in (0..EIGHT).step_by(TURNS) {
        let mut sums = [[zero; LANES]; TURNS];
        // SAFETY: the caller's: positions are below the length of a block.
        unsafe {
            for (sums, terms) in sums.iter_mut().zip(&blocks[first..]) {
                *sums = T::widen_adjacent::<LANES, VECTORS>(*terms);
            }
            for at in (LANES..len).step_by(steps * LANES) {
                for at in (0..steps).map(|step| at + step * LANES) {
                    for (sums, terms) in sums.iter_mut().zip(&blocks[first..]) {
                        let terms = T::widen_adjacent::<LANES, VECTORS>(terms.add(at));
                        for (sum, term) in sums.iter_mut().zip(terms) {
                            *sum = T::add(*sum, term);
                        }
                    }
                }
            }
        }
        lanes[first..first + TURNS].copy_from_slice(&sums);
    }
    // Step 3, by the same lane of all blocks side by side.
    let lane = |j: usize| array::from_fn(|at| lanes[at][j]);
    let add = |a: [T::Accumulator; EIGHT], b: [T::Accumulator; EIGHT]| {
        array::from_fn(|at| T::add(a[at], b[at]))
    };
    let low = add(add(lane(0), lane(1)), add(lane(2), lane(3)));
    add(low, add(add(lane(4), lane(5)), add(lane(6), lane(7))))
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

    /// Takes the sum of the next block.
    #[inline]
    pub(super) fn push(&mut self, sum: T::Accumulator) {
        self.push_subtree(0, sum);
    }

    /// Takes the sum of the next `2^level` blocks, a multiple of which were taken before.
    #[inline]
    pub(super) fn push_subtree(&mut self, level: usize, mut sum: T::Accumulator) {
        debug_assert!(self.blocks_to_whole(1 << level) == 0);
        let carries = (self.count >> level).trailing_ones() as usize;
        let (below, digits) = self.digits[level..].split_at_mut(carries);
        for digit in below {
            // SAFETY: a digit whose bit is set in the count was written.
            sum = T::add(unsafe { digit.assume_init() }, sum);
        }
        digits[0] = MaybeUninit::new(sum);
        self.count += 1 << level;
    }

    /// How many blocks are missing to a multiple of so many.
    #[inline]
    pub(super) fn blocks_to_whole(&self, blocks: usize) -> usize {
        self.count.next_multiple_of(blocks) - self.count
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
