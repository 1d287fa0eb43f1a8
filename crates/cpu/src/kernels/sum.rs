//! Sums over any set of axes, in an order that is part of the contract, so that any engine can give the
//! same bits whatever the strides, the number of threads or the width of its vectors.
//!
//! The tree, for the terms of one output in row-major order of the reduced axes:
//! 1. terms are cut into blocks of 128; the last may be shorter;
//! 2. in a block, lane `j` of 8 adds terms `j`, `j + 8`, `j + 16`, … from left to right;
//! 3. lanes combine as `((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7))`; a lane without terms is left out;
//! 4. block sums combine as a binary tree: the left part has the largest power of two of blocks that is less
//!    than all of them, the right part the rest.
//!
//! Nothing starts from zero, so one term is its own sum, `-0.0` included; no terms at all give zero. The
//! 16-bit floats stay in `f32` all the way and round once at the end. Integers wrap and bool is the logical
//! or, for which the order makes no difference. Which of several NaNs comes out is not specified.

use std::mem::MaybeUninit;
use std::ops::Range;

use smallvec::SmallVec;
use stridewise_core::DType;

use self::columns::Columns;
use self::rows::Rows;
use super::loops::{CACHED, Loops, Shared, WORTH_THREADS, in_pieces};
use super::{Block, threads};
use crate::element::{Number, with_dtype};

mod columns;
mod copies;
mod gathered;
mod rows;

const BLOCK: usize = 128;
const LANES: usize = 8;
/// The least number of blocks a thread takes from one tree.
const GROUP: usize = 32;

/// Sums `src` over the axes flagged in `reduced` and writes the result, packed over the other axes in their
/// order, to `dst`, in the same dtype.
///
/// # Safety
/// K1, K2 and K4 for `src`, with a flag for each axis; `dst` has room for the elements of the axes that are
/// kept, under K2 and K3.
pub unsafe fn sum(src: Block, reduced: &[bool], dst: *mut u8, dtype: DType) {
    debug_assert_eq!(src.sizes.len(), reduced.len());
    let axes = |flag: bool| {
        let axes = src.sizes.iter().zip(src.strides).zip(reduced);
        axes.filter(move |&(_, &is)| is == flag)
            .map(|((&size, &stride), _)| (size, [stride]))
    };
    let kept = Loops::new(axes(false));
    if !src.is_empty() && with_dtype!(dtype, T => <T as Number>::ANY_ORDER) {
        let (terms, back) = as_they_lie(axes(true));
        let reduction = Reduction { kept, terms };
        // SAFETY: the caller's K1 to K4, and `T` is the dtype's cell; the first term in memory is one of the terms.
        return with_dtype!(dtype, T => unsafe {
            reduction.run::<T>(src.start.cast::<T>().offset(back), dst.cast());
        });
    }
    let terms = Loops::new(axes(true));
    let reduction = Reduction { kept, terms };
    // SAFETY: the caller's K1 to K4, and `T` is the dtype's cell.
    with_dtype!(dtype, T => unsafe { reduction.run::<T>(src.start.cast(), dst.cast()) });
}

/// Terms whose order makes no difference, in the order in which they lie in memory; and how far the first of them is
/// from index zero. No axis is empty.
fn as_they_lie(axes: impl Iterator<Item = (usize, [isize; 1])>) -> (Loops<1>, isize) {
    let mut back = 0;
    let mut axes: SmallVec<[(usize, [isize; 1]); 8]> = axes
        .map(|(size, [stride])| {
            back += stride.min(0) * (size as isize - 1);
            (size, [stride.abs()])
        })
        .collect();
    // An axis that stands still goes outside, where it repeats whole rows.
    axes.sort_by_key(|&(_, [stride])| (stride != 0, std::cmp::Reverse(stride)));
    (Loops::new(axes.into_iter()), back)
}

struct Reduction {
    /// The axes of the output.
    kept: Loops<1>,
    /// The axes summed over.
    terms: Loops<1>,
}

impl Reduction {
    /// Whether neighbouring outputs are nearer in memory than neighbouring terms, so that it pays to sum
    /// many columns side by side.
    fn by_columns(&self) -> bool {
        let ([kept], [terms]) = (self.kept.steps(), self.terms.steps());
        kept.unsigned_abs() < terms.unsigned_abs() && kept != 0
    }

