//! Reads a source at an index. Both gathers resolve a strip of indices into byte offsets and then move
//! elements of one width, or whole rows, from there; dtypes never matter.

use std::ops::Range;
use std::ptr;

use stridewise_core::DType;

use self::direct::Direct;
use self::mover::{Mover, Task};
use self::places::Places;
use self::strip::{Offsets, Strip};
use super::Block;
pub use super::index::{BadIndex, Bounds, check};
use super::index::{FirstBad, Reader, STRIP};
use super::loops::{Loops, Shared, WORTH_THREADS, in_pieces};

mod direct;
mod few;
mod mover;
mod places;
mod strip;
mod words;

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
#[inline]
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
    unsafe {
        match few::gather(source, &run, index, index_dtype, width, bounds, dst) {
            Some(done) => done,
            None => many(source, run, index, index_dtype, width, bounds, dst),
        }
    }
}

/// [`gather`] of more than a few elements, apart from it since all that it keeps has to be made room for.
///
/// # Safety
/// As for [`gather`].
#[inline(never)]
unsafe fn many(
    source: Block,
    run: Range<usize>,
    index: Block,
    index_dtype: DType,
    width: usize,
    bounds: Bounds,
    dst: *mut u8,
) -> Result<(), BadIndex> {
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
    let positions = outers * indices;
    let rows = outers.saturating_mul(cells.len());
    let mover = Mover::new(width, inner, rows, bounds, positions, dst);
    let packed = cells.is_one_row()
        && cells.steps()[0] * width as isize == mover.row_bytes() as isize
        && index_loops.is_one_row()
        && index_loops.steps() == [1];
    let place = mover.place(cells.len(), indices).filter(|_| packed);
    let direct = place
        .and_then(|place| Direct::new(index_dtype, cells.len(), bounds, mover.row_bytes(), place));
    let job = Gather {
        source: source.start,
        reader: Reader::new(index_dtype, cells.len(), bounds),
        mover,
        direct,
        outer,
        places: (!cells.is_one_row()).then(|| Places::new(&cells, width as isize)),
        stride: cells.steps()[0] * width as isize,
        index: index.start,
        index_loops,
        dst,
    };
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
    let one = Loops::over(&[], [&[]]);
    let mover = Mover::new(width, one, source.len(), bounds, loops.len(), dst);
    let [index_step, step] = loops.steps();
    let (stride, step) = (source.strides[axis] * width as isize, step * width as isize);
    let (source, index) = (Shared::new(source.start), Shared::new(index.start));
    let dst = Shared::new(dst);
    let first = FirstBad::default();
    in_pieces(loops.len(), WORTH_THREADS, STRIP, |piece| {
        first.note(loops.try_spans(piece, |at, len, [index_offset, offset]| {
            // SAFETY: K1 to K4: strips of this span, and their places in the result.
            unsafe {
                let resolve = |strip: &mut Strip, done: usize, count: usize| {
                    let base = offset * width as isize + done as isize * step;
                    let from = reader.at(index.get(), index_offset + done as isize * index_step);
                    reader.read(from, index_step, at + done, strip.cells(0, count))?;
                    strip.place(count, |i, cell| {
                        base + i as isize * step + cell as isize * stride
                    });
                    Ok((source.get(), 1))
                };
                let to = dst.get().add(at * width);
                in_strips(&mover, 0..len, |_| len, resolve, to, 0..1)
            }
        }));
    });
    first.into_result()
}

