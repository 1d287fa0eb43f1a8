//! Writes that pass the caches by. An output larger than the last cache would only push out what is there, its own
//! source first.

use std::sync::OnceLock;

/// Copies `bytes` from `src` to `dst` without leaving them in the cache. Call [`fence`] before another
/// thread may look.
///
/// # Safety
/// Both stretches lie inside live allocations and do not overlap; the source is initialised.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn stream(src: *const u8, dst: *mut u8, bytes: usize) {
    use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    const LINE: usize = 64;
    // Ordinary stores up to the first whole line and after the last: a line that is streamed in part costs
    // more than one that is written.
    let head = dst.align_offset(LINE).min(bytes);
    let lines = (bytes - head) / LINE;
    let tail = head + lines * LINE;
    // SAFETY: `head + 64 * lines <= tail <= bytes`, inside both stretches by the caller's word (K1, K3, K4);
    // the streamed part starts on a line, so its stores are aligned.
    unsafe {
        core::ptr::copy_nonoverlapping(src, dst, head);
        let mut from = src.add(head).cast::<__m128i>();
        let mut to = dst.add(head).cast::<__m128i>();
        for _ in 0..lines {
            let a = _mm_loadu_si128(from);
            let b = _mm_loadu_si128(from.add(1));
            let c = _mm_loadu_si128(from.add(2));
            let d = _mm_loadu_si128(from.add(3));
            _mm_stream_si128(to, a);
            _mm_stream_si128(to.add(1), b);
            _mm_stream_si128(to.add(2), c);
            _mm_stream_si128(to.add(3), d);
            from = from.add(4);
            to = to.add(4);
        }
        core::ptr::copy_nonoverlapping(src.add(tail), dst.add(tail), bytes - tail);
    }
}

/// Copies `bytes` from `src` to `dst`; here the machine's own copy is the best there is.
///
/// # Safety
/// Both stretches lie inside live allocations and do not overlap; the source is initialised.
#[cfg(not(target_arch = "x86_64"))]
pub(super) unsafe fn stream(src: *const u8, dst: *mut u8, bytes: usize) {
    // SAFETY: passed on unchanged (K1, K3, K4).
    unsafe { core::ptr::copy_nonoverlapping(src, dst, bytes) }
}

/// Makes this thread's streamed writes visible before anything it does next.
pub(super) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has SSE, and the instruction touches no memory of ours.
    unsafe {
        core::arch::x86_64::_mm_sfence();
    }
}

/// The size of the last cache in bytes, as Linux tells it; elsewhere a guess.
pub(super) fn last_cache() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| told().unwrap_or(32 << 20))
}

fn told() -> Option<usize> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index3/size").ok()?;
    let kib: usize = text.trim().strip_suffix('K')?.parse().ok()?;
    kib.checked_mul(1 << 10).filter(|&bytes| bytes >= 1 << 20)
}
