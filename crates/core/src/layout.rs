//! How a tensor's axes lie in memory. Every shape in the library passes [`Layout::new`], the one place where
//! products and offsets are checked; nothing behind it can overflow.

use std::ops::Range;

use smallvec::SmallVec;

use crate::axis::Axis;
use crate::error::{Error, Result};
use crate::size::{Shape, Size, tuple};

/// The stride of each axis, in elements; on the heap only past rank 8.
pub type Strides = SmallVec<[isize; 8]>;

/// Sizes, strides and offset, counted in elements of a fixed width.
///
/// - **L1**: the sizes (zeros left out) multiply to at most `isize::MAX` bytes.
/// - **L2**: unless a size is 0, every index reaches a cell within `0 ..= isize::MAX` bytes of the storage's start.
///
/// ```
/// use stridewise_core::layout::Layout;
/// let layout = Layout::packed(4, &[4, 1, 3, 5]).unwrap();
/// assert_eq!(layout.strides(), [15, 15, 5, 1]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    dims: Shape,
    strides: Strides,
    offset: usize,
}

impl Layout {
    /// The one constructor: checks L1 and L2 for elements of `width` bytes.
    #[inline]
    pub fn new(width: usize, dims: Shape, strides: Strides, offset: usize) -> Result<Layout> {
        debug_assert_eq!(dims.len(), strides.len());
        let mut bytes = Some(width);
        let mut empty = false;
        let mut low = Some(offset as i128);
        let mut high = Some(offset as i128);
        for (&dim, &stride) in dims.iter().zip(&strides) {
            if dim == 0 {
                empty = true;
                continue;
            }
            bytes = bytes.and_then(|b| b.checked_mul(dim));
            // A product of two 64-bit numbers fits 128 bits; eight or more of them could still pass it.
            let far = (dim as i128 - 1) * stride as i128;
            let end = if far < 0 { &mut low } else { &mut high };
            *end = end.and_then(|e| e.checked_add(far));
        }
        let limit = isize::MAX as i128;
        if bytes.is_none_or(|b| b > isize::MAX as usize) {
            return Err(too_large(width, &dims));
        }
        let reach = low.is_some_and(|l| l >= 0) && high.is_some_and(|h| h < limit / width as i128);
        if !(empty || reach) {
            return Err(too_large(width, &dims).note("strides", tuple(&strides)));
        }
        Ok(Layout {
            dims,
            strides,
            offset,
        })
    }

    /// Row-major without gaps. The stride of an axis outside an empty one is counted as if that had size 1.
    pub fn packed(width: usize, dims: &[usize]) -> Result<Layout> {
        let mut strides: Strides = SmallVec::from_elem(0, dims.len());
        let mut next = Some(1usize);
        for (stride, dim) in strides.iter_mut().zip(dims).rev() {
            let Some(n) = next.filter(|n| *n <= isize::MAX as usize) else {
                return Err(too_large(width, dims));
            };
            *stride = n as isize;
            next = n.checked_mul((*dim).max(1));
        }
        Layout::new(width, Shape::from_slice(dims), strides, 0)
    }

    /// The size of each axis.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// The stride of each axis, in elements.
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// Where index zero lies, in elements from the start of the storage.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// How many axes.
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

    /// The cells that are reached, from the lowest to one past the highest; empty for an empty tensor.
    #[inline]
    pub fn reach(&self) -> Range<usize> {
        let (mut low, mut high) = (self.offset as isize, self.offset as isize + 1);
        for (&dim, &stride) in self.dims.iter().zip(&self.strides) {
            if dim == 0 {
                return 0..0;
            }
            let far = (dim as isize - 1).wrapping_mul(stride);
            if far < 0 { low += far } else { high += far }
        }
        low as usize..high as usize
    }

    /// Whether the elements lie row-major without gaps.
    pub fn is_packed(&self) -> bool {
        if self.is_empty() {
            return true;
        }
        let mut next = 1;
        for (&dim, &stride) in self.dims.iter().zip(&self.strides).rev() {
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
        let mut axes: SmallVec<[(usize, usize); 8]> = (self.dims.iter().zip(&self.strides))
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
    #[inline]
    pub fn view(
        &self,
        width: usize,
        rank: usize,
        axes: impl Fn(usize) -> Axis<usize>,
    ) -> Result<Option<Layout>> {
        let mut dims = Shape::new();
        let mut strides = Strides::new();
        let mut offset = self.offset;
        // A stride whose product overflows belongs to an axis of at most one index (or to an empty tensor),
        // where any stride will do.
        for out in 0..rank {
            let (dim, stride) = match axes(out) {
                Axis::Of(axis) => (self.dims[axis], self.strides[axis]),
                Axis::Fresh(size) => (size, 0),
                Axis::Slice {
                    of,
                    start,
                    len,
                    step,
                } => {
                    let stride = self.strides[of];
                    if len > 0 && !self.is_empty() {
                        offset = offset.wrapping_add_signed(stride.wrapping_mul(start as isize));
                    }
                    (len, stride.checked_mul(step).unwrap_or(0))
                }
                Axis::Split { of, len, inner } => {
                    let stride = self.strides[of].checked_mul(inner as isize);
                    (len, stride.unwrap_or(0))
                }
                Axis::Merge(run) => {
                    let Some(stride) = self.merged_stride(run.clone()) else {
                        return Ok(None);
                    };
                    let size = usize::product(&self.dims[run]);
                    (size.ok_or_else(|| too_large(width, &self.dims))?, stride)
                }
            };
            dims.push(dim);
            strides.push(stride);
        }
        Layout::new(width, dims, strides, offset).map(Some)
    }
}

#[cold]
fn too_large(width: usize, dims: &[usize]) -> Error {
    Error::overflow("the shape needs more bytes than any machine can address")
        .note("shape", tuple(dims))
        .note("bytes per element", width)
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

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
        let new = |dim, stride, offset| Layout::new(8, smallvec![dim], smallvec![stride], offset);
        assert!(new(2, -1, 0).is_err());
        assert!(new(2, isize::MAX, 0).is_err());
        assert!(new(2, 1, isize::MAX as usize).is_err());
        assert!(new(2, -1, 1).is_ok());
    }

    #[test]
    fn strides_of_empty_shapes_count_the_empty_axis_as_one() {
        assert_eq!(
            Layout::packed(4, &[4, 0, 16]).unwrap().strides(),
            [16, 16, 1]
        );
    }

    #[test]
    fn a_layout_knows_whether_it_overlaps_itself() {
        let new = |d: &[usize], s: &[isize]| Layout::new(1, d.into(), s.into(), 50).unwrap();
        assert!(!new(&[2, 3], &[3, 1]).overlaps_itself());
        assert!(!new(&[3, 2], &[-1, 3]).overlaps_itself());
        assert!(new(&[3, 2], &[0, 1]).overlaps_itself());
        assert!(new(&[3, 2], &[1, 1]).overlaps_itself());
        assert!(!new(&[1, 2], &[0, 1]).overlaps_itself());
    }
}
