//! Narrow parts side by side: a few cells of each in turn, as where tensors are stacked along a last axis. One vector is read of each part, its bytes are put where they belong, and what the parts have in common leaves
//! as one vector; a store for every cell would take as long as memory itself. It takes a processor that puts bytes
//! anywhere; elsewhere callers have slower ways.

#[cfg(target_arch = "x86_64")]
mod lanes;
mod woven;

use super::vectors::{NONE, Vectors};
use core::mem::MaybeUninit;
use core::ops::Range;
use smallvec::SmallVec;
pub(super) use woven::Woven;

/// Bytes in a cache line, and in a vector.
const LINE: usize = 64;
/// So many parts are put together at once: more vectors than that are better put together in steps.
pub(crate) const AT_ONCE: usize = 4;
/// Bytes of the output that are put together in steps, while they stay in the nearest cache.
pub(crate) const NEAR: usize = 4 << 10;
/// No more parts than this are put together in steps.
const MOST: usize = 64;
/// Steps at most, each with an area of its own: a part that a step leaves as it is stays where an earlier one made it.
const STEPS: usize = 3;

/// Rows of bytes, evenly apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) start: *const u8,
    /// Bytes from a row to the next.
    pub(crate) stride: isize,
    /// Bytes in a row.
    pub(crate) bytes: usize,
}

impl Part {
    /// The same rows from a later one on.
    pub(crate) fn from(self, row: usize) -> Part {
        Part {
            start: self.start.wrapping_offset(row as isize * self.stride),
            ..self
        }
    }

    /// How many rows one vector of so many bytes reaches.
    fn in_vector(self, vector: usize) -> usize {
        match self.stride {
            0 => vector,
            stride if stride < 0 => 1,
            stride => (vector - self.bytes) / stride.unsigned_abs() + 1,
        }
    }

    /// Bytes from the start of a row to the end of the last of so many.
    fn reach(self, rows: usize) -> usize {
        (rows - 1) * self.stride.unsigned_abs() + self.bytes
    }
}

/// Bytes in a row of the parts together.
fn row(parts: &[Part]) -> usize {
    parts.iter().map(|part| part.bytes).sum()
}

/// Parts to put side by side, and how: found once, for all rows.
pub(crate) struct Interleave {
    parts: SmallVec<[Part; 16]>,
    /// Bytes in a row of all.
    pub(crate) row: usize,
    /// Neighbours are put together near, until few parts are left, or wide ones.
    steps: SmallVec<[Step; 1]>,
    last: Option<Pattern>,
}

/// How many neighbours are put together, and how where they are more than one.
type Step = Vec<(usize, Option<Pattern>)>;

impl Interleave {
    /// At most [`MOST`] parts, none of them empty, with no more than [`NEAR`] bytes in a row; none where there are no
    /// vectors, or more parts or bytes.
    pub(crate) fn of(parts: &[Part]) -> Option<Interleave> {
        Interleave::by(Vectors::widest()?, parts)
    }

    /// As [`Interleave::of`], by vectors that there are. None either where narrow ones would leave parts that no vector
    /// takes: the slower ways are quicker then.
    fn by(vectors: Vectors, parts: &[Part]) -> Option<Interleave> {
        let (row, vector) = (row(parts), vectors.bytes());
        if parts.len() > MOST || row > NEAR {
            return None;
        }
        let mut steps = SmallVec::new();
        let mut left = SmallVec::<[Part; 16]>::from_slice(parts);
        while steps.len() < STEPS && (left.len() > AT_ONCE || row > LINE) {
            let mut step = Step::new();
            let mut made = SmallVec::<[Part; 16]>::new();
            let mut rest = &left[..];
            while !rest.is_empty() {
                let fit = |&count: &usize| self::row(&rest[..count]) <= vector;
                let most = rest.len().min(AT_ONCE);
                let count = (2..=most).take_while(fit).last().unwrap_or(1);
                let (group, others) = rest.split_at(count);
                rest = others;
                if count == 1 {
                    step.push((1, None));
                    made.push(group[0]);
                } else {
                    step.push((count, Some(Pattern::of(vectors, group))));
                    let bytes = self::row(group);
                    made.push(Part {
                        start: core::ptr::null(),
                        stride: bytes as isize,
                        bytes,
                    });
                }
            }
            if made.len() == left.len() {
                break;
            }
            steps.push(step);
            left = made;
        }
        let few = left.len() <= AT_ONCE && row <= LINE;
        let fit = few && left.iter().all(|part| part.bytes <= vector);
        if vectors == Vectors::Lanes && !fit {
            return None;
        }
        Some(Interleave {
            parts: SmallVec::from_slice(parts),
            row,
            steps,
            last: few.then(|| Pattern::of(vectors, &left)),
        })
    }

