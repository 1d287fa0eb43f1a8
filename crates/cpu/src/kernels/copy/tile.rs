//! Builds one packed block of the output in a staging area that stays in the nearest caches. What the source
//! repeats (stride 0) is read once and replicated here, so a tiled output costs what writing it costs.

use super::collapse::Axis;
use super::strided::{self, each};
use super::transpose;
use super::vectors::Vectors;
use crate::kernels::width::{Cell, with_cell};
use core::mem::MaybeUninit;

/// Bytes past the end of a block that may be scribbled over while it is built: whole vectors are written
/// in rising order, and the next write covers what the last one spilled.
pub(super) const SLACK: usize = 64;

/// A replicated group shorter than this, in bytes, is left to the strided loops.
const SHORT: usize = 48;

/// Writes every cell of `axes` to `stage`.
///
/// # Safety
/// K1 and K4 for `src` over `axes`; the destination strides of `axes` are packed (the first may be wider)
/// and `stage` holds them all and [`SLACK`] more bytes, reachable through nothing else (K3).
pub(super) unsafe fn build(axes: &[Axis], src: *const u8, stage: *mut u8, cell: usize) {
    // SAFETY: the repeated axis reads index 0 only; the group it repeats is packed, so its copies follow each
    // other up to the end of the axis (K1, K3, K4).
    unsafe {
        let Some(zero) = axes.iter().position(|axis| axis.src == 0) else {
            if !transpose::copy(axes, src, stage, cell) {
                strided::copy(axes, src, stage, cell);
            }
            return;
        };
        let (outer, inner) = (&axes[..zero], &axes[zero + 1..]);
        let (group, copies) = (axes[zero].dst as usize, axes[zero].size);
        if inner.is_empty()
            && let Some((&walk, outer)) = outer.split_last()
        {
            with_cell!(cell, C => each(outer, src, stage, &mut |src, stage| {
                spread::<C>(walk, copies, src, stage);
            }));
        } else if let [run] = inner
            && run.src == cell as isize
            && let Some(vectors) = Vectors::widest().filter(|vectors| group <= vectors.bytes())
        {
            // SAFETY: there are vectors, and the group is a run of the source (K1, K4).
            wheels(vectors, outer, src, stage, group, copies);
        } else if group * copies < SHORT && !outer.is_empty() {
            strided::copy(axes, src, stage, cell);
        } else {
            each(outer, src, stage, &mut |src, stage| {
                build(inner, src, stage, cell);
                replicate(stage, group, copies);
            });
        }
    }
}

/// Repeats runs of `group` bytes, which fit a vector, each `copies` times in a row: a line is made of as many as it holds,
/// and written over and over.
#[cfg(target_arch = "x86_64")]
unsafe fn wheels(
    vectors: Vectors,
    outer: &[Axis],
    src: *const u8,
    stage: *mut u8,
    group: usize,
    copies: usize,
) {
    /// As `wheels`, by vectors of lines.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    unsafe fn lines(
        outer: &[Axis],
        src: *const u8,
        stage: *mut u8,
        group: usize,
        copies: usize,
        turns: &[u8; SLACK],
    ) {
        use core::arch::x86_64::*;
        let step = SLACK / group * group;
        let read = u64::MAX >> (SLACK - group);
        // SAFETY: no more than the group is read (K1, K4). Every write starts below the end of a row, and what it carries
        // beyond is overwritten by the next row, or is slack (K3).
        unsafe {
            let turns = _mm512_loadu_si512(turns.as_ptr().cast());
            each(outer, src, stage, &mut |src, stage| {
                let run = _mm512_maskz_loadu_epi8(read, src.cast());
                let wheel = _mm512_permutexvar_epi8(turns, run);
                for at in (0..group * copies).step_by(step) {
                    _mm512_storeu_si512(stage.add(at).cast(), wheel);
                }
            });
        }
    }

    /// As `wheels`, by lanes, four of which make a line.
    #[target_feature(enable = "avx2")]
    unsafe fn lanes(
        outer: &[Axis],
        src: *const u8,
        stage: *mut u8,
        group: usize,
        copies: usize,
        turns: &[u8; SLACK],
    ) {
        use core::arch::x86_64::*;
        let step = SLACK / group * group;
        // SAFETY: as in `lines`.
        unsafe {
            let turns = turns.as_ptr().cast::<__m256i>();
            let turns = [0, 1].map(|half| _mm256_loadu_si256(turns.add(half)));
            each(outer, src, stage, &mut |src, stage| {
                let run = read(src, group);
                let run = _mm_set_epi64x((run >> 64) as i64, run as i64);
                let run = _mm256_broadcastsi128_si256(run);
                let wheel = turns.map(|turns| _mm256_shuffle_epi8(run, turns));
                for at in (0..group * copies).step_by(step) {
                    let to = stage.add(at).cast::<__m256i>();
                    _mm256_storeu_si256(to, wheel[0]);
                    _mm256_storeu_si256(to.add(1), wheel[1]);
                }
            });
        }
    }

    let turns = core::array::from_fn(|i| (i % group) as u8);
    // SAFETY: the caller's.
    unsafe {
        match vectors {
            Vectors::Lines => lines(outer, src, stage, group, copies, &turns),
            Vectors::Lanes => lanes(outer, src, stage, group, copies, &turns),
        }
    }
}

