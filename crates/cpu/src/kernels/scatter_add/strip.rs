//! A strip of indices on its way to be added at: those whose cells are this thread's, in order.

use std::mem::MaybeUninit;
use std::ops::Range;

use stridewise_core::DType;

use super::sift::{AT_ONCE, Sift, sift};
use crate::kernels::index::{BadIndex, Bounds, Reader, STRIP};

/// No thread has more cells than this at a time, so that 32 bits tell one from another.
pub(super) const MOST: usize = if cfg!(test) { 10_000 } else { 1 << 32 };

/// What is kept of a strip: cells, counted from the first that may be kept, and where in the strip their
/// indices are.
#[derive(Clone, Copy)]
pub(super) struct Kept<'s> {
    pub(super) cells: &'s [u32],
    pub(super) at: &'s [u16],
}

/// Room for a strip.
pub(super) struct Strip {
    reader: Reader,
    sift: Option<Sift>,
    /// Of indices that are not sifted as they are read.
    resolved: [MaybeUninit<usize>; STRIP],
    cells: [MaybeUninit<u32>; STRIP + AT_ONCE],
    at: [MaybeUninit<u16>; STRIP + AT_ONCE],
}

impl Strip {
    /// For indices into `n` cells.
    pub(super) fn new(dtype: DType, n: usize, bounds: Bounds) -> Strip {
        Strip {
            reader: Reader::new(dtype, n, bounds),
            sift: sift(dtype, n, bounds),
            resolved: [MaybeUninit::uninit(); STRIP],
            cells: [MaybeUninit::uninit(); STRIP + AT_ONCE],
            at: [MaybeUninit::uninit(); STRIP + AT_ONCE],
        }
    }

    /// Reads `count` indices `step` apart, the first `offset` from `start`, and keeps those whose cell lies in
    /// `keep`; what is outside never does. `position` is the flat position of the first, for the error.
    ///
    /// # Safety
    /// K1, K2, K4 for the indices, no more than a strip of them. `keep` holds [`MOST`] cells at most.
    pub(super) unsafe fn read(
        &mut self,
        (start, offset, step): (*const u8, isize, isize),
        position: usize,
        count: usize,
        keep: &Range<usize>,
    ) -> Result<Kept<'_>, BadIndex> {
        let (mut done, mut kept) = (0, 0);
        // SAFETY: the caller's; there is room for a strip and what is written past what is kept.
        let rest = unsafe {
            let from = self.reader.at(start, offset);
            if let Some(sift) = self.sift.filter(|_| step == 1) {
                let whole = count - count % AT_ONCE;
                let (cells, at) = (self.cells.as_mut_ptr(), self.at.as_mut_ptr());
                if let Some(found) = sift.keep(from, whole, keep, cells.cast(), at.cast()) {
                    (done, kept) = (whole, found);
                }
            }
            let from = self.reader.at(from, done as isize * step);
            let resolved = &mut self.resolved[..count - done];
            self.reader.read(from, step, position + done, resolved)?
        };
        // Without a branch, which threads that share a destination would mostly mispredict.
        for (i, cell) in rest.iter().enumerate() {
            let cell = cell.wrapping_sub(keep.start);
            self.cells[kept].write(cell as u32);
            self.at[kept].write((done + i) as u16);
            kept += usize::from(cell < keep.len());
        }
        // SAFETY: the first `kept` were written.
        unsafe {
            Ok(Kept {
                cells: &*(&raw const self.cells[..kept] as *const [u32]),
                at: &*(&raw const self.at[..kept] as *const [u16]),
            })
        }
    }
}
