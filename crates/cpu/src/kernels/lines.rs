//! Copying whole cache lines by loads and stores in turn. The machine's own copy is made for what is long and lies in
//! order: it is slower where rows have to be brought in from here and there, and from a small source that is near.

use super::width::Cell;
#[cfg(target_arch = "x86_64")]
use super::{copy::stream, prefetch};

/// Bytes in a cache line.
const LINE: usize = 64;

/// Rows of this many bytes and more lie in order.
const LONG: usize = 4096;

/// Whether rows of so many bytes, from here and there, are copied faster by [`copy`], which may then be called.
pub(super) fn are_worth_it(bytes: usize) -> bool {
    bytes.is_multiple_of(LINE) && bytes < LONG && has_vectors()
}

/// Whether there are wide registers, by which lines are moved.
pub(super) fn has_vectors() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Copies bytes that are in the caches: just built, or read over and over.
///
/// # Safety
/// K1, K3 and K4 for both.
#[inline]
pub(super) unsafe fn copy_near(from: *const u8, to: *mut u8, bytes: usize) {
    if !has_vectors() {
        // SAFETY: the caller's.
        return unsafe { from.copy_to_nonoverlapping(to, bytes) };
    }
    // No line of the target is written in two parts but the first and the last.
    let head = to.align_offset(LINE).min(bytes);
    let lines = (bytes - head) / LINE;
    let done = head + lines * LINE;
    // SAFETY: the caller's; there are vectors.
    unsafe {
        from.copy_to_nonoverlapping(to, head);
        copy(from.add(head), to.add(head), lines);
        from.add(done)
            .copy_to_nonoverlapping(to.add(done), bytes - done);
    }
}

/// Copies so many lines.
///
/// # Safety
/// K1, K3 and K4 for both; the processor has AVX.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, lines: usize) {
    use std::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_storeu_si256};
    let (from, to) = (from.cast::<__m256i>(), to.cast::<__m256i>());
    for at in (0..2 * lines).step_by(2) {
        // SAFETY: the caller's: both halves of a line.
        unsafe {
            let low = _mm256_loadu_si256(from.add(at));
            let high = _mm256_loadu_si256(from.add(at + 1));
            _mm256_storeu_si256(to.add(at), low);
            _mm256_storeu_si256(to.add(at + 1), high);
        }
    }
}

/// Writes a cell `n` times, a line or more. The machine's own fill takes its time to begin.
///
/// # Safety
/// K1 and K3 for as many cells; the processor has AVX, if it is one that may have it.
pub(super) unsafe fn fill<C: Cell>(to: *mut u8, cell: C, n: usize) {
    let bytes = n * C::WIDTH;
    debug_assert!(bytes >= LINE);
    let mut line = [0u8; LINE];
    let line = line.as_mut_ptr();
    // What follows starts as the cell does, and where it can be on a line.
    let head = (LINE - to as usize % LINE) / C::WIDTH * C::WIDTH;
    let lines = (bytes - head) / LINE;
    // SAFETY: a line of cells is as long as `line`. Then the caller's: the first line, those after it, and the last, which may
    // overlap the ones before.
    unsafe {
        (0..LINE / C::WIDTH).for_each(|i| line.cast::<C>().add(i).write_unaligned(cell));
        to.copy_from_nonoverlapping(line, LINE);
        fill_lines(line, to.add(head), lines);
        to.add(bytes - LINE).copy_from_nonoverlapping(line, LINE);
    }
}

/// Writes a line so many times. Where an output that is written in order has its lines asked for, so are these.
///
/// # Safety
/// K1, K3 and K4; the processor has AVX.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
unsafe fn fill_lines(line: *const u8, to: *mut u8, lines: usize) {
    use std::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_storeu_si256};
    let asked = stream::asks() && lines >= stream::LONG;
    let to = to.cast::<__m256i>();
    // SAFETY: the caller's: both halves of a line, each time.
    unsafe {
        let (low, high) = (
            _mm256_loadu_si256(line.cast()),
            _mm256_loadu_si256(line.cast::<__m256i>().add(1)),
        );
        for at in (0..2 * lines).step_by(2) {
            if asked {
                prefetch::second(to.wrapping_add(at).cast::<u8>().wrapping_add(stream::AHEAD));
            }
            _mm256_storeu_si256(to.add(at), low);
            _mm256_storeu_si256(to.add(at + 1), high);
        }
    }
}

/// Writes a line so many times.
///
/// # Safety
/// K1, K3 and K4.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn fill_lines(line: *const u8, to: *mut u8, lines: usize) {
    for i in 0..lines {
        // SAFETY: the caller's.
        unsafe { to.add(i * LINE).copy_from_nonoverlapping(line, LINE) }
    }
}

/// Copies so many lines.
///
/// # Safety
/// K1, K3 and K4 for both.
#[cfg(not(target_arch = "x86_64"))]
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, lines: usize) {
    // SAFETY: the caller's.
    unsafe { from.copy_to_nonoverlapping(to, lines * LINE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_fills_as_many_as_asked_for_from_anywhere_and_nothing_else() {
        fn check<C: Cell + PartialEq + std::fmt::Debug>(cell: C, other: C) {
            let (line, step) = (LINE / C::WIDTH, (64 / C::WIDTH).div_ceil(3));
            for n in (line..6 * line).step_by(step).chain([5000 / C::WIDTH]) {
                for first in (0..=line).step_by(step) {
                    let mut found = vec![other; n + 3 * line];
                    // SAFETY: there is room for as many (K1, K3).
                    unsafe { fill(found.as_mut_ptr().add(first).cast(), cell, n) };
                    let right = |(i, at): (usize, &C)| {
                        *at == if (first..first + n).contains(&i) {
                            cell
                        } else {
                            other
                        }
                    };
                    assert!(
                        found.iter().enumerate().all(right),
                        "{n} from {first} of {cell:?}"
                    );
                }
            }
        }
        if has_vectors() || cfg!(not(target_arch = "x86_64")) {
            check(7u8, 1);
            check(0x1234u16, 1);
            check(0x1234_5678u32, 1);
            check(u64::MAX / 3, 1);
            check([u64::MAX / 3, 5], [1, 1]);
        }
    }
}