    unsafe fn run<T: Number>(&self, src: *const T, dst: *mut T) {
        let (outputs, terms) = (self.kept.len(), self.terms.len());
        if terms == 0 {
            // SAFETY: K3: the destination has room for the outputs.
            (0..outputs).for_each(|i| unsafe { dst.add(i).write(T::ZERO) });
            return;
        }
        let (src, dst) = (Shared::new(src), Shared::new(dst));
        let store = |at: usize, sum: T::Accumulator| {
            // SAFETY: K3: `at` is one of the outputs, and each is stored once.
            unsafe { dst.get().add(at).write(T::narrow(sum)) }
        };
        if self.terms.is_one_row() && self.terms.steps() == [0] {
            // SAFETY: K1, K2, K4: every term of an output is the same element.
            return unsafe { copies::sum(src, &self.kept, terms, &store) };
        }
        if outputs.saturating_mul(terms) < WORTH_THREADS {
            // SAFETY: K1, K2, K4: all outputs and all terms lie within the source.
            return unsafe { self.partial(src.get(), 0..outputs, 0..terms, &store) };
        }
        let threads = threads::count();
        let plenty = if self.by_columns() {
            2 * Columns::<T>::WIDEST
        } else {
            8
        } * threads;
        let blocks = terms.div_ceil(BLOCK);
        if threads == 1 || outputs >= plenty || blocks < 2 * GROUP {
            let grain = WORTH_THREADS.div_ceil(2 * terms);
            return in_pieces(outputs, grain, 1, |piece| {
                // SAFETY: K1, K2, K4, as above.
                unsafe { self.partial(src.get(), piece, 0..terms, &store) }
            });
        }
        // Few outputs, many terms: threads take subtrees. An aligned group of a power of two of blocks is a
        // whole subtree, and the rest is the right edge of the tree, so combining them is step 4 again.
        let group = blocks.div_ceil(8 * threads).max(GROUP).next_power_of_two();
        let groups = blocks.div_ceil(group);
        let mut sums = vec![MaybeUninit::<T::Accumulator>::uninit(); groups * outputs];
        let shared = Shared::new(sums.as_mut_ptr());
        in_pieces(groups, 1, 1, |piece| {
            for g in piece {
                let span = group * BLOCK;
                let range = g * span..((g + 1) * span).min(terms);
                let keep = |at: usize, sum: T::Accumulator| {
                    // SAFETY: one slot for each group and output, written by this piece alone.
                    unsafe {
                        shared
                            .get()
                            .add(g * outputs + at)
                            .write(MaybeUninit::new(sum))
                    };
                };
                // SAFETY: K1, K2, K4, as above.
                unsafe { self.partial(src.get(), 0..outputs, range, &keep) };
            }
        });
        for at in 0..outputs {
            let mut tree = Tree::<T>::new();
            for g in 0..groups {
                // SAFETY: every slot was written above.
                tree.push(unsafe { sums[g * outputs + at].assume_init() });
            }
            store(at, tree.root());
        }
    }

    /// Sums a range of terms (starting at a block) for a range of outputs.
    ///
    /// # Safety
    /// K1, K2, K4 for the source; both ranges lie within their loops, and `terms` is not empty.
    unsafe fn partial<T: Number>(
        &self,
        src: *const T,
        outputs: Range<usize>,
        terms: Range<usize>,
        store: &impl Fn(usize, T::Accumulator),
    ) {
        let [step] = self.kept.steps();
        if self.by_columns() {
            let tile = Columns::<T>::WIDEST;
            let bytes = self
                .kept
                .len()
                .saturating_mul(self.terms.len() * size_of::<T>());
            let mut columns = Columns::<T>::new();
            self.kept.spans(outputs, |at, len, [offset]| {
                for first in (0..len).step_by(tile) {
                    let width = tile.min(len - first);
                    // SAFETY: K1: the tile's columns are outputs of this span.
                    let sums = unsafe {
                        let corner = src.offset(offset + first as isize * step);
                        columns.sum(
                            width,
                            (corner, step),
                            &self.terms,
                            terms.clone(),
                            bytes > CACHED,
                        )
                    };
                    for (c, &sum) in sums.iter().enumerate() {
                        store(at + first + c, sum);
                    }
                }
            });
        } else if self.terms.is_one_row() && self.terms.steps() == [1] {
            self.kept.spans(outputs, |at, count, [offset]| {
                let rows = Rows {
                    first: src.wrapping_offset(offset).wrapping_add(terms.start),
                    step,
                    count,
                    len: terms.len(),
                };
                // SAFETY: K1: the outputs of this span, whose terms are adjacent.
                unsafe { rows.sum(|row, sum| store(at + row, sum)) };
            });
        } else if !T::ANY_ORDER && size_of::<T>() <= 8 || gathered::whole_blocks(&self.terms) {
            // SAFETY: K1: the outputs and terms of these ranges.
            unsafe { gathered::sum(src, &self.kept, outputs, &self.terms, terms, store) };
        } else {
            // Integers lie in order as far as they can, and of wide elements a line of the cache holds few.
            self.kept.spans(outputs, |at, len, [offset]| {
                for i in 0..len {
                    // SAFETY: K1: an output of this span.
                    let sum = unsafe {
                        let first = src.offset(offset + i as isize * step);
                        sequence(first, &self.terms, terms.clone())
                    };
                    store(at + i, sum);
                }
            });
        }
    }
}

/// Step 4 for sums that arrive from left to right: a binary counter whose digit `i` holds the sum of a full
/// subtree of `2^i` blocks.
struct Tree<T: Number> {
    digits: [MaybeUninit<T::Accumulator>; usize::BITS as usize],
    count: usize,
}

