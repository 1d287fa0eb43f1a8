//! How a tensor's axes lie in memory. Every shape in the library passes [`Layout::new`] or
//! [`Layout::see`], where products and offsets are checked; nothing behind them can overflow.

mod seen;
#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;

use smallvec::SmallVec;

use crate::axis::Axis;
use crate::error::{Error, Result};
use crate::inline::{Inline, NEAR};
use crate::size::{Size, clip, tuple};

#[doc(hidden)]
pub use seen::Seen;

/// There is no cap on ranks that anybody would meet; this one keeps a wrong number from taking all memory.
const MAX_RANK: usize = 1 << 16;

/// Sizes, strides and offset, counted in elements of a fixed width.
///
/// - **L1**: the sizes (zeros left out) multiply to at most `isize::MAX` bytes.
/// - **L2**: unless a size is 0, every index reaches a cell within `0 .. isize::MAX` bytes of the storage's start.
///
/// ```
/// use stridewise_core::layout::Layout;
/// let layout = Layout::packed(4, &[4, 1, 3, 5]).unwrap();
/// assert_eq!(layout.strides(), [15, 15, 5, 1]);
/// ```
#[derive(Clone)]
pub struct Layout {
    rank: usize,
    /// Sizes and strides of a rank that fits here, with zeros behind them. They have one length and one place on the
    /// heap between them: every word of a layout is written for every view.
    dims: [usize; NEAR],
    strides: [isize; NEAR],
    far: Option<Box<Far>>,
    offset: usize,
    /// One past the highest cell that is reached; 0 for an empty tensor.
    end: usize,
}

/// Sizes and strides of a higher rank.
#[derive(Clone)]
struct Far {
    dims: Box<[usize]>,
    strides: Box<[isize]>,
}

impl Layout {
    /// A layout from its parts: checks L1 and L2 for elements of `width` bytes. There are as many strides as sizes.
    #[inline]
    pub fn new(
        width: usize,
        dims: impl Into<Inline<usize>>,
        strides: impl Into<Inline<isize>>,
        offset: usize,
    ) -> Result<Layout> {
        let (dims, strides) = (dims.into(), strides.into());
        if dims.len() != strides.len() {
            return Err(uneven(&dims, &strides));
        }
        let mut view = Seen::new();
        view.make_room(dims.len());
        for (axis, parts) in view.axes_mut().iter_mut().zip(dims.iter().zip(&*strides)) {
            *axis = (*parts.0, *parts.1);
        }
        match Extent::of(width.max(1), view.axes().iter().copied()).end(offset, width.max(1)) {
            Some(end) => {
                (view.offset, view.end) = (if end == 0 { 0 } else { offset }, end);
                Ok(Layout::of(&view))
            }
            None => Err(too_large(width, &dims, &strides)),
        }
    }

    /// Row-major without gaps. The stride of an axis outside an empty one is counted as if that had size 1.
    pub fn packed(width: usize, dims: &[usize]) -> Result<Layout> {
        let mut view = Seen::new();
        Layout::see_packed(&mut view, width, dims)?;
        Ok(Layout::of(&view))
    }

    /// Sees a packed tensor: checks L1, and gives the number of elements.
    #[doc(hidden)]
    #[inline]
    pub fn see_packed(view: &mut Seen, width: usize, dims: &[usize]) -> Result<usize> {
        view.make_room(dims.len());
        let (mut next, mut empty) = (Some(1usize), false);
        for ((dim, stride), &size) in view.axes_mut().iter_mut().zip(dims).rev() {
            let Some(n) = next.filter(|n| *n <= isize::MAX as usize) else {
                return Err(too_large(width, dims, &[]));
            };
            (*dim, *stride) = (size, n as isize);
            next = n.checked_mul(size.max(1));
            empty |= size == 0;
        }
        let bytes = next.and_then(|count| count.checked_mul(width.max(1)));
        match (next, bytes) {
            (Some(count), Some(bytes)) if bytes <= isize::MAX as usize => {
                (view.offset, view.end) = (0, if empty { 0 } else { count });
                Ok(view.end)
            }
            _ => {
                let view = Layout::of(view);
                Err(too_large(width, dims, view.strides()))
            }
        }
    }

