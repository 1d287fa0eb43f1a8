//! Short rows at packed indices: read, checked and moved in one pass, without a strip between.
//! Nothing is decided here: at an index outside it stops, and strips go on.

use stridewise_core::DType;

use crate::kernels::index::Bounds;

mod each;
mod near;

/// Moves rows, and returns how many were moved.
type Pass = unsafe fn(Rows) -> usize;

/// Rows of a source, at `count` indices of `n` cells, on their way to a destination.
#[derive(Clone, Copy)]
struct Rows {
    source: *const u8,
    /// As many words from here on are asked for meanwhile, unless it is null.
    ahead: *const u8,
    index: *const u8,
    count: usize,
    n: usize,
    /// What negatives count from, 0 for those that do not.
    end: usize,
    dst: *mut u8,
}

/// Where a source is, as far as moving short rows of it goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In the caches; or one stretch of it after the other will be.
    Near,
    /// In memory.
    Far,
}

/// The pass for one width and one dtype of indices.
#[derive(Clone, Copy)]
pub(super) struct Direct {
    pass: Pass,
    n: usize,
    end: usize,
}

impl Direct {
    /// For packed rows of so many bytes; `None` if there is nothing better than strips.
    pub(super) fn new(
        dtype: DType,
        n: usize,
        bounds: Bounds,
        bytes: usize,
        place: Place,
    ) -> Option<Direct> {
        let end = match bounds {
            Bounds::Clip => 0,
            _ => n,
        };
        let pass = match place {
            Place::Near => near::pass(dtype, bytes)?,
            Place::Far => each::pass(dtype, bytes)?,
        };
        (n > 0).then_some(Direct { pass, n, end })
    }

    /// Moves the rows at the first indices of `count`, up to one that is outside or the last few, and returns how
    /// many. The words from `ahead` on will be a source soon.
    ///
    /// # Safety
    /// K1, K2, K4 for the source and the packed indices; room for `count` rows at `dst`, under K3.
    #[inline]
    pub(super) unsafe fn gather(
        self,
        source: *const u8,
        ahead: *const u8,
        index: *const u8,
        count: usize,
        dst: *mut u8,
    ) -> usize {
        let Direct { pass, n, end } = self;
        let rows = Rows {
            source,
            ahead,
            index,
            count,
            n,
            end,
            dst,
        };
        // SAFETY: the caller's.
        unsafe { pass(rows) }
    }
}