impl<T: Number> Tree<T> {
    fn new() -> Tree<T> {
        Tree {
            digits: [MaybeUninit::uninit(); usize::BITS as usize],
            count: 0,
        }
    }

    #[inline]
    fn push(&mut self, mut sum: T::Accumulator) {
        let carries = self.count.trailing_ones() as usize;
        for digit in &self.digits[..carries] {
            // SAFETY: a digit whose bit is set in the count was written.
            sum = T::add(unsafe { digit.assume_init() }, sum);
        }
        self.digits[carries] = MaybeUninit::new(sum);
        self.count += 1;
    }

    /// At least one sum has been pushed.
    fn root(&self) -> T::Accumulator {
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

/// The sum of one output's terms.
///
/// # Safety
/// K1, K2, K4: `first` plus the offset of each term in `range` is an element; the range is not empty.
unsafe fn sequence<T: Number>(
    first: *const T,
    terms: &Loops<1>,
    range: Range<usize>,
) -> T::Accumulator {
    let [step] = terms.steps();
    let packed = step == 1;
    let mut tree = Tree::<T>::new();
    let mut buffer = [MaybeUninit::<T>::uninit(); BLOCK];
    let mut filled = 0;
    terms.spans(range, |_, mut len, [mut offset]| {
        while len > 0 {
            // SAFETY: K1, K4: the next `len` terms of this span lie at `offset`; the buffer's first
            // `filled` elements are written.
            unsafe {
                let from = first.offset(offset);
                let taken = if packed && filled == 0 && len >= BLOCK {
                    tree.push(block(from, BLOCK));
                    BLOCK
                } else {
                    let taken = len.min(BLOCK - filled);
                    for (i, slot) in buffer[filled..filled + taken].iter_mut().enumerate() {
                        slot.write(*from.offset(i as isize * step));
                    }
                    filled += taken;
                    if filled == BLOCK {
                        tree.push(block(buffer.as_ptr().cast::<T>(), BLOCK));
                        filled = 0;
                    }
                    taken
                };
                len -= taken;
                offset += taken as isize * step;
            }
        }
    });
    if filled > 0 {
        // SAFETY: K4: the buffer's first `filled` elements are written.
        tree.push(unsafe { block(buffer.as_ptr().cast::<T>(), filled) });
    }
    tree.root()
}

/// Steps 2 and 3 for adjacent terms, from 1 to 128 of them; in whatever order is fastest where that makes no
/// difference.
///
/// # Safety
/// K1, K2, K4 for `len` elements.
#[inline(always)]
unsafe fn block<T: Number>(terms: *const T, len: usize) -> T::Accumulator {
    if T::ANY_ORDER {
        // SAFETY: the caller's.
        let terms = unsafe { std::slice::from_raw_parts(terms, len) };
        let terms = terms.iter().map(|term| term.widen());
        return terms.fold(T::ZERO.widen(), T::add);
    }
    // SAFETY: the caller's.
    let terms = unsafe { std::slice::from_raw_parts(terms, len) };
    if size_of::<T>() == size_of::<T::Accumulator>() || len <= 2 * LANES {
        return lanes_of::<T, T>(terms, T::widen);
    }
    // Widening vectorises on its own, but not in the midst of the lanes.
    let mut wide = [MaybeUninit::<T::Accumulator>::uninit(); BLOCK];
    for (wide, term) in wide.iter_mut().zip(terms) {
        wide.write(term.widen());
    }
    // SAFETY: as many as there are terms were written.
    let wide = unsafe { std::slice::from_raw_parts(wide.as_ptr().cast(), len) };
    lanes_of::<T, T::Accumulator>(wide, |sum| sum)
}

#[inline(always)]
fn lanes_of<T: Number, X: Copy>(terms: &[X], sum: impl Fn(X) -> T::Accumulator) -> T::Accumulator {
    let (rows, rest) = terms.as_chunks::<LANES>();
    let Some((head, rows)) = rows.split_first() else {
        let mut lanes = [T::ZERO.widen(); LANES];
        for (lane, &term) in lanes.iter_mut().zip(rest) {
            *lane = sum(term);
        }
        return combine::<T>(lanes, rest.len());
    };
    let mut lanes = head.map(&sum);
    for row in rows {
        for j in 0..LANES {
            lanes[j] = T::add(lanes[j], sum(row[j]));
        }
    }
    // Lane by lane, each at a place that is known here: others would send all lanes through memory.
    for (j, lane) in lanes.iter_mut().enumerate() {
        if let Some(&term) = rest.get(j) {
            *lane = T::add(*lane, sum(term));
        }
    }
    combine::<T>(lanes, LANES)
}

/// Step 3: the first `active` lanes have terms.
#[inline(always)]
fn combine<T: Number>(mut lanes: [T::Accumulator; LANES], active: usize) -> T::Accumulator {
    for gap in [1, 2, 4] {
        for j in (0..LANES).step_by(2 * gap) {
            if j + gap < active {
                lanes[j] = T::add(lanes[j], lanes[j + gap]);
            }
        }
    }
    lanes[0]
}

#[cfg(test)]
mod tests;
