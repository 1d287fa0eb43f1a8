//! Reads a source at an index. Both gathers resolve a strip of indices into byte offsets and then move
//! elements of one width, or whole rows, from there; dtypes never matter.

use std::ops::Range;

use stridewise_core::DType;

use self::mover::{Mover, Offsets, Strip};
use super::Block;
pub use super::index::{BadIndex, Bounds, check};
use super::index::{FirstBad, Reader, STRIP, strips};
use super::loops::{Loops, Shared, WORTH_THREADS, in_pieces};

mod few;
mod mover;

/// Writes `source` read at `index` to `dst`, packed, of shape `source.sizes[..run.start] + index.sizes +
/// source.sizes[run.end..]`. The axes in `run` are addressed as if they were flattened; they may be one axis,
/// all, or none, and then there is one cell.
///
/// On an error `dst` holds anything.
///
/// # Safety
/// K1, K2 and K4 for `source`, whose elements are `width` bytes, and `index`, whose dtype is an integer; `dst`
/// has room for the result, under K2 and K3. There is a cell to read, unless the index is empty or the bounds
/// are [`Bounds::Fill`].
pub unsafe fn gather(
    source: Block,
    run: Range<usize>,
    index: Block,
    index_dtype: DType,
    width: usize,
    bounds: Bounds,
    dst: *mut u8,
) -> Result<(), BadIndex> {
    // SAFETY: the caller's.
    if let Some(done) = unsafe { few::gather(source, &run, index, index_dtype, width, bounds, dst) }
    {
        return done;
    }
    let part =
        |axes: Range<usize>| Loops::over(&source.sizes[axes.clone()], [&source.strides[axes]]);
    let outer = part(0..run.start);
    let cells = part(run.clone());
    let inner = part(run.end..source.sizes.len());
    let index_loops = Loops::over(index.sizes, [index.strides]);
    let (outers, indices, inners) = (outer.len(), index_loops.len(), inner.len());
    if outers == 0 || inners == 0 {
        return match bounds {
            // SAFETY: the caller's. Nothing is moved, but a bad index is still an error.
            Bounds::Raise => unsafe { check(index, index_dtype, cells.len()) },
            _ => Ok(()),
        };
    }
    let job = Gather {
        source: source.start,
        reader: Reader::new(index_dtype, cells.len(), bounds),
        mover: Mover::new(width, inner, outers.saturating_mul(cells.len()), bounds),
        outer,
        cells,
        index: index.start,
        index_loops,
        dst,
    };
    let positions = outers * indices;
    let first = FirstBad::default();
    if positions.saturating_mul(inners) < WORTH_THREADS {
        // SAFETY: K1 to K4: the whole result.
        return unsafe { job.run(0..positions, 0..inners) };
    }
    if positions >= 64 || inners < WORTH_THREADS / 4 {
        let grain = (WORTH_THREADS / 2).div_ceil(inners);
        // An index that fits one strip is resolved once a piece, for whole outer positions.
        let unit = if indices <= STRIP { indices } else { 1 };
        in_pieces(positions, grain, unit, |piece| {
            // SAFETY: K1 to K4: pieces write to different parts of the result.
            first.note(unsafe { job.run(piece, 0..inners) });
        });
    } else {
        // A few long rows: cut the rows.
        in_pieces(inners, WORTH_THREADS / 4, 64, |piece| {
            // SAFETY: K1 to K4, as above.
            first.note(unsafe { job.run(0..positions, piece) });
        });
    }
    first.into_result()
}

