//! Writes of outputs larger than the last cache. They pass the caches by, lest they push out what is there, their own source
//! first; but where a processor has room for few such writes at a time, what is written in order goes through the caches
//! all the same, and its lines are asked for some time before.

use crate::kernels::caches;
#[cfg(target_arch = "x86_64")]
use crate::kernels::prefetch;

/// Bytes in a cache line.
const LINE: usize = 64;
/// Lines between two looks at what comes next: more would be asked for at once than a processor can wait for.
pub(super) const FEW: usize = 8;

/// How many bytes before they are written lines are asked for, where they are.
#[cfg(target_arch = "x86_64")]
pub(crate) const AHEAD: usize = 2 << 10;

/// Runs of so many lines and more are in order by themselves.
pub(crate) const LONG: usize = 32;

/// Whether lines that are written in order are better asked for, and written through the caches. So it was measured on a
/// processor with AVX-512 but not its VBMI: 64 MiB took 2.8 ms so, and 4.8 past the caches, as fast as a core waits for the
/// few lines it can have on their way out; more of them are asked for into the second cache. Lines here and there were faster
/// past the caches there too.
#[cfg(target_arch = "x86_64")]
pub(crate) fn asks() -> bool {
    std::arch::is_x86_feature_detected!("avx512bw")
        && !std::arch::is_x86_feature_detected!("avx512vbmi")
}

/// Elsewhere the machine's own copy is the best there is.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn asks() -> bool {
    false
}

/// Copies `bytes` from `src` to `dst`, which is written in order, without leaving more of them in the cache than has to be.
/// Call [`fence`] before another thread may look.
///
/// # Safety
/// Both stretches lie inside live allocations and do not overlap; the source is initialised.
pub(crate) unsafe fn stream(src: *const u8, dst: *mut u8, bytes: usize) {
    // SAFETY: passed on unchanged.
    unsafe { stretch(src, dst, bytes, |src, dst, lines| in_order(src, dst, lines)) }
}

/// As [`stream`], of a stretch that is far from what is written before and after it.
///
/// # Safety
/// As for [`stream`].
pub(super) unsafe fn stream_apart(src: *const u8, dst: *mut u8, bytes: usize) {
    // SAFETY: passed on unchanged.
    unsafe {
        stretch(src, dst, bytes, |src, dst, lines| {
            self::lines(src, dst, lines)
        })
    }
}

/// Copies a stretch, its whole lines by `copy`.
///
/// # Safety
/// As for [`stream`]; `copy` copies so many lines.
#[inline(always)]
unsafe fn stretch(
    src: *const u8,
    dst: *mut u8,
    bytes: usize,
    copy: impl FnOnce(*const u8, *mut u8, usize),
) {
    // Ordinary stores up to the first whole line and after the last: a line that is streamed in part costs
    // more than one that is written.
    let head = dst.align_offset(LINE).min(bytes);
    let lines = (bytes - head) / LINE;
    let tail = head + lines * LINE;
    // SAFETY: `head + 64 * lines <= tail <= bytes`, inside both stretches by the caller's word (K1, K3, K4);
    // the lines start on one, so their stores are aligned.
    unsafe {
        // A call for no byte costs as much as a line.
        if head > 0 {
            core::ptr::copy_nonoverlapping(src, dst, head);
        }
        copy(src.add(head), dst.add(head), lines);
        if tail < bytes {
            core::ptr::copy_nonoverlapping(src.add(tail), dst.add(tail), bytes - tail);
        }
    }
}

/// Copies whole cache lines as [`stream`] does.
///
/// # Safety
/// As for [`stream`]; `dst` starts on a line.
#[inline(always)]
pub(crate) unsafe fn in_order(src: *const u8, dst: *mut u8, lines: usize) {
    #[cfg(target_arch = "x86_64")]
    if asks() {
        // SAFETY: the caller's; there is AVX.
        return unsafe { asked(src, dst, lines) };
    }
    // SAFETY: the caller's.
    unsafe { self::lines(src, dst, lines) }
}

