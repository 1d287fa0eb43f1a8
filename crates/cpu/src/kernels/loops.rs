//! Walking strided operands of one shape together, in row-major order; and cutting long walks into pieces
//! for threads. Every kernel that reads strided memory takes its loops from here.

use std::convert::Infallible;
use std::ops::Range;

use super::threads;

use smallvec::SmallVec;

/// Below this many elements a call stays on its own thread.
pub(crate) const WORTH_THREADS: usize = 64 * 1024;

#[derive(Clone, Copy, Debug)]
struct Axis<const N: usize> {
    size: usize,
    strides: [isize; N],
}

/// The axes that `N` operands share, with neighbours merged wherever all operands allow it. The innermost
/// axis is the row; walks hand out spans of rows.
#[derive(Clone, Debug)]
pub(crate) struct Loops<const N: usize> {
    outer: SmallVec<[Axis<N>; 4]>,
    row: Axis<N>,
}

impl<const N: usize> Loops<N> {
    /// All axes of `sizes`, each operand with strides of its own.
    pub(crate) fn over(sizes: &[usize], strides: [&[isize]; N]) -> Loops<N> {
        Loops::new(
            sizes
                .iter()
                .enumerate()
                .map(|(i, &size)| (size, std::array::from_fn(|n| strides[n][i]))),
        )
    }

    /// The given axes, outermost first.
    pub(crate) fn new(axes: impl Iterator<Item = (usize, [isize; N])>) -> Loops<N> {
        let mut outer = SmallVec::new();
        let mut row = Axis {
            size: 1,
            strides: [0; N],
        };
        for (size, strides) in axes {
            if size == 1 {
                continue;
            }
            let follows = |n: usize| row.strides[n] == strides[n].wrapping_mul(size as isize);
            if row.size == 1 {
                row = Axis { size, strides };
            } else if (0..N).all(follows) {
                row = Axis {
                    size: row.size * size,
                    strides,
                };
            } else {
                outer.push(row);
                row = Axis { size, strides };
            }
        }
        Loops { outer, row }
    }

    /// How many elements the walk visits.
    pub(crate) fn len(&self) -> usize {
        self.outer.iter().map(|axis| axis.size).product::<usize>() * self.row.size
    }

    /// The axes that are left, outermost first, each with its size and the operands' strides; the row is the last.
    pub(crate) fn axes(&self) -> impl DoubleEndedIterator<Item = (usize, [isize; N])> {
        let axes = self.outer.iter().chain([&self.row]);
        axes.map(|axis| (axis.size, axis.strides))
    }

    /// How long a whole row is.
    pub(crate) fn row_len(&self) -> usize {
        self.row.size
    }

    /// The stride of each operand within a span.
    pub(crate) fn steps(&self) -> [isize; N] {
        self.row.strides
    }

    /// Whether one stride describes the whole walk.
    pub(crate) fn is_one_row(&self) -> bool {
        self.outer.is_empty()
    }

    /// How far each operand's element at this flat position lies from index zero, in elements.
    pub(crate) fn offsets(&self, flat: usize) -> [isize; N] {
        if self.outer.is_empty() {
            return self.row.strides.map(|stride| flat as isize * stride);
        }
        let mut rest = flat / self.row.size;
        let column = (flat % self.row.size) as isize;
        let mut offsets = self.row.strides.map(|stride| column * stride);
        for axis in self.outer.iter().rev() {
            let coordinate = (rest % axis.size) as isize;
            rest /= axis.size;
            for (offset, stride) in offsets.iter_mut().zip(axis.strides) {
                *offset += coordinate * stride;
            }
        }
        offsets
    }

    /// Visits the flat positions in `range` as spans of rows: the position a span starts at, its length, and
    /// each operand's offset there.
    #[inline]
    pub(crate) fn spans(
        &self,
        range: Range<usize>,
        mut visit: impl FnMut(usize, usize, [isize; N]),
    ) {
        let Ok(()) = self.try_spans::<Infallible>(range, |at, len, offsets| {
            visit(at, len, offsets);
            Ok(())
        });
    }

    /// Visits the flat positions in `range` as blocks, which are whole rows that follow each other evenly, or a part of
    /// one row: the position a block starts at, how many rows it has and how long they are, and each operand's offset
    /// there. Rows follow each other at [`Loops::row_steps`].
    pub(crate) fn blocks(
        &self,
        range: Range<usize>,
        mut visit: impl FnMut(usize, [usize; 2], [isize; N]),
    ) {
        let (row, mut at) = (self.row.size, range.start);
        let even = self.outer.last().map_or(1, |axis| axis.size);
        while at < range.end {
            let (column, left) = (at % row, range.end - at);
            let block = match column == 0 && left >= row {
                true => [(left / row).min(even - at / row % even), row],
                false => [1, left.min(row - column)],
            };
            visit(at, block, self.offsets(at));
            at += block[0] * block[1];
        }
    }

    /// The stride of each operand from one row to the next, within a block.
    pub(crate) fn row_steps(&self) -> [isize; N] {
        self.outer.last().map_or([0; N], |axis| axis.strides)
    }

