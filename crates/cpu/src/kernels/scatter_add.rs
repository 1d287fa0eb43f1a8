//! Adds updates into packed memory at an index: the adjoint of the gathers. Updates that meet in a cell are
//! added in row-major order, whatever the number of threads: threads only ever divide the destination. The
//! 16-bit floats round after every update.

use std::mem::MaybeUninit;
use std::ops::Range;

use stridewise_core::DType;

use self::adding::{AddCells, AddSpan, add_cells, add_span};
use self::strip::{Kept, MOST, Strip};
pub use super::index::{BadIndex, Bounds};
use super::index::{FirstBad, check, strips};
use super::loops::{AHEAD, CACHED, Loops, Shared, WORTH_THREADS, in_pieces};
use super::prefetch;
use super::{Block, threads};
use crate::element::with_dtype;

mod adding;
mod sift;
mod strip;

/// More threads than this do not share one destination by cells, since each has to read the whole index.
const SHARERS: usize = 8;

/// Bytes in a cache line. Threads that write to the same one would wait for each other all the time.
const LINE: usize = 64;

/// A destination of so many bytes is too few lines to share: threads write to memory of their own meanwhile.
const SMALL: usize = 16 * LINE;

/// Adds `updates`, of shape `dst_sizes[..run.start] + index.sizes + dst_sizes[run.end..]`, to `dst` where a
/// gather with the same `run` and `index` would read. Under [`Bounds::Fill`] what lies outside is left out.
///
/// On an error `dst` holds anything.
///
/// # Safety
/// K1, K2 and K4 for `index`, whose dtype is an integer, and `updates`; `dst` is packed, holds elements of
/// `dtype` of shape `dst_sizes`, under K2 to K4. There is a cell to add to, unless the index is empty or the
/// bounds are [`Bounds::Fill`].
#[expect(clippy::too_many_arguments)]
pub unsafe fn scatter_add(
    dst: *mut u8,
    dst_sizes: &[usize],
    run: Range<usize>,
    index: Block,
    index_dtype: DType,
    bounds: Bounds,
    updates: Block,
    dtype: DType,
) -> Result<(), BadIndex> {
    let n = dst_sizes[run.clone()].iter().product();
    let after = run.start + index.sizes.len();
    let part =
        |axes: Range<usize>| Loops::over(&updates.sizes[axes.clone()], [&updates.strides[axes]]);
    let job = Scatter {
        n,
        outer: part(0..run.start),
        along: Loops::over(
            index.sizes,
            [index.strides, &updates.strides[run.start..after]],
        ),
        inner: part(after..updates.sizes.len()),
        index: index.start,
        index_dtype,
        bounds,
        updates: updates.start,
        width: dtype.width(),
        add_cells: with_dtype!(dtype, T => add_cells::<T>),
        add_span: with_dtype!(dtype, T => add_span::<T>),
    };
    let (outers, indices, inners) = (job.outer.len(), job.along.len(), job.inner.len());
    let each = indices.saturating_mul(inners);
    let work = outers.saturating_mul(each);
    if work == 0 {
        return match bounds {
            // SAFETY: the caller's. Nothing is added, but a bad index is still an error.
            Bounds::Raise => unsafe { check(index, index_dtype, n) },
            _ => Ok(()),
        };
    }
    if work < WORTH_THREADS {
        // SAFETY: K1 to K4: the whole destination.
        return unsafe { job.run(dst, 0..outers, 0..n, 0..inners) };
    }
    let first = FirstBad::default();
    let to = Shared::new(dst);
    let threads = threads::count();
    if outers >= 2 * threads {
        let grain = WORTH_THREADS.div_ceil(2 * each);
        in_pieces(outers, grain, 1, |piece| {
            // SAFETY: K1 to K4: pieces write to different outer positions.
            first.note(unsafe { job.run(to.get(), piece, 0..n, 0..inners) });
        });
    } else if inners >= 1024 * threads {
        in_pieces(inners, 1024, 64, |piece| {
            // SAFETY: K1 to K4: pieces write to different parts of the rows.
            first.note(unsafe { job.run(to.get(), 0..outers, 0..n, piece) });
        });
    } else {
        let row_bytes = inners * job.width;
        let small = outers == 1 && n * row_bytes <= SMALL;
        let unit = match small {
            true => 1,
            false => cells_a_line(row_bytes),
        };
        in_pieces(n, n.div_ceil(threads.min(SHARERS)), unit, |piece| {
            // SAFETY: K1 to K4: pieces write to different cells; a small one is as large as its own memory.
            first.note(unsafe {
                let to = to.get().add(piece.start * row_bytes);
                if !small {
                    job.run(to, 0..outers, piece, 0..inners)
                } else {
                    let (mut own, bytes) =
                        (Own([MaybeUninit::uninit(); SMALL]), piece.len() * row_bytes);
                    let own = (&raw mut own).cast::<u8>();
                    own.copy_from_nonoverlapping(to, bytes);
                    let added = job.run(own, 0..1, piece, 0..inners);
                    to.copy_from_nonoverlapping(own, bytes);
                    added
                }
            });
        });
    }
    first.into_result()
}

