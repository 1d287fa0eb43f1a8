//! Words of a source in the caches, or of one stretch after the other that fits them, eight at a time.

use stridewise_core::DType;

use super::Pass;

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn pass(_: DType, _: usize) -> Option<Pass> {
    None
}

#[cfg(target_arch = "x86_64")]
pub(super) fn pass(dtype: DType, width: usize) -> Option<Pass> {
    if !std::arch::is_x86_feature_detected!("avx2") {
        return None;
    }
    Some(match (dtype, width) {
        (DType::I32, 4) => avx2::words_4_at_32,
        (DType::I32, 8) => avx2::words_8_at_32,
        (DType::I64, 4) => avx2::words_4_at_64,
        (DType::I64, 8) => avx2::words_8_at_64,
        _ => return None,
    })
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use crate::kernels::loops::{prefetch, prefetch_once};

    /// How many indices are on their way.
    const INDEX_AHEAD: usize = 256;

    /// Eight indices at a time. A cell is outside if it is negative, or if the last minus it is.
    macro_rules! passes {
        ($($name:ident, $index:ty, $word:ty, ($($part:expr),*), $set:ident, $add:ident, $sub:ident, $less:ident,
            |$cells:ident, $from:ident, $to:ident| $move:expr;)*) => {$(
            /// # Safety
            /// As [`super::super::Direct::gather`]; the processor has AVX2.
            #[target_feature(enable = "avx2")]
            pub(super) unsafe fn $name(
                source: *const u8,
                ahead: *const u8,
                index: *const u8,
                count: usize,
                n: usize,
                end: usize,
                dst: *mut u8,
            ) -> usize {
                let (index, dst) = (index.cast::<$index>(), dst.cast::<$word>());
                let (last, end) = ($set(n as $index - 1), $set(end as $index));
                let mut done = 0;
                while done + 8 <= count {
                    prefetch_once(index.wrapping_add(done + INDEX_AHEAD).cast());
                    if !ahead.is_null() {
                        prefetch(ahead.wrapping_add(done * size_of::<$word>()));
                    }
                    // SAFETY: the caller's: eight more indices and their places; cells are below `n`.
                    unsafe {
                        let $cells = [$($part),*].map(|part| {
                            let i = _mm256_loadu_si256(index.add(done + part).cast());
                            $add(i, _mm256_and_si256(end, $less(_mm256_setzero_si256(), i)))
                        });
                        let mut outside = _mm256_setzero_si256();
                        for cell in $cells {
                            let beyond = _mm256_or_si256(cell, $sub(last, cell));
                            outside = _mm256_or_si256(outside, beyond);
                        }
                        let sign = $set(<$index>::MIN);
                        if _mm256_testz_si256(outside, sign) == 0 {
                            break;
                        }
                        let ($from, $to) = (source, dst.add(done));
                        $move;
                    }
                    done += 8;
                }
                done
            }
        )*};
    }

    passes! {
        words_4_at_32, i32, u32, (0), _mm256_set1_epi32, _mm256_add_epi32, _mm256_sub_epi32, _mm256_cmpgt_epi32,
            |cells, from, to| {
                let found = _mm256_i32gather_epi32::<4>(from.cast(), cells[0]);
                _mm256_storeu_si256(to.cast(), found);
            };
        words_8_at_32, i32, u64, (0), _mm256_set1_epi32, _mm256_add_epi32, _mm256_sub_epi32, _mm256_cmpgt_epi32,
            |cells, from, to| {
                let low = _mm256_castsi256_si128(cells[0]);
                let high = _mm256_extracti128_si256::<1>(cells[0]);
                _mm256_storeu_si256(to.cast(), _mm256_i32gather_epi64::<8>(from.cast(), low));
                _mm256_storeu_si256(to.add(4).cast(), _mm256_i32gather_epi64::<8>(from.cast(), high));
            };
        words_4_at_64, i64, u32, (0, 4), _mm256_set1_epi64x, _mm256_add_epi64, _mm256_sub_epi64, _mm256_cmpgt_epi64,
            |cells, from, to| {
                _mm_storeu_si128(to.cast(), _mm256_i64gather_epi32::<4>(from.cast(), cells[0]));
                _mm_storeu_si128(to.add(4).cast(), _mm256_i64gather_epi32::<4>(from.cast(), cells[1]));
            };
        words_8_at_64, i64, u64, (0, 4), _mm256_set1_epi64x, _mm256_add_epi64, _mm256_sub_epi64, _mm256_cmpgt_epi64,
            |cells, from, to| {
                _mm256_storeu_si256(to.cast(), _mm256_i64gather_epi64::<8>(from.cast(), cells[0]));
                _mm256_storeu_si256(to.add(4).cast(), _mm256_i64gather_epi64::<8>(from.cast(), cells[1]));
            };
    }
}
