//! The plain loops: any axes, any strides, one cell or one run at a time. They are right for small copies,
//! for the blocks that larger copies are cut into, and for destinations with holes.

use super::collapse::{Axes, Axis};
use crate::kernels::lines;
use crate::kernels::width::{Cell, with_cell};

/// Runs at least this long, in bytes, are copied whole; shorter ones cost more to call for than to copy.
const RUN: usize = 32;

/// Cells that are repeated for so many bytes and more are written as whole lines.
const FILL: isize = 256;

/// Calls `body` with the source and destination at every index of `axes`, the last axis fastest.
///
/// # Safety
/// `src` and `dst` reach every index of `axes` inside their allocations (K1).
#[inline(always)]
pub(super) unsafe fn each(
    axes: &[Axis],
    src: *const u8,
    dst: *mut u8,
    body: &mut impl FnMut(*const u8, *mut u8),
) {
    match *axes {
        [] => body(src, dst),
        [axis] => {
            for i in 0..axis.size as isize {
                // SAFETY: `i` is an index of the axis (K1).
                unsafe { body(src.offset(i * axis.src), dst.offset(i * axis.dst)) }
            }
        }
        // SAFETY: passed on unchanged (K1).
        _ => unsafe { each_deep(axes, src, dst, body) },
    }
}

/// [`each`] for two axes and more, kept out of line so that the common case stays small.
unsafe fn each_deep<F: FnMut(*const u8, *mut u8)>(
    axes: &[Axis],
    src: *const u8,
    dst: *mut u8,
    body: &mut F,
) {
    let (axis, rest) = (axes[0], &axes[1..]);
    for i in 0..axis.size as isize {
        // SAFETY: `i` is an index of the first axis and the rest reach from there (K1).
        unsafe {
            let (src, dst) = (src.offset(i * axis.src), dst.offset(i * axis.dst));
            if let [axis] = *rest {
                for i in 0..axis.size as isize {
                    body(src.offset(i * axis.src), dst.offset(i * axis.dst));
                }
            } else {
                each_deep(rest, src, dst, body);
            }
        }
    }
}

/// Copies every cell of `axes`. Meant for what fits the nearest cache: it may walk the longest axis first,
/// wherever it lies.
///
/// # Safety
/// K1, K3 and K4 for `src` and `dst` over `axes`, whose strides are in bytes.
pub(super) unsafe fn copy(axes: &[Axis], src: *const u8, dst: *mut u8, cell: usize) {
    let Some((&last, outer)) = axes.split_last() else {
        // SAFETY: one cell at the start of both (K1, K4).
        return unsafe { with_cell!(cell, C => line::<C>(src, 0, dst, 0, 1)) };
    };
    let contiguous = last.src == cell as isize && last.dst == cell as isize;
    let bytes = last.size * cell;
    if contiguous && (bytes >= RUN || outer.is_empty()) {
        // SAFETY: the last axis is a run of `bytes` on both sides at every index of the others (K1, K3, K4).
        return unsafe {
            if lines::are_worth_it(bytes) {
                each(outer, src, dst, &mut |src, dst| {
                    lines::copy(src, dst, bytes / 64);
                });
            } else {
                each(outer, src, dst, &mut |src, dst| {
                    core::ptr::copy_nonoverlapping(src, dst, bytes);
                });
            }
        };
    }
    // SAFETY: whichever axis is innermost, the same cells are visited (K1, K3, K4).
    unsafe {
        if last.size >= 16 || outer.is_empty() {
            return lines(last, outer, src, dst, cell);
        }
        let (longest, &axis) = axes
            .iter()
            .enumerate()
            .max_by_key(|(_, axis)| axis.size)
            .unwrap_or((axes.len() - 1, &last));
        let mut rest = Axes::from_slice(axes);
        rest.remove(longest);
        lines(axis, &rest, src, dst, cell);
    }
}

/// Copies along `inner` at every index of `outer`.
unsafe fn lines(inner: Axis, outer: &[Axis], src: *const u8, dst: *mut u8, cell: usize) {
    // SAFETY: passed on unchanged (K1, K3, K4).
    unsafe {
        with_cell!(cell, C => each(outer, src, dst, &mut |src, dst| {
            line::<C>(src, inner.src, dst, inner.dst, inner.size);
        }))
    }
}

/// Copies `n` cells along one axis.
#[inline]
unsafe fn line<C: Cell>(src: *const u8, from: isize, dst: *mut u8, to: isize, n: usize) {
    let width = C::WIDTH as isize;
    let n = n as isize;
    // SAFETY: each index below `n` is inside on both sides and initialised (K1, K4), and nothing else sees
    // the destination (K3). A cell may be wider than its element, hence unaligned.
    unsafe {
        let read = |i: isize| src.offset(i * from).cast::<C>().read_unaligned();
        if to == width {
            // Strides known when compiled let these become vector loops.
            let write = |i: isize, value: C| dst.cast::<C>().offset(i).write_unaligned(value);
            if from == 0 {
                let value = read(0);
                if n * width >= FILL && lines::has_vectors() {
                    return lines::fill(dst, value, n as usize);
                }
                (0..n).for_each(|i| write(i, value));
            } else if from == -width {
                (0..n).for_each(|i| write(i, src.cast::<C>().offset(-i).read_unaligned()));
            } else if from == 2 * width {
                (0..n).for_each(|i| write(i, src.cast::<C>().offset(2 * i).read_unaligned()));
            } else {
                (0..n).for_each(|i| write(i, read(i)));
            }
        } else {
            (0..n).for_each(|i| dst.offset(i * to).cast::<C>().write_unaligned(read(i)));
        }
    }
}
