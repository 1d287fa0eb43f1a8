//! Adds updates into packed memory at an index: the adjoint of the gathers. Updates that meet in a cell are
//! added in row-major order, whatever the number of threads: threads only ever divide the destination. The
//! 16-bit floats round after every update.

use std::mem::MaybeUninit;
use std::ops::Range;

use stridewise_core::DType;

pub use super::index::{BadIndex, Bounds};
use super::index::{Reader, STRIP, check};
use super::loops::{AHEAD, CACHED, Loops, Shared, WORTH_THREADS, in_pieces, prefetch};
use super::{Block, threads};
use crate::element::{Number, with_dtype};

/// More threads than this do not share one destination by cells, since each has to read the whole index.
const SHARERS: usize = 8;

/// Adds `updates`, of shape `dst_sizes[..run.start] + index.sizes + dst_sizes[run.end..]`, to `dst` where a
/// gather with the same `run` and `index` would read. Under [`Bounds::Raise`] nothing is changed on an error;
/// under [`Bounds::Fill`] what lies outside is left out.
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
    if matches!(bounds, Bounds::Raise) {
        // SAFETY: the caller's.
        unsafe { check(index, index_dtype, n)? };
    }
    let after = run.start + index.sizes.len();
    let part =
        |axes: Range<usize>| Loops::over(&updates.sizes[axes.clone()], [&updates.strides[axes]]);
    let job = Scatter {
        dst,
        n,
        outer: part(0..run.start),
        along: Loops::over(
            index.sizes,
            [index.strides, &updates.strides[run.start..after]],
        ),
        inner: part(after..updates.sizes.len()),
        index: index.start,
        reader: Reader::new(index_dtype, n, bounds),
        updates: updates.start,
        width: dtype.width(),
        add_cells: with_dtype!(dtype, T => add_cells::<T>),
        add_span: with_dtype!(dtype, T => add_span::<T>),
    };
    let (outers, indices, inners) = (job.outer.len(), job.along.len(), job.inner.len());
    let each = indices.saturating_mul(inners);
    let work = outers.saturating_mul(each);
    if work < WORTH_THREADS {
        // SAFETY: K1 to K4: the whole destination.
        unsafe { job.run(0..outers, 0..n, 0..inners) };
        return Ok(());
    }
    let threads = threads::count();
    if outers >= 2 * threads {
        let grain = WORTH_THREADS.div_ceil(2 * each);
        in_pieces(outers, grain, 1, |piece| {
            // SAFETY: K1 to K4: pieces write to different outer positions.
            unsafe { job.run(piece, 0..n, 0..inners) }
        });
    } else if inners >= 1024 * threads {
        in_pieces(inners, 1024, 64, |piece| {
            // SAFETY: K1 to K4: pieces write to different parts of the rows.
            unsafe { job.run(0..outers, 0..n, piece) }
        });
    } else {
        let grain = n.div_ceil(threads.min(SHARERS));
        in_pieces(n, grain, 1, |piece| {
            // SAFETY: K1 to K4: pieces write to different cells.
            unsafe { job.run(0..outers, piece, 0..inners) }
        });
    }
    Ok(())
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
    if matches!(bounds, Bounds::Raise) {
        // SAFETY: the caller's.
        unsafe { check(index, index_dtype, n)? };
    }
    let pitch = |axis: usize| dst_sizes[axis + 1..].iter().product::<usize>() as isize;
    let loops = Loops::new(index.sizes.iter().enumerate().map(|(i, &size)| {
        let along = if i == axis { 0 } else { pitch(i) };
        (size, [index.strides[i], updates.strides[i], along])
    }));
    let [index_step, updates_step, step] = loops.steps();
    let reader = Reader::new(index_dtype, n, bounds);
    let add_cells = with_dtype!(dtype, T => add_cells::<T>);
    let width = dtype.width() as isize;
    let stride = pitch(axis);
    let (index, updates) = (
        (Shared::new(index.start), index.sizes),
        Shared::new(updates.start),
    );
    let dst = Shared::new(dst);
    let far = n as isize * stride * width > CACHED as isize;
    let add = |positions: Range<usize>, keep: Range<usize>| {
        let mut strip = Strip::new();
        loops.spans(
            positions,
            |_, len, [index_offset, updates_offset, offset]| {
                for done in (0..len).step_by(STRIP) {
                    let (i, count) = (done as isize, STRIP.min(len - done));
                    // SAFETY: K1 to K4: a strip of this span; cells that are kept are below `n`.
                    unsafe {
                        let from = reader.at(index.0.get(), index_offset + i * index_step);
                        let cells = strip.read(&reader, from, index_step, count, &keep);
                        let to = dst.get().offset((offset + i * step) * width);
                        let from = updates
                            .get()
                            .offset((updates_offset + i * updates_step) * width);
                        add_cells(to, [step, stride], cells, far, from, updates_step);
                    }
                }
            },
        );
    };
    let total = loops.len();
    if total < WORTH_THREADS {
        add(0..total, 0..n);
        return Ok(());
    }
    let threads = threads::count();
    let each: usize = index.1[axis..].iter().product();
    if total / each >= 2 * threads {
        in_pieces(total, WORTH_THREADS / 2, each, |piece| add(piece, 0..n));
    } else {
        in_pieces(n, n.div_ceil(threads.min(SHARERS)), 1, |piece| {
            add(0..total, piece)
        });
    }
    Ok(())
}