/// Copies a run of whole cache lines: as [`stream`] does if it is long, and past the caches if it is not.
///
/// # Safety
/// As for [`in_order`].
#[inline(always)]
pub(super) unsafe fn run(src: *const u8, dst: *mut u8, lines: usize) {
    // SAFETY: the caller's.
    unsafe {
        match lines >= LONG {
            true => in_order(src, dst, lines),
            false => self::lines(src, dst, lines),
        }
    }
}

/// Copies whole cache lines through the caches, and asks for those that will be written next.
///
/// # Safety
/// As for [`in_order`]; the processor has AVX.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx")]
unsafe fn asked(src: *const u8, dst: *mut u8, lines: usize) {
    use core::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_store_si256};
    let (from, to) = (src.cast::<__m256i>(), dst.cast::<__m256i>());
    for at in (0..2 * lines).step_by(2) {
        prefetch::second(to.wrapping_add(at).cast::<u8>().wrapping_add(AHEAD));
        // SAFETY: both halves of a line, inside both stretches (K1, K3, K4); stores are aligned.
        unsafe {
            let low = _mm256_loadu_si256(from.add(at));
            let high = _mm256_loadu_si256(from.add(at + 1));
            _mm256_store_si256(to.add(at), low);
            _mm256_store_si256(to.add(at + 1), high);
        }
    }
}

/// Copies whole cache lines past the caches.
///
/// # Safety
/// As for [`in_order`].
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

    /// Copies them as [`lines`] does, or a single one as [`in_order`], and tells `done` every few lines how many there are.
    ///
    /// # Safety
    /// As for [`lines`], for every row.
    pub(super) unsafe fn copy(self, done: impl FnMut(usize)) {
        if self.count == 1 && asks() {
            // SAFETY: the caller's.
            return self.each_few(|src, dst, few| unsafe { in_order(src, dst, few) }, done);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A way to copy lines.
    type Way = unsafe fn(*const u8, *mut u8, usize);

    #[test]
    fn every_way_copies_whole_lines_and_nothing_else() {
        let mut ways: Vec<Way> = vec![in_order, run, lines];
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx") {
            ways.extend([asked as Way, lines_by_halves]);
        }
        // SAFETY: passed on unchanged.
        ways.push(|src, dst, lines| unsafe { stream(src, dst, lines * LINE) });
        // SAFETY: passed on unchanged.
        ways.push(|src, dst, lines| unsafe { stream_apart(src, dst, lines * LINE) });
        let source: Vec<u8> = (0..100 * LINE).map(|i| (i * 31 + i / 251) as u8).collect();
        for way in ways {
            for (first, count) in [(0, 0), (5, 1), (64, 7), (1, LONG - 1), (3, LONG), (7, 90)] {
                let mut found = vec![0xa5u8; 93 * LINE];
                let start = found.as_ptr().align_offset(LINE);
                // SAFETY: both have room for as many lines, and the first is one (K1, K3, K4).
                unsafe {
                    way(
                        source.as_ptr().add(first),
                        found.as_mut_ptr().add(start),
                        count,
                    );
                }
                fence();
                let end = start + count * LINE;
                assert!(found[start..end] == source[first..first + count * LINE]);
                assert!(found[..start].iter().all(|&byte| byte == 0xa5));
                assert!(found[end..].iter().all(|&byte| byte == 0xa5));
            }
        }
    }

    #[test]
    fn a_stretch_is_copied_from_anywhere_to_anywhere() {
        let source: Vec<u8> = (0..3000).map(|i| (i * 31 + i / 251) as u8).collect();
        for way in [stream, stream_apart] {
            for (from, to, bytes) in [(0, 0, 0), (3, 1, 5), (0, 63, 66), (9, 30, 2500), (1, 0, 64)]
            {
                let mut found = vec![0xa5u8; 3000];
                // SAFETY: both have room for as many bytes (K1, K3, K4).
                unsafe { way(source.as_ptr().add(from), found.as_mut_ptr().add(to), bytes) };
                fence();
                assert!(found[to..to + bytes] == source[from..from + bytes]);
                assert!(
                    found[..to]
                        .iter()
                        .chain(&found[to + bytes..])
                        .all(|&byte| byte == 0xa5)
                );
            }
        }
    }
}