    /// The size of each axis.
    #[inline]
    pub fn dims(&self) -> &[usize] {
        match self.dims.get(..self.rank) {
            Some(near) => near,
            None => self.far.as_ref().map_or(&[], |far| &far.dims),
        }
    }

    /// The stride of each axis, in elements.
    #[inline]
    pub fn strides(&self) -> &[isize] {
        match self.strides.get(..self.rank) {
            Some(near) => near,
            None => self.far.as_ref().map_or(&[], |far| &far.strides),
        }
    }

    /// Where index zero lies, in elements from the start of the storage.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// How many axes.
    #[inline]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many elements.
    pub fn count(&self) -> usize {
        self.dims().iter().product()
    }

    /// Whether a size is 0.
    pub fn is_empty(&self) -> bool {
        self.dims().contains(&0)
    }

    /// One past the highest cell that is reached; 0 for an empty tensor.
    #[inline]
    pub fn end(&self) -> usize {
        self.end
    }

    /// The cells that are reached, from the lowest to one past the highest; none for an empty tensor.
    pub fn reach(&self) -> Range<usize> {
        if self.end == 0 {
            return 0..0;
        }
        let back =
            |(&dim, &stride): (&usize, &isize)| (dim as isize - 1).wrapping_mul(stride).min(0);
        let low: isize = self
            .dims()
            .iter()
            .zip(self.strides().iter())
            .map(back)
            .sum();
        self.offset.wrapping_add_signed(low)..self.end
    }

    /// Whether the elements lie row-major without gaps.
    pub fn is_packed(&self) -> bool {
        if self.is_empty() {
            return true;
        }
        let mut next = 1;
        for (&dim, &stride) in self.dims().iter().zip(self.strides().iter()).rev() {
            if dim != 1 {
                if stride != next {
                    return false;
                }
                next *= dim as isize;
            }
        }
        true
    }

    /// Whether there is an axis and an element, and every stride is that of a packed tensor, even where there is
    /// but one index.
    #[inline]
    pub fn is_one_run(&self) -> bool {
        let mut next = 1;
        for (&dim, &stride) in self.dims().iter().zip(self.strides().iter()).rev() {
            if dim == 0 || stride != next {
                return false;
            }
            next *= dim as isize;
        }
        self.rank() > 0
    }

    /// Sees one run under other sizes; `false` where it is no run, or has another number of elements.
    #[doc(hidden)]
    #[inline]
    pub fn see_run(&self, view: &mut Seen, rank: usize, sizes: impl Fn(usize) -> usize) -> bool {
        if rank > MAX_RANK || !self.is_one_run() {
            return false;
        }
        view.make_room(rank);
        let mut count = Some(1usize);
        for (at, (dim, stride)) in view.axes_mut().iter_mut().enumerate().rev() {
            (*dim, *stride) = (sizes(at), count.unwrap_or(1) as isize);
            count = count.and_then(|count| count.checked_mul(*dim));
        }
        (view.offset, view.end) = (self.offset, self.end);
        count == Some(self.count())
    }

    /// Whether two indices may read the same cell. Exact for axes that nest (every layout a view makes of a
    /// packed tensor does), and on the safe side otherwise.
    pub fn overlaps_itself(&self) -> bool {
        if self.is_empty() {
            return false;
        }
        let mut axes: SmallVec<[(usize, usize); 8]> = self
            .dims()
            .iter()
            .zip(self.strides().iter())
            .filter(|(d, _)| **d > 1)
            .map(|(&d, &s)| (s.unsigned_abs(), d))
            .collect();
        axes.sort_unstable();
        let mut extent = 0;
        axes.iter().any(|&(stride, dim)| {
            let clash = stride <= extent;
            extent += stride * (dim - 1);
            clash
        })
    }