/// The cells of a strip of indices, and which of them to add to.
struct Strip {
    cells: [MaybeUninit<usize>; STRIP],
    kept: [MaybeUninit<u16>; STRIP],
}

impl Strip {
    fn new() -> Strip {
        Strip {
            cells: [MaybeUninit::uninit(); STRIP],
            kept: [MaybeUninit::uninit(); STRIP],
        }
    }

    /// Reads `count` indices and keeps those whose cell lies in `keep`; what is outside never does.
    ///
    /// # Safety
    /// K1, K2, K4 for the indices, none of which is bad.
    unsafe fn read(
        &mut self,
        reader: &Reader,
        from: *const u8,
        step: isize,
        count: usize,
        keep: &Range<usize>,
    ) -> (&[usize], &[u16]) {
        // SAFETY: the caller's.
        let Ok(cells) = (unsafe { reader.read(from, step, 0, &mut self.cells[..count]) }) else {
            unreachable!("indices that may be bad were checked");
        };
        let mut kept = 0;
        // Without a branch, which threads that share a destination would mostly mispredict.
        for (i, cell) in cells.iter().enumerate() {
            self.kept[kept].write(i as u16);
            kept += usize::from(keep.contains(cell));
        }
        // SAFETY: the first `kept` were written.
        (cells, unsafe {
            &*(&raw const self.kept[..kept] as *const [u16])
        })
    }
}

struct Scatter {
    dst: *mut u8,
    n: usize,
    outer: Loops<1>,
    /// The index, and the updates along it.
    along: Loops<2>,
    inner: Loops<1>,
    index: *const u8,
    reader: Reader,
    updates: *const u8,
    width: usize,
    add_cells: AddCells,
    add_span: AddSpan,
}

// SAFETY: the index and the updates are only read, and K3 keeps the destination's writers apart.
unsafe impl Sync for Scatter {}

