//! Words of a source in the caches, or of one stretch after the other that fits them, eight at a time: their indices are
//! checked together, and then each word is moved by itself, which takes less than any instruction that gathers.

use stridewise_core::DType;

use super::{Pass, Rows};
use crate::kernels::index::Integer;
use crate::kernels::{caches, prefetch};

/// How many indices are on their way.
const INDEX_AHEAD: usize = 256;

/// How many are checked together.
const ONCE: usize = 8;

pub(super) fn pass(dtype: DType, width: usize) -> Option<Pass> {
    Some(match (dtype, width) {
        (DType::I32, 4) => widest::<i32, u32>(),
        (DType::I32, 8) => widest::<i32, u64>(),
        (DType::I64, 4) => widest::<i64, u32>(),
        (DType::I64, 8) => widest::<i64, u64>(),
        _ => return None,
    })
}

/// The pass for this processor.
fn widest<I: Integer, W: Copy>() -> Pass {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        return words_avx2::<I, W>;
    }
    words::<I, W>
}

/// # Safety
/// As for [`words`]; the processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn words_avx2<I: Integer, W: Copy>(rows: Rows) -> usize {
    // SAFETY: the caller's.
    unsafe { words::<I, W>(rows) }
}

/// # Safety
/// As [`super::Direct::gather`], for rows of one `W`.
#[inline(always)]
unsafe fn words<I: Integer, W: Copy>(rows: Rows) -> usize {
    let Rows {
        ahead,
        count,
        n,
        end,
        ..
    } = rows;
    let (source, index, dst) = (
        rows.source.cast::<W>(),
        rows.index.cast::<I>(),
        rows.dst.cast::<W>(),
    );
    let (last, small) = (n as isize - 1, caches::nearest_is_small());
    let mut done = 0;
    while done + ONCE <= count {
        prefetch::in_passing(index.wrapping_add(done + INDEX_AHEAD).cast(), small);
        if !ahead.is_null() {
            prefetch::nearest(ahead.wrapping_add(done * size_of::<W>()));
        }
        // SAFETY: the caller's: eight more indices and their places; cells are below `n`.
        unsafe {
            let given = |i: usize| (*index.add(done + i)).plain();
            // Negative if an index is, or the last minus it.
            let outside = (0..ONCE).fold(0, |outside, i| {
                let cell = given(i) as isize;
                outside | cell | last.wrapping_sub(cell)
            });
            // Read again, which is cheaper than to keep them; whoever lent them may have written them meanwhile.
            let given = |i: usize| given(i).min(last as usize);
            let row = |i: usize, cell: usize| {
                let to = dst.add(done + i);
                to.write_unaligned(source.add(cell).read_unaligned());
            };
            if outside >= 0 {
                (0..ONCE).for_each(|i| row(i, given(i)));
            } else {
                let cells: [usize; ONCE] =
                    std::array::from_fn(|i| (*index.add(done + i)).counted(end));
                if cells.iter().any(|&cell| cell >= n) {
                    break;
                }
                cells.iter().enumerate().for_each(|(i, &cell)| row(i, cell));
            }
        }
        done += ONCE;
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_moves_words_up_to_the_eight_with_an_index_outside() {
        ways::<i32, u32>(&|i| i as i32, &|i| i as u32 * 7);
        ways::<i64, u32>(&|i| i as i64, &|i| i as u32 * 7);
        ways::<i32, u64>(&|i| i as i32, &|i| i as u64 * 7);
        ways::<i64, u64>(&|i| i as i64, &|i| i as u64 * 7);
    }

    fn ways<I: Integer, W: Copy + Default + PartialEq + std::fmt::Debug>(
        index: &dyn Fn(isize) -> I,
        word: &dyn Fn(usize) -> W,
    ) {
        let n = 100;
        let source: Vec<W> = (0..n).map(word).collect();
        for (bad, end) in [
            (None, n),
            (Some(n as isize), n),
            (Some(-101), n),
            (Some(-1), 0),
        ] {
            // Some eights have negatives, which count from the end where there is one.
            let at = |i: usize| match (i, bad) {
                (29, Some(bad)) => bad,
                _ if i % 16 == 3 && end > 0 => -(i as isize) - 1,
                _ => (i * 37 % n) as isize,
            };
            let given: Vec<I> = (0..50).map(|i| index(at(i))).collect();
            let expected = if bad.is_some() { 24 } else { 48 };
            for pass in [words::<I, W> as Pass, widest::<I, W>()] {
                let mut out = vec![W::default(); 50];
                let rows = Rows {
                    source: source.as_ptr().cast(),
                    ahead: source.as_ptr().cast(),
                    index: given.as_ptr().cast(),
                    count: 50,
                    n,
                    end,
                    dst: out.as_mut_ptr().cast(),
                };
                // SAFETY: K1, K2, K4 for the source and the indices; there is room for as many words.
                let done = unsafe { pass(rows) };
                assert_eq!(done, expected);
                for (i, found) in out[..done].iter().enumerate() {
                    let cell = if at(i) < 0 { at(i) + n as isize } else { at(i) };
                    assert_eq!(*found, word(cell as usize), "at {i}");
                }
            }
        }
    }
}
