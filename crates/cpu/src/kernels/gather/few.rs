//! A few rows of a packed source, as most small calls read them: no loops to plan and nothing to share out.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::copy_nonoverlapping;

use stridewise_core::DType;

use crate::kernels::Block;
use crate::kernels::index::{BadIndex, Bounds, Reader};

/// No more indices than this.
const FEW: usize = 32;
/// No more bytes than this: more are better read by several threads.
const BYTES: usize = 64 << 10;
/// No more rows than this for each index: more are better read by loops made for it.
const OUTERS: usize = 32;

/// [`gather`](super::gather) where the source is packed and the index is one short row; `None` where that is not so,
/// or there is much to read.
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
    if count > FEW || matches!(bounds, Bounds::Fill(_)) {
        return None;
    }
    // Rows within cells within outer positions. Products, since a division takes longer than all the rest.
    let (mut packed, mut row, mut n, mut outers) = (1, 1, 1, 1);
    for axis in (0..source.sizes.len()).rev() {
        let size = source.sizes[axis];
        if size == 0 || (size > 1 && source.strides[axis] != packed as isize) {
            return None;
        }
        packed *= size;
        match axis {
            _ if axis >= run.end => row *= size,
            _ if axis >= run.start => n *= size,
            _ => outers *= size,
        }
    }
    let bytes = row * width;
    if outers > OUTERS || outers * count * bytes > BYTES {
        return None;
    }
    let mut cells = [MaybeUninit::uninit(); FEW];
    let reader = Reader::new(index_dtype, n, bounds);
    // SAFETY: K1, K2, K4 for the index: all of it, in one row.
    let cells = match unsafe { reader.read(index.start, step, 0, &mut cells[..count]) } {
        Ok(cells) => cells,
        Err(bad) => return Some(Err(bad)),
    };
    let rows = Rows {
        cells,
        block: n * bytes,
        outers,
        source: source.start,
        dst,
    };
    // SAFETY: K1: cells are below their number, and rows lie packed; K3 for the result, row by row.
    unsafe {
        match bytes {
            1 => rows.read(1),
            2 => rows.read(2),
            4 => rows.read(4),
            8 => rows.read(8),
            _ => rows.read(bytes),
        }
    }
    Some(Ok(()))
}

/// Rows of a packed source, to be read one after another.
struct Rows<'c> {
    cells: &'c [usize],
    /// Bytes from one outer position to the next.
    block: usize,
    outers: usize,
    source: *const u8,
    dst: *mut u8,
}

impl Rows<'_> {
    /// Copies rows of so many bytes; always inlined, so that a number known when compiled is a move.
    ///
    /// # Safety
    /// K1, K3 and K4 for the rows.
    #[inline(always)]
    unsafe fn read(&self, bytes: usize) {
        let mut to = self.dst;
        for outer in 0..self.outers {
            // SAFETY: the caller's.
            unsafe {
                let source = self.source.add(outer * self.block);
                for cell in self.cells {
                    copy_nonoverlapping(source.add(cell * bytes), to, bytes);
                    to = to.add(bytes);
                }
            }
        }
    }
}
