//! Sums of rows of adjacent terms, in a loop that is compiled for wide vectors as well. Rows are often short, so that
//! what is done for each of them counts. Every row follows the same tree as any other sum.

use std::array;
use std::cell::Cell;

use super::tree::{EIGHT, Tree, block, blocks, by_eights, combine, eight, join};
use super::{BLOCK, LANES, vectors};
use crate::element::Number;

/// Memory is read at so many places in turn: each is foreseen by the machine on its own, which asks for more at once.
const STREAMS: usize = 4;

/// Blocks of different rows that are added in turn.
const TURNS: usize = 2;

/// The fewest bytes for which several places are worth it.
const LONG: usize = 64 << 10;

/// What is done with the sum of a long row, and its number. Called where it is, not compiled into the loops: there are
/// many of both.
type Store<'a, T> = &'a dyn Fn(usize, <T as Number>::Accumulator);

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
        unsafe { self.sum_plainly(store) }
    }

    /// # Safety
    /// As for `sum`, on a machine with AVX2 and F16C.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,f16c")]
    pub(super) unsafe fn sum_vectors(self, store: impl Fn(usize, T::Accumulator)) {
        // SAFETY: the caller's.
        unsafe {
            match self.len <= BLOCK {
                true => self.blocks::<true>(store),
                false => self.long_vectors(&store),
            }
        }
    }

    /// # Safety
    /// As for `sum`.
    pub(super) unsafe fn sum_plainly(self, store: impl Fn(usize, T::Accumulator)) {
        // SAFETY: the caller's.
        unsafe {
            match self.len <= BLOCK {
                true => self.blocks::<false>(store),
                false => self.long_plainly(&store),
            }
        }
    }

    /// Stores the sums of rows of a block at most.
    ///
    /// # Safety
    /// As for `sum`.
    #[inline(always)]
    unsafe fn blocks<const VECTORS: bool>(self, store: impl Fn(usize, T::Accumulator)) {
        let apart = if self.is_small() {
            0
        } else {
            self.count / STREAMS
        };
        for i in 0..apart {
            let at: [usize; STREAMS] = array::from_fn(|stream| stream * apart + i);
            // SAFETY: the caller's.
            let sums =
                unsafe { blocks::<T, STREAMS, VECTORS>(at.map(|at| self.row(at)), self.len) };
            at.into_iter()
                .zip(sums)
                .for_each(|(at, sum)| store(at, sum));
        }
        for at in STREAMS * apart..self.count {
            // SAFETY: the caller's.
            store(at, unsafe { block::<T, VECTORS>(self.row(at), self.len) });
        }
    }

    /// # Safety
    /// As for `long`, on a machine with AVX2 and F16C.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,f16c")]
    unsafe fn long_vectors(self, store: Store<'_, T>) {
        // SAFETY: the caller's.
        unsafe { self.long::<true>(store) }
    }

    /// # Safety
    /// As for `long`.
    unsafe fn long_plainly(self, store: Store<'_, T>) {
        // SAFETY: the caller's.
        unsafe { self.long::<false>(store) }
    }

    /// Stores the sums of rows of several blocks.
    ///
    /// # Safety
    /// As for `sum`.
    #[inline(always)]
    unsafe fn long<const VECTORS: bool>(self, store: Store<'_, T>) {
        // SAFETY: the caller's, for rows below the count.
        unsafe {
            // No closures here: one may be compiled apart, without the vectors.
            if self.is_small() {
                for at in 0..self.count {
                    self.abreast::<1, VECTORS>([at], store);
                }
            } else if self.count < STREAMS {
                for at in 0..self.count {
                    store(at, self.parts::<VECTORS>(at));
                }
            } else {
                let apart = self.count / STREAMS;
                for at in 0..apart {
                    let rows = array::from_fn(|stream| stream * apart + at);
                    self.abreast::<STREAMS, VECTORS>(rows, store);
                }
                for at in STREAMS * apart..self.count {
                    self.abreast::<1, VECTORS>([at], store);
                }
            }
        }
    }

    /// Whether there is too little to read it at several places.
    fn is_small(self) -> bool {
        self.count.saturating_mul(self.len * size_of::<T>()) < LONG
    }

    fn row(self, at: usize) -> *const T {
        self.first.wrapping_offset(at as isize * self.step)
    }

    /// Stores the sums of a few rows, of which a block each is added in turn.
    ///
    /// # Safety
    /// As for `sum`, for rows below the count.
    #[inline(always)]
    unsafe fn abreast<const N: usize, const VECTORS: bool>(
        self,
        rows: [usize; N],
        store: Store<'_, T>,
    ) {
        let starts = rows.map(|at| self.row(at));
        let mut trees = [const { Tree::<T>::new() }; N];
        // SAFETY: the caller's.
        unsafe { push_blocks_inlined::<T, N, VECTORS>(&mut trees, starts, self.len) };
        for (at, tree) in rows.into_iter().zip(&trees) {
            store(at, tree.root());
        }
    }

    /// The sum of a long row, whose subtrees are added side by side.
    ///
    /// # Safety
    /// As for `sum`, for a row below the count.
    #[inline(always)]
    unsafe fn parts<const VECTORS: bool>(self, at: usize) -> T::Accumulator {
        let row = self.row(at);
        // Each is a power of two of blocks, and the rest is the right edge of the tree, so combining them is step 4.
        let part = BLOCK << (self.len / BLOCK / STREAMS).ilog2();
        let (whole, rest) = (self.len / part, self.len % part);
        let parts = Rows {
            first: row,
            step: part as isize,
            count: whole,
            len: part,
        };
        let mut sums = [T::ZERO.widen(); 2 * STREAMS];
        let cells = Cell::from_mut(&mut sums[..]).as_slice_of_cells();
        let keep = |at: usize, sum| cells[at].set(sum);
        // SAFETY: the caller's: the parts and the rest lie in the row.
        unsafe {
            parts.abreast::<STREAMS, VECTORS>(array::from_fn(|stream| stream), &keep);
            for at in STREAMS..whole {
                parts.abreast::<1, VECTORS>([at], &keep);
            }
            if rest > 0 {
                let last = Rows { len: rest, ..parts };
                last.abreast::<1, VECTORS>([whole], &keep);
            }
        }
        join::<T>(&mut sums[..whole + usize::from(rest > 0)], 1);
        sums[0]
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
            combine::<T>(array::from_fn(lane), LEN)
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
            // SAFETY: the caller's.
            store(at, sum(unsafe { &*self.row(at).cast() }));
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
    unsafe { push_blocks_inlined::<T, 1, false>(array::from_mut(tree), [terms], len) }
}

