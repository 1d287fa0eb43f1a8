//! How a tensor's axes lie in memory. Every shape in the library passes [`Layout::new`] or
//! [`Layout::view_into`], where products and offsets are checked; nothing behind them can overflow.

use std::ops::Range;

use smallvec::SmallVec;

use crate::axis::Axis;
use crate::error::{Error, Result};
use crate::inline::Inline;
use crate::size::{Size, tuple};

/// The end of a layout that has not been checked: past every storage.
const UNFINISHED: usize = usize::MAX;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    dims: Inline<usize>,
    strides: Inline<isize>,
    offset: usize,
    /// One past the highest cell that is reached; 0 for an empty tensor.
    end: usize,
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
        match Extent::of(width.max(1), &dims, &strides).end(offset, width.max(1)) {
            Some(end) => Ok(Layout {
                dims,
                strides,
                offset: if end == 0 { 0 } else { offset },
                end,
            }),
            None => Err(too_large(width, &dims, &strides)),
        }
    }

    /// A layout to be written by [`view_into`](Self::view_into), which refuses ranks past all reason. Until
    /// then its end is past every storage, so it fits no tensor.
    #[doc(hidden)]
    #[inline]
    pub fn blank(rank: usize) -> Layout {
        let rank = rank.min(MAX_RANK);
        let (dims, strides) = (Inline::zeros(rank), Inline::zeros(rank));
        Layout {
            dims,
            strides,
            offset: 0,
            end: UNFINISHED,
        }
    }

    /// Row-major without gaps. The stride of an axis outside an empty one is counted as if that had size 1.
    pub fn packed(width: usize, dims: &[usize]) -> Result<Layout> {
        let mut strides = Inline::zeros(dims.len());
        let mut next = Some(1usize);
        for (stride, dim) in strides.iter_mut().zip(dims).rev() {
            let Some(n) = next.filter(|n| *n <= isize::MAX as usize) else {
                return Err(too_large(width, dims, &[]));
            };
            *stride = n as isize;
            next = n.checked_mul((*dim).max(1));
        }
        Layout::new(width, dims, strides, 0)
    }

    /// The size of each axis.
    #[inline]
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// The stride of each axis, in elements.
    #[inline]
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// Where index zero lies, in elements from the start of the storage.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// How many axes.
    #[inline]
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// How many elements.
    pub fn count(&self) -> usize {
        self.dims.iter().product()
    }

    /// Whether a size is 0.
    pub fn is_empty(&self) -> bool {
        self.dims.contains(&0)
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
        let low: isize = self.dims.iter().zip(self.strides.iter()).map(back).sum();
        self.offset.wrapping_add_signed(low)..self.end
    }

    /// Whether the elements lie row-major without gaps.
    pub fn is_packed(&self) -> bool {
        if self.is_empty() {
            return true;
        }
        let mut next = 1;
        for (&dim, &stride) in self.dims.iter().zip(self.strides.iter()).rev() {
            if dim != 1 {
                if stride != next {
                    return false;
                }
                next *= dim as isize;
            }
        }
        true
    }

    /// Whether two indices may read the same cell. Exact for axes that nest (every layout a view makes of a
    /// packed tensor does), and on the safe side otherwise.
    pub fn overlaps_itself(&self) -> bool {
        if self.is_empty() {
            return false;
        }
        let mut axes: SmallVec<[(usize, usize); 8]> = self
            .dims
            .iter()
            .zip(self.strides.iter())
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

    /// The stride a run of axes has when read as one, if memory allows that.
    pub fn merged_stride(&self, run: Range<usize>) -> Option<isize> {
        if self.is_empty() {
            return Some(1);
        }
        let mut inner: Option<(isize, isize)> = None;
        for axis in run.rev() {
            let (dim, stride) = (self.dims[axis] as isize, self.strides[axis]);
            if dim == 1 {
                continue;
            }
            inner = match inner {
                None => Some((stride, stride.wrapping_mul(dim))),
                Some((first, next)) if stride == next => Some((first, next.wrapping_mul(dim))),
                Some(_) => return None,
            };
        }
        Some(inner.map_or(1, |(first, _)| first))
    }

    /// The layout of a view; `None` where a merge would need a copy.
    pub fn view(
        &self,
        width: usize,
        rank: usize,
        axes: impl Fn(usize) -> Result<Axis<usize>>,
    ) -> Result<Option<Layout>> {
        let mut view = Layout::blank(rank);
        let is_view = self.view_into(&mut view, width, rank, axes)?;
        Ok(is_view.then_some(view))
    }

    /// Writes the layout of a view into a blank one of its rank: a layout is large, and moving it about costs
    /// more than the arithmetic. `false` where a merge would need a copy.
    #[inline]
    pub fn view_into(
        &self,
        view: &mut Layout,
        width: usize,
        rank: usize,
        axes: impl Fn(usize) -> Result<Axis<usize>>,
    ) -> Result<bool> {
        view.end = UNFINISHED;
        if rank > MAX_RANK {
            return Err(too_many_axes(rank));
        }
        let (old_dims, old_strides) = (self.dims(), self.strides());
        let mut offset = self.offset;
        let (mut bytes, mut seen, mut inside) = (width, 0u64, self.end > 0);
        let (mut splitting, mut spread) = (usize::MAX, 0usize);
        // A stride whose product overflows belongs to an axis of at most one index (or to an empty tensor),
        // where any stride will do.
        let places = view.dims.iter_mut().zip(view.strides.iter_mut());
        for (out, (dim, stride)) in places.enumerate() {
            (*dim, *stride) = match axes(out)? {
                Axis::Of(axis) => {
                    inside &= mark(&mut seen, axis);
                    (old_dims[axis], old_strides[axis])
                }
                Axis::Fresh(size) => (size, 0),
                Axis::Slice {
                    of,
                    start,
                    len,
                    step,
                } => {
                    inside = false;
                    let stride = old_strides[of];
                    if len > 0 && self.end > 0 {
                        offset = offset.wrapping_add_signed(stride.wrapping_mul(start as isize));
                    }
                    (len, stride.wrapping_mul(step))
                }
                Axis::Split { of, len, inner } => {
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
            bytes = bytes.saturating_mul((*dim).max(1));
            inside &= *dim != 0;
        }
        // Axes whole or split, each at most once, and new ones reach nothing that was not reached before.
        let end = match inside && bytes <= isize::MAX as usize {
            true => Some(self.end),
            false => Extent::of(width, &view.dims, &view.strides).end(offset, width),
        };
        match end {
            Some(end) => {
                (view.offset, view.end) = (if end == 0 { 0 } else { offset }, end);
                Ok(true)
            }
            None => Err(too_large(width, &view.dims, &view.strides)),
        }
    }
}

/// Notes that an axis is used; false where it was used before, or is too far out to tell.
#[inline]
fn mark(seen: &mut u64, axis: usize) -> bool {
    let bit = 1u64.checked_shl(axis as u32).unwrap_or(0);
    let first = bit != 0 && *seen & bit == 0;
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
    fn of(width: usize, dims: &[usize], strides: &[isize]) -> Extent {
        let mut extent = Extent {
            bytes: width,
            low: 0,
            high: 0,
            empty: false,
        };
        for (&dim, &stride) in dims.iter().zip(strides) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_that_wrap_are_errors() {
        assert!(Layout::packed(4, &[3, 7, 29, 36_760_123, 823_996_703]).is_err());
        assert!(Layout::packed(1, &[0, isize::MAX as usize, 2]).is_err());
        assert!(Layout::packed(1, &[0, isize::MAX as usize]).is_ok());
        assert!(Layout::packed(2, &[0, isize::MAX as usize]).is_err());
        assert!(Layout::packed(1, &[usize::MAX]).is_err());
    }

    #[test]
    fn offsets_that_leave_the_address_space_are_errors() {
        let new = |dim, stride, offset| Layout::new(8, [dim], [stride], offset);
        assert!(new(2, -1, 0).is_err());
        assert!(new(2, isize::MAX, 0).is_err());
        assert!(new(2, 1, isize::MAX as usize).is_err());
        assert!(new(2, -1, 1).is_ok());
    }

    #[test]
    fn strides_of_empty_shapes_count_the_empty_axis_as_one() {
        assert_eq!(
            Layout::packed(4, &[4, 0, 16]).expect("a layout").strides(),
            [16, 16, 1]
        );
    }

    #[test]
    fn a_layout_knows_whether_it_overlaps_itself() {
        let new = |d: &[usize], s: &[isize]| Layout::new(1, d, s, 50).expect("a layout");
        assert!(!new(&[2, 3], &[3, 1]).overlaps_itself());
        assert!(!new(&[3, 2], &[-1, 3]).overlaps_itself());
        assert!(new(&[3, 2], &[0, 1]).overlaps_itself());
        assert!(new(&[3, 2], &[1, 1]).overlaps_itself());
        assert!(!new(&[1, 2], &[0, 1]).overlaps_itself());
    }
}
