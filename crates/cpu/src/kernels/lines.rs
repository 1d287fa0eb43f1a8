//! Copying whole cache lines by loads and stores in turn. The machine's own copy is made for what is long and lies in
//! order: it is slower where rows have to be brought in from here and there, and from a small source that is near.

/// Bytes in a cache line.
const LINE: usize = 64;

/// Rows of this many bytes and more lie in order.
const LONG: usize = 4096;

/// Whether rows of so many bytes, from here and there, are copied faster by [`copy`], which may then be called.
pub(super) fn are_worth_it(bytes: usize) -> bool {
    bytes.is_multiple_of(LINE) && bytes < LONG && has_vectors()
}

fn has_vectors() -> bool {
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

/// Copies so many lines.
///
/// # Safety
/// K1, K3 and K4 for both.
#[cfg(not(target_arch = "x86_64"))]
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, lines: usize) {
    // SAFETY: the caller's.
    unsafe { from.copy_to_nonoverlapping(to, lines * LINE) }
}
