//! Short runs taken apart: the first cell of each to one row, the second to the next, as where a matrix of a few columns
//! is turned. One vector is read of some runs, and the bytes for each row leave together; a load and a store for every
//! cell would take as long as memory itself. It takes a processor that puts bytes anywhere; elsewhere callers have slower
//! ways.

#[cfg(target_arch = "x86_64")]
mod lanes;

use super::collapse::Axis;
use super::stream;
use super::vectors::{NONE, Vectors};
use super::weave::{self, Read, Weave};
use crate::kernels::loops::Shared;
use crate::kernels::prefetch;
use crate::kernels::threads;
use core::mem::MaybeUninit;
use smallvec::SmallVec;

/// Bytes in a cache line, and in a vector.
const LINE: usize = 64;
/// Bytes that are taken apart near before they are written.
const NEAR: usize = 4 << 10;
/// Shares of the runs for each thread, so that one that is late holds up little.
const SHARES: usize = 4;

/// Short runs, evenly apart, and where in vectors of them the cells for each row are.
pub(super) struct Deinterleave {
    vectors: Vectors,
    /// Bytes in a run, and from one to the next.
    bytes: usize,
    stride: usize,
    cell: usize,
    /// How many there are in a run, each for a row of its own.
    rows: usize,
    /// Runs that are taken apart at once: as many as a vector has, or as make one for each row.
    at_once: usize,
    /// For each row a vector, or one for each that is read.
    places: SmallVec<[u8; 4 * LINE]>,
}

/// More vectors than this are not read for one of each row.
const MOST: usize = 8;

/// Where each row is written.
type To = SmallVec<[*mut u8; 16]>;

impl Deinterleave {
    /// The plane of both axes, if it is short runs of which each cell goes a way of its own.
    pub(super) fn of(run: Axis, across: Axis, cell: usize) -> Option<Deinterleave> {
        Deinterleave::by(Vectors::widest()?, run, across, cell)
    }

    /// As [`Deinterleave::of`], by vectors that there are.
    fn by(vectors: Vectors, run: Axis, across: Axis, cell: usize) -> Option<Deinterleave> {
        let bytes = run.size * cell;
        let stride = usize::try_from(across.src).ok()?;
        let short = run.src == cell as isize
            && across.dst == cell as isize
            && bytes <= stride
            && stride <= LINE / 2;
        if !short {
            return None;
        }
        let (vector, mut places) = (vectors.bytes(), SmallVec::new());
        let place = |row: usize, at: usize| at / cell * stride + row * cell + at % cell;
        let at_once = match vectors {
            Vectors::Lines => (vector - bytes) / stride + 1,
            Vectors::Lanes => vector / cell,
        };
        let span = (at_once - 1) * stride + bytes;
        let reads = starts(vectors, span);
        if reads.len() > MOST || vectors == Vectors::Lanes && span < vector {
            return None;
        }
        for row in 0..run.size {
            let mut from = 0;
            for start in reads.clone() {
                // Every place belongs to the first vector that has it.
                let own = from..start + vector;
                places.extend((0..vector).map(|at| match at < at_once * cell {
                    true if own.contains(&place(row, at)) => (place(row, at) - start) as u8,
                    _ => NONE,
                }));
                from = own.end;
            }
        }
        Some(Deinterleave {
            vectors,
            bytes,
            stride,
            cell,
            rows: run.size,
            at_once,
            places,
        })
    }

