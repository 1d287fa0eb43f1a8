//! Vectors of one lane. Some are read of the runs that make one for each row, and every row takes its bytes from each.

use super::super::vectors::LANE;
use super::{Deinterleave, MOST, starts};
use core::arch::x86_64::*;

/// # Safety
/// As for [`Deinterleave::runs`].
pub(super) unsafe fn runs(how: &Deinterleave, src: *const u8, count: usize, to: &[*mut u8]) {
    let reads = how.places.len() / LANE / how.rows;
    // SAFETY: the caller's; so many vectors are read for each row.
    unsafe {
        match reads {
            1 => vectors::<1>(how, src, count, to),
            2 => vectors::<2>(how, src, count, to),
            3 => vectors::<3>(how, src, count, to),
            4 => vectors::<4>(how, src, count, to),
            5 => vectors::<5>(how, src, count, to),
            6 => vectors::<6>(how, src, count, to),
            7 => vectors::<7>(how, src, count, to),
            _ => vectors::<MOST>(how, src, count, to),
        }
    }
}

/// [`runs`], where `N` vectors are read for each row.
#[target_feature(enable = "avx2")]
unsafe fn vectors<const N: usize>(
    how: &Deinterleave,
    src: *const u8,
    count: usize,
    to: &[*mut u8],
) {
    let (span, mut offsets) = ((how.at_once - 1) * how.stride + how.bytes, [0; N]);
    offsets
        .iter_mut()
        .zip(starts(how.vectors, span))
        .for_each(|(offset, start)| *offset = start);
    let whole = count / how.at_once * how.at_once;
    for i in (0..whole).step_by(how.at_once) {
        // SAFETY: vectors start and end between the first and the last byte of the runs (K1, K4), and each row gets as
        // many cells as there are runs (K3).
        unsafe {
            let from = src.add(i * how.stride);
            let read = offsets.map(|offset| _mm_loadu_si128(from.add(offset).cast()));
            for (places, to) in how.places.chunks_exact(N * LANE).zip(to) {
                let mut row = _mm_setzero_si128();
                for (j, read) in read.iter().enumerate() {
                    let places = _mm_loadu_si128(places.as_ptr().add(j * LANE).cast());
                    row = _mm_or_si128(row, _mm_shuffle_epi8(*read, places));
                }
                _mm_storeu_si128(to.add(i * how.cell).cast(), row);
            }
        }
    }
    for i in whole..count {
        for (j, to) in to.iter().enumerate() {
            // SAFETY: a cell of a run, to its row (K1, K3, K4).
            unsafe {
                let from = src.add(i * how.stride + j * how.cell);
                from.copy_to_nonoverlapping(to.add(i * how.cell), how.cell);
            }
        }
    }
}
