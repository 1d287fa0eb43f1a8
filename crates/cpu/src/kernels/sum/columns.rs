//! Sums of neighbouring outputs side by side, for reduced axes that lie outside the kept ones: each term is
//! a row of adjacent elements, added to a row of lanes. Every column follows the same tree as any other sum.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::{BLOCK, LANES, vectors};
use crate::element::Number;
use crate::kernels::caches;
use crate::kernels::loops::Loops;

mod add;
mod take;

/// What the eight lanes take, at most. They stay in the second cache, while rows come from memory in runs of 16 KiB, also of
/// terms that are half as wide as their sums.
const BYTES: usize = 256 * 1024;

/// Lines of lanes that need no memory of their own.
const NARROW: usize = 128;

/// Bytes in a cache line.
const LINE: usize = 64;

/// A tile of columns with their lanes, and their binary counters for the tree of blocks.
pub(super) struct Columns<T: Number> {
    /// Lane `j` of column `c` is sum `j * width + c`, here for a narrow tile and there for a wide one.
    narrow: MaybeUninit<[Line; NARROW]>,
    wide: Vec<Line>,
    /// Digit `i` of column `c` is sum `i * width + c`.
    digits: Vec<T::Accumulator>,
    width: usize,
    blocks: usize,
    /// Whether the terms are in no cache, so that it matters in which order memory is read.
    far: bool,
    /// Whether the machine has them.
    pub(super) vectors: bool,
}

/// A line of the cache, in which no sum lies across its end.
#[repr(align(64))]
struct Line {
    _bytes: [MaybeUninit<u8>; LINE],
}

/// What is done to all columns of a tile.
#[derive(Clone, Copy)]
enum Step<T> {
    /// Term `k` of a block is added to its lane; elements of the row are `step` apart.
    Term {
        k: usize,
        row: *const T,
        step: isize,
    },
    /// Whole groups of eight terms are added to the lanes: rows of adjacent elements, `stride` apart. The first ones of
    /// a block start the lanes.
    Run {
        start: bool,
        first: *const T,
        stride: isize,
        count: usize,
    },
    /// The lanes with terms are combined, then carried in the counter, or, for the last block, all of it is added up.
    Close { active: usize, last: bool },
}

impl<T: Number> Columns<T> {
    /// The most columns a tile can have.
    pub(super) fn widest() -> usize {
        BYTES.min(caches::second() / 2) / LANES / size_of::<T::Accumulator>()
    }

    /// Room for one tile of up to `width` columns after the other. Terms that are `far` are in no cache.
    pub(super) fn new(width: usize, far: bool) -> Columns<T> {
        const { assert!(align_of::<T::Accumulator>() <= LINE) };
        let lines = Self::lines(width.min(Self::widest()));
        Columns {
            narrow: MaybeUninit::uninit(),
            wide: Vec::with_capacity(if lines > NARROW { lines } else { 0 }),
            digits: Vec::new(),
            width: 0,
            blocks: 0,
            far,
            vectors: vectors(),
        }
    }

    /// What the lanes of so many columns take.
    fn lines(width: usize) -> usize {
        (width * LANES * size_of::<T::Accumulator>()).div_ceil(LINE)
    }