    /// The parts.
    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Writes some rows, each of all parts side by side, one after the other.
    ///
    /// # Safety
    /// K1 and K4 for the rows of every part; `dst` has room for the rows, and nothing else sees it (K3).
    pub(crate) unsafe fn rows(&self, rows: Range<usize>, dst: *mut u8) {
        // What is put together near is no more than stays there.
        let most = match self.steps.is_empty() {
            true => rows.len(),
            false => NEAR / self.row,
        };
        for first in rows.clone().step_by(most.max(1)) {
            let to = dst.wrapping_add((first - rows.start) * self.row);
            // SAFETY: the caller's; rows are taken in turn, each once.
            unsafe { self.near_rows(first, most.min(rows.end - first), to) };
        }
    }

    /// As [`Interleave::rows`], of no more than stay near where there are steps.
    unsafe fn near_rows(&self, first: usize, rows: usize, dst: *mut u8) {
        let mut areas = [MaybeUninit::<Near>::uninit(); STEPS];
        let mut left: SmallVec<[Part; MOST]> =
            self.parts.iter().map(|part| part.from(first)).collect();
        for (step, area) in self.steps.iter().zip(&mut areas) {
            let mut to = area.as_mut_ptr().cast::<u8>();
            let (mut from, mut made) = (0, 0);
            for (count, pattern) in step {
                let mut part = left[from];
                if let Some(pattern) = pattern {
                    // SAFETY: the caller's; parts made near have as many rows. All that is made in a step fits its area, and
                    // no other step makes parts there (K1, K3, K4).
                    unsafe { pattern.rows(&left[from..from + count], rows, to) };
                    part = Part {
                        start: to,
                        stride: pattern.row as isize,
                        bytes: pattern.row,
                    };
                    to = to.wrapping_add(rows * pattern.row);
                }
                left[made] = part;
                (from, made) = (from + count, made + 1);
            }
            left.truncate(made);
        }
        // SAFETY: as above.
        unsafe {
            match &self.last {
                Some(pattern) => pattern.rows(&left, rows, dst),
                None => wide(&left, rows, dst),
            }
        }
    }
}

/// Where parts are put together near.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Near {
    _bytes: [u8; NEAR],
}

/// Writes rows of all parts side by side, one by one.
///
/// # Safety
/// As for [`Interleave::rows`].
unsafe fn wide(parts: &[Part], rows: usize, dst: *mut u8) {
    let mut to = dst;
    for i in 0..rows {
        for part in parts {
            // SAFETY: a row of a part, to its place (K1, K3, K4).
            unsafe {
                core::ptr::copy_nonoverlapping(part.from(i).start, to, part.bytes);
                to = to.add(part.bytes);
            }
        }
    }
}

/// Where the bytes of at most [`AT_ONCE`] parts go, which have no more than a line together.
struct Pattern {
    vectors: Vectors,
    /// Bytes in a row of all.
    row: usize,
    /// Rows that are put together at once.
    at_once: usize,
    /// The most bytes that are read of a part for them.
    read: usize,
    /// Which byte of a part's vector belongs where in the line ([`NONE`] for none), and where bytes of that part are.
    places: [[u8; LINE]; AT_ONCE],
    masks: [u64; AT_ONCE],
}

impl Pattern {
    fn of(vectors: Vectors, parts: &[Part]) -> Pattern {
        let (row, vector) = (row(parts), vectors.bytes());
        let reach = parts.iter().map(|part| part.in_vector(vector)).min();
        let at_once = reach.unwrap_or(1).min(LINE / row);
        let read = parts.iter().map(|part| part.reach(at_once)).max();
        let mut pattern = Pattern {
            vectors,
            row,
            at_once,
            read: read.unwrap_or(LINE),
            places: [[NONE; LINE]; AT_ONCE],
            masks: [0; AT_ONCE],
        };
        let mut before = 0;
        for (j, part) in parts.iter().enumerate() {
            for i in 0..at_once {
                let from = i * part.stride.unsigned_abs();
                let to = i * row + before;
                for byte in 0..part.bytes {
                    pattern.places[j][to + byte] = (from + byte) as u8;
                    pattern.masks[j] |= 1 << (to + byte);
                }
            }
            before += part.bytes;
        }
        pattern
    }

    /// Writes rows of all parts side by side.
    ///
    /// # Safety
    /// The processor has the vectors; the parts have the strides and bytes that the pattern is of, and as for
    /// [`Interleave::rows`].
    unsafe fn rows(&self, parts: &[Part], rows: usize, dst: *mut u8) {
        // SAFETY: the caller's.
        unsafe {
            match *parts {
                [a] => self.together([a], rows, dst),
                [a, b] => self.together([a, b], rows, dst),
                [a, b, c] => self.together([a, b, c], rows, dst),
                [a, b, c, d] => self.together([a, b, c, d], rows, dst),
                _ => {}
            }
        }
    }