    /// The stride a run of axes has when read as one, if memory allows that. Where nobody walks along the run it is the
    /// last axis' own, so that what is packed stays so.
    pub fn merged_stride(&self, run: Range<usize>) -> Option<isize> {
        let last = || {
            run.clone()
                .next_back()
                .map_or(1, |axis| self.strides()[axis])
        };
        if self.is_empty() {
            return Some(last());
        }
        let mut inner: Option<(isize, isize)> = None;
        for axis in run.clone().rev() {
            let (dim, stride) = (self.dims()[axis] as isize, self.strides()[axis]);
            if dim == 1 {
                continue;
            }
            inner = match inner {
                None => Some((stride, stride.wrapping_mul(dim))),
                Some((first, next)) if stride == next => Some((first, next.wrapping_mul(dim))),
                Some(_) => return None,
            };
        }
        Some(inner.map_or_else(last, |(first, _)| first))
    }

    /// The layout of a view; `None` where a merge would need a copy.
    pub fn view(
        &self,
        width: usize,
        rank: usize,
        axes: impl Fn(usize) -> Result<Axis<usize>>,
    ) -> Result<Option<Layout>> {
        let mut view = Seen::new();
        let is_view = self.see(&mut view, width, &[], rank, axes)?;
        Ok(is_view.then(|| Layout::of(&view)))
    }

    /// The layout of what was seen. Always inlined and without a loop, so that it is written number by number
    /// where it stays: a layout is large, and a move of it costs as much as the view.
    #[doc(hidden)]
    #[inline(always)]
    pub fn of(view: &Seen) -> Layout {
        // First, since it may fail: all others would have to be read before and kept meanwhile.
        let far = (view.rank > NEAR).then(|| far(view));
        let [a, b, c, d, e, f, g, h] = &view.near;
        Layout {
            rank: view.rank,
            dims: [a.0, b.0, c.0, d.0, e.0, f.0, g.0, h.0],
            strides: [a.1, b.1, c.1, d.1, e.1, f.1, g.1, h.1],
            far,
            offset: view.offset,
            end: view.end,
        }
    }