/// Writes `source` read along one axis to `dst`, packed, of the index's sizes: element `i…` is the source's at
/// `i…`, with the coordinate on `axis` replaced by the index at `i…`.
///
/// On an error `dst` holds anything.
///
/// # Safety
/// As for [`gather`]; besides, source and index have the same rank, and the same sizes but on `axis`.
pub unsafe fn gather_aligned(
    source: Block,
    axis: usize,
    index: Block,
    index_dtype: DType,
    width: usize,
    bounds: Bounds,
    dst: *mut u8,
) -> Result<(), BadIndex> {
    let loops = Loops::new(index.sizes.iter().enumerate().map(|(i, &size)| {
        let along = if i == axis { 0 } else { source.strides[i] };
        (size, [index.strides[i], along])
    }));
    let reader = Reader::new(index_dtype, source.sizes[axis], bounds);
    let mover = Mover::new(width, Loops::over(&[], [&[]]), source.len(), bounds);
    let [index_step, step] = loops.steps();
    let (stride, step) = (source.strides[axis] * width as isize, step * width as isize);
    let (source, index) = (Shared::new(source.start), Shared::new(index.start));
    let dst = Shared::new(dst);
    let first = FirstBad::default();
    in_pieces(loops.len(), WORTH_THREADS, STRIP, |piece| {
        first.note(loops.try_spans(piece, |at, len, [index_offset, offset]| {
            let mut strip = Strip::new();
            strips(len, |done, count| {
                let base = offset * width as isize + done as isize * step;
                // SAFETY: K1 to K4: a strip of this span, and its place in the result.
                unsafe {
                    let from = reader.at(index.get(), index_offset + done as isize * index_step);
                    reader.read(from, index_step, at + done, strip.cells(0, count))?;
                    let offsets = strip.at_offsets(count, |i, cell| {
                        base + i as isize * step + cell as isize * stride
                    });
                    mover.row(source.get(), offsets, dst.get().add((at + done) * width));
                }
                Ok(())
            })
        }));
    });
    first.into_result()
}

struct Gather {
    source: *const u8,
    outer: Loops<1>,
    cells: Loops<1>,
    mover: Mover,
    index: *const u8,
    index_loops: Loops<1>,
    reader: Reader,
    dst: *mut u8,
}

// SAFETY: the source and the index are only read, and K3 keeps the destination's writers apart.
unsafe impl Sync for Gather {}

impl Gather {
    /// Gathers at a range of positions, counted over outer × index, a range of each row of inner elements.
    /// When the index fits one strip, the range holds whole outer positions.
    ///
    /// # Safety
    /// K1 to K4; no other thread has the same part of the result.
    unsafe fn run(&self, positions: Range<usize>, inners: Range<usize>) -> Result<(), BadIndex> {
        let indices = self.index_loops.len();
        let width = self.mover.width() as isize;
        let row_bytes = self.mover.row_bytes();
        if positions.is_empty() {
            return Ok(());
        }
        let mut strip = Strip::new();
        if indices <= STRIP {
            // SAFETY: K1: the whole index; then K1 to K4: offsets resolved within the run of axes, from
            // outer positions of this span.
            unsafe {
                let offsets = self.resolve(&mut strip, 0, indices)?;
                let pitch = self.outer.steps()[0] * width;
                let outers = positions.start / indices..positions.end / indices;
                self.outer.spans(outers, |o, len, [offset]| {
                    let source = self.source.wrapping_offset(offset * width);
                    let dst = self.dst.add(o * indices * row_bytes);
                    self.mover
                        .rows(source, pitch, len, offsets, dst, inners.clone());
                });
            }
            return Ok(());
        }
        let mut at = positions.start;
        while at < positions.end {
            let (o, i) = (at / indices, at % indices);
            let count = STRIP.min(indices - i).min(positions.end - at);
            // SAFETY: K1: indices `i` and on; then K1 to K4 as above.
            unsafe {
                let offsets = self.resolve(&mut strip, i, count)?;
                let source = self
                    .source
                    .wrapping_offset(self.outer.offsets(o)[0] * width);
                let dst = self.dst.add(at * row_bytes);
                self.mover.rows(source, 0, 1, offsets, dst, inners.clone());
            }
            at += count;
        }
        Ok(())
    }

    /// Where the rows start that `count` indices from flat position `first` address.
    ///
    /// # Safety
    /// K1, K2, K4 for those indices.
    unsafe fn resolve<'s>(
        &self,
        strip: &'s mut Strip,
        first: usize,
        count: usize,
    ) -> Result<Offsets<'s>, BadIndex> {
        let [step] = self.index_loops.steps();
        self.index_loops
            .try_spans(first..first + count, |at, len, [offset]| {
                // SAFETY: the caller's.
                unsafe {
                    let from = self.reader.at(self.index, offset);
                    self.reader
                        .read(from, step, at, strip.cells(at - first, len))?;
                }
                Ok(())
            })?;
        let width = self.mover.width() as isize;
        let [stride] = self.cells.steps();
        // SAFETY: the spans filled the first `count` cells.
        Ok(unsafe {
            if self.cells.is_one_row() {
                strip.at_stride(count, stride * width)
            } else {
                strip.at_offsets(count, |_, cell| self.cells.offsets(cell)[0] * width)
            }
        })
    }
}

#[cfg(test)]
mod tests;
