//! Brings a copy into its simplest equal form: no axes of size 1, none that could be one with its neighbour,
//! the destination walked upwards with its nearest axis last, and cells as wide as whole runs allow. Every
//! later choice looks at this form only, so `(2, 3, 4)` packed and `24` packed are the same copy.

use smallvec::SmallVec;

/// One axis of a copy. Strides count bytes, so that cells may be widened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    pub(super) size: usize,
    pub(super) src: isize,
    pub(super) dst: isize,
}

/// Axes from the farthest apart in the destination to the nearest.
pub(super) type Axes = SmallVec<[Axis; 8]>;

/// A copy in its simplest form. K1, K3 and K4 hold for it as they held for the blocks it came from; K2 does
/// not, since a wide cell stands for several elements: cells are read and written unaligned.
#[derive(Clone, Debug)]
pub(super) struct Simplest {
    pub(super) axes: Axes,
    pub(super) src: *const u8,
    pub(super) dst: *mut u8,
    /// Bytes in a cell: 1, 2, 4, 8 or 16.
    pub(super) cell: usize,
}

impl Simplest {
    /// Bytes that will be written.
    pub(super) fn bytes(&self) -> usize {
        self.axes
            .iter()
            .fold(self.cell, |bytes, axis| bytes * axis.size)
    }
}

/// The simplest form of a copy, or `None` when there is nothing to copy.
/// Each axis is given with its strides in source and destination, in elements.
pub(super) fn simplest(
    src: *const u8,
    dst: *mut u8,
    width: usize,
    given: impl Iterator<Item = (usize, isize, isize)>,
) -> Option<Simplest> {
    let mut axes = Axes::new();
    let mut from = src;
    let mut to = dst;
    for (size, src, dst) in given {
        if size == 0 {
            return None;
        }
        if size == 1 {
            continue;
        }
        let mut axis = Axis {
            size,
            // Wrapping, since strides of an empty copy may be anything.
            src: src.wrapping_mul(width as isize),
            dst: dst.wrapping_mul(width as isize),
        };
        if axis.dst < 0 {
            // Walk from the other end. The offsets reach index `size - 1`, inside by K1; `wrapping` because
            // a later axis may still be empty, and then nothing need be live.
            let last = (size - 1) as isize;
            from = from.wrapping_offset(axis.src.wrapping_mul(last));
            to = to.wrapping_offset(axis.dst.wrapping_mul(last));
            axis.src = axis.src.wrapping_neg();
            axis.dst = axis.dst.wrapping_neg();
        }
        // Nearly always in order already.
        if axes.last().is_none_or(|other| other.dst >= axis.dst) {
            axes.push(axis);
        } else {
            let before = axes.iter().rposition(|other| other.dst >= axis.dst);
            axes.insert(before.map_or(0, |i| i + 1), axis);
        }
    }
    merge(&mut axes);
    let cell = widen(&mut axes, width);
    Some(Simplest {
        axes,
        src: from,
        dst: to,
        cell,
    })
}

/// Joins neighbours that step as one axis in both source and destination.
fn merge(axes: &mut Axes) {
    let mut kept = 0;
    for i in 1..axes.len() {
        let inner = axes[i];
        let outer = &mut axes[kept];
        let n = inner.size as isize;
        if outer.dst == inner.dst * n && outer.src == inner.src * n {
            *outer = Axis {
                size: outer.size * inner.size,
                ..inner
            };
        } else {
            kept += 1;
            axes[kept] = inner;
        }
    }
    axes.truncate(kept + 1);
}

/// Pairs up the cells of a run that is contiguous on both sides, while they pair up evenly.
fn widen(axes: &mut Axes, width: usize) -> usize {
    let mut cell = width;
    if let Some(run) = axes.last_mut()
        && run.src == cell as isize
        && run.dst == cell as isize
    {
        while cell < 16 && run.size % 2 == 0 {
            run.size /= 2;
            cell *= 2;
        }
        run.src = cell as isize;
        run.dst = cell as isize;
        if run.size == 1 {
            axes.pop();
        }
    }
    cell
}
