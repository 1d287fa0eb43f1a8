//! Adds rows of adjacent elements to as many sums, in loops that are compiled once for each type, and for wide vectors as well.

use super::{LINE, Number};
use crate::kernels::prefetch;

/// Short rows that come from memory are asked for so many bytes ahead, at least: the places at which they are read are too
/// near each other to be foreseen.
const AHEAD: usize = 8 << 10;

/// Adds `N` rows of `len` adjacent elements, `stride` apart, to `len` sums, or starts these with the first row. With `ASKS`
/// those that follow are asked for.
///
/// # Safety
/// K1, K2, K4 for `len` elements of each row, K3 for the sums, which were written unless this starts them; with `VECTORS`
/// the machine has them.
#[inline(always)]
pub(super) unsafe fn add_rows<T: Number, const N: usize, const ASKS: bool, const VECTORS: bool>(
    starts: bool,
    rows: (*const T, isize),
    sums: *mut T::Accumulator,
    len: usize,
) {
    // SAFETY: the caller's, and with `VECTORS` the machine has them.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if VECTORS {
            return match starts {
                true => add_vectors::<T, N, ASKS, true>(rows, sums, len),
                false => add_vectors::<T, N, ASKS, false>(rows, sums, len),
            };
        }
        match starts {
            true => add_plainly::<T, N, ASKS, true>(rows, sums, len),
            false => add_plainly::<T, N, ASKS, false>(rows, sums, len),
        }
    }
}

/// As [`add_rows`], compiled once for all who call it.
///
/// # Safety
/// As for [`add_rows`], on a machine with AVX2 and F16C.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,f16c")]
unsafe fn add_vectors<T: Number, const N: usize, const ASKS: bool, const STARTS: bool>(
    rows: (*const T, isize),
    sums: *mut T::Accumulator,
    len: usize,
) {
    // SAFETY: the caller's.
    unsafe { add::<T, N, ASKS, STARTS, true>(rows, sums, len) }
}

/// As [`add_vectors`], on any machine.
///
/// # Safety
/// As for [`add_rows`].
#[inline(never)]
unsafe fn add_plainly<T: Number, const N: usize, const ASKS: bool, const STARTS: bool>(
    rows: (*const T, isize),
    sums: *mut T::Accumulator,
    len: usize,
) {
    // SAFETY: the caller's.
    unsafe { add::<T, N, ASKS, STARTS, false>(rows, sums, len) }
}

/// As [`add_rows`]. What starts the sums is settled outside of the loops, lest addresses be chosen within.
///
/// # Safety
/// As for [`add_rows`].
#[inline(always)]
unsafe fn add<
    T: Number,
    const N: usize,
    const ASKS: bool,
    const STARTS: bool,
    const VECTORS: bool,
>(
    rows: (*const T, isize),
    sums: *mut T::Accumulator,
    len: usize,
) {
    // SAFETY: the caller's. The sums of a whole part are two lines of the cache.
    unsafe {
        match size_of::<T::Accumulator>() {
            1 => add_parts::<T, N, ASKS, STARTS, 128, 32, VECTORS>(rows, sums, len),
            2 => add_parts::<T, N, ASKS, STARTS, 64, 16, VECTORS>(rows, sums, len),
            4 => add_parts::<T, N, ASKS, STARTS, 32, 8, VECTORS>(rows, sums, len),
            8 => add_parts::<T, N, ASKS, STARTS, 16, 4, VECTORS>(rows, sums, len),
            _ => add_parts::<T, N, ASKS, STARTS, 8, 2, VECTORS>(rows, sums, len),
        }
    }
}

/// As [`add_rows`], so many elements at a time, then a few, then single ones.
///
/// # Safety
/// As for [`add_rows`].
#[inline(always)]
unsafe fn add_parts<
    T: Number,
    const N: usize,
    const ASKS: bool,
    const STARTS: bool,
    const WHOLE: usize,
    const FEW: usize,
    const VECTORS: bool,
>(
    (first, stride): (*const T, isize),
    sums: *mut T::Accumulator,
    len: usize,
) {
    let few = len / WHOLE * WHOLE;
    let single = few + (len - few) / FEW * FEW;
    // What follows is asked for in the order in which it lies in memory, as fast as this is read.
    let bytes = N * WHOLE * size_of::<T>();
    let group = N * stride.unsigned_abs() * size_of::<T>();
    let next = first.wrapping_byte_add(group.max(AHEAD)).cast::<u8>();
    // SAFETY: the caller's, for elements and sums below `len`.
    unsafe {
        for c in (0..few).step_by(WHOLE) {
            for line in 0..if ASKS { bytes / LINE } else { 0 } {
                prefetch::second(next.wrapping_add(c / WHOLE * bytes + line * LINE));
            }
            add_part::<T, N, STARTS, WHOLE, VECTORS>((first.add(c), stride), sums.add(c));
        }
        for c in (few..single).step_by(FEW) {
            add_part::<T, N, STARTS, FEW, VECTORS>((first.add(c), stride), sums.add(c));
        }
        for c in single..len {
            add_part::<T, N, STARTS, 1, VECTORS>((first.add(c), stride), sums.add(c));
        }
    }
}

/// As [`add_rows`] of `WIDE` elements of each row, from the first row to the last.
///
/// # Safety
/// As for [`add_rows`].
#[inline(always)]
unsafe fn add_part<
    T: Number,
    const N: usize,
    const STARTS: bool,
    const WIDE: usize,
    const VECTORS: bool,
>(
    (first, stride): (*const T, isize),
    sums: *mut T::Accumulator,
) {
    // SAFETY: the caller's.
    unsafe {
        let sums = sums.cast::<[T::Accumulator; WIDE]>();
        let terms =
            |row: usize| T::widen_adjacent::<WIDE, VECTORS>(first.offset(row as isize * stride));
        let mut added = if STARTS { terms(0) } else { *sums };
        for row in usize::from(STARTS)..N {
            for (sum, term) in added.iter_mut().zip(terms(row)) {
                *sum = T::add(*sum, term);
            }
        }
        sums.write(added);
    }
}
