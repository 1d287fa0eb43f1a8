//! A small copy of few axes, as most small calls make them: no form to bring it into and no plan, but loops over axes
//! that are merged while they are read.

use super::SMALL;
use crate::kernels::width::{Cell, with_cell};

/// No more axes than this, once merged.
const AXES: usize = 4;

/// A copy of at most [`SMALL`] bytes. The axes are innermost first and their strides count bytes; those that are not there
/// have size 1.
pub(super) struct Few {
    axes: [Axis; AXES],
    bytes: usize,
    width: usize,
}

#[derive(Clone, Copy)]
struct Axis {
    size: usize,
    src: isize,
    dst: isize,
}

impl Few {
    /// The copy over the given axes, innermost first, each with its size and its strides in source and destination, in
    /// elements; `None` where it is larger, or has more axes.
    #[inline]
    pub(super) fn of(
        width: usize,
        axes: impl Iterator<Item = (usize, isize, isize)>,
    ) -> Option<Few> {
        let one = Axis {
            size: 1,
            src: 0,
            dst: 0,
        };
        let mut few = Few {
            axes: [one; AXES],
            bytes: width,
            width,
        };
        let mut count = 0;
        for (size, src, dst) in axes {
            if size == 1 {
                continue;
            }
            few.bytes *= size;
            if few.bytes > SMALL {
                return None;
            }
            // Wrapping, since strides of an empty copy may be anything.
            let bytes = |stride: isize| stride.wrapping_mul(width as isize);
            let (src, dst) = (bytes(src), bytes(dst));
            if let Some(inner) = few.axes[..count].last_mut() {
                let n = inner.size as isize;
                if src == inner.src.wrapping_mul(n) && dst == inner.dst.wrapping_mul(n) {
                    inner.size *= size;
                    continue;
                }
            }
            *few.axes.get_mut(count)? = Axis { size, src, dst };
            count += 1;
        }
        Some(few)
    }

    /// Copies every element.
    ///
    /// # Safety
    /// K1 and K4 for `src`, K1 and K3 for `dst`, over the axes.
    #[inline]
    pub(super) unsafe fn copy(&self, src: *const u8, dst: *mut u8) {
        let (inner, bytes) = (self.axes[0], self.axes[0].size * self.width);
        let step = self.width as isize;
        // SAFETY: a row reaches the indices of the innermost axis, which is a run on both sides where it is copied as one
        // (K1, K3, K4).
        unsafe {
            if self.bytes == 0 {
                return;
            }
            if (inner.src, inner.dst) == (step, step) {
                if self.bytes == bytes {
                    return core::ptr::copy_nonoverlapping(src, dst, bytes);
                }
                match bytes {
                    8 => self.rows(src, dst, |src, dst| one::<u64>(src, dst)),
                    16 => self.rows(src, dst, |src, dst| one::<[u64; 2]>(src, dst)),
                    32 => self.rows(src, dst, |src, dst| one::<[u64; 4]>(src, dst)),
                    _ => self.rows(src, dst, |src, dst| {
                        core::ptr::copy_nonoverlapping(src, dst, bytes);
                    }),
                }
            } else {
                with_cell!(self.width, C => self.rows(src, dst, |src, dst| {
                    line::<C>(inner, src, dst);
                }));
            }
        }
    }

    /// Calls `row` at every index of the outer axes.
    #[inline(always)]
    fn rows(&self, src: *const u8, dst: *mut u8, row: impl Fn(*const u8, *mut u8)) {
        let [_, a, b, c] = self.axes;
        each(c, src, dst, |src, dst| {
            each(b, src, dst, |src, dst| each(a, src, dst, &row));
        });
    }
}

/// Calls `body` at every index of an axis. The last step is past the end, and is not taken.
#[inline(always)]
fn each(axis: Axis, mut src: *const u8, mut dst: *mut u8, body: impl Fn(*const u8, *mut u8)) {
    for _ in 0..axis.size {
        body(src, dst);
        src = src.wrapping_offset(axis.src);
        dst = dst.wrapping_offset(axis.dst);
    }
}

/// Moves what is as wide as `C`.
///
/// # Safety
/// K1, K3, K4 for so many bytes, which need not be aligned.
#[inline(always)]
unsafe fn one<C: Copy>(src: *const u8, dst: *mut u8) {
    // SAFETY: the caller's.
    unsafe {
        dst.cast::<C>()
            .write_unaligned(src.cast::<C>().read_unaligned())
    }
}

/// Copies the cells along one axis.
///
/// # Safety
/// K1, K3, K4 over the axis.
#[inline(always)]
unsafe fn line<C: Cell>(axis: Axis, src: *const u8, dst: *mut u8) {
    // SAFETY: an index of the axis (K1, K3, K4).
    each(axis, src, dst, |src, dst| unsafe { one::<C>(src, dst) });
}
