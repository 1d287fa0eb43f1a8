//! Lines made of whole vectors: so many are read at a time, each once, and every line that is written takes bytes of all of
//! them. Narrow parts are put together so, one vector of each making as many lines, and short runs are taken apart. All
//! stay in registers from reading to writing, which leaves the core with as little to do as a copy does.

use super::vectors::Vectors;

/// Bytes in a cache line, and in a vector.
const LINE: usize = 64;
/// No more vectors than this are read for a line.
pub(super) const MOST: usize = 8;

/// Lines of a row that are made before they are written past the caches.
#[cfg(target_arch = "x86_64")]
const AT_ONCE: usize = 8;
/// How many bytes further on is asked for then.
#[cfg(target_arch = "x86_64")]
const ASKED: usize = 4 << 10;

/// Runs `$work` with `$V` for the count.
#[cfg(target_arch = "x86_64")]
macro_rules! by_count {
    ($count:expr, $V:ident => $work:expr) => {
        by_count!($count, $V => $work; 2 3 4 5 6 7 8)
    };
    ($count:expr, $V:ident => $work:expr; $($known:literal)*) => {
        match $count {
            $($known => {
                const $V: usize = $known;
                $work
            })*
            _ => {}
        }
    };
}

/// What lines are made of.
pub(super) struct Weave {
    vectors: usize,
    lines: Vec<Line>,
    /// Whether the processor lacks the vectors: only in tests.
    byte_by_byte: bool,
}

/// Where each byte of a line comes from: of every two vectors which of their bytes is where, and where those two have any.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
#[repr(C, align(64))]
struct Line {
    places: [[u8; LINE]; MOST / 2],
    masks: [u64; MOST / 2],
}

/// A vector that is read, over and over: where it starts, and how many bytes further the next time.
#[derive(Clone, Copy)]
pub(super) struct Read {
    pub(super) start: *const u8,
    pub(super) step: usize,
}

impl Weave {
    /// Some vectors that make at most as many lines; `place` tells which byte of which vector is at a byte of a line. None
    /// where they are more than [`MOST`], or fewer than two, or the processor puts no bytes anywhere in a line.
    pub(super) fn of(
        vectors: usize,
        lines: usize,
        place: impl Fn(usize, usize) -> (usize, usize),
    ) -> Option<Weave> {
        let has_lines = Vectors::widest() == Some(Vectors::Lines);
        if !(2..=MOST).contains(&vectors) || lines > vectors || !(has_lines || cfg!(test)) {
            return None;
        }
        let line = |line: usize| {
            let mut made = Line {
                places: [[0; LINE]; MOST / 2],
                masks: [0; MOST / 2],
            };
            for at in 0..LINE {
                let (vector, byte) = place(line, at);
                made.places[vector / 2][at] = (vector % 2 * LINE + byte) as u8;
                made.masks[vector / 2] |= 1 << at;
            }
            made
        };
        Some(Weave {
            vectors,
            lines: (0..lines).map(line).collect(),
            byte_by_byte: !has_lines,
        })
    }

    /// How many vectors are read at a time.
    pub(super) fn vectors(&self) -> usize {
        self.vectors
    }

    /// Reads the vectors and writes the lines, so many times; each line is `step` bytes further the next time.
    ///
    /// # Safety
    /// K1 and K4 for the vectors, of which there are as many as the lines are made of; K3 for the lines, all of them. Those
    /// that go past the caches start on a line.
    pub(super) unsafe fn write(
        &self,
        from: &[Read],
        to: &[*mut u8],
        step: usize,
        times: usize,
        past: bool,
    ) {
        debug_assert!(from.len() == self.vectors && to.len() == self.lines.len());
        #[cfg(test)]
        if self.byte_by_byte {
            // SAFETY: the caller's.
            return unsafe { self.one_by_one(from, to, step, times) };
        }
        // SAFETY: the caller's; there are such vectors.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            by_count!(self.vectors, V => match past {
                true => vectors::lines::<V, true>(&self.lines, from, to, step, times),
                false => vectors::lines::<V, false>(&self.lines, from, to, step, times),
            });
        }
        let _ = (from, to, step, times, past, self.byte_by_byte);
    }

    /// As [`Weave::write`], each line after the last one of its own row, past the caches; rows start anywhere.
    ///
    /// # Safety
    /// As for it.
    pub(super) unsafe fn write_rows(&self, from: &[Read], to: &[*mut u8], times: usize) {
        debug_assert!(from.len() == self.vectors && to.len() == self.lines.len());
        #[cfg(test)]
        if self.byte_by_byte {
            // SAFETY: the caller's.
            return unsafe { self.one_by_one(from, to, LINE, times) };
        }
        // SAFETY: the caller's; there are such vectors.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            by_count!(self.vectors, V => vectors::rows::<V>(&self.lines, from, to, times));
        }
        let _ = (from, to, times);
    }

    /// As [`Weave::write`], for tests where the processor has no such vectors.
    ///
    /// # Safety
    /// As for it.
    #[cfg(test)]
    unsafe fn one_by_one(&self, from: &[Read], to: &[*mut u8], step: usize, times: usize) {
        for time in 0..times {
            for (line, to) in self.lines.iter().zip(to) {
                for at in 0..LINE {
                    let Some(pair) = line.masks.iter().position(|mask| mask >> at & 1 == 1) else {
                        continue;
                    };
                    let place = usize::from(line.places[pair][at]);
                    let Read { start, step: on } = from[2 * pair + place / LINE];
                    // SAFETY: the caller's: a byte of a vector, to its place in a line.
                    unsafe {
                        let byte = start.add(time * on + place % LINE).read();
                        to.add(time * step + at).write(byte);
                    }
                }
            }
        }
    }
}

