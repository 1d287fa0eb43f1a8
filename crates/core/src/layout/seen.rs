//! What a view will be, before its layout is written: a layout is large, so that it is written once, where it
//! stays, when all checks are done.

use crate::inline::NEAR;

/// What an axis map makes of a layout, in a form that is quick to write and to read back.
///
/// The offset and the end are written one by one, and lie apart lest they are read as a pair: that would have to wait for
/// both writes.
#[doc(hidden)]
#[repr(C)]
pub struct Seen {
    pub(super) offset: usize,
    pub(super) rank: usize,
    pub(super) near: [(usize, isize); NEAR],
    far: Vec<(usize, isize)>,
    pub(super) end: usize,
}

impl Seen {
    /// Nothing yet.
    #[inline]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Seen {
        Seen {
            rank: 0,
            near: [(0, 0); NEAR],
            far: Vec::new(),
            offset: 0,
            end: 0,
        }
    }

    /// One past the highest cell that is reached.
    #[inline]
    pub fn end(&self) -> usize {
        self.end
    }

    /// Where index zero lies.
    #[inline]
    pub fn offset(&self) -> usize {
        self.offset
    }

    #[inline]
    pub(super) fn make_room(&mut self, rank: usize) {
        self.rank = rank;
        if rank > NEAR {
            self.far.resize(rank, (0, 0));
        }
    }

    /// The size and stride of each axis.
    #[inline]
    pub fn axes(&self) -> &[(usize, isize)] {
        self.near.get(..self.rank).unwrap_or(&self.far)
    }

    #[inline]
    pub(super) fn axes_mut(&mut self) -> &mut [(usize, isize)] {
        self.near.get_mut(..self.rank).unwrap_or(&mut self.far)
    }

    /// Whether there is an element, and their bytes can be counted.
    #[inline]
    pub(super) fn is_countable(&self, width: usize) -> bool {
        let (mut bytes, mut overflow) = (width, false);
        for (dim, _) in self.axes() {
            let (product, over) = bytes.overflowing_mul(*dim);
            (bytes, overflow) = (product, overflow | over);
        }
        !overflow && bytes.wrapping_sub(1) < isize::MAX as usize
    }
}
