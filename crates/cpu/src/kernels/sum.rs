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
use self::tree::{Tree, block, join};
use super::loops::{CACHED, Loops, Shared, WORTH_THREADS};
use super::{Block, threads};
use crate::element::{Number, with_dtype};

mod columns;
mod copies;
mod gathered;
mod grown;
mod rows;
mod tree;

pub use grown::{GrownSum, in_64_bits};

const BLOCK: usize = 128;
const LANES: usize = 8;
/// How many pieces each thread gets of what comes from memory: they even out cores that run at different speeds.
const PIECES: usize = 8;
/// The fewest bytes of a row that are worth a piece of their own.
const SHORTEST: usize = 1024;
/// The most outputs whose terms are shared out: more are wide enough to be shared out themselves.
const MOST_TREES: usize = 16 * 1024;

/// Whether the machine has the instructions that loops are compiled for a second time: AVX2, and F16C to widen.
#[inline(always)]
fn vectors() -> bool {
    #[cfg(target_arch = "x86_64")]
    let has =
        std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("f16c");
    #[cfg(not(target_arch = "x86_64"))]
    let has = false;
    has
}

/// Sums `src` over the axes flagged in `reduced` and writes the result, packed over the other axes in their
/// order, to `dst`, in the same dtype.
///
/// # Safety
/// K1, K2 and K4 for `src`, with a flag for each axis; `dst` has room for the elements of the axes that are
/// kept, under K2 and K3.
pub unsafe fn sum(src: Block, reduced: &[bool], dst: *mut u8, dtype: DType) {
    // SAFETY: the caller's, and `T` is the dtype's cell.
    with_dtype!(dtype, T => unsafe { over::<T, T>(src, reduced, dst.cast(), T::narrow) });
}

