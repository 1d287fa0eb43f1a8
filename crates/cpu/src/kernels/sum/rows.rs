//! Sums of rows of adjacent terms, in a loop that is compiled for wide vectors as well. Rows are often short, so that
//! what is done for each of them counts. Every row follows the same tree as any other sum.

use super::tree::{Tree, block, combine};
use super::{BLOCK, LANES, vectors};
use crate::element::Number;

/// Where the rows lie, and how many there are.
#[derive(Clone, Copy)]
pub(super) struct Rows<T> {
    pub(super) first: *const T,
    /// From one row to the next.
    pub(super) step: isize,
    pub(super) count: usize,
    /// The terms of a row, at least one.
    pub(super) len: usize,
}

impl<T: Number> Rows<T> {
    /// Stores the sum of each row, with its number.
    ///
    /// # Safety
    /// K1, K2, K4 for the elements of all rows.
    pub(super) unsafe fn sum(self, store: impl Fn(usize, T::Accumulator)) {
        if self.len <= LANES && size_of::<T>() == size_of::<T::Accumulator>() {
            // SAFETY: the caller's.
            return unsafe { self.sum_short(store) };
        }
        #[cfg(target_arch = "x86_64")]
        if vectors() {
            // SAFETY: the caller's, and the machine has the vectors.
            return unsafe { self.sum_vectors(store) };
        }
        // SAFETY: the caller's.
        unsafe { self.sum_inlined::<false>(store) }
    }

    /// # Safety
    /// As for `sum`, on a machine with AVX2 and F16C.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,f16c")]
    pub(super) unsafe fn sum_vectors(self, store: impl Fn(usize, T::Accumulator)) {
        // SAFETY: the caller's.
        unsafe { self.sum_inlined::<true>(store) }
    }

    /// # Safety
    /// As for `sum`.
    #[inline(always)]
    pub(super) unsafe fn sum_inlined<const VECTORS: bool>(
        self,
        store: impl Fn(usize, T::Accumulator),
    ) {
        for at in 0..self.count {
            let row = self.first.wrapping_offset(at as isize * self.step);
            if self.len <= BLOCK {
                // SAFETY: the caller's.
                store(at, unsafe { block::<T, VECTORS>(row, self.len) });
                continue;
            }
            let mut tree = Tree::<T>::new();
            // SAFETY: the caller's.
            unsafe { push_blocks_inlined::<T, VECTORS>(&mut tree, row, self.len) };
            store(at, tree.root());
        }
    }

    /// Stores the sum of each row of at most a term for each lane.
    ///
    /// # Safety
    /// As for `sum`; the length is at most eight.
    pub(super) unsafe fn sum_short(self, store: impl Fn(usize, T::Accumulator)) {
        // SAFETY: the caller's.
        unsafe {
            match self.len {
                1 => self.short::<1>(store),
                2 => self.short::<2>(store),
                3 => self.short::<3>(store),
                4 => self.short::<4>(store),
                5 => self.short::<5>(store),
                6 => self.short::<6>(store),
                7 => self.short::<7>(store),
                _ => self.short::<LANES>(store),
            }
        }
    }

    /// Rows whose length is known here; packed ones, the most common, apart, so that they vectorise.
    ///
    /// # Safety
    /// As for `sum`; `LEN` is the length.
    #[inline(always)]
    unsafe fn short<const LEN: usize>(self, store: impl Fn(usize, T::Accumulator)) {
        let sum = |row: &[T; LEN]| {
            let lane = |j: usize| row.get(j).map_or(T::ZERO.widen(), |term| term.widen());
            combine::<T>(std::array::from_fn(lane), LEN)
        };
        if self.step == LEN as isize {
            // SAFETY: the caller's: the rows follow each other.
            let rows = unsafe { std::slice::from_raw_parts(self.first.cast(), self.count) };
            for (at, row) in rows.iter().enumerate() {
                store(at, sum(row));
            }
            return;
        }
        for at in 0..self.count {
            let row = self.first.wrapping_offset(at as isize * self.step);
            // SAFETY: the caller's.
            store(at, sum(unsafe { &*row.cast() }));
        }
    }
}

/// Adds the blocks of adjacent terms to a tree; the last may be shorter.
///
/// # Safety
/// K1, K2, K4 for `len` elements.
pub(super) unsafe fn push_blocks<T: Number>(tree: &mut Tree<T>, terms: *const T, len: usize) {
    #[cfg(target_arch = "x86_64")]
    if vectors() {
        // SAFETY: the caller's, and the machine has the vectors.
        return unsafe { push_blocks_vectors(tree, terms, len) };
    }
    // SAFETY: the caller's.
    unsafe { push_blocks_inlined::<T, false>(tree, terms, len) }
}

/// # Safety
/// As for `push_blocks`, on a machine with AVX2 and F16C.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,f16c")]
unsafe fn push_blocks_vectors<T: Number>(tree: &mut Tree<T>, terms: *const T, len: usize) {
    // SAFETY: the caller's.
    unsafe { push_blocks_inlined::<T, true>(tree, terms, len) }
}

/// # Safety
/// As for `push_blocks`.
#[inline(always)]
unsafe fn push_blocks_inlined<T: Number, const VECTORS: bool>(
    tree: &mut Tree<T>,
    terms: *const T,
    len: usize,
) {
    for start in (0..len).step_by(BLOCK) {
        // SAFETY: the caller's.
        tree.push(unsafe { block::<T, VECTORS>(terms.add(start), BLOCK.min(len - start)) });
    }
}
