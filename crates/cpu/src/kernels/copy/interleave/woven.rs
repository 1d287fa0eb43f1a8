//! Many rows of packed parts, of which whole vectors make whole lines: more to find out first, and less to do for each.

use super::super::weave::{MOST, Read, Weave};
use super::{Interleave, LINE, Part};
use core::ops::Range;
use smallvec::SmallVec;

/// Packed parts that are put together by whole vectors.
pub(in super::super) struct Woven {
    weave: Weave,
    /// Which part each vector is of, and where in it the first is.
    vectors: SmallVec<[(usize, usize); MOST]>,
    /// Rows that are put together at once.
    pub(super) rows: usize,
}

impl Woven {
    /// As [`Interleave::rows`], past the caches or not, of as many rows as are put together at once; returns how many. None
    /// past the caches where `dst` is not on a line.
    ///
    /// # Safety
    /// As for [`Interleave::rows`], of which the parts are.
    pub(in super::super) unsafe fn rows(
        &self,
        parts: &[Part],
        rows: Range<usize>,
        dst: *mut u8,
        past: bool,
    ) -> usize {
        if past && dst.align_offset(LINE) != 0 {
            return 0;
        }
        let read = |&(part, offset): &(usize, usize)| Read {
            start: parts[part].from(rows.start).start.wrapping_add(offset),
            step: self.rows * parts[part].bytes,
        };
        let lines = 0..self.weave.vectors();
        let from: SmallVec<[Read; MOST]> = self.vectors.iter().map(read).collect();
        let to: SmallVec<[*mut u8; MOST]> =
            lines.map(|line| dst.wrapping_add(line * LINE)).collect();
        let times = rows.len() / self.rows;
        // SAFETY: the caller's; as many rows are read of each part, and written.
        unsafe {
            let step = to.len() * LINE;
            self.weave.write(&from, &to, step, times, past);
        }
        times * self.rows
    }
}

impl Interleave {
    /// The parts by whole vectors; none where they are not packed, or it would take more vectors than there are.
    pub(in super::super) fn woven(&self) -> Option<Woven> {
        let row = self.row;
        if self
            .parts
            .iter()
            .any(|part| part.stride != part.bytes as isize)
        {
            return None;
        }
        // All are powers of two, so the most is a multiple of each.
        let period = |part: &Part| LINE >> part.bytes.trailing_zeros().min(LINE.ilog2());
        let rows = self.parts.iter().map(period).max()?;
        // Of each part as many vectors as it has in those rows.
        let mut vectors = SmallVec::<[(usize, usize); MOST]>::new();
        let mut starts = SmallVec::<[(usize, usize); 16]>::new();
        let mut before = 0;
        for (j, part) in self.parts.iter().enumerate() {
            starts.push((before, vectors.len()));
            before += part.bytes;
            let in_part = rows * part.bytes / LINE;
            if vectors.len() + in_part > MOST {
                return None;
            }
            vectors.extend((0..in_part).map(|i| (j, i * LINE)));
        }
        let place = |line: usize, byte: usize| {
            let (i, at) = ((line * LINE + byte) / row, (line * LINE + byte) % row);
            let j = starts
                .iter()
                .rposition(|&(start, _)| start <= at)
                .unwrap_or(0);
            let (start, first) = starts[j];
            let from = i * self.parts[j].bytes + at - start;
            (first + from / LINE, from % LINE)
        };
        let weave = Weave::of(vectors.len(), rows * row / LINE, place)?;
        Some(Woven {
            weave,
            vectors,
            rows,
        })
    }
}
