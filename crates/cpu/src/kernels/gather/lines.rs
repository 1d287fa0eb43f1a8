//! Copying rows of whole cache lines that are not in the first cache: loads and stores in turn bring them in faster than
//! the machine's own copy does, which is made for what lies in order.

use super::mover::LINE;

/// Longer rows do lie in order.
#[cfg(target_arch = "x86_64")]
const LONG: usize = 4096;

/// Whether rows of so many bytes are copied faster by [`copy`], which may then be called.
#[cfg(target_arch = "x86_64")]
pub(super) fn are_worth_it(bytes: usize) -> bool {
    bytes.is_multiple_of(LINE) && bytes < LONG && std::arch::is_x86_feature_detected!("avx")
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn are_worth_it(_: usize) -> bool {
    false
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

/// Copies so many lines.
///
/// # Safety
/// K1, K3 and K4 for both.
#[cfg(not(target_arch = "x86_64"))]
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, lines: usize) {
    // SAFETY: the caller's.
    unsafe { from.copy_to_nonoverlapping(to, lines * LINE) }
}
