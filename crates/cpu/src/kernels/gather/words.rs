//! Moving rows that are single machine words, by far the most common ones, one by one: instructions that gather several took
//! up to three times as long where that was measured.

use super::mover::{Reach, Task};

/// Moves words; the bytes are the fill.
pub(super) type Words = unsafe fn(Task, &[u8; 16]);

/// What moves words: `filled` if some may be outside, `far` if the source is not in the caches.
pub(super) fn words_of<W: Copy>(filled: bool, far: bool) -> Words {
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
unsafe fn words<W: Copy, const FILLED: bool, const FAR: bool>(task: Task, fill: &[u8; 16]) {
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
