//! Writes that pass the caches by. An output larger than the last cache would only push out what is there, its own
//! source first.

use crate::kernels::caches;
#[cfg(target_arch = "x86_64")]
use crate::kernels::prefetch;

/// Bytes in a cache line.
const LINE: usize = 64;
/// Lines between two looks at what comes next: more would be asked for at once than a processor can wait for.
pub(super) const FEW: usize = 8;

/// Copies `bytes` from `src` to `dst` without leaving them in the cache. Call [`fence`] before another
/// thread may look.
///
/// # Safety
/// Both stretches lie inside live allocations and do not overlap; the source is initialised.
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe fn stream(src: *const u8, dst: *mut u8, bytes: usize) {
    // Ordinary stores up to the first whole line and after the last: a line that is streamed in part costs
    // more than one that is written.
    let head = dst.align_offset(LINE).min(bytes);
    let lines = (bytes - head) / LINE;
    let tail = head + lines * LINE;
    // SAFETY: `head + 64 * lines <= tail <= bytes`, inside both stretches by the caller's word (K1, K3, K4);
    // the streamed part starts on a line, so its stores are aligned.
    unsafe {
        // A call for no byte costs as much as a line.
        if head > 0 {
            core::ptr::copy_nonoverlapping(src, dst, head);
        }
        self::lines(src.add(head), dst.add(head), lines);
        if tail < bytes {
            core::ptr::copy_nonoverlapping(src.add(tail), dst.add(tail), bytes - tail);
        }
    }
}

/// Copies whole cache lines as [`stream`] does.
///
/// # Safety
/// As for [`stream`]; `dst` starts on a line.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) unsafe fn lines(src: *const u8, dst: *mut u8, lines: usize) {
    use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    // SAFETY: `lines` lines, inside both stretches by the caller's word (K1, K3, K4); stores are aligned.
    unsafe {
        let mut from = src.cast::<__m128i>();
        let mut to = dst.cast::<__m128i>();
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
    }
}

/// [`lines`] in half as many stores, each of which takes its turn.
///
/// # Safety
/// As for [`lines`]; the processor has AVX.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx")]
pub(super) unsafe fn lines_by_halves(src: *const u8, dst: *mut u8, lines: usize) {
    use core::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_stream_si256};
    let (from, to) = (src.cast::<__m256i>(), dst.cast::<__m256i>());
    for at in (0..2 * lines).step_by(2) {
        // SAFETY: both halves of a line, inside both stretches (K1, K3, K4); stores are aligned.
        unsafe {
            let low = _mm256_loadu_si256(from.add(at));
            let high = _mm256_loadu_si256(from.add(at + 1));
            _mm256_stream_si256(to.add(at), low);
            _mm256_stream_si256(to.add(at + 1), high);
        }
    }
}

/// Rows of whole lines, each some bytes from the one before.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub(super) count: usize,
    pub(super) lines: usize,
    pub(super) src: *const u8,
    pub(super) pitch: isize,
    pub(super) dst: *mut u8,
    pub(super) gap: isize,
}

impl Rows {
    /// A single row.
    pub(super) fn one(lines: usize, src: *const u8, dst: *mut u8) -> Rows {
        Rows {
            count: 1,
            lines,
            src,
            pitch: 0,
            dst,
            gap: 0,
        }
    }

    /// Copies them as [`lines`] does, and tells `done` every few lines how many there are.
    ///
    /// # Safety
    /// As for [`lines`], for every row.
    pub(super) unsafe fn copy(self, done: impl FnMut(usize)) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx") {
            // SAFETY: the caller's; there is AVX.
            return unsafe { self.copy_by_halves(done) };
        }
        // SAFETY: the caller's.
        self.each_few(|src, dst, few| unsafe { lines(src, dst, few) }, done);
    }

    /// [`Rows::copy`] by [`lines_by_halves`].
    ///
    /// # Safety
    /// As for both.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx")]
    unsafe fn copy_by_halves(self, done: impl FnMut(usize)) {
        // SAFETY: the caller's.
        self.each_few(
            |src, dst, few| unsafe { lines_by_halves(src, dst, few) },
            done,
        );
    }

    /// Copies them, and asks for what is `further` bytes on meanwhile, unless that is 0.
    ///
    /// # Safety
    /// As for [`lines`], for every row.
    pub(super) unsafe fn copy_asking(self, further: isize) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx") {
            // SAFETY: the caller's; there is AVX.
            return unsafe { self.copy_asking_by_halves(further) };
        }
        let _ = further;
        // SAFETY: the caller's.
        self.each_few(|src, dst, few| unsafe { lines(src, dst, few) }, |_| ());
    }

    /// [`Rows::copy_asking`] by [`lines_by_halves`].
    ///
    /// # Safety
    /// As for both.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx")]
    unsafe fn copy_asking_by_halves(self, further: isize) {
        let copy = |src: *const u8, dst, few| {
            if further != 0 {
                let further = src.wrapping_offset(further);
                (0..few).for_each(|i| prefetch::second(further.wrapping_add(i * LINE)));
            }
            // SAFETY: the caller's.
            unsafe { lines_by_halves(src, dst, few) }
        };
        self.each_few(copy, |_| ());
    }

    /// Calls `copy` for a few lines at a time. Every instruction counts between what is written.
    #[inline(always)]
    fn each_few(self, copy: impl Fn(*const u8, *mut u8, usize), mut done: impl FnMut(usize)) {
        for row in 0..self.count {
            let src = self.src.wrapping_offset(row as isize * self.pitch);
            let dst = self.dst.wrapping_offset(row as isize * self.gap);
            for at in (0..self.lines).step_by(FEW) {
                let few = FEW.min(self.lines - at);
                copy(
                    src.wrapping_add(at * LINE),
                    dst.wrapping_add(at * LINE),
                    few,
                );
                done(row * self.lines + at + few);
            }
        }
    }
}

/// Copies whole cache lines; here the machine's own copy is the best there is.
///
/// # Safety
/// As for [`stream`].
#[cfg(not(target_arch = "x86_64"))]
pub(crate) unsafe fn lines(src: *const u8, dst: *mut u8, lines: usize) {
    // SAFETY: passed on unchanged (K1, K3, K4).
    unsafe { core::ptr::copy_nonoverlapping(src, dst, lines * LINE) }
}

/// Copies `bytes` from `src` to `dst`; here the machine's own copy is the best there is.
///
/// # Safety
/// Both stretches lie inside live allocations and do not overlap; the source is initialised.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) unsafe fn stream(src: *const u8, dst: *mut u8, bytes: usize) {
    // SAFETY: passed on unchanged (K1, K3, K4).
    unsafe { core::ptr::copy_nonoverlapping(src, dst, bytes) }
}

/// Makes this thread's streamed writes visible before anything it does next.
pub(crate) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has SSE, and the instruction touches no memory of ours.
    unsafe {
        core::arch::x86_64::_mm_sfence();
    }
}

/// Whether an output of `total` bytes, whose source is read in order, stays in the last cache.
pub(crate) fn stays_in_cache(total: usize) -> bool {
    total < super::plan::stays_in_order(caches::last())
}
