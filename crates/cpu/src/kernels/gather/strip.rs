//! A strip of indices on its way to be moved: the cells they stand for, then where in the source those lie.

use std::mem::MaybeUninit;

use crate::kernels::index::{OUTSIDE, STRIP};

/// Cells of a strip of indices, or the byte offsets they stand for.
pub(super) struct Strip([MaybeUninit<usize>; STRIP]);

impl Strip {
    pub(super) fn new() -> Strip {
        Strip([MaybeUninit::uninit(); STRIP])
    }

    /// Room for cells `first` and on.
    pub(super) fn cells(&mut self, first: usize, count: usize) -> &mut [MaybeUninit<usize>] {
        &mut self.0[first..first + count]
    }

    /// The first `count` cells, to be read at a fixed stride in bytes.
    ///
    /// # Safety
    /// They were written.
    pub(super) unsafe fn at_stride(&self, count: usize, stride: isize) -> Offsets<'_> {
        let cells = &self.0[..count];
        // SAFETY: the caller's.
        let cells = unsafe { &*(&raw const *cells as *const [usize]) };
        Offsets { cells, stride }
    }

    /// Replaces the first `count` cells by byte offsets, given their number; they are read at stride 1.
    ///
    /// # Safety
    /// They were written.
    #[inline]
    pub(super) unsafe fn place(&mut self, count: usize, offset: impl Fn(usize, usize) -> isize) {
        for (i, slot) in self.0[..count].iter_mut().enumerate() {
            // SAFETY: the caller's.
            let cell = unsafe { slot.assume_init() };
            slot.write(if cell == OUTSIDE {
                OUTSIDE
            } else {
                offset(i, cell) as usize
            });
        }
    }
}

/// Where rows start, in bytes from the source: each cell times the stride, unless it is outside.
#[derive(Clone, Copy)]
pub(super) struct Offsets<'s> {
    pub(super) cells: &'s [usize],
    pub(super) stride: isize,
}

impl Offsets<'_> {
    pub(super) const NONE: Offsets<'static> = Offsets {
        cells: &[],
        stride: 0,
    };

    /// Whether nothing is outside. Offsets to the left of the source look as if they were; nobody is hurt.
    #[inline]
    pub(super) fn all_inside(self) -> bool {
        self.cells.iter().fold(0, |all, cell| all | cell) as isize >= 0
    }

    /// Where the row of a cell starts.
    #[inline(always)]
    pub(super) fn from(self, source: *const u8, cell: usize) -> *const u8 {
        source.wrapping_offset((cell as isize).wrapping_mul(self.stride))
    }
}