    /// [`Pattern::rows`] of so many parts.
    unsafe fn together<const N: usize>(&self, parts: [Part; N], rows: usize, dst: *mut u8) {
        #[cfg(test)]
        if Vectors::all().all(|vectors| vectors != self.vectors) {
            // SAFETY: the caller's.
            return unsafe { self.byte_by_byte(&parts, rows, dst) };
        }
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the caller's.
        unsafe {
            match self.vectors {
                Vectors::Lines => vectors::interleave(self, parts, rows, dst),
                Vectors::Lanes => lanes::interleave(self, parts, rows, dst),
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (parts, rows, dst);
    }

    /// As [`Pattern::rows`], for tests of patterns that this processor has no vectors for.
    ///
    /// # Safety
    /// As for [`Pattern::rows`].
    #[cfg(test)]
    unsafe fn byte_by_byte(&self, parts: &[Part], rows: usize, dst: *mut u8) {
        for first in (0..rows).step_by(self.at_once) {
            let bytes = self.at_once.min(rows - first) * self.row;
            for (j, part) in parts.iter().enumerate() {
                for at in (0..bytes).filter(|at| self.masks[j] >> at & 1 == 1) {
                    // SAFETY: the caller's: a byte of a part, to its place (K1, K3, K4).
                    unsafe {
                        let from = part.from(first).start.add(self.places[j][at].into());
                        dst.add(first * self.row + at).write(from.read());
                    }
                }
            }
        }
    }
}

/// Vectors of a line.
#[cfg(target_arch = "x86_64")]
pub(super) mod vectors {
    use super::{LINE, Part, Pattern};
    use core::arch::x86_64::*;

    /// The first so many bytes of a line.
    pub(in super::super) fn first(bytes: usize) -> u64 {
        match bytes {
            0 => 0,
            bytes => u64::MAX >> (LINE - bytes.min(LINE)),
        }
    }

    /// A vector of which the first `W` bytes are read, so far as `read` has them: less is read twice where rows are short.
    ///
    /// # Safety
    /// What `read` has is inside (K1, K4).
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    unsafe fn load<const W: usize>(read: u64, from: *const u8) -> __m512i {
        // SAFETY: the caller's.
        unsafe {
            match W {
                16 => _mm512_castsi128_si512(_mm_maskz_loadu_epi8(read as u16, from.cast())),
                32 => _mm512_castsi256_si512(_mm256_maskz_loadu_epi8(read as u32, from.cast())),
                _ => _mm512_maskz_loadu_epi8(read, from.cast()),
            }
        }
    }

    /// # Safety
    /// As for [`Pattern::rows`].
    pub(super) unsafe fn interleave<const N: usize>(
        pattern: &Pattern,
        parts: [Part; N],
        rows: usize,
        dst: *mut u8,
    ) {
        // SAFETY: the caller's; no part reads more at once.
        unsafe {
            match pattern.read {
                0..=16 => lines::<N, 16>(pattern, parts, rows, dst),
                17..=32 => lines::<N, 32>(pattern, parts, rows, dst),
                _ => lines::<N, LINE>(pattern, parts, rows, dst),
            }
        }
    }

    /// [`interleave`], where no part reads more than `W` bytes at once.
    ///
    /// # Safety
    /// As for [`interleave`].
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    unsafe fn lines<const N: usize, const W: usize>(
        pattern: &Pattern,
        parts: [Part; N],
        rows: usize,
        dst: *mut u8,
    ) {
        let Pattern { row, at_once, .. } = *pattern;
        let masks: [u64; N] = core::array::from_fn(|j| pattern.masks[j]);
        // SAFETY: a vector of places each.
        let places: [__m512i; N] = core::array::from_fn(|j| unsafe {
            _mm512_loadu_si512(pattern.places[j].as_ptr().cast())
        });
        // The bytes of so many rows, from the first of one to the last of another.
        let reads = |count: usize| parts.map(|part| first(part.reach(count)));
        let line = |from: &[*const u8; N], reads: &[u64; N]| {
            let mut line = _mm512_setzero_si512();
            for j in 0..N {
                // SAFETY: only bytes between this row and the last one read are touched (K1, K4).
                unsafe {
                    let read = load::<W>(reads[j], from[j]);
                    line = _mm512_mask_permutexvar_epi8(line, masks[j], places[j], read);
                }
            }
            line
        };
        let all = reads(at_once);
        let steps = parts.map(|part| at_once as isize * part.stride);
        let mut from = parts.map(|part| part.start);
        let (mut left, mut to) = (rows, dst);
        // SAFETY: a whole line is written where there is room for one; the next covers what is too much. At the end
        // only what belongs there is written (K1, K3).
        unsafe {
            while left >= at_once && left * row >= LINE {
                _mm512_storeu_si512(to.cast(), line(&from, &all));
                for (from, step) in from.iter_mut().zip(steps) {
                    *from = from.wrapping_offset(step);
                }
                left -= at_once;
                to = to.add(at_once * row);
            }
            while left > 0 {
                let count = at_once.min(left);
                let last = line(&from, &reads(count));
                _mm512_mask_storeu_epi8(to.cast(), first(count * row), last);
                for (from, step) in from.iter_mut().zip(steps) {
                    *from = from.wrapping_offset(step);
                }
                left -= count;
                to = to.add(count * row);
            }
        }
    }
}

#[cfg(test)]
mod tests;
