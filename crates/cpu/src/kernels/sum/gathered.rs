//! Sums of terms that lie apart: they are copied together first, as many as stay in the cache, by the kernel that knows
//! how to copy any strides. Every sum follows the same tree as any other.

use std::mem::MaybeUninit;
use std::ops::Range;

use smallvec::SmallVec;

use super::BLOCK;
use super::rows::{Rows, push_blocks};
use super::tree::Tree;
use crate::element::Number;
use crate::kernels::copy::copy;
use crate::kernels::loops::Loops;
use crate::kernels::{Block, BlockMut};

/// How many bytes are copied together at a time: half of a small second-level cache.
const BYTES: usize = 128 * 1024;

/// What the trees take of outputs whose rows are added in turn: they stay in the second cache.
const TREES: usize = 128 * 1024;

/// Whether terms are rows of adjacent elements, of whole blocks each: these are read where they lie.
pub(super) fn whole_blocks(terms: &Loops<1>) -> bool {
    terms.steps() == [1] && terms.row_len().is_multiple_of(BLOCK)
}

/// Sums a range of terms (starting at a block) for a range of outputs.
///
/// # Safety
/// K1, K2, K4 for the source; both ranges lie within their loops, and `range` is not empty.
pub(super) unsafe fn sum<T: Number>(
    src: *const T,
    kept: &Loops<1>,
    outputs: Range<usize>,
    terms: &Loops<1>,
    range: Range<usize>,
    store: &impl Fn(usize, T::Accumulator),
) {
    let [step] = kept.steps();
    let (len, room) = (range.len(), BYTES / size_of::<T>());
    let whole_rows = whole_blocks(terms);
    if len == terms.len() && len <= room && !whole_rows {
        let abreast = (room / len).min(outputs.len());
        let mut near = Near::<T>::new(abreast * len);
        kept.spans(outputs, |at, count, [offset]| {
            for first in (0..count).step_by(abreast) {
                let some = abreast.min(count - first);
                let axes = std::iter::once((some, [step])).chain(terms.axes());
                // SAFETY: K1: some of the outputs of this span, with all their terms.
                unsafe {
                    let from = src.offset(offset + first as isize * step);
                    let rows = Rows {
                        first: near.copy(0, from, axes),
                        step: len as isize,
                        count: some,
                        len,
                    };
                    rows.sum(|row, sum| store(at + first + row, sum));
                }
            }
        });
        return;
    }
    if whole_rows {
        // Rows of neighbouring outputs in turn, where they lie nearer than the next row of the same output.
        let [next] = terms.row_steps();
        let nearer = step.unsigned_abs() < next.unsigned_abs();
        let abreast = if nearer {
            TREES / size_of::<Tree<T>>()
        } else {
            1
        };
        let mut trees: Vec<Tree<T>> = Vec::new();
        kept.spans(outputs, |at, count, [offset]| {
            for first in (0..count).step_by(abreast) {
                trees.clear();
                trees.resize_with(abreast.min(count - first), Tree::new);
                terms.spans(range.clone(), |_, len, [row]| {
                    for (i, tree) in trees.iter_mut().enumerate() {
                        // SAFETY: K1, K2, K4: adjacent terms of an output of this span, from one block to the end of
                        // another.
                        unsafe {
                            let from = src.offset(offset + (first + i) as isize * step + row);
                            push_blocks(tree, from, len);
                        }
                    }
                });
                for (i, tree) in trees.iter().enumerate() {
                    store(at + first + i, tree.root());
                }
            }
        });
        return;
    }
    let mut near = Near::<T>::new(room.min(len));
    kept.spans(outputs, |at, count, [offset]| {
        for i in 0..count {
            let mut tree = Tree::<T>::new();
            // SAFETY: K1, K2, K4: all terms are of this output.
            unsafe {
                let first = src.offset(offset + i as isize * step);
                near.push(&mut tree, first, terms, range.clone());
            }
            store(at + i, tree.root());
        }
    });
}

/// Where terms are copied together.
struct Near<T>(SmallVec<[MaybeUninit<T>; BLOCK]>);

impl<T: Number> Near<T> {
    fn new(room: usize) -> Near<T> {
        let mut cells = SmallVec::with_capacity(room);
        // SAFETY: there is room for so many, and nothing need be written to be a `MaybeUninit`.
        unsafe { cells.set_len(room) };
        Near(cells)
    }

    /// Copies a block to position `at` and returns where it starts.
    ///
    /// # Safety
    /// K1, K2, K4 for the block at `from`, which fits.
    unsafe fn copy(
        &mut self,
        at: usize,
        from: *const T,
        axes: impl Iterator<Item = (usize, [isize; 1])>,
    ) -> *const T {
        let (sizes, strides): (SmallVec<[usize; 8]>, SmallVec<[isize; 8]>) =
            axes.map(|(size, [stride])| (size, stride)).unzip();
        let mut packed: SmallVec<[isize; 8]> = sizes.iter().map(|&size| size as isize).collect();
        let mut step = 1;
        for stride in packed.iter_mut().rev() {
            step *= std::mem::replace(stride, step);
        }
        let to = self.0[at..].as_mut_ptr().cast::<T>();
        let (from, into) = (
            Block {
                start: from.cast(),
                sizes: &sizes,
                strides: &strides,
            },
            BlockMut {
                start: to.cast(),
                sizes: &sizes,
                strides: &packed,
            },
        );
        // SAFETY: the caller's, and K3: these cells are this thread's alone.
        unsafe { copy(from, into, size_of::<T>()) };
        to
    }

    /// Adds the blocks of a range of terms, as many at a time as there is room for.
    ///
    /// # Safety
    /// K1, K2, K4: `first` plus the offset of each term is an element. There is room for a block, or all terms.
    unsafe fn push(
        &mut self,
        tree: &mut Tree<T>,
        first: *const T,
        terms: &Loops<1>,
        range: Range<usize>,
    ) {
        let ([step], [row_step]) = (terms.steps(), terms.row_steps());
        for start in range.clone().step_by(self.0.len()) {
            let some = start..range.end.min(start + self.0.len());
            terms.blocks(some.clone(), |at, [rows, len], [offset]| {
                let axes = [(rows, [row_step]), (len, [step])];
                // SAFETY: the caller's; a block of these terms.
                unsafe { self.copy(at - start, first.offset(offset), axes.into_iter()) };
            });
            // SAFETY: all of them were copied.
            unsafe { push_blocks(tree, self.0.as_ptr().cast::<T>(), some.len()) };
        }
    }
}