    /// Takes `count` runs apart, the cells of each to the rows that start at `to`.
    ///
    /// # Safety
    /// K1 and K4 for the runs at `src`, K3 for as many cells in each row; there are as many rows as cells in a run.
    pub(super) unsafe fn runs(&self, src: *const u8, count: usize, to: &[*mut u8]) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the caller's; no row gets more of a vector.
        unsafe {
            match (self.vectors, self.at_once * self.cell) {
                (Vectors::Lanes, _) => lanes::runs(self, src, count, to),
                (_, 0..=16) => vectors::runs::<16>(self, src, count, to),
                (_, 17..=32) => vectors::runs::<32>(self, src, count, to),
                _ => vectors::runs::<LINE>(self, src, count, to),
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (src, count, to);
    }

    /// The same by whole vectors, for many runs: those of as many runs as fill a line make one of each row.
    fn weave(&self) -> Option<Weave> {
        let (vectors, uneven) = (self.stride / self.cell, self.stride % self.cell);
        let place = |row: usize, byte: usize| {
            let from = byte / self.cell * self.stride + row * self.cell + byte % self.cell;
            (from / LINE, from % LINE)
        };
        let known = self.vectors == Vectors::Lines && uneven == 0;
        known.then(|| Weave::of(vectors, self.rows, place))?
    }

    /// [`Deinterleave::runs`] by whole vectors, past the caches or not, as many as go so; returns how many.
    ///
    /// # Safety
    /// As for it.
    unsafe fn runs_woven(
        &self,
        weave: &Weave,
        src: *const u8,
        count: usize,
        to: &[*mut u8],
        past: bool,
    ) -> usize {
        let span = weave.vectors() * LINE;
        // No more is read than the runs have.
        let times = ((count - 1) * self.stride + self.bytes) / span;
        let reads = (0..weave.vectors()).map(|at| Read {
            start: src.wrapping_add(at * LINE),
            step: span,
        });
        let reads: SmallVec<[Read; weave::MOST]> = reads.collect();
        // SAFETY: the caller's; a line for each row each time.
        unsafe {
            match past {
                true => weave.write_rows(&reads, to, times),
                false => weave.write(&reads, to, LINE, times, false),
            }
        }
        times * LINE / self.cell
    }

    /// As [`Deinterleave::runs`], on all threads, to rows `gap` bytes apart, past the caches or not.
    ///
    /// # Safety
    /// As for [`Deinterleave::runs`].
    pub(super) unsafe fn write(
        &self,
        src: *const u8,
        count: usize,
        dst: *mut u8,
        gap: isize,
        past: bool,
    ) {
        let step = (NEAR / self.stride / LINE * LINE).max(LINE);
        let steps = count.div_ceil(step);
        let shares = (threads::count() * SHARES).min(steps);
        let (src, dst) = (Shared::new(src), Shared::new(dst));
        let weave = self.weave();
        threads::each(shares, |share| {
            let from = steps * share / shares * step;
            let to = (steps * (share + 1) / shares * step).min(count);
            // SAFETY: a share of the runs, which one thread writes (K1, K3, K4).
            unsafe {
                let mut src = src.get().add(from * self.stride);
                let dst = dst.get().add(from * self.cell);
                let rows = 0..self.rows as isize;
                let mut to_rows: To = rows.map(|row| dst.wrapping_offset(row * gap)).collect();
                let mut left = to - from;
                if let Some(weave) = &weave {
                    let done = self.runs_woven(weave, src, left, &to_rows, past);
                    src = src.wrapping_add(done * self.stride);
                    for row in &mut to_rows {
                        *row = row.wrapping_add(done * self.cell);
                    }
                    left -= done;
                }
                if past {
                    self.share(src, left, step, to_rows);
                    stream::fence();
                } else {
                    self.runs(src, left, &to_rows);
                }
            }
        });
    }

    /// Writes some runs past the caches, `step` of them at a time. What does not fill a line waits for the next step: lines that leave in
    /// parts would hold up all others.
    unsafe fn share(&self, src: *const u8, count: usize, step: usize, mut to: To) {
        let pitch = step * self.cell + 2 * LINE;
        let mut near = Vec::<Line>::with_capacity(pitch / LINE * to.len());
        let near = near.as_mut_ptr().cast::<u8>();
        let row = |j: usize| near.wrapping_add(j * pitch);
        // Rows are kept as far from a line as they are in the output; `to` is where that line is.
        let mut waiting: SmallVec<[Range; 16]> = SmallVec::new();
        for to in &mut to {
            let past = *to as usize % LINE;
            *to = to.wrapping_sub(past);
            waiting.push(past..past);
        }
        let mut targets = To::new();
        for first in (0..count).step_by(step) {
            let now = step.min(count - first);
            let ends = waiting.iter().enumerate();
            targets.clear();
            targets.extend(ends.map(|(j, waiting)| row(j).wrapping_add(waiting.end)));
            // SAFETY: a row has room for a step and the line before it; whole lines of it, and what of the first belongs
            // there, go to their place in the output, once (K1, K3, K4).
            unsafe {
                self.runs(src.add(first * self.stride), now, &targets);
                let mut next = src.wrapping_add((first + now) * self.stride);
                for (j, (to, waiting)) in to.iter_mut().zip(&mut waiting).enumerate() {
                    let end = waiting.end + now * self.cell;
                    let lines = end / LINE * LINE;
                    if lines > 0 {
                        let begin = waiting.start;
                        let from = row(j).add(begin);
                        if begin > 0 {
                            stream::stream(from, to.wrapping_add(begin), lines - begin);
                        } else {
                            let rows = stream::Rows::one(lines / LINE, from, *to);
                            let mut before = 0;
                            // As much of the next step comes as is written.
                            rows.copy(|done| {
                                for _ in before..done {
                                    prefetch::second(next);
                                    next = next.wrapping_add(LINE);
                                }
                                before = done;
                            });
                        }
                        core::ptr::copy(row(j).add(lines), row(j), end - lines);
                        *to = to.wrapping_add(lines);
                        *waiting = 0..end - lines;
                    } else {
                        waiting.end = end;
                    }
                }
            }
        }
        for (j, (to, waiting)) in to.iter().zip(&waiting).enumerate() {
            // SAFETY: what is left of a row (K1, K3, K4).
            unsafe {
                let (from, to) = (row(j).add(waiting.start), to.wrapping_add(waiting.start));
                core::ptr::copy_nonoverlapping(from, to, waiting.len());
            }
        }
    }
}

/// Where vectors start that read so many bytes: one after the other, and the last where it still is inside.
fn starts(vectors: Vectors, span: usize) -> impl ExactSizeIterator<Item = usize> + Clone {
    let vector = vectors.bytes();
    (0..span.div_ceil(vector)).map(move |i| (i * vector).min(span.saturating_sub(vector)))
}

/// Part of a row that waits.
type Range = core::ops::Range<usize>;

/// A line of memory.
#[repr(align(64))]
struct Line {
    _bytes: MaybeUninit<[u8; LINE]>,
}

/// Vectors of a line.
#[cfg(target_arch = "x86_64")]
mod vectors {
    use super::super::interleave::vectors::first;
    use super::{Deinterleave, LINE};
    use core::arch::x86_64::*;

