//! Packed indices, eight at a time: resolved, checked, and those kept that are this thread's, in registers.
//! Nothing is decided here: if any index is outside, nothing is said.

use std::ops::Range;

use stridewise_core::DType;

use crate::kernels::index::Bounds;

/// Indices are sifted in so many at once, and as many are written, whatever is kept of them.
pub(super) const AT_ONCE: usize = 8;

/// The indices and how many, a multiple of [`AT_ONCE`]; how many cells there are, what negatives count from,
/// and the cells to keep; where these go, counted from the first, and where in the strip they are. Tells how
/// many were kept, if all indices are inside.
type Pass =
    unsafe fn(*const u8, usize, [usize; 2], &Range<usize>, *mut u32, *mut u16) -> Option<usize>;

/// How indices of one dtype are sifted.
#[derive(Clone, Copy)]
pub(super) struct Sift {
    pass: Pass,
    n: usize,
    end: usize,
}

impl Sift {
    /// Keeps the indices whose cells are in `keep`; `None` if any index is outside.
    ///
    /// # Safety
    /// K1, K2, K4 for `count` packed indices, a multiple of [`AT_ONCE`]; room for as many cells and places, and
    /// [`AT_ONCE`] more. `keep` holds 2³² cells at most.
    pub(super) unsafe fn keep(
        self,
        index: *const u8,
        count: usize,
        keep: &Range<usize>,
        cells: *mut u32,
        at: *mut u16,
    ) -> Option<usize> {
        // SAFETY: the caller's.
        unsafe { (self.pass)(index, count, [self.n, self.end], keep, cells, at) }
    }
}

/// How to sift indices into `n` cells; `None` if there is nothing better than one by one.
pub(super) fn sift(dtype: DType, n: usize, bounds: Bounds) -> Option<Sift> {
    let end = match bounds {
        Bounds::Clip => 0,
        _ => n,
    };
    // Cells are counted in 32 bits where indices are.
    let pass = pass(dtype).filter(|_| dtype == DType::I64 || i32::try_from(n).is_ok())?;
    (n > 0).then_some(Sift { pass, n, end })
}

#[cfg(not(target_arch = "x86_64"))]
fn pass(_: DType) -> Option<Pass> {
    None
}

#[cfg(target_arch = "x86_64")]
fn pass(dtype: DType) -> Option<Pass> {
    use std::arch::is_x86_feature_detected;
    let able = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt");
    match dtype {
        DType::I32 if able => Some(avx2::at_32),
        DType::I64 if able => Some(avx2::at_64),
        _ => None,
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;
    use std::ops::Range;

    use super::AT_ONCE;
    use crate::kernels::index::STRIP;
    use crate::kernels::prefetch;

    /// For each set of lanes, which they are, in order.
    static LANES: [[u8; 8]; 256] = {
        let mut lanes = [[0; 8]; 256];
        let mut set = 0;
        while set < 256 {
            let (mut lane, mut count) = (0, 0);
            while lane < 8 {
                if set >> lane & 1 == 1 {
                    lanes[set][count] = lane as u8;
                    count += 1;
                }
                lane += 1;
            }
            set += 1;
        }
        lanes
    };

    // A number is off if it is negative, or if the last minus it is.
    macro_rules! passes {
        ($($name:ident, $index:ty, ($($part:expr),*), $set:ident, $add:ident, $sub:ident, $less:ident,
            |$off:ident| $signs:expr, |$cells:ident| $narrow:expr;)*) => {$(
            /// # Safety
            /// As [`super::Sift::keep`]; the processor has AVX2 and POPCNT.
            #[target_feature(enable = "avx2,popcnt")]
            pub(super) unsafe fn $name(
                index: *const u8,
                count: usize,
                [n, end]: [usize; 2],
                keep: &Range<usize>,
                cells: *mut u32,
                at: *mut u16,
            ) -> Option<usize> {
                let index = index.cast::<$index>();
                let off = |i, last| _mm256_or_si256(i, $sub(last, i));
                let (end, last) = ($set(end as $index), $set(n as $index - 1));
                let first = $set(keep.start as $index);
                let most = $set(keep.len() as $index - 1);
                let mut outside = _mm256_setzero_si256();
                let mut kept = 0;
                for done in (0..count).step_by(AT_ONCE) {
                    // While one strip is added, nothing is read that would bring the next.
                    prefetch::nearest(index.wrapping_add(done + STRIP).cast());
                    // SAFETY: the caller's: eight more indices, and room for eight after what is kept.
                    unsafe {
                        let $cells = [$($part),*].map(|part| {
                            let i = _mm256_loadu_si256(index.add(done + part).cast());
                            let cell = $add(i, _mm256_and_si256(end, $less(_mm256_setzero_si256(), i)));
                            outside = _mm256_or_si256(outside, off(cell, last));
                            $sub(cell, first)
                        });
                        let $off = $cells.map(|cell| off(cell, most));
                        let set = !$signs as u8;
                        let lanes = _mm_loadl_epi64(LANES[usize::from(set)].as_ptr().cast());
                        let found = _mm256_permutevar8x32_epi32($narrow, _mm256_cvtepu8_epi32(lanes));
                        let places = _mm_add_epi16(_mm_cvtepu8_epi16(lanes), _mm_set1_epi16(done as i16));
                        _mm256_storeu_si256(cells.add(kept).cast(), found);
                        _mm_storeu_si128(at.add(kept).cast(), places);
                        kept += set.count_ones() as usize;
                    }
                }
                let signs = _mm256_and_si256(outside, $set(<$index>::MIN));
                (_mm256_testz_si256(signs, signs) == 1).then_some(kept)
            }
        )*};
    }

    passes! {
        at_32, i32, (0), _mm256_set1_epi32, _mm256_add_epi32, _mm256_sub_epi32, _mm256_cmpgt_epi32,
            |off| _mm256_movemask_ps(_mm256_castsi256_ps(off[0])),
            |cells| cells[0];
        at_64, i64, (0, 4), _mm256_set1_epi64x, _mm256_add_epi64, _mm256_sub_epi64, _mm256_cmpgt_epi64,
            |off| {
                let [low, high] = off.map(|off| _mm256_movemask_pd(_mm256_castsi256_pd(off)));
                low | high << 4
            },
            |cells| {
                let [low, high] = cells.map(|cells| _mm256_castsi256_ps(cells));
                let mixed = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(low, high));
                _mm256_permute4x64_epi64::<0b11_01_10_00>(mixed)
            };
    }
}