    /// As [`Loops::spans`], stopping at the first error.
    #[inline]
    pub(crate) fn try_spans<E>(
        &self,
        range: Range<usize>,
        mut visit: impl FnMut(usize, usize, [isize; N]) -> Result<(), E>,
    ) -> Result<(), E> {
        if range.is_empty() {
            return Ok(());
        }
        let mut at = range.start;
        if self.outer.is_empty() {
            return visit(at, range.len(), self.offsets(at));
        }
        let row = self.row.size;
        let mut column = at % row;
        // The coordinates of the row, innermost first, and the operands' offsets at the row's start.
        let mut coordinates: SmallVec<[usize; 4]> = SmallVec::new();
        let mut rest = at / row;
        for axis in self.outer.iter().rev() {
            coordinates.push(rest % axis.size);
            rest /= axis.size;
        }
        let mut starts = self.offsets(at - column);
        loop {
            let len = (row - column).min(range.end - at);
            visit(
                at,
                len,
                std::array::from_fn(|n| starts[n] + column as isize * self.row.strides[n]),
            )?;
            at += len;
            if at == range.end {
                return Ok(());
            }
            column = 0;
            for (axis, coordinate) in self.outer.iter().rev().zip(&mut coordinates) {
                *coordinate += 1;
                let wrapped = *coordinate == axis.size;
                let back = if wrapped { axis.size as isize } else { 0 };
                for (start, stride) in starts.iter_mut().zip(axis.strides) {
                    *start += (1 - back) * stride;
                }
                if !wrapped {
                    break;
                }
                *coordinate = 0;
            }
        }
    }
}

/// How many pieces each thread gets, where they are not too small.
const PIECES: usize = 16;

/// Runs `body` over `0..total` in pieces of at least `grain`, cut at multiples of `unit`, on all threads; in
/// one piece on this thread when that is all there is.
pub(crate) fn in_pieces(
    total: usize,
    grain: usize,
    unit: usize,
    body: impl Fn(Range<usize>) + Sync,
) {
    if total <= grain {
        return body(0..total);
    }
    let threads = threads::count();
    if threads == 1 {
        return body(0..total);
    }
    // Many pieces for each thread even out cores that run at different speeds, and threads that come late.
    let piece = total.div_ceil(PIECES * threads).max(grain).div_ceil(unit) * unit;
    threads::each(total.div_ceil(piece), |at| {
        body(at * piece..((at + 1) * piece).min(total));
    });
}

/// Memory of up to this many bytes stays in the caches, and prefetching it costs more than it gives.
pub(crate) const CACHED: usize = 2 << 20;

/// How many random accesses ahead to prefetch: about what a core can have under way.
pub(crate) const AHEAD: usize = 24;

/// A pointer that threads share. What each of them does with it is its own `unsafe` business.
#[derive(Clone, Copy)]
pub(crate) struct Shared<P>(P);

// SAFETY: sharing the address is harmless; every use of it cites K1 and K3.
unsafe impl<P> Sync for Shared<P> {}
// SAFETY: as above.
unsafe impl<P> Send for Shared<P> {}

impl<P: Copy> Shared<P> {
    pub(crate) fn new(pointer: P) -> Shared<P> {
        Shared(pointer)
    }

    pub(crate) fn get(&self) -> P {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_merge_where_every_operand_allows_it() {
        let both = Loops::over(&[2, 1, 3, 4], [&[12, 99, 4, 1], &[0, 5, 0, 0]]);
        assert!(both.is_one_row());
        assert_eq!((both.len(), both.steps()), (24, [1, 0]));
        let one = Loops::over(&[2, 3, 4], [&[12, 4, 1], &[4, 0, 1]]);
        assert!(!one.is_one_row());
        assert_eq!(one.len(), 24);
        assert!(Loops::<1>::over(&[], [&[]]).is_one_row());
        assert_eq!(Loops::<1>::over(&[], [&[]]).len(), 1);
        assert_eq!(Loops::over(&[3, 0], [&[1, 1]]).len(), 0);
    }

    #[test]
    fn spans_visit_every_part_of_the_walk_in_order() {
        let sizes = [3usize, 2, 5];
        let strides = [-7isize, 0, 3];
        let loops = Loops::over(&sizes, [&strides]);
        let wanted: Vec<isize> = (0..30).map(|p| (p / 10) * -7 + (p % 5) * 3).collect();
        for lo in 0..30 {
            for hi in lo..=30 {
                let mut seen = Vec::new();
                loops.spans(lo..hi, |at, len, [offset]| {
                    assert_eq!(at, lo + seen.len());
                    seen.extend((0..len as isize).map(|i| offset + i * loops.steps()[0]));
                });
                assert_eq!(seen, wanted[lo..hi]);
            }
            assert_eq!(loops.offsets(lo), [wanted[lo]]);
        }
    }

    #[test]
    fn pieces_cover_everything_once() {
        let seen: Vec<_> = (0..1000)
            .map(|_| std::sync::atomic::AtomicUsize::new(0))
            .collect();
        in_pieces(1000, 7, 16, |range| {
            assert_eq!(range.start % 16, 0);
            for i in range {
                seen[i].fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
        });
        assert!(
            seen.iter()
                .all(|n| n.load(std::sync::atomic::Ordering::Relaxed) == 1)
        );
    }
}