    /// [`Deinterleave::runs`], where a vector has no more than `W` bytes for each row.
    ///
    /// # Safety
    /// As for [`Deinterleave::runs`].
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    pub(super) unsafe fn runs<const W: usize>(
        how: &Deinterleave,
        src: *const u8,
        count: usize,
        to: &[*mut u8],
    ) {
        let mut i = 0;
        while i < count {
            let left = count - i;
            let now = how.at_once.min(left);
            // SAFETY: only bytes between the runs' first and last are read (K1, K4). As much as a vector is written where
            // there is room for it, and the next covers what is too much; at the end only what belongs there (K3).
            unsafe {
                let read = first((now - 1) * how.stride + how.bytes);
                let line = _mm512_maskz_loadu_epi8(read, src.add(i * how.stride).cast());
                for (places, to) in how.places.chunks_exact(LINE).zip(to) {
                    let places = _mm512_loadu_si512(places.as_ptr().cast());
                    let row = _mm512_permutexvar_epi8(places, line);
                    let to = to.add(i * how.cell);
                    if left * how.cell < W {
                        _mm512_mask_storeu_epi8(to.cast(), first(now * how.cell), row);
                    } else if W == 16 {
                        _mm_storeu_si128(to.cast(), _mm512_castsi512_si128(row));
                    } else if W == 32 {
                        _mm256_storeu_si256(to.cast(), _mm512_castsi512_si256(row));
                    } else {
                        _mm512_storeu_si512(to.cast(), row);
                    }
                }
            }
            i += now;
        }
    }
}

#[cfg(test)]
mod tests;
