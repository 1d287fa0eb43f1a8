//! Turns a plane whose source runs along one axis and whose destination runs along another. Small squares
//! are turned in registers: a square is read by whole vectors along the source's run and written by whole
//! vectors along the destination's, and each line of the source is used up before the next is touched, so
//! that strides of a power of two, whose lines share few cache sets, cost nothing extra.

use super::collapse::{Axes, Axis};
use super::strided::each;
use crate::kernels::width::{Cell, with_cell};

/// Bytes in a vector; a square holds `VECTOR / width` cells on a side.
const VECTOR: usize = 16;

/// Copies every cell of `axes` by turning the plane made of the source's nearest axis and the last axis, or
/// does nothing and answers `false` when they are the same.
///
/// # Safety
/// K1, K3 and K4 for `src` and `dst` over `axes`, whose strides are in bytes.
pub(super) unsafe fn copy(axes: &[Axis], src: *const u8, dst: *mut u8, cell: usize) -> bool {
    let Some((&last, outer)) = axes.split_last() else {
        return false;
    };
    let nearest = outer
        .iter()
        .enumerate()
        .filter(|(_, axis)| axis.src != 0)
        .min_by_key(|(_, axis)| axis.src.unsigned_abs());
    let Some((nearest, &axis)) = nearest else {
        return false;
    };
    if axis.src.unsigned_abs() >= last.src.unsigned_abs() || last.dst != cell as isize {
        return false;
    }
    let side = VECTOR / cell;
    let squares = side > 1
        && axis.src.unsigned_abs() == cell
        && axis.size >= side
        && last.size >= side;
    if !squares && (axis.size < 4 || axis.size * last.size < 64) {
        return false;
    }
    let mut run = axis;
    let (mut src, mut dst) = (src, dst);
    if run.src < 0 {
        let end = (run.size - 1) as isize;
        // SAFETY: the last index of the axis (K1).
        unsafe {
            src = src.offset(end * run.src);
            dst = dst.offset(end * run.dst);
        }
        run.src = -run.src;
        run.dst = -run.dst;
    }
    let mut rest = Axes::from_slice(outer);
    rest.remove(nearest);
    // SAFETY: the plane of `run` and `last` lies inside at every index of the rest (K1, K3, K4), and where
    // squares are turned it is at least a square long both ways.
    unsafe {
        match (squares, cell) {
            (true, 1) => each(&rest, src, dst, &mut |s, d| plane::<u8>(run, last, s, d)),
            (true, 2) => each(&rest, src, dst, &mut |s, d| plane::<u16>(run, last, s, d)),
            (true, 4) => each(&rest, src, dst, &mut |s, d| plane::<u32>(run, last, s, d)),
            (true, 8) => each(&rest, src, dst, &mut |s, d| plane::<u64>(run, last, s, d)),
            _ => with_cell!(cell, C => each(&rest, src, dst, &mut |s, d| {
                cells::<C>(run, last, s, d);
            })),
        }
    }
    true
}

/// Turns one plane cell by cell, lines of the source used up in turn.
unsafe fn cells<C: Cell>(run: Axis, across: Axis, src: *const u8, dst: *mut u8) {
    for a in 0..across.size as isize {
        for r in 0..run.size as isize {
            // SAFETY: an index of the plane (K1, K3, K4).
            unsafe {
                let value = src.offset(a * across.src + r * run.src).cast::<C>().read_unaligned();
                dst.offset(a * across.dst + r * run.dst).cast::<C>().write_unaligned(value);
            }
        }
    }
}

/// Where the squares along an axis of `size` start. The last one is moved back to end with the axis, and
/// turns some cells twice, which spares the ragged edge.
fn squares(size: usize, side: usize) -> impl Iterator<Item = isize> {
    (0..size.div_ceil(side)).map(move |i| (i * side).min(size - side) as isize)
}

/// Turns one plane: `run` is contiguous in the source, `across` in the destination.
unsafe fn plane<C: Interleave>(run: Axis, across: Axis, src: *const u8, dst: *mut u8) {
    let side = VECTOR / C::WIDTH;
    let width = C::WIDTH as isize;
    for a in squares(across.size, side) {
        for r in squares(run.size, side) {
            // SAFETY: a square inside the plane, `side` cells along both axes (K1, K3, K4).
            unsafe {
                let src = src.offset(a * across.src + r * width);
                let dst = dst.offset(a * width + r * run.dst);
                C::square(src, across.src, dst, run.dst);
            }
        }
    }
}

/// Cells that can be turned in registers.
trait Interleave: Cell {
    /// Reads a vector at each of `src + i * from` and writes the transposed square by vectors at each of
    /// `dst + i * to`.
    ///
    /// # Safety
    /// `VECTOR / WIDTH` whole vectors lie inside on both sides; the destination is nobody else's.
    unsafe fn square(src: *const u8, from: isize, dst: *mut u8, to: isize);
}

#[cfg(target_arch = "x86_64")]
macro_rules! interleave {
    ($($cell:ty, $low:ident, $high:ident;)*) => {$(
        impl Interleave for $cell {
            #[inline(always)]
            unsafe fn square(src: *const u8, from: isize, dst: *mut u8, to: isize) {
                use core::arch::x86_64::*;
                const SIDE: usize = VECTOR / size_of::<$cell>();
                // SAFETY: SSE2 is part of x86-64; the caller vouches for every vector (K1, K3, K4).
                unsafe {
                    let mut rows = [_mm_setzero_si128(); SIDE];
                    for (i, row) in rows.iter_mut().enumerate() {
                        *row = _mm_loadu_si128(src.offset(i as isize * from).cast());
                    }
                    // Interleaving the first half of the rows with the second is a perfect shuffle of all
                    // cells; log2(SIDE) of them exchange row and column.
                    for _ in 0..SIDE.ilog2() {
                        let before = rows;
                        for i in 0..SIDE / 2 {
                            rows[2 * i] = $low(before[i], before[i + SIDE / 2]);
                            rows[2 * i + 1] = $high(before[i], before[i + SIDE / 2]);
                        }
                    }
                    for (i, row) in rows.iter().enumerate() {
                        _mm_storeu_si128(dst.offset(i as isize * to).cast(), *row);
                    }
                }
            }
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
interleave! {
    u8, _mm_unpacklo_epi8, _mm_unpackhi_epi8;
    u16, _mm_unpacklo_epi16, _mm_unpackhi_epi16;
    u32, _mm_unpacklo_epi32, _mm_unpackhi_epi32;
    u64, _mm_unpacklo_epi64, _mm_unpackhi_epi64;
}

#[cfg(not(target_arch = "x86_64"))]
macro_rules! interleave {
    ($($cell:ty)*) => {$(
        impl Interleave for $cell {
            #[inline(always)]
            unsafe fn square(src: *const u8, from: isize, dst: *mut u8, to: isize) {
                const SIDE: usize = VECTOR / size_of::<$cell>();
                let mut turned = [[0 as $cell; SIDE]; SIDE];
                // SAFETY: the caller vouches for every vector (K1, K3, K4).
                unsafe {
                    for i in 0..SIDE {
                        let row = src.offset(i as isize * from).cast::<[$cell; SIDE]>().read_unaligned();
                        for j in 0..SIDE {
                            turned[j][i] = row[j];
                        }
                    }
                    for (i, row) in turned.iter().enumerate() {
                        dst.offset(i as isize * to).cast::<[$cell; SIDE]>().write_unaligned(*row);
                    }
                }
            }
        }
    )*};
}

#[cfg(not(target_arch = "x86_64"))]
interleave! { u8 u16 u32 u64 }
