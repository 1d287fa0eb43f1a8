//! Rows of a source that is not in the caches, one by one: a row is asked for long before it is moved.

use stridewise_core::DType;

use super::{Pass, Rows};
use crate::kernels::index::Integer;
use crate::kernels::{caches, prefetch};

/// Bytes in a cache line.
const LINE: usize = 64;

/// How many rows are on their way while others are moved.
const AHEAD: usize = 192;

pub(super) fn pass(dtype: DType, bytes: usize) -> Option<Pass> {
    match dtype {
        DType::I32 => at::<i32>(bytes),
        DType::I64 => at::<i64>(bytes),
        _ => None,
    }
}

fn at<I: Integer>(bytes: usize) -> Option<Pass> {
    Some(match bytes {
        1 => rows::<I, u8>,
        2 => rows::<I, u16>,
        3 => rows::<I, [u8; 3]>,
        4 => rows::<I, u32>,
        6 => rows::<I, [u16; 3]>,
        8 => rows::<I, u64>,
        12 => rows::<I, [u32; 3]>,
        16 => rows::<I, [u64; 2]>,
        24 => rows::<I, [u64; 3]>,
        32 => rows::<I, [u64; 4]>,
        _ => return None,
    })
}

/// A row may be of narrower elements, and so less aligned than its type.
///
/// # Safety
/// As [`super::Direct::gather`], for rows of one `W`.
unsafe fn rows<I: Integer, W: Copy>(rows: Rows) -> usize {
    let Rows { count, n, end, .. } = rows;
    let (source, index, dst) = (
        rows.source.cast::<W>(),
        rows.index.cast::<I>(),
        rows.dst.cast::<W>(),
    );
    // SAFETY: the caller's: an index below `count`.
    let cell = |i: usize| unsafe { *index.add(i) }.counted(end);
    // SAFETY: the caller's: a cell below `n`, and its place.
    let row = |i: usize, cell: usize| unsafe {
        dst.add(i)
            .write_unaligned(source.add(cell).read_unaligned());
    };
    let (asked, small) = (count.saturating_sub(AHEAD), caches::nearest_is_small());
    for i in 0..asked {
        if i.is_multiple_of(LINE / size_of::<I>()) {
            prefetch::in_passing(index.wrapping_add(i + 2 * AHEAD).cast(), small);
        }
        let soon = source.wrapping_add(cell(i + AHEAD)).cast::<u8>();
        prefetch::second(soon);
        // Such rows may go on in another line.
        if !size_of::<W>().is_power_of_two() {
            prefetch::second(soon.wrapping_add(size_of::<W>() - 1));
        }
        let cell = cell(i);
        if cell >= n {
            return i;
        }
        row(i, cell);
    }
    for i in asked..count {
        let cell = cell(i);
        if cell >= n {
            return i;
        }
        row(i, cell);
    }
    count
}