/// # Safety
/// As for `push_blocks`, on a machine with AVX2 and F16C.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,f16c")]
unsafe fn push_blocks_vectors<T: Number>(tree: &mut Tree<T>, terms: *const T, len: usize) {
    // SAFETY: the caller's.
    unsafe { push_blocks_inlined::<T, 1, true>(array::from_mut(tree), [terms], len) }
}

/// Adds the blocks of rows to a tree each, a block of every row in turn. The trees have as many blocks already.
///
/// # Safety
/// As for `push_blocks`, for each row; with `VECTORS` the machine has them.
#[inline(always)]
unsafe fn push_blocks_inlined<T: Number, const N: usize, const VECTORS: bool>(
    trees: &mut [Tree<T>; N],
    rows: [*const T; N],
    len: usize,
) {
    let each = EIGHT / N;
    let mut at = 0;
    let early = trees[0].blocks_to_whole(each) * BLOCK;
    // SAFETY: the caller's: blocks below `len`, whole ones eight at a time.
    unsafe {
        if by_eights::<T>() && early < len {
            one_by_one::<T, N, VECTORS>(trees, rows, &mut at, early);
            while len - at >= each * BLOCK {
                let mut starts = [rows[0]; EIGHT];
                for (i, start) in starts.iter_mut().enumerate() {
                    *start = rows[i % N].add(at + i / N * BLOCK);
                }
                let mut sums = match N {
                    1 => eight::<T, 1, VECTORS>(starts),
                    _ => eight::<T, TURNS, VECTORS>(starts),
                };
                // The lowest steps of each tree.
                let mut left = each;
                while left > 1 {
                    left /= 2;
                    for i in 0..left * N {
                        let (pair, row) = (i / N * 2 * N, i % N);
                        sums[i] = T::add(sums[pair + row], sums[pair + N + row]);
                    }
                }
                for (tree, sum) in trees.iter_mut().zip(sums) {
                    tree.push_subtree(each.ilog2() as usize, sum);
                }
                at += each * BLOCK;
            }
        }
        one_by_one::<T, N, VECTORS>(trees, rows, &mut at, len);
    }
}

/// As [`push_blocks_inlined`], for the terms from `at` to `end`.
///
/// # Safety
/// As for it.
#[inline(always)]
unsafe fn one_by_one<T: Number, const N: usize, const VECTORS: bool>(
    trees: &mut [Tree<T>; N],
    rows: [*const T; N],
    at: &mut usize,
    end: usize,
) {
    // Two blocks of a row that is alone in turn: the terms of one wait for each other.
    while N == 1 && by_eights::<T>() && end.saturating_sub(*at) >= 2 * BLOCK {
        // SAFETY: the caller's.
        let pair = unsafe {
            let first = rows[0].add(*at);
            blocks::<T, 2, VECTORS>([first, first.add(BLOCK)], BLOCK)
        };
        for sum in pair {
            trees[0].push(sum);
        }
        *at += 2 * BLOCK;
    }
    while *at < end {
        let some = BLOCK.min(end - *at);
        // SAFETY: the caller's.
        let sums = unsafe { blocks::<T, N, VECTORS>(rows.map(|row| row.add(*at)), some) };
        for (tree, sum) in trees.iter_mut().zip(sums) {
            tree.push(sum);
        }
        *at += some;
    }
}
