//! Sums of rows of adjacent terms, in a loop that is compiled for wide vectors as well. Rows are often short, so that
//! what is done for each of them counts. Every row follows the same tree as any other sum.

use super::{BLOCK, Tree, block};
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
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the caller's, and the machine has AVX2.
            return unsafe { self.sum_avx2(store) };
        }
        // SAFETY: the caller's.
        unsafe { self.sum_inlined(store) }
    }

    /// # Safety
    /// As for `sum`, on a machine with AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn sum_avx2(self, store: impl Fn(usize, T::Accumulator)) {
        // SAFETY: the caller's.
        unsafe { self.sum_inlined(store) }
    }

    /// # Safety
    /// As for `sum`.
    #[inline(always)]
    pub(super) unsafe fn sum_inlined(self, store: impl Fn(usize, T::Accumulator)) {
        for at in 0..self.count {
            let row = self.first.wrapping_offset(at as isize * self.step);
            if self.len <= BLOCK {
                // SAFETY: the caller's.
                store(at, unsafe { block(row, self.len) });
                continue;
            }
            let mut tree = Tree::<T>::new();
            for start in (0..self.len).step_by(BLOCK) {
                // SAFETY: the caller's.
                tree.push(unsafe { block(row.add(start), BLOCK.min(self.len - start)) });
            }
            store(at, tree.root());
        }
    }
}