    /// The sum of each of `width` columns over a range of terms; the first column starts at `corner` and the others
    /// follow at `step`.
    ///
    /// # Safety
    /// K1, K2, K4: `corner`, plus a column times `step`, plus the offset of each term in `range`, is an
    /// element; the range is not empty and starts at a block.
    pub(super) unsafe fn sum(
        &mut self,
        width: usize,
        (corner, step): (*const T, isize),
        terms: &Loops<1>,
        range: Range<usize>,
    ) -> &[T::Accumulator] {
        assert!(Self::lines(width) <= self.wide.capacity().max(NARROW));
        self.width = width;
        self.blocks = 0;
        self.digits.clear();
        let [stride] = terms.steps();
        let start = range.start;
        let total = range.len();
        terms.spans(range, |at, len, [offset]| {
            let mut i = 0;
            while i < len {
                let k = (at - start + i) % BLOCK;
                // SAFETY: K1, K2, K4: term `k` of each of the columns, and all terms of the run, which lies in this
                // span and in one block; a block's terms come in order.
                unsafe {
                    let row = corner.offset(offset + i as isize * stride);
                    if step == 1 && k.is_multiple_of(LANES) && len - i >= LANES {
                        let count = (len - i).min(BLOCK - k) / LANES * LANES;
                        self.go(Step::Run {
                            start: k == 0,
                            first: row,
                            stride,
                            count,
                        });
                        i += count;
                    } else {
                        self.go(Step::Term { k, row, step });
                        i += 1;
                    }
                    let taken = at - start + i;
                    if taken.is_multiple_of(BLOCK) || taken == total {
                        self.go(Step::Close {
                            active: ((taken - 1) % BLOCK + 1).min(LANES),
                            last: taken == total,
                        });
                    }
                }
            }
        });
        // SAFETY: the last block left its sums, or those of the whole tree, in the first lane.
        unsafe { std::slice::from_raw_parts(self.lane_start(0), width) }
    }

    /// # Safety
    /// K1, K2, K4 for the rows of the step; terms and runs of a block come in order, and it is closed when all of its
    /// terms were taken.
    unsafe fn go(&mut self, step: Step<T>) {
        #[cfg(target_arch = "x86_64")]
        if self.vectors {
            // SAFETY: the caller's, and the machine has the vectors.
            return unsafe { self.go_vectors(step) };
        }
        // SAFETY: the caller's.
        unsafe { self.go_inlined::<false>(step) }
    }

    /// # Safety
    /// As for `go`, on a machine with AVX2 and F16C.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,f16c")]
    unsafe fn go_vectors(&mut self, step: Step<T>) {
        // SAFETY: the caller's.
        unsafe { self.go_inlined::<true>(step) }
    }

    /// # Safety
    /// As for `go`; with `VECTORS` the machine has them.
    #[inline(always)]
    unsafe fn go_inlined<const VECTORS: bool>(&mut self, step: Step<T>) {
        // SAFETY: the caller's.
        unsafe {
            match step {
                Step::Term { k, row, step } => self.take::<VECTORS>(k, row, step),
                Step::Run {
                    start,
                    first,
                    stride,
                    count,
                } => self.take_run::<VECTORS>(start, (first, stride), count),
                Step::Close { active, last } => self.close_block(active, last),
            }
        }
    }

    /// Combines the lanes, then carries in the counter, or, for the last block, folds the whole counter.
    ///
    /// # Safety
    /// The first `active` lanes were written.
    #[inline(always)]
    unsafe fn close_block(&mut self, active: usize, last: bool) {
        let width = self.width;
        let first = self.lane_start(0);
        for gap in [1, 2, 4] {
            for j in (0..LANES).step_by(2 * gap).filter(|j| j + gap < active) {
                let (left, right) = (self.lane_start(j), self.lane_start(j + gap));
                // SAFETY: both lanes are active.
                unsafe {
                    (0..width).for_each(|c| *left.add(c) = T::add(*left.add(c), *right.add(c)));
                }
            }
        }
        let carries = self.blocks.trailing_ones() as usize;
        for (i, digit) in self.digits.chunks_exact(width).enumerate() {
            if i < carries || last && self.blocks >> i & 1 == 1 {
                for (c, &left) in digit.iter().enumerate() {
                    // SAFETY: the first lane holds the block's sums.
                    unsafe { *first.add(c) = T::add(left, *first.add(c)) };
                }
            }
        }
        if !last {
            // SAFETY: the first lane holds the block's sums.
            let sums = unsafe { std::slice::from_raw_parts(first, width) };
            if self.digits.len() == carries * width {
                self.digits.extend_from_slice(sums);
            } else {
                self.digits[carries * width..][..width].copy_from_slice(sums);
            }
        }
        self.blocks += 1;
    }

    fn lane_start(&mut self, j: usize) -> *mut T::Accumulator {
        let lanes: *mut T::Accumulator = match self.wide.capacity() {
            0 => self.narrow.as_mut_ptr().cast(),
            _ => self.wide.as_mut_ptr().cast(),
        };
        lanes.wrapping_add(j * self.width)
    }
}