/// Vectors of a line.
#[cfg(target_arch = "x86_64")]
mod vectors {
    use super::{ASKED, AT_ONCE, LINE, Line, Read};
    use crate::kernels::prefetch;
    use core::arch::x86_64::*;
    use core::mem::MaybeUninit;

    /// [`super::Weave::write`] of `V` vectors, past the caches or not.
    ///
    /// # Safety
    /// As for it; the processor has the vectors.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    pub(super) unsafe fn lines<const V: usize, const PAST: bool>(
        lines: &[Line],
        from: &[Read],
        to: &[*mut u8],
        step: usize,
        times: usize,
    ) {
        let mut reads = core::array::from_fn(|v| from[v]);
        let mut writes = [core::ptr::null_mut(); V];
        writes[..to.len()].copy_from_slice(to);
        // SAFETY: the caller's.
        unsafe { some::<V, PAST>(lines, &mut reads, writes, step, times, 0) };
    }

    /// [`super::Weave::write_rows`] of `V` vectors.
    ///
    /// # Safety
    /// As for it; the processor has the vectors.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    pub(super) unsafe fn rows<const V: usize>(
        lines: &[Line],
        from: &[Read],
        to: &[*mut u8],
        times: usize,
    ) {
        /// Some lines of a row, as far from a line as they are in the output, and the one that is not full yet.
        type Row = [__m512i; AT_ONCE + 1];
        let mut near = [const { MaybeUninit::<Row>::uninit() }; V];
        let near = near.each_mut().map(|row| row.as_mut_ptr().cast::<u8>());
        let mut reads = core::array::from_fn(|v| from[v]);
        let mut out = [core::ptr::null_mut::<u8>(); V];
        out[..to.len()].copy_from_slice(to);
        // How much of the first line of each belongs to others; where that line is.
        let before = out.map(|to| to as usize % LINE);
        for (out, before) in out.iter_mut().zip(before) {
            *out = out.wrapping_sub(before);
        }
        let targets = core::array::from_fn(|j| near[j].wrapping_add(before[j]));
        let mut left = times;
        while left > 0 {
            let now = left.min(AT_ONCE);
            // SAFETY: the caller's; so many lines of each row fit near. Whole lines of them leave, and what of the first and
            // the last belongs to the row (K1, K3, K4).
            unsafe {
                some::<V, false>(lines, &mut reads, targets, LINE, now, ASKED);
                for ((near, out), before) in near.iter().zip(&mut out).zip(before).take(to.len()) {
                    let mut first = 0;
                    if left == times && before > 0 {
                        first = 1;
                        let own = LINE - before;
                        near.add(before)
                            .copy_to_nonoverlapping(out.wrapping_add(before), own);
                    }
                    for at in (first * LINE..now * LINE).step_by(LINE) {
                        let line = _mm512_load_si512(near.add(at).cast());
                        _mm512_stream_si512(out.wrapping_add(at).cast(), line);
                    }
                    if before > 0 {
                        // All of it, of which the rest has not been written: a copy of a known length is no call.
                        type Bytes = MaybeUninit<[u8; LINE]>;
                        let rest = near.add(now * LINE).cast::<Bytes>();
                        near.cast::<Bytes>().copy_from_nonoverlapping(rest, 1);
                    }
                    *out = out.wrapping_add(now * LINE);
                    if left == now {
                        near.copy_to_nonoverlapping(*out, before);
                    }
                }
            }
            left -= now;
        }
    }

    /// Reads the vectors and writes the lines, so many times.
    ///
    /// # Safety
    /// As for [`super::Weave::write`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    unsafe fn some<const V: usize, const PAST: bool>(
        lines: &[Line],
        reads: &mut [Read; V],
        mut writes: [*mut u8; V],
        step: usize,
        times: usize,
        ask: usize,
    ) {
        for _ in 0..times {
            // SAFETY: the caller's.
            let read: [__m512i; V] =
                core::array::from_fn(|v| unsafe { _mm512_loadu_si512(reads[v].start.cast()) });
            for read in reads.iter_mut() {
                if ask > 0 {
                    prefetch::second(read.start.wrapping_add(ask));
                }
                read.start = read.start.wrapping_add(read.step);
            }
            for (line, to) in lines.iter().zip(&mut writes) {
                // SAFETY: as above; places are whole vectors.
                unsafe {
                    let places = |pair: usize| _mm512_load_si512(line.places[pair].as_ptr().cast());
                    let mut made = _mm512_permutex2var_epi8(read[0], places(0), read[1]);
                    for pair in 1..V.div_ceil(2) {
                        let (mask, first) = (line.masks[pair], read[2 * pair]);
                        made = if 2 * pair + 1 < V {
                            let second = read[2 * pair + 1];
                            let both = _mm512_permutex2var_epi8(first, places(pair), second);
                            _mm512_mask_mov_epi8(made, mask, both)
                        } else {
                            _mm512_mask_permutexvar_epi8(made, mask, places(pair), first)
                        };
                    }
                    if PAST {
                        _mm512_stream_si512((*to).cast(), made);
                    } else {
                        _mm512_storeu_si512((*to).cast(), made);
                    }
                }
                *to = to.wrapping_add(step);
            }
        }
    }
}