/// Moves the rows at a range of positions, strip by strip; the next is resolved, and asked for, while one is
/// moved. No strip goes on past `end` of where it starts. `resolve` fills so many cells of a strip with what is
/// at a position and on, and tells the source and the stride they are to be read at; `dst` is where position 0
/// goes.
///
/// # Safety
/// As [`Mover::rows`], for what `resolve` tells.
#[inline(always)]
unsafe fn in_strips(
    mover: &Mover,
    positions: Range<usize>,
    end: impl Fn(usize) -> usize,
    resolve: impl Fn(&mut Strip, usize, usize) -> Result<(*const u8, isize), BadIndex>,
    dst: *mut u8,
    inners: Range<usize>,
) -> Result<(), BadIndex> {
    let most = mover.strip();
    let count = |at: usize| most.min(end(at).min(positions.end) - at);
    let (mut one, mut other) = (Strip::new(), Strip::new());
    let (mut now, mut later) = (&mut one, &mut other);
    let (mut at, mut len) = (positions.start, count(positions.start));
    let (mut source, mut stride) = resolve(now, at, len)?;
    // SAFETY: `resolve` filled the cells of the strips; the rest is the caller's.
    unsafe {
        mover.ask(source, now.at_stride(len, stride));
        loop {
            let next = at + len;
            let mut after = (0, source, stride);
            if next < positions.end {
                let len = count(next);
                let (source, stride) = resolve(later, next, len)?;
                after = (len, source, stride);
            }
            let task = Task {
                source,
                pitch: 0,
                repeat: 1,
                offsets: now.at_stride(len, stride),
                dst: dst.add(at * mover.row_bytes()),
                next: (after.1, later.at_stride(after.0, after.2)),
            };
            mover.rows(task, inners.clone());
            if after.0 == 0 {
                mover.finish();
                return Ok(());
            }
            at = next;
            (len, source, stride) = after;
            std::mem::swap(&mut now, &mut later);
        }
    }
}

struct Gather {
    source: *const u8,
    outer: Loops<1>,
    /// Where cells lie, if it takes more than the stride in bytes.
    places: Option<Places>,
    stride: isize,
    mover: Mover,
    direct: Option<Direct>,
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
        if indices <= STRIP {
            let mut strip = Strip::new();
            // SAFETY: K1: the whole index; then K1 to K4: offsets resolved within the run of axes, from
            // outer positions of this span.
            unsafe {
                let stride = self.resolve(&mut strip, 0, indices)?;
                let outers = positions.start / indices..positions.end / indices;
                self.outer.spans(outers, |o, len, [offset]| {
                    let task = Task {
                        source: self.source.wrapping_offset(offset * width),
                        pitch: self.outer.steps()[0] * width,
                        repeat: len,
                        offsets: strip.at_stride(indices, stride),
                        dst: self.dst.add(o * indices * row_bytes),
                        next: (self.source, Offsets::NONE),
                    };
                    self.mover.rows(task, inners.clone());
                });
            }
            self.mover.finish();
            return Ok(());
        }
        // SAFETY: K1: indices from a position to the end of its outer one; then K1 to K4 as above.
        unsafe {
            let resolve = |strip: &mut Strip, at: usize, count: usize| {
                let source = self.outer.offsets(at / indices)[0] * width;
                let stride = self.resolve(strip, at % indices, count)?;
                Ok((self.source.wrapping_offset(source), stride))
            };
            let end = |at: usize| (at / indices + 1) * indices;
            let strips = |positions| {
                in_strips(
                    &self.mover,
                    positions,
                    end,
                    resolve,
                    self.dst,
                    inners.clone(),
                )
            };
            let Some(direct) = self.direct else {
                return strips(positions);
            };
            let mut at = positions.start;
            while at < positions.end {
                let source = |o: usize| {
                    let offset = self.outer.offsets(o)[0] * width;
                    self.source.wrapping_offset(offset)
                };
                let stop = end(at).min(positions.end);
                let ahead = match self.mover.is_far() && stop < positions.end {
                    true => source(at / indices + 1),
                    false => ptr::null(),
                };
                at += direct.gather(
                    source(at / indices),
                    ahead,
                    self.reader.at(self.index, (at % indices) as isize),
                    stop - at,
                    self.dst.add(at * row_bytes),
                );
                // An index outside, or the last few.
                if at < stop {
                    let strip = stop.min(at + self.mover.strip());
                    strips(at..strip)?;
                    at = strip;
                }
            }
            Ok(())
        }
    }

    /// Where the rows start that `count` indices from flat position `first` address: fills the strip and tells
    /// the stride in bytes it is to be read at.
    ///
    /// # Safety
    /// K1, K2, K4 for those indices.
    unsafe fn resolve(
        &self,
        strip: &mut Strip,
        first: usize,
        count: usize,
    ) -> Result<isize, BadIndex> {
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
        let Some(places) = &self.places else {
            return Ok(self.stride);
        };
        // SAFETY: the spans filled the first `count` cells.
        unsafe { strip.place(count, |_, cell| places.offset(cell)) };
        Ok(1)
    }
}

#[cfg(test)]
mod tests;