    /// Sees the tensor at single indices of some axes through a map of the others, and checks L1 and L2; `width` is the one
    /// that the layout was made for. `false` where a merge would need a copy; what was seen then means nothing, and no more
    /// does it after an error.
    #[doc(hidden)]
    #[inline]
    pub fn see(
        &self,
        view: &mut Seen,
        width: usize,
        at: &[(usize, usize)],
        rank: usize,
        axes: impl Fn(usize) -> Result<Axis<usize>>,
    ) -> Result<bool> {
        if rank > MAX_RANK {
            return Err(too_many_axes(rank));
        }
        view.make_room(rank);
        let old_dims = self.dims();
        let old_strides = &self.strides()[..old_dims.len()];
        let mut offset = self.offset;
        // Whether nothing is reached that was not reached before, and whether all of it may still be reached.
        let (mut inside, mut whole) = (self.end > 0, at.is_empty());
        let (mut grows, mut seen) = (false, 0u64);
        for &(axis, index) in at.iter().filter(|_| self.end > 0) {
            inside &= mark(&mut seen, axis) && index < old_dims[axis];
            offset = offset.wrapping_add_signed(old_strides[axis].wrapping_mul(index as isize));
        }
        let (mut splitting, mut spread) = (usize::MAX, 0usize);
        // A stride whose product overflows belongs to an axis of at most one index (or to an empty tensor),
        // where any stride will do.
        for (out, (dim, stride)) in view.axes_mut().iter_mut().enumerate() {
            (*dim, *stride) = match axes(out)? {
                Axis::Of(axis) => {
                    inside &= mark(&mut seen, axis);
                    (old_dims[axis], old_strides[axis])
                }
                Axis::Fresh(size) => {
                    grows |= size != 1;
                    (size, 0)
                }
                Axis::Slice {
                    of,
                    start,
                    len,
                    step,
                } => {
                    inside &= mark(&mut seen, of) && is_part(start, len, step, old_dims[of]);
                    whole &= len == old_dims[of];
                    let stride = old_strides[of];
                    if len > 0 && self.end > 0 {
                        offset = offset.wrapping_add_signed(stride.wrapping_mul(start as isize));
                    }
                    (len, stride.wrapping_mul(taken(step, len, old_dims[of])))
                }
                Axis::Split { of, len, inner } => {
                    grows = true;
                    if of != splitting {
                        (splitting, spread) = (of, 0);
                        inside &= mark(&mut seen, of);
                    }
                    spread = len
                        .saturating_sub(1)
                        .saturating_mul(inner)
                        .saturating_add(spread);
                    inside &= spread < old_dims[of];
                    (len, old_strides[of].wrapping_mul(inner as isize))
                }
                Axis::Stretch { of, len } => match old_dims[of] {
                    1 => {
                        grows = true;
                        (len, 0)
                    }
                    size if size == len => {
                        inside &= mark(&mut seen, of);
                        (len, old_strides[of])
                    }
                    size => return Err(cannot_stretch(of, size, len)),
                },
                Axis::Range {
                    of,
                    start,
                    stop,
                    step,
                } => {
                    let (start, len) = clip(old_dims[of], start, stop, step);
                    inside &= mark(&mut seen, of) && len > 0;
                    whole &= len == old_dims[of];
                    let stride = old_strides[of];
                    if len > 0 && self.end > 0 {
                        offset = offset.wrapping_add_signed(stride.wrapping_mul(start as isize));
                    }
                    (len, stride.wrapping_mul(taken(step, len, old_dims[of])))
                }
                Axis::Merge(run) => {
                    inside = false;
                    let Some(stride) = self.merged_stride(run.clone()) else {
                        return Ok(false);
                    };
                    let size = usize::product(&old_dims[run]);
                    (
                        size.ok_or_else(|| too_large(width, old_dims, old_strides))?,
                        stride,
                    )
                }
            };
        }
        // Axes in another order or in part are no more elements than there were; those that an axis is split into may be.
        inside &= !grows || view.is_countable(width);
        // Axes whole, split or in part, each at most once, and new ones reach nothing that was not reached before: what
        // is added up then is part of a sum that has been checked.
        let end = match (inside, whole) {
            (true, true) => Some(self.end),
            (true, false) => {
                let far = |&(dim, stride): &(usize, isize)| (dim as isize - 1).wrapping_mul(stride);
                let high = view.axes().iter().map(|axis| far(axis).max(0));
                Some(high.fold(offset + 1, |end, far| end.wrapping_add_signed(far)))
            }
            (false, _) => Extent::of(width, view.axes().iter().copied()).end(offset, width),
        };
        match end {
            Some(end) => {
                (view.offset, view.end) = (if end == 0 { 0 } else { offset }, end);
                Ok(true)
            }
            None => {
                let view = Layout::of(view);
                Err(too_large(width, view.dims(), view.strides()))
            }
        }
    }
}

#[cold]
fn far(view: &Seen) -> Box<Far> {
    let (dims, strides): (Vec<usize>, Vec<isize>) = view.axes().iter().copied().unzip();
    Box::new(Far {
        dims: dims.into(),
        strides: strides.into(),
    })
}

impl PartialEq for Layout {
    fn eq(&self, other: &Layout) -> bool {
        self.dims() == other.dims()
            && self.strides() == other.strides()
            && (self.offset, self.end) == (other.offset, other.end)
    }
}

impl Eq for Layout {}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layout")
            .field("dims", &self.dims())
            .field("strides", &self.strides())
            .field("offset", &self.offset)
            .field("end", &self.end)
            .finish()
    }
}