impl Scatter {
    /// Adds at a range of outer positions, to a range of cells, a range of each row of inner elements.
    ///
    /// # Safety
    /// K1 to K4; no other thread has the same part of the destination.
    unsafe fn run(&self, outers: Range<usize>, keep: Range<usize>, inners: Range<usize>) {
        let rows = self.inner.len();
        let [index_step, updates_step] = self.along.steps();
        let [outer_step] = self.outer.steps();
        let width = self.width as isize;
        let far = self.n * rows * self.width > CACHED;
        let mut strip = Strip::new();
        let mut one = |o: usize, from: isize| {
            self.along
                .spans(0..self.along.len(), |_, len, [index_offset, offset]| {
                    for done in (0..len).step_by(STRIP) {
                        let (i, count) = (done as isize, STRIP.min(len - done));
                        // SAFETY: K1 to K4: a strip of this span; cells that are kept are below `n`.
                        unsafe {
                            let index = self.reader.at(self.index, index_offset + i * index_step);
                            let cells = strip.read(&self.reader, index, index_step, count, &keep);
                            let to = self.dst.add(o * self.n * rows * self.width);
                            let from = self
                                .updates
                                .offset((from + offset + i * updates_step) * width);
                            if rows == 1 {
                                (self.add_cells)(to, [0, 1], cells, far, from, updates_step);
                            } else {
                                self.add_rows(to, cells, far, from, updates_step, inners.clone());
                            }
                        }
                    }
                });
        };
        self.outer.spans(outers, |o, len, [offset]| {
            for i in 0..len {
                one(o + i, offset + i as isize * outer_step);
            }
        });
    }

    /// # Safety
    /// As [`Scatter::run`], for one row of updates for each cell.
    unsafe fn add_rows(
        &self,
        dst: *mut u8,
        (cells, kept): (&[usize], &[u16]),
        far: bool,
        updates: *const u8,
        step: isize,
        inners: Range<usize>,
    ) {
        let (rows, width) = (self.inner.len(), self.width as isize);
        let [inner_step] = self.inner.steps();
        for (k, &i) in kept.iter().enumerate() {
            if far && let Some(&later) = kept.get(k + AHEAD) {
                prefetch(dst.wrapping_add(cells[usize::from(later)] * rows * self.width));
            }
            let cell = cells[usize::from(i)];
            self.inner.spans(inners.clone(), |at, len, [offset]| {
                // SAFETY: the caller's.
                unsafe {
                    let to = dst.add((cell * rows + at) * self.width);
                    let from = updates.offset((i as isize * step + offset) * width);
                    (self.add_span)(to, from, inner_step, len);
                }
            });
        }
    }
}

/// The destination with its steps from one index to the next and from one cell to the next, the cells and
/// which of them are kept, whether the destination is larger than the caches, the updates and their step.
type AddCells = unsafe fn(*mut u8, [isize; 2], (&[usize], &[u16]), bool, *const u8, isize);

/// # Safety
/// K1 to K4 for the cells that are kept, and an update for each index.
unsafe fn add_cells<T: Number>(
    dst: *mut u8,
    [dst_step, stride]: [isize; 2],
    (cells, kept): (&[usize], &[u16]),
    far: bool,
    updates: *const u8,
    step: isize,
) {
    let (dst, updates) = (dst.cast::<T>(), updates.cast::<T>());
    let at = |i: u16| {
        let cell = cells[usize::from(i)] as isize;
        dst.wrapping_offset(i as isize * dst_step + cell * stride)
    };
    for (k, &i) in kept.iter().enumerate() {
        if far && let Some(&later) = kept.get(k + AHEAD) {
            prefetch(at(later).cast());
        }
        // SAFETY: the caller's.
        unsafe {
            let to = at(i);
            *to = plus(*to, *updates.offset(i as isize * step));
        }
    }
}

/// Packed destination, the updates and their step, the length.
type AddSpan = unsafe fn(*mut u8, *const u8, isize, usize);

/// # Safety
/// K1 to K4 for `len` elements and updates.
unsafe fn add_span<T: Number>(dst: *mut u8, updates: *const u8, step: isize, len: usize) {
    let (dst, updates) = (dst.cast::<T>(), updates.cast::<T>());
    // SAFETY: the caller's. The packed case is spelled out so that it vectorises.
    unsafe {
        if step == 1 {
            (0..len).for_each(|i| *dst.add(i) = plus(*dst.add(i), *updates.add(i)));
        } else {
            (0..len as isize).for_each(|i| {
                *dst.offset(i) = plus(*dst.offset(i), *updates.offset(i * step));
            });
        }
    }
}

#[inline(always)]
fn plus<T: Number>(a: T, b: T) -> T {
    T::narrow(T::add(a.widen(), b.widen()))
}

#[cfg(test)]
mod tests;
