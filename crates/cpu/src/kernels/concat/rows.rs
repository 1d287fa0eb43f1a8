//! Parts that are rows, evenly apart and each one run: what concat and stack are mostly given. Rows of whole lines go
//! straight to where they belong; narrow ones are put together near first. Either way what is read is asked for in
//! bursts, some time before: memory that has to turn between reading and writing line by line does less of both.

use core::mem::MaybeUninit;
use smallvec::SmallVec;

use super::super::copy::ahead::prefetch;
use super::super::copy::interleave::{self, Part, interleave};
use super::super::copy::stream;
use super::super::loops::Shared;
use super::super::{Block, threads};
use super::{LINE, SHARES};

/// Bytes of a part that are written before another part's turn.
const BURST: usize = 1 << 10;
/// Bytes of narrow rows that are put together before they are written.
const NEAR: usize = 8 << 10;
/// Longer rows than this are asked for otherwise.
const LONGEST: usize = 64 << 10;

/// Parts that make up rows.
pub(super) struct Rows {
    parts: SmallVec<[Part; 16]>,
    /// How many rows, and how many bytes each has.
    count: usize,
    row: usize,
    way: Way,
}

/// How rows reach the output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By whole lines, straight.
    Lines,
    /// Put together near.
    Narrow,
}

// SAFETY: the parts are only read.
unsafe impl Sync for Rows {}

impl Rows {
    /// The parts as rows along `axis` of an output of these sizes at `dst`; none where they are not, or where there is no
    /// good way to write them.
    pub(super) fn of(
        parts: &[Block<'_>],
        sizes: &[usize],
        axis: usize,
        width: usize,
        dst: *const u8,
    ) -> Option<Rows> {
        let full = parts.iter().filter(|part| part.sizes[axis] > 0);
        let parts: SmallVec<[Part; 16]> = full
            .map(|part| as_rows(part, axis, width))
            .collect::<Option<_>>()?;
        let row = parts.iter().map(|part| part.bytes).sum();
        let whole = |part: &Part| part.bytes.is_multiple_of(LINE);
        let way = if parts.iter().all(whole) && dst.cast::<u8>().align_offset(LINE) == 0 {
            Way::Lines
        } else if interleave::has_vectors() && parts.len() <= interleave::MOST && row <= NEAR {
            Way::Narrow
        } else {
            return None;
        };
        (row <= LONGEST).then_some(Rows {
            parts,
            count: sizes[..axis].iter().product(),
            row,
            way,
        })
    }

    /// Writes the rows to `dst`, past the caches or not.
    ///
    /// # Safety
    /// K1 and K4 for the parts; `dst` has room for the rows, reachable through nothing else (K3).
    pub(super) unsafe fn write(&self, dst: *mut u8, past: bool) {
        let widest = self.parts.iter().map(|part| part.bytes).max().unwrap_or(1);
        let step = match self.way {
            Way::Lines => BURST / widest,
            Way::Narrow => NEAR / self.row,
        };
        let step = step.max(1);
        let steps = self.count.div_ceil(step);
        let shares = (threads::count() * SHARES).min(steps);
        let dst = Shared::new(dst);
        threads::each(shares, |share| {
            let from = steps * share / shares * step;
            let to = (steps * (share + 1) / shares * step).min(self.count);
            // SAFETY: each share is written once, by one thread, and lies inside the output (K1, K3).
            unsafe {
                match self.way {
                    Way::Lines => self.lines(from..to, step, dst.get(), past),
                    Way::Narrow => self.narrow(from..to, step, dst.get(), past),
                }
            }
            if past {
                stream::fence();
            }
        });
    }

    /// Writes some rows, of whole lines, `step` of them at a time.
    unsafe fn lines(&self, rows: core::ops::Range<usize>, step: usize, dst: *mut u8, past: bool) {
        for first in rows.clone().step_by(step) {
            let last = (first + step).min(rows.end);
            let mut before = 0;
            for part in &self.parts {
                // Twice as far ahead, since there is little time between one part's turn and the next.
                ask(part, first + 2 * step, (last + 2 * step).min(rows.end));
                for i in first..last {
                    // SAFETY: a row of a part, to its place in a row of the output, which starts on a line (K1, K3, K4).
                    unsafe {
                        let (from, to) = (part.from(i).start, dst.add(i * self.row + before));
                        if past {
                            stream::lines(from, to, part.bytes / LINE);
                        } else {
                            core::ptr::copy_nonoverlapping(from, to, part.bytes);
                        }
                    }
                }
                before += part.bytes;
            }
        }
    }

    /// Writes some rows, `step` of them at a time.
    unsafe fn narrow(&self, rows: core::ops::Range<usize>, step: usize, dst: *mut u8, past: bool) {
        let mut near = MaybeUninit::<Near>::uninit();
        let near = near.as_mut_ptr().cast::<u8>();
        for first in rows.clone().step_by(step) {
            let last = (first + step).min(rows.end);
            let mut parts = self.parts.clone();
            for part in &mut parts {
                ask(part, last, (last + step).min(rows.end));
                *part = part.from(first);
            }
            // SAFETY: so many rows of the parts, to their place in the output; near there is room for a step (K1, K3, K4).
            unsafe {
                let to = dst.add(first * self.row);
                if past {
                    interleave(&parts, last - first, near);
                    stream::stream(near, to, (last - first) * self.row);
                } else {
                    interleave(&parts, last - first, to);
                }
            }
        }
    }
}

/// Where narrow rows are put together.
#[repr(align(64))]
struct Near {
    _bytes: [u8; NEAR],
}

/// A part as rows before `axis`, if all of them are runs, evenly apart.
fn as_rows(part: &Block<'_>, axis: usize, width: usize) -> Option<Part> {
    let axes = |range: core::ops::Range<usize>| {
        let axes = part.sizes[range.clone()].iter().zip(&part.strides[range]);
        axes.rev().filter(|(size, _)| **size > 1)
    };
    let mut run = 1;
    for (&size, &stride) in axes(axis..part.sizes.len()) {
        if stride != run {
            return None;
        }
        run *= size as isize;
    }
    let mut outer = axes(0..axis);
    let (&size, &first) = outer.next().unwrap_or((&1, &0));
    let mut next = first * size as isize;
    for (&size, &stride) in outer {
        if stride != next {
            return None;
        }
        next *= size as isize;
    }
    Some(Part {
        start: part.start,
        stride: first * width as isize,
        bytes: run as usize * width,
    })
}

/// Asks for some rows of a part.
#[inline]
fn ask(part: &Part, from: usize, to: usize) {
    if from >= to {
        return;
    }
    let (rows, bytes) = if part.stride == part.bytes as isize {
        (from..from + 1, (to - from) * part.bytes)
    } else {
        (from..to, part.bytes)
    };
    for row in rows {
        let start = part.from(row).start;
        let lines = (start as usize % LINE + bytes).div_ceil(LINE);
        (0..lines).for_each(|line| prefetch(start.wrapping_add(line * LINE)));
    }
}
