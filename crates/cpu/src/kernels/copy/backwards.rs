//! Lines of an output whose cells lie the other way round in the source, as where an axis is reversed: turned on the way,
//! and past the caches.

/// Whether this processor turns lines round; then [`lines`] may be called.
pub(super) fn can() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Writes `lines` lines from `dst` on, of cells of 1, 2, 4, 8 or 16 bytes, the first of which is at `src` and each other
/// before the last. Call [`super::stream::fence`] before another thread may look.
///
/// # Safety
/// K1, K3 and K4 for both; `dst` starts on a line, and [`can`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn lines(src: *const u8, dst: *mut u8, lines: usize, cell: usize) {
    use core::arch::x86_64::*;
    let places: [u8; 16] = core::array::from_fn(|i| (16 - cell - i / cell * cell + i % cell) as u8);
    // SAFETY: the cells that make up a line end where those of the line before it start (K1, K3, K4); stores are aligned.
    unsafe {
        let places = _mm256_broadcastsi128_si256(_mm_loadu_si128(places.as_ptr().cast()));
        // The cells of a lane, then both lanes.
        let turned = |half: __m256i| {
            _mm256_permute4x64_epi64::<0b01_00_11_10>(_mm256_shuffle_epi8(half, places))
        };
        // Memory is read on and on, which the processor sees coming, and written backwards.
        let mut from = src.add(cell).cast::<__m256i>().sub(2 * lines);
        let mut to = dst.cast::<__m256i>().add(2 * lines);
        for _ in 0..lines {
            to = to.sub(2);
            let (low, high) = (_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1)));
            _mm256_stream_si256(to, turned(high));
            _mm256_stream_si256(to.add(1), turned(low));
            from = from.add(2);
        }
    }
}

/// Never called: nothing turns lines round here.
#[cfg(not(target_arch = "x86_64"))]
pub(super) unsafe fn lines(_: *const u8, _: *mut u8, _: usize, _: usize) {
    unreachable!("only where lines can be turned round");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes in a cache line.
    const LINE: usize = 64;

    /// A line of bytes.
    #[derive(Clone, Copy)]
    #[repr(align(64))]
    struct Line([u8; LINE]);

    #[test]
    fn lines_are_turned_cell_by_cell() {
        for cell in [1, 2, 4, 8, 16] {
            for count in [1, 2, 7] {
                let src: Vec<u8> = (0..count * LINE)
                    .map(|i| (i * 31 + i / 251) as u8)
                    .collect();
                let expected: Vec<u8> = src.chunks_exact(cell).rev().flatten().copied().collect();
                let mut found = vec![Line([0xa5; LINE]); count + 1];
                if can() {
                    // SAFETY: there are as many lines in both (K1, K3, K4).
                    unsafe {
                        let last = src.as_ptr().add(src.len() - cell);
                        lines(last, found.as_mut_ptr().cast(), count, cell);
                    }
                    super::super::stream::fence();
                    let found: Vec<u8> = found.iter().flat_map(|line| line.0).collect();
                    assert!(found[..count * LINE] == expected, "cells of {cell} bytes");
                    assert_eq!(found[count * LINE..], [0xa5; LINE]);
                }
            }
        }
    }
}