/// Notes that an axis is used; false where it was used before. Axes 64 apart count as the same one: where both are used,
/// how far a view reaches is added up anew, as for one that is used twice.
#[inline]
fn mark(seen: &mut u64, axis: usize) -> bool {
    let bit = 1u64.wrapping_shl(axis as u32);
    let first = *seen & bit == 0;
    *seen |= bit;
    first
}

/// How far a layout reaches, axis by axis. Saturating arithmetic carries every overflow to the end, where it
/// fails the bounds.
struct Extent {
    bytes: usize,
    low: isize,
    high: isize,
    empty: bool,
}

impl Extent {
    #[inline]
    fn of(width: usize, axes: impl Iterator<Item = (usize, isize)>) -> Extent {
        let mut extent = Extent {
            bytes: width,
            low: 0,
            high: 0,
            empty: false,
        };
        for (dim, stride) in axes {
            extent.grow(dim, stride);
        }
        extent
    }

    #[inline]
    fn grow(&mut self, dim: usize, stride: isize) {
        if dim == 0 {
            self.empty = true;
            return;
        }
        self.bytes = self.bytes.saturating_mul(dim);
        // A size past isize makes too many bytes, whatever comes of it here.
        let far = (dim as isize).wrapping_sub(1).saturating_mul(stride);
        self.low = self.low.saturating_add(far.min(0));
        self.high = self.high.saturating_add(far.max(0));
    }

    /// One past the highest cell for index zero at `offset`; `None` where L1 or L2 fails.
    #[inline]
    fn end(&self, offset: usize, width: usize) -> Option<usize> {
        if self.bytes > isize::MAX as usize {
            return None;
        }
        if self.empty {
            return Some(0);
        }
        let offset = isize::try_from(offset).ok()?;
        let high = offset.saturating_add(self.high);
        let reaches = offset.saturating_add(self.low) >= 0 && high < isize::MAX / width as isize;
        reaches.then_some(high as usize + 1)
    }
}

/// Whether a slice has an index, none outside the axis and none twice.
#[inline]
fn is_part(start: usize, len: usize, step: isize, size: usize) -> bool {
    let last = len.wrapping_sub(1).checked_mul(step.unsigned_abs());
    let room = if step < 0 {
        start
    } else {
        size.wrapping_sub(start).wrapping_sub(1)
    };
    step != 0 && start < size && last.is_some_and(|last| last <= room)
}

/// A step along an axis, shortened to its size where it is never taken: its stride might not fit an `isize` once it
/// counts bytes.
#[inline]
fn taken(step: isize, len: usize, size: usize) -> isize {
    if len > 1 {
        return step;
    }
    let reach = isize::try_from(size).unwrap_or(isize::MAX).max(1);
    step.clamp(-reach, reach)
}

#[cold]
fn cannot_stretch(axis: usize, size: usize, len: usize) -> Error {
    let message = format!("axis {axis} has size {size}, which cannot be read as {len}");
    Error::shape(message).at_axis(axis).sizes(size, len)
}

#[cold]
fn uneven(dims: &[usize], strides: &[isize]) -> Error {
    Error::shape("there must be a stride for every size")
        .sizes(dims.len(), strides.len())
        .note("shape", tuple(dims))
        .note("strides", tuple(strides))
}

#[cold]
fn too_many_axes(rank: usize) -> Error {
    Error::overflow(format!("{rank} axes are too many")).sizes(format!("at most {MAX_RANK}"), rank)
}

#[cold]
fn too_large(width: usize, dims: &[usize], strides: &[isize]) -> Error {
    let error = Error::overflow("the shape needs more bytes than any machine can address")
        .note("shape", tuple(dims))
        .note("bytes per element", width);
    let bytes = usize::product(dims).and_then(|count| count.times(&width));
    // Strides matter only where the elements themselves would fit.
    if bytes.is_some() {
        error.note("strides", tuple(strides))
    } else {
        error
    }
}