/// A thread's own copy of a small destination.
#[repr(align(64))]
struct Own(#[expect(dead_code, reason = "written through a pointer")] [MaybeUninit<u8>; SMALL]);

/// How many cells, so many bytes apart, threads take at least, so as to write to different lines.
fn cells_a_line(bytes: usize) -> usize {
    (LINE / bytes.max(1)).max(1)
}

/// Adds `updates`, of the index's sizes, to `dst` where [`gather_aligned`](super::gather::gather_aligned) with
/// the same `axis` and `index` would read. Bounds as for [`scatter_add`].
///
/// # Safety
/// As for [`scatter_add`]; besides, destination, index and updates have the same rank, and the same sizes
/// but for the destination's on `axis`.
#[expect(clippy::too_many_arguments)]
pub unsafe fn scatter_add_aligned(
    dst: *mut u8,
    dst_sizes: &[usize],
    axis: usize,
    index: Block,
    index_dtype: DType,
    bounds: Bounds,
    updates: Block,
    dtype: DType,
) -> Result<(), BadIndex> {
    let n = dst_sizes[axis];
    let pitch = |axis: usize| dst_sizes[axis + 1..].iter().product::<usize>() as isize;
    let loops = Loops::new(index.sizes.iter().enumerate().map(|(i, &size)| {
        let along = if i == axis { 0 } else { pitch(i) };
        (size, [index.strides[i], updates.strides[i], along])
    }));
    let [index_step, updates_step, step] = loops.steps();
    let add_cells = with_dtype!(dtype, T => add_cells::<T>);
    let width = dtype.width() as isize;
    let stride = pitch(axis);
    let (index, sizes) = (Shared::new(index.start), index.sizes);
    let (updates, dst) = (Shared::new(updates.start), Shared::new(dst));
    let far = n as isize * stride * width > CACHED as isize;
    let first = FirstBad::default();
    let add = |positions: Range<usize>, keep: Range<usize>| {
        let mut strip = Strip::new(index_dtype, n, bounds);
        for keep in in_parts(keep) {
            let start = keep.start as isize * stride;
            first.note(loops.try_spans(positions.clone(), |at, len, offsets| {
                let [index_offset, updates_offset, offset] = offsets;
                strips(len, |done, count| {
                    let i = done as isize;
                    // SAFETY: K1 to K4: a strip of this span; cells that are kept are below `n`.
                    unsafe {
                        let from = (index.get(), index_offset + i * index_step, index_step);
                        let kept = strip.read(from, at + done, count, &keep)?;
                        let to = dst.get().offset((start + offset + i * step) * width);
                        let from = updates_offset + i * updates_step;
                        let from = updates.get().offset(from * width);
                        add_cells(to, [step, stride], kept, far, from, updates_step);
                    }
                    Ok(())
                })
            }));
        }
    };
    let total = loops.len();
    let threads = threads::count();
    let each: usize = sizes[axis..].iter().product();
    if total < WORTH_THREADS {
        add(0..total, 0..n);
    } else if total / each >= 2 * threads {
        in_pieces(total, WORTH_THREADS / 2, each, |piece| add(piece, 0..n));
    } else {
        let unit = cells_a_line(stride.unsigned_abs() * dtype.width());
        in_pieces(n, n.div_ceil(threads.min(SHARERS)), unit, |piece| {
            add(0..total, piece);
        });
    }
    first.into_result()
}

/// Cuts a range of cells into parts that a strip can tell apart.
fn in_parts(cells: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = cells.end;
    cells
        .step_by(MOST)
        .map(move |start| start..end.min(start + MOST))
}

struct Scatter {
    n: usize,
    outer: Loops<1>,
    /// The index, and the updates along it.
    along: Loops<2>,
    inner: Loops<1>,
    index: *const u8,
    index_dtype: DType,
    bounds: Bounds,
    updates: *const u8,
    width: usize,
    add_cells: AddCells,
    add_span: AddSpan,
}

// SAFETY: the index and the updates are only read.
unsafe impl Sync for Scatter {}

impl Scatter {
    /// Adds at a range of outer positions, to a range of cells, a range of each row of inner elements. The first
    /// of these cells lies at `dst` for outer position 0.
    ///
    /// # Safety
    /// K1 to K4; no other thread has the same part of the destination.
    unsafe fn run(
        &self,
        dst: *mut u8,
        outers: Range<usize>,
        keep: Range<usize>,
        inners: Range<usize>,
    ) -> Result<(), BadIndex> {
        let rows = self.inner.len();
        let row_bytes = rows * self.width;
        let [index_step, updates_step] = self.along.steps();
        let width = self.width as isize;
        let far = self.n * row_bytes > CACHED;
        let mut strip = Strip::new(self.index_dtype, self.n, self.bounds);
        let first = keep.start;
        for keep in in_parts(keep) {
            let mut one = |o: usize, from: isize| {
                // SAFETY: K1: cells of an outer position.
                let to = unsafe { dst.add((o * self.n + keep.start - first) * row_bytes) };
                self.along
                    .try_spans(0..self.along.len(), |at, len, [index_offset, offset]| {
                        strips(len, |done, count| {
                            let i = done as isize;
                            // SAFETY: K1 to K4: a strip of this span; cells that are kept are below `n`.
                            unsafe {
                                let index = (self.index, index_offset + i * index_step, index_step);
                                let kept = strip.read(index, at + done, count, &keep)?;
                                let from = (from + offset + i * updates_step) * width;
                                let from = self.updates.offset(from);
                                if rows == 1 {
                                    (self.add_cells)(to, [0, 1], kept, far, from, updates_step);
                                } else {
                                    self.add_rows(
                                        to,
                                        kept,
                                        far,
                                        from,
                                        updates_step,
                                        inners.clone(),
                                    );
                                }
                            }
                            Ok(())
                        })
                    })
            };
            let [step] = self.outer.steps();
            self.outer.try_spans(outers.clone(), |o, len, [offset]| {
                (0..len).try_for_each(|i| one(o + i, offset + i as isize * step))
            })?;
        }
        Ok(())
    }

    /// # Safety
    /// As [`Scatter::run`], for one row of updates for each cell.
    unsafe fn add_rows(
        &self,
        dst: *mut u8,
        Kept { cells, at }: Kept,
        far: bool,
        updates: *const u8,
        step: isize,
        inners: Range<usize>,
    ) {
        let (rows, width) = (self.inner.len(), self.width as isize);
        let [inner_step] = self.inner.steps();
        for (k, (&cell, &i)) in cells.iter().zip(at).enumerate() {
            if far && let Some(&later) = cells.get(k + AHEAD) {
                prefetch::nearest(dst.wrapping_add(later as usize * rows * self.width));
            }
            self.inner.spans(inners.clone(), |at, len, [offset]| {
                // SAFETY: the caller's.
                unsafe {
                    let to = dst.add((cell as usize * rows + at) * self.width);
                    let from = updates.offset((i as isize * step + offset) * width);
                    (self.add_span)(to, from, inner_step, len);
                }
            });
        }
    }
}

#[cfg(test)]
mod tests;
