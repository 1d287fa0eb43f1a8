//! Turns a plane whose source runs along one axis and whose destination runs along another. Small squares
//! are turned in registers: a square is read by whole vectors along the source's run and written by whole
//! vectors along the destination's, and each line of the source is used up before the next is touched, so
//! that strides of a power of two, whose lines share few cache sets, cost nothing extra.

use super::collapse::{Axes, Axis};
use super::deinterleave::Deinterleave;
use super::interleave::{Interleave, Part};
use super::strided::each;
use crate::kernels::width::{Cell, with_cell};
use smallvec::SmallVec;

/// Bytes in a cache line.
const LINE: usize = 64;
/// Smaller planes than this many bytes are moved sooner than it is found where their bytes go.
const WORTH: usize = 1 << 10;

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
    let turn = squares(axis, last, cell);
    if turn.is_none() && axis.size * last.size * cell >= WORTH {
        let mut rest = Axes::from_slice(outer);
        rest.remove(nearest);
        // SAFETY: the plane of both lies inside at every index of the rest (K1, K3, K4).
        unsafe {
            if let Some(apart) = Deinterleave::of(axis, last, cell) {
                let rows = 0..axis.size as isize;
                each(&rest, src, dst, &mut |src, dst| {
                    let to = rows.clone().map(|row| dst.wrapping_offset(row * axis.dst));
                    apart.runs(src, last.size, &to.collect::<SmallVec<[_; 16]>>());
                });
                return true;
            }
            if parts(axis, last, src, cell).is_some() {
                each(&rest, src, dst, &mut |src, dst| {
                    if let Some(parts) = parts(axis, last, src, cell) {
                        parts.rows(0..axis.size, dst);
                    }
                });
                return true;
            }
        }
    }
    if turn.is_none() && (axis.size < 4 || axis.size * last.size < 64) {
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
        if let Some(turn) = turn {
            each(&rest, src, dst, &mut |src, dst| turn(run, last, src, dst));
        } else {
            with_cell!(cell, C => each(&rest, src, dst, &mut |src, dst| {
                cells::<C>(run, last, src, dst);
            }));
        }
    }
    true
}

/// The parts of a plane whose cells are put together, a few of each row of the source in turn: one for each row.
pub(super) fn parts(run: Axis, across: Axis, src: *const u8, cell: usize) -> Option<Interleave> {
    let row = across.size * cell;
    if run.src != cell as isize || run.dst != row as isize || row > LINE {
        return None;
    }
    let part = |i| Part {
        start: src.wrapping_offset(i as isize * across.src),
        stride: run.src,
        bytes: cell,
    };
    Interleave::of(&(0..across.size).map(part).collect::<SmallVec<[Part; 16]>>())
}

/// Turns one plane cell by cell, lines of the source used up in turn.
unsafe fn cells<C: Cell>(run: Axis, across: Axis, src: *const u8, dst: *mut u8) {
    for a in 0..across.size as isize {
        for r in 0..run.size as isize {
            // SAFETY: an index of the plane (K1, K3, K4).
            unsafe {
                let value = src
                    .offset(a * across.src + r * run.src)
                    .cast::<C>()
                    .read_unaligned();
                dst.offset(a * across.dst + r * run.dst)
                    .cast::<C>()
                    .write_unaligned(value);
            }
        }
    }
}

/// Copies a plane whose first axis is contiguous in the source and whose second is in the destination.
type Plane = unsafe fn(Axis, Axis, *const u8, *mut u8);

/// The widest way to turn planes of this size in registers, if any square fits.
fn squares(run: Axis, across: Axis, cell: usize) -> Option<Plane> {
    let side = VECTOR / cell;
    if run.src.unsigned_abs() != cell || side == 1 || run.size < side || across.size < side {
        return None;
    }
    #[cfg(target_arch = "x86_64")]
    if across.size >= 2 * side && std::arch::is_x86_feature_detected!("avx2") {
        return Some(match cell {
            1 => avx2::turn_1,
            2 => avx2::turn_2,
            4 => avx2::turn_4,
            _ => avx2::turn_8,
        });
    }
    Some(match cell {
        1 => basic::turn_1,
        2 => basic::turn_2,
        4 => basic::turn_4,
        _ => basic::turn_8,
    })
}

/// Where the squares along an axis of `size` start. The last one is moved back to end with the axis, and
/// turns some cells twice, which spares the ragged edge.
pub(super) fn starts(size: usize, side: usize) -> impl Iterator<Item = isize> {
    (0..size.div_ceil(side)).map(move |i| (i * side).min(size - side) as isize)
}

