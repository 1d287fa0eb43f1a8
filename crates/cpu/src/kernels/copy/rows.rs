//! Parts side by side in every row of an output, each of them rows that are evenly apart: what concat and stack are
//! mostly given, and a matrix of a few rows that is turned. Rows of whole lines go straight to where they belong; narrow
//! ones are put together near first. What is read of many parts is asked for in bursts, some time before: memory that
//! has to turn between reading and writing line by line does less of both.

use super::interleave::{AT_ONCE, Interleave, NEAR, Part, Woven};
use super::stream;
use crate::kernels::loops::Shared;
use crate::kernels::prefetch;
use crate::kernels::threads;
use core::mem::MaybeUninit;
use core::ops::Range;

/// Bytes in a cache line.
const LINE: usize = 64;
/// Bytes of a part that are written before another part's turn.
const BURST: usize = 1 << 10;
/// Longer rows than this are asked for otherwise.
const LONGEST: usize = 64 << 10;
/// Shares of the rows for each thread, so that one that is late holds up little.
const SHARES: usize = 4;

/// Parts that make up rows, and how these reach the output.
pub(crate) enum Rows {
    /// By whole lines, straight.
    Lines(Vec<Part>),
    /// Put together near.
    Narrow(Box<Interleave>),
}

// SAFETY: the parts are only read.
unsafe impl Sync for Rows {}

impl Rows {
    /// Parts for an output at `dst`, none of them empty; none where there is no good way to write them.
    pub(crate) fn of(parts: Vec<Part>, dst: *const u8) -> Option<Rows> {
        let whole = |part: &Part| part.bytes.is_multiple_of(LINE);
        if !parts.iter().all(whole) || dst.align_offset(LINE) != 0 {
            return Interleave::of(&parts).map(Rows::narrow);
        }
        (row(&parts) <= LONGEST).then_some(Rows::Lines(parts))
    }

    /// Parts to put together near.
    pub(crate) fn narrow(parts: Interleave) -> Rows {
        Rows::Narrow(Box::new(parts))
    }

    /// Writes `count` rows to `dst`, as what is too large for the caches or not.
    ///
    /// # Safety
    /// K1 and K4 for the parts; `dst`, as it was when the rows were made, has room for them, reachable through nothing
    /// else (K3).
    pub(crate) unsafe fn write(&self, count: usize, dst: *mut u8, past: bool) {
        let (row, step) = match self {
            Rows::Lines(parts) => {
                let widest = parts.iter().map(|part| part.bytes).max();
                (row(parts), BURST / widest.unwrap_or(BURST))
            }
            Rows::Narrow(parts) => (parts.row, NEAR / parts.row),
        };
        // Whole lines, so that no line is written in parts.
        let lines = LINE >> row.trailing_zeros().min(LINE.ilog2());
        let step = (step / lines * lines).max(step.clamp(1, lines));
        let steps = count.div_ceil(step);
        let shares = (threads::count() * SHARES).min(steps);
        let dst = Shared::new(dst);
        let woven = match self {
            Rows::Narrow(parts) => parts.woven(),
            Rows::Lines(_) => None,
        };
        threads::each(shares, |share| {
            let from = steps * share / shares * step;
            let rows = from..(steps * (share + 1) / shares * step).min(count);
            // SAFETY: each share is written once, by one thread, and lies inside the output (K1, K3).
            unsafe {
                let dst = dst.get().add(from * row);
                match self {
                    Rows::Lines(parts) => self::lines(parts, rows, step, dst, past),
                    Rows::Narrow(parts) => narrow(parts, woven.as_ref(), rows, step, dst, past),
                }
            }
            if past {
                stream::fence();
            }
        });
    }
}

/// Bytes in a row of the parts together.
fn row(parts: &[Part]) -> usize {
    parts.iter().map(|part| part.bytes).sum()
}

/// Writes some rows, of whole lines, `step` of them at a time.
unsafe fn lines(parts: &[Part], rows: Range<usize>, step: usize, dst: *mut u8, past: bool) {
    let row = row(parts);
    for first in rows.clone().step_by(step) {
        let last = (first + step).min(rows.end);
        let mut before = 0;
        for part in parts {
            // Twice as far ahead, since there is little time between one part's turn and the next.
            ask(part, first + 2 * step..(last + 2 * step).min(rows.end));
            for i in first..last {
                // SAFETY: a row of a part, to its place in a row of the output, which starts on a line (K1, K3, K4).
                unsafe {
                    let from = part.from(i).start;
                    let to = dst.add((i - rows.start) * row + before);
                    if past {
                        stream::in_order(from, to, part.bytes / LINE);
                    } else {
                        core::ptr::copy_nonoverlapping(from, to, part.bytes);
                    }
                }
            }
            before += part.bytes;
        }
    }
}

/// Where narrow rows are put together.
#[repr(align(64))]
struct Near {
    _bytes: [u8; NEAR],
}

/// Writes some rows, most of them by whole vectors where that goes, and the others `step` at a time.
unsafe fn narrow(
    parts: &Interleave,
    woven: Option<&Woven>,
    rows: Range<usize>,
    step: usize,
    dst: *mut u8,
    past: bool,
) {
    // SAFETY: the caller's.
    let done = woven.map_or(0, |woven| unsafe {
        woven.rows(parts.parts(), rows.clone(), dst, past)
    });
    let dst = dst.wrapping_add(done * parts.row);
    let rows = rows.start + done..rows.end;
    let mut near = MaybeUninit::<Near>::uninit();
    let near = near.as_mut_ptr().cast::<u8>();
    // The processor sees few parts coming by itself.
    let many = parts.parts().len() > AT_ONCE;
    for first in rows.clone().step_by(step) {
        let now = first..(first + step).min(rows.end);
        if many {
            let next = now.end..(now.end + step).min(rows.end);
            parts
                .parts()
                .iter()
                .for_each(|part| ask(part, next.clone()));
        }
        // SAFETY: so many rows of the parts, to their place in the output; near there is room for a step (K1, K3, K4).
        unsafe {
            let to = dst.add((first - rows.start) * parts.row);
            if past {
                let bytes = now.len() * parts.row;
                parts.rows(now, near);
                stream::stream(near, to, bytes);
            } else {
                parts.rows(now, to);
            }
        }
    }
}

/// Asks for some rows of a part.
#[inline]
fn ask(part: &Part, rows: Range<usize>) {
    if rows.is_empty() {
        return;
    }
    let (rows, bytes) = if part.stride == part.bytes as isize {
        (rows.start..rows.start + 1, rows.len() * part.bytes)
    } else {
        (rows, part.bytes)
    };
    for row in rows {
        let start = part.from(row).start;
        let lines = (start as usize % LINE + bytes).div_ceil(LINE);
        (0..lines).for_each(|line| prefetch::second(start.wrapping_add(line * LINE)));
    }
}