/// # Safety
/// As for [`sum`], for elements `T` and results `R`.
unsafe fn over<T: Number, R>(
    src: Block,
    reduced: &[bool],
    dst: *mut R,
    result: impl Fn(T::Accumulator) -> R + Sync,
) {
    debug_assert_eq!(src.sizes.len(), reduced.len());
    let axes = |flag: bool| {
        let axes = src.sizes.iter().zip(src.strides).zip(reduced);
        axes.filter(move |&(_, &is)| is == flag)
            .map(|((&size, &stride), _)| (size, [stride]))
    };
    let kept = Loops::new(axes(false));
    let (terms, back) = if T::ANY_ORDER && !src.is_empty() {
        as_they_lie(axes(true))
    } else {
        (Loops::new(axes(true)), 0)
    };
    // SAFETY: the caller's K1 to K4; the first term in memory is one of the terms.
    unsafe { Reduction { kept, terms }.run(src.start.cast::<T>().offset(back), dst, result) };
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

/// The most outputs and terms of a piece of the work.
struct Cut {
    outputs: usize,
    /// A power of two of blocks.
    terms: usize,
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

    /// Whether all elements stay in the caches.
    fn near<T>(&self) -> bool {
        let work = self.kept.len().saturating_mul(self.terms.len());
        work.saturating_mul(size_of::<T>()) <= CACHED
    }

    /// # Safety
    /// As for [`over`].
    unsafe fn run<T: Number, R>(
        &self,
        src: *const T,
        dst: *mut R,
        result: impl Fn(T::Accumulator) -> R + Sync,
    ) {
        let (outputs, terms) = (self.kept.len(), self.terms.len());
        if terms == 0 {
            // SAFETY: K3: the destination has room for the outputs.
            (0..outputs).for_each(|i| unsafe { dst.add(i).write(result(T::ZERO.widen())) });
            return;
        }
        let (src, dst) = (Shared::new(src), Shared::new(dst));
        let store = |at: usize, sum: T::Accumulator| {
            // SAFETY: K3: `at` is one of the outputs, and each is stored once.
            unsafe { dst.get().add(at).write(result(sum)) }
        };
        if self.terms.is_one_row() && self.terms.steps() == [0] {
            // SAFETY: K1, K2, K4: every term of an output is the same element.
            return unsafe { copies::sum(src, &self.kept, terms, &store) };
        }
        if outputs.saturating_mul(terms) < WORTH_THREADS {
            // SAFETY: K1, K2, K4: all outputs and all terms lie within the source.
            return unsafe { self.partial(src.get(), 0..outputs, 0..terms, &store) };
        }
        let cut = self.cut::<T>();
        let groups = terms.div_ceil(cut.terms);
        let parts = outputs.div_ceil(cut.outputs);
        // Threads take subtrees, where they are more than one. An aligned group of a power of two of blocks is a whole
        // subtree, and the rest is the right edge of the tree, so combining them is step 4 again.
        let mut sums: Vec<MaybeUninit<T::Accumulator>> = Vec::new();
        if groups > 1 {
            sums.resize(groups * outputs, MaybeUninit::uninit());
        }
        let shared = Shared::new(sums.as_mut_ptr());
        threads::each(groups * parts, |piece| {
            let (group, part) = (piece / parts, piece % parts);
            let (first, from) = (part * cut.outputs, group * cut.terms);
            let piece = first..(first + cut.outputs).min(outputs);
            let range = from..(from + cut.terms).min(terms);
            let keep = |at: usize, sum: T::Accumulator| {
                // SAFETY: one slot for each group and output, written by this piece alone.
                unsafe {
                    shared
                        .get()
                        .add(group * outputs + at)
                        .write(MaybeUninit::new(sum))
                };
            };
            // SAFETY: K1, K2, K4, as above.
            unsafe {
                match groups {
                    1 => self.partial(src.get(), piece, range, &store),
                    _ => self.partial(src.get(), piece, range, &keep),
                }
            }
        });
        if groups > 1 {
            // SAFETY: every slot was written above.
            let sums = unsafe { std::slice::from_raw_parts_mut(shared.get().cast(), sums.len()) };
            join::<T>(sums, outputs);
            sums[..outputs]
                .iter()
                .enumerate()
                .for_each(|(at, &sum)| store(at, sum));
        }
    }

    /// How the work is cut for threads: at the axis that is outermost in memory as far as that goes, so that each of
    /// them reads one stretch.
    fn cut<T: Number>(&self) -> Cut {
        let (outputs, terms) = (self.kept.len(), self.terms.len());
        let threads = threads::count();
        // What stays in the threads' own caches is cut the same way each time.
        let pieces = (threads * if self.near::<T>() { 1 } else { PIECES })
            .min(outputs.saturating_mul(terms) / (WORTH_THREADS / 2))
            .max(1);
        let furthest = |loops: &Loops<1>| {
            let strides = loops.axes().map(|(_, [stride])| stride.unsigned_abs());
            strides.max().unwrap_or(0)
        };
        let blocks = terms.div_ceil(BLOCK);
        let least = if self.by_columns() {
            SHORTEST.div_ceil(size_of::<T>())
        } else {
            1
        };
        let most = outputs.div_ceil(least);
        let by_terms = furthest(&self.terms) > furthest(&self.kept)
            && outputs <= MOST_TREES
            && (self.by_columns() || gathered::whole_blocks(&self.terms) || T::ANY_ORDER);
        let groups = match by_terms {
            true => pieces.min(blocks),
            false => pieces.div_ceil(most).min(blocks),
        };
        let group = 1 << (blocks / groups).ilog2();
        let parts = pieces.div_ceil(blocks.div_ceil(group)).min(most);
        Cut {
            outputs: outputs.div_ceil(parts).next_multiple_of(least),
            terms: group * BLOCK,
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
            let tile = Columns::<T>::widest();
            let mut columns =
                Columns::<T>::new(self.kept.row_len().min(outputs.len()), !self.near::<T>());
            self.kept.spans(outputs, |at, len, [offset]| {
                for first in (0..len).step_by(tile) {
                    let width = tile.min(len - first);
                    // SAFETY: K1: the tile's columns are outputs of this span.
                    let sums = unsafe {
                        let corner = src.offset(offset + first as isize * step);
                        columns.sum(width, (corner, step), &self.terms, terms.clone())
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
                    tree.push(block::<T, false>(from, BLOCK));
                    BLOCK
                } else {
                    let taken = len.min(BLOCK - filled);
                    for (i, slot) in buffer[filled..filled + taken].iter_mut().enumerate() {
                        slot.write(*from.offset(i as isize * step));
                    }
                    filled += taken;
                    if filled == BLOCK {
                        tree.push(block::<T, false>(buffer.as_ptr().cast(), BLOCK));
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
        tree.push(unsafe { block::<T, false>(buffer.as_ptr().cast(), filled) });
    }
    tree.root()
}

#[cfg(test)]
mod tests;
