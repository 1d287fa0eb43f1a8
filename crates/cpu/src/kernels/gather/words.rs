//! Moving rows that are single machine words, by far the most common ones.

use super::mover::{Reach, Task};

/// Moves words; the bytes are the fill.
pub(super) type Words = unsafe fn(Task, &[u8; 16]);

/// What moves words: `filled` if some may be outside, `far` if the source is not in the caches.
pub(super) fn words_of<W: Copy>(filled: bool, far: bool) -> Words {
    #[cfg(target_arch = "x86_64")]
    if !filled && !far && std::arch::is_x86_feature_detected!("avx2") {
        match size_of::<W>() {
            4 => return avx2::words_of_4,
            8 => return avx2::words_of_8,
            _ => {}
        }
    }
    match (filled, far) {
        (false, false) => words::<W, false, false>,
        (false, true) => words::<W, false, true>,
        (true, false) => words::<W, true, false>,
        (true, true) => words::<W, true, true>,
    }
}

/// A word may be a row of narrower elements, and so less aligned than its type.
///
/// # Safety
/// As [`Mover::rows`](super::mover::Mover::rows), for rows of one word.
#[inline]
pub(super) unsafe fn words<W: Copy, const FILLED: bool, const FAR: bool>(
    task: Task,
    fill: &[u8; 16],
) {
    // SAFETY: a word is at most 16 bytes and any bytes make one.
    let fill = unsafe { fill.as_ptr().cast::<W>().read_unaligned() };
    task.rows::<FAR>(size_of::<W>(), Reach::ONE, |from, to| {
        // SAFETY: the caller's. Nothing is outside unless there is a fill.
        unsafe {
            let word = match from {
                None if FILLED => fill,
                None => std::hint::unreachable_unchecked(),
                Some(from) => from.cast::<W>().read_unaligned(),
            };
            to.cast::<W>().write_unaligned(word);
        }
    });
}

/// Several words by one instruction, which pays where the source is near.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{Task, words};

    macro_rules! gathers {
        ($($name:ident, $word:ty, $lane:ty, $gather:ident, $store:ident, $part:ty;)*) => {$(
            /// # Safety
            /// As [`words`], with nothing outside; the processor has AVX2.
            #[target_feature(enable = "avx2")]
            pub(super) unsafe fn $name(task: Task, fill: &[u8; 16]) {
                const WIDTH: usize = size_of::<$word>();
                let (cells, len) = (task.offsets.cells, task.offsets.cells.len());
                if task.offsets.stride != WIDTH as isize {
                    // SAFETY: the caller's.
                    return unsafe { words::<$word, false, false>(task, fill) };
                }
                let mut to = task.dst;
                for r in 0..task.repeat {
                    let from = task.source.wrapping_offset(r as isize * task.pitch);
                    let mut i = 0;
                    // SAFETY: the caller's: cells up to `len` are inside, and each word has its place.
                    unsafe {
                        while i + 8 <= len {
                            for part in [i, i + 4] {
                                let at = _mm256_loadu_si256(cells.as_ptr().add(part).cast());
                                let found = $gather::<{ WIDTH as i32 }>(from.cast::<$lane>(), at);
                                $store(to.add(part * WIDTH).cast::<$part>(), found);
                            }
                            i += 8;
                        }
                        while i < len {
                            let word = from.cast::<$word>().add(cells[i]).read_unaligned();
                            to.cast::<$word>().add(i).write_unaligned(word);
                            i += 1;
                        }
                        to = to.add(len * WIDTH);
                    }
                }
            }
        )*};
    }

    gathers! {
        words_of_4, u32, i32, _mm256_i64gather_epi32, _mm_storeu_si128, __m128i;
        words_of_8, u64, i64, _mm256_i64gather_epi64, _mm256_storeu_si256, __m256i;
    }
}
