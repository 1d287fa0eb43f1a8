//! Vectors of one lane. They are read whole: what is read too much belongs to rows that follow, and the last rows are
//! written without.

use super::super::vectors::LANE;
use super::{Part, Pattern, wide};
use core::arch::x86_64::*;

/// # Safety
/// As for [`Pattern::rows`].
pub(super) unsafe fn interleave<const N: usize>(
    pattern: &Pattern,
    parts: [Part; N],
    rows: usize,
    dst: *mut u8,
) {
    // SAFETY: the caller's; so many lanes are written at once.
    unsafe {
        match (pattern.at_once * pattern.row).div_ceil(LANE) {
            1 => lanes::<N, 1>(pattern, parts, rows, dst),
            2 => lanes::<N, 2>(pattern, parts, rows, dst),
            3 => lanes::<N, 3>(pattern, parts, rows, dst),
            _ => lanes::<N, 4>(pattern, parts, rows, dst),
        }
    }
}

/// [`interleave`], where `K` lanes are written at once.
///
/// # Safety
/// As for [`interleave`].
#[target_feature(enable = "avx2")]
unsafe fn lanes<const N: usize, const K: usize>(
    pattern: &Pattern,
    mut parts: [Part; N],
    rows: usize,
    dst: *mut u8,
) {
    let Pattern { row, at_once, .. } = *pattern;
    // What stands still is read from a place with room for a vector. Vectors of what goes back reach into rows before,
    // all others into rows that follow: so many there must be.
    let mut still = [[0u8; LANE]; N];
    let (mut before, mut behind) = (0, 0);
    for (part, still) in parts.iter_mut().zip(&mut still) {
        let rows = |bytes: usize| (LANE - part.bytes).div_ceil(bytes);
        match part.stride {
            0 => {
                // SAFETY: a row (K1, K4), which is no longer than a lane.
                unsafe {
                    part.start
                        .copy_to_nonoverlapping(still.as_mut_ptr(), part.bytes)
                };
                part.start = still.as_ptr();
            }
            stride if stride < 0 => before = before.max(rows(stride.unsigned_abs())),
            stride => behind = behind.max(rows(stride as usize)),
        }
    }
    let before = before.min(rows);
    let need = at_once.max(behind + 1).max((K * LANE).div_ceil(row));
    // SAFETY: the rows that vectors would read too much for are copied one by one. Of the others a vector is inside (K1,
    // K4), and there is room for all lanes, of which the next cover what is too much (K3).
    unsafe {
        wide(&parts, before, dst);
        let places: [[__m128i; N]; K] = core::array::from_fn(|k| {
            let lane = |j: usize| pattern.places[j].as_ptr().cast::<__m128i>().add(k);
            core::array::from_fn(|j| _mm_loadu_si128(lane(j)))
        });
        let steps = parts.map(|part| at_once as isize * part.stride);
        let mut from = parts.map(|part| part.from(before).start);
        let (mut left, mut to) = (rows - before, dst.add(before * row));
        while left >= need {
            let read = from.map(|from| _mm_loadu_si128(from.cast()));
            for (k, places) in places.iter().enumerate() {
                let mut lane = _mm_setzero_si128();
                for (&read, &places) in read.iter().zip(places) {
                    lane = _mm_or_si128(lane, _mm_shuffle_epi8(read, places));
                }
                _mm_storeu_si128(to.add(k * LANE).cast(), lane);
            }
            for (from, step) in from.iter_mut().zip(steps) {
                *from = from.wrapping_offset(step);
            }
            left -= at_once;
            to = to.add(at_once * row);
        }
        wide(&parts.map(|part| part.from(rows - left)), left, to);
    }
}