/// The 1 to 16 bytes at `src`, by numbers that may overlap.
///
/// # Safety
/// K1 and K4 for them.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn read(src: *const u8, bytes: usize) -> u128 {
    /// Both ends, as far as a number each.
    ///
    /// # Safety
    /// As for [`read`]; there are at least as many bytes as a number has.
    #[inline(always)]
    unsafe fn ends<T: Into<u128>>(src: *const u8, bytes: usize) -> u128 {
        let last = bytes - size_of::<T>();
        // SAFETY: the caller's.
        unsafe {
            let first = src.cast::<T>().read_unaligned();
            let second = src.add(last).cast::<T>().read_unaligned();
            first.into() | second.into() << (8 * last)
        }
    }
    // SAFETY: the caller's.
    unsafe {
        match bytes {
            8.. => ends::<u64>(src, bytes),
            4..8 => ends::<u32>(src, bytes),
            2..4 => ends::<u16>(src, bytes),
            _ => src.read().into(),
        }
    }
}

/// Never called: there are no such vectors here.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn wheels(_: Vectors, _: &[Axis], _: *const u8, _: *mut u8, _: usize, _: usize) {
    unreachable!("only where bytes can be put anywhere");
}

/// Writes each cell along `walk` `copies` times in a row.
unsafe fn spread<C: Cell>(walk: Axis, copies: usize, src: *const u8, stage: *mut u8) {
    const VECTOR: usize = 16;
    let vectors = (copies * C::WIDTH).div_ceil(VECTOR);
    for i in 0..walk.size as isize {
        // SAFETY: `i` is an index of the axis (K1, K4); the last vector spills less than `SLACK` bytes, over
        // what is written next (K3).
        unsafe {
            let value = src.offset(i * walk.src).cast::<C>().read_unaligned();
            let splat = [value; VECTOR];
            let mut to = stage.offset(i * walk.dst);
            // One vector is the common case, and quicker for being known when compiled.
            core::ptr::copy_nonoverlapping(splat.as_ptr().cast::<u8>(), to, VECTOR);
            for _ in 1..vectors {
                to = to.add(VECTOR);
                core::ptr::copy_nonoverlapping(splat.as_ptr().cast::<u8>(), to, VECTOR);
            }
        }
    }
}

/// Repeats the first `group` bytes at `start` until there are `copies` of them.
unsafe fn replicate(start: *mut u8, group: usize, copies: usize) {
    /// Not all of it need be initialised: it is only moved.
    type Pattern = [MaybeUninit<u64>; SLACK / 8];
    let total = group * copies;
    // SAFETY: every write starts below `total` and is at most `SLACK` long (K1, K3); what it carries beyond
    // the periodic part is overwritten by the next, and beyond `total` it is slack.
    unsafe {
        if group > SLACK {
            let mut filled = group;
            while filled < total {
                let more = filled.min(total - filled);
                core::ptr::copy_nonoverlapping(start, start.add(filled), more);
                filled += more;
            }
            return;
        }
        let whole = (SLACK / group).min(copies);
        let read = || start.cast::<Pattern>().read_unaligned();
        let write = |at: usize, p: Pattern| start.add(at).cast::<Pattern>().write_unaligned(p);
        let once = read();
        (1..whole).for_each(|i| write(i * group, once));
        let pattern = read();
        let step = whole * group;
        let mut at = step;
        while at < total {
            write(at, pattern);
            at += step;
        }
    }
}
