//! A few rows of a packed source, as most small calls read them: no loops to plan and nothing to share out.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::copy_nonoverlapping;

use stridewise_core::DType;

use crate::kernels::Block;
use crate::kernels::index::{BadIndex, Bounds, Reader};

/// No more indices than this.
const FEW: usize = 32;

/// [`gather`](super::gather) where the source is packed, its first axes are taken and the index is one short
/// row; `None` where that is not so.
///
/// # Safety
/// As for `gather`.
#[inline]
pub(super) unsafe fn gather(
    source: Block,
    run: &Range<usize>,
    index: Block,
    index_dtype: DType,
    width: usize,
    bounds: Bounds,
    dst: *mut u8,
) -> Option<Result<(), BadIndex>> {
    let (count, step) = match (index.sizes, index.strides) {
        ([], _) => (1, 0),
        ([count], [step]) => (*count, *step),
        _ => return None,
    };
    if run.start != 0 || count > FEW || matches!(bounds, Bounds::Fill(_)) {
        return None;
    }
    let (mut packed, mut row) = (1, 1);
    for axis in (0..source.sizes.len()).rev() {
        let size = source.sizes[axis];
        if size == 0 || (size > 1 && source.strides[axis] != packed as isize) {
            return None;
        }
        packed *= size;
        if axis == run.end {
            row = packed;
        }
    }
    let mut cells = [MaybeUninit::uninit(); FEW];
    let reader = Reader::new(index_dtype, packed / row, bounds);
    // SAFETY: K1, K2, K4 for the index: all of it, in one row.
    let cells = match unsafe { reader.read(index.start, step, 0, &mut cells[..count]) } {
        Ok(cells) => cells,
        Err(bad) => return Some(Err(bad)),
    };
    let bytes = row * width;
    for (at, cell) in cells.iter().enumerate() {
        // SAFETY: K1: cells are below their number, and rows lie packed; K3 for the result, row by row.
        unsafe {
            let (from, to) = (source.start.add(cell * bytes), dst.add(at * bytes));
            match bytes {
                4 => copy_nonoverlapping(from, to, 4),
                8 => copy_nonoverlapping(from, to, 8),
                _ => copy_nonoverlapping(from, to, bytes),
            }
        }
    }
    Some(Ok(()))
}