/// A plane turned in registers. Interleaving the first half of the rows of a square with the second is a
/// perfect shuffle of its cells; as many shuffles as the side has doublings exchange row and column. A
/// vector of several lanes turns as many squares, which lie side by side in the destination.
#[cfg(target_arch = "x86_64")]
macro_rules! turn {
    ($name:ident, $cell:ty, $feature:literal, $lanes:literal, $load:ident, $low:ident, $high:ident, $store:ident) => {
        #[target_feature(enable = $feature)]
        pub(super) unsafe fn $name(run: Axis, across: Axis, src: *const u8, dst: *mut u8) {
            const WIDTH: isize = size_of::<$cell>() as isize;
            const SIDE: usize = VECTOR / size_of::<$cell>();
            for a in starts(across.size, $lanes * SIDE) {
                for r in starts(run.size, SIDE) {
                    // SAFETY: the squares lie inside the plane, `SIDE` cells along the run and a vector
                    // across (K1, K3, K4).
                    unsafe {
                        let src = src.offset(a * across.src + r * WIDTH);
                        let dst = dst.offset(a * WIDTH + r * run.dst);
                        let mut rows: [_; SIDE] = core::array::from_fn(|i| {
                            $load(
                                src.offset(i as isize * across.src),
                                SIDE as isize * across.src,
                            )
                        });
                        for _ in 0..SIDE.ilog2() {
                            let before = rows;
                            for i in 0..SIDE / 2 {
                                rows[2 * i] = $low(before[i], before[i + SIDE / 2]);
                                rows[2 * i + 1] = $high(before[i], before[i + SIDE / 2]);
                            }
                        }
                        for (i, row) in rows.iter().enumerate() {
                            $store(dst.offset(i as isize * run.dst).cast(), *row);
                        }
                    }
                }
            }
        }
    };
}

/// Vectors of one lane, which every x86-64 processor has.
#[cfg(target_arch = "x86_64")]
mod basic {
    use super::{Axis, VECTOR, starts};
    use core::arch::x86_64::*;

    /// # Safety
    /// A vector at `at` is inside (K1).
    #[inline(always)]
    unsafe fn load(at: *const u8, _: isize) -> __m128i {
        // SAFETY: the caller's word.
        unsafe { _mm_loadu_si128(at.cast()) }
    }

    turn!(
        turn_1,
        u8,
        "sse2",
        1,
        load,
        _mm_unpacklo_epi8,
        _mm_unpackhi_epi8,
        _mm_storeu_si128
    );
    turn!(
        turn_2,
        u16,
        "sse2",
        1,
        load,
        _mm_unpacklo_epi16,
        _mm_unpackhi_epi16,
        _mm_storeu_si128
    );
    turn!(
        turn_4,
        u32,
        "sse2",
        1,
        load,
        _mm_unpacklo_epi32,
        _mm_unpackhi_epi32,
        _mm_storeu_si128
    );
    turn!(
        turn_8,
        u64,
        "sse2",
        1,
        load,
        _mm_unpacklo_epi64,
        _mm_unpackhi_epi64,
        _mm_storeu_si128
    );
}

/// Vectors of two lanes.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Axis, VECTOR, starts};
    use core::arch::x86_64::*;

    /// # Safety
    /// Vectors at `at` and `next` bytes further are inside (K1).
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load(at: *const u8, next: isize) -> __m256i {
        // SAFETY: the caller's word.
        unsafe {
            let low = _mm_loadu_si128(at.cast());
            let high = _mm_loadu_si128(at.offset(next).cast());
            _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
        }
    }

    turn!(
        turn_1,
        u8,
        "avx2",
        2,
        load,
        _mm256_unpacklo_epi8,
        _mm256_unpackhi_epi8,
        _mm256_storeu_si256
    );
    turn!(
        turn_2,
        u16,
        "avx2",
        2,
        load,
        _mm256_unpacklo_epi16,
        _mm256_unpackhi_epi16,
        _mm256_storeu_si256
    );
    turn!(
        turn_4,
        u32,
        "avx2",
        2,
        load,
        _mm256_unpacklo_epi32,
        _mm256_unpackhi_epi32,
        _mm256_storeu_si256
    );
    turn!(
        turn_8,
        u64,
        "avx2",
        2,
        load,
        _mm256_unpacklo_epi64,
        _mm256_unpackhi_epi64,
        _mm256_storeu_si256
    );
}

/// Squares in arrays, for the compiler to make of them what it can.
#[cfg(not(target_arch = "x86_64"))]
mod basic {
    use super::{Axis, VECTOR, starts};

    macro_rules! turn {
        ($name:ident, $cell:ty) => {
            pub(super) unsafe fn $name(run: Axis, across: Axis, src: *const u8, dst: *mut u8) {
                const WIDTH: isize = size_of::<$cell>() as isize;
                const SIDE: usize = VECTOR / size_of::<$cell>();
                for a in starts(across.size, SIDE) {
                    for r in starts(run.size, SIDE) {
                        let mut turned = [[0 as $cell; SIDE]; SIDE];
                        // SAFETY: the square lies inside the plane (K1, K3, K4).
                        unsafe {
                            for i in 0..SIDE {
                                let at = src.offset((a + i as isize) * across.src + r * WIDTH);
                                let row = at.cast::<[$cell; SIDE]>().read_unaligned();
                                (0..SIDE).for_each(|j| turned[j][i] = row[j]);
                            }
                            for (i, row) in turned.iter().enumerate() {
                                let at = dst.offset((r + i as isize) * run.dst + a * WIDTH);
                                at.cast::<[$cell; SIDE]>().write_unaligned(*row);
                            }
                        }
                    }
                }
            }
        };
    }

    turn!(turn_1, u8);
    turn!(turn_2, u16);
    turn!(turn_4, u32);
    turn!(turn_8, u64);
}
