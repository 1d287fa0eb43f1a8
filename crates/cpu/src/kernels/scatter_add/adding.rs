//! Adding updates at the cells of a strip, one after another.

use super::strip::Kept;
use crate::element::Number;
use crate::kernels::loops::AHEAD;
use crate::kernels::prefetch;

/// So many cells at the start of a strip tell whether nearly all are the same as the one before.
const SAID: usize = 32;

/// The destination with its steps from one index to the next and from one cell to the next, what is kept of a
/// strip, whether the destination is larger than the caches, the updates and their step.
pub(super) type AddCells = unsafe fn(*mut u8, [isize; 2], Kept, bool, *const u8, isize);

/// # Safety
/// K1 to K4 for the cells that are kept, and an update for each index.
pub(super) unsafe fn add_cells<T: Number>(
    dst: *mut u8,
    steps: [isize; 2],
    kept: Kept,
    far: bool,
    updates: *const u8,
    step: isize,
) {
    let (dst, updates) = (dst.cast::<T>(), updates.cast::<T>());
    let strided = |i: u16| updates.wrapping_offset(i as isize * step);
    let packed = |i: u16| updates.wrapping_add(usize::from(i));
    // SAFETY: the caller's.
    unsafe {
        match (steps, step) {
            ([0, 1], _) if is_runs(kept.cells) => add_runs(dst, kept, strided),
            // Spelled out, so that addresses take no products.
            ([0, 1], 1) => {
                let place = |cell: u32, _| dst.wrapping_add(cell as usize);
                add_each(place, kept, far, packed);
            }
            ([along, stride], _) => {
                let place = |cell: u32, i: u16| {
                    dst.wrapping_offset(i as isize * along + cell as isize * stride)
                };
                add_each(place, kept, far, strided);
            }
        }
    }
}

/// # Safety
/// K1 to K4 for where the cells are placed, and an update for each index.
#[inline(always)]
unsafe fn add_each<T: Number>(
    place: impl Fn(u32, u16) -> *mut T,
    Kept { cells, at }: Kept,
    far: bool,
    update: impl Fn(u16) -> *const T,
) {
    let at = &at[..cells.len()];
    let add = |k: usize| {
        let (cell, i) = (cells[k], at[k]);
        // SAFETY: the caller's.
        unsafe {
            let to = place(cell, i);
            *to = plus(*to, *update(i));
        }
    };
    let asked = match far {
        true => cells.len().saturating_sub(AHEAD),
        false => 0,
    };
    for k in 0..asked {
        prefetch::nearest(place(cells[k + AHEAD], at[k + AHEAD]).cast());
        add(k);
    }
    (asked..cells.len()).for_each(add);
}

/// Whether nearly all cells are the same as the one before, as in an index that is sorted.
fn is_runs(cells: &[u32]) -> bool {
    let said = &cells[..cells.len().min(SAID)];
    let same = said.windows(2).filter(|pair| pair[0] == pair[1]).count();
    4 * same > 3 * said.len()
}

/// Adds with the cell in a register until another is due: memory would hand it on far more slowly.
///
/// # Safety
/// K1 to K4 for the cells that are kept, and an update for each index.
#[inline(always)]
unsafe fn add_runs<T: Number>(
    dst: *mut T,
    Kept { cells, at }: Kept,
    update: impl Fn(u16) -> *const T,
) {
    let Some(&first) = cells.first() else { return };
    // SAFETY: the caller's.
    unsafe {
        let mut to = dst.add(first as usize);
        let mut sum = *to;
        for (&cell, &i) in cells.iter().zip(at) {
            let here = dst.add(cell as usize);
            if here != to {
                *to = sum;
                to = here;
                sum = *to;
            }
            sum = plus(sum, *update(i));
        }
        *to = sum;
    }
}

/// Packed destination, the updates and their step, the length.
pub(super) type AddSpan = unsafe fn(*mut u8, *const u8, isize, usize);

/// # Safety
/// K1 to K4 for `len` elements and updates.
pub(super) unsafe fn add_span<T: Number>(
    dst: *mut u8,
    updates: *const u8,
    step: isize,
    len: usize,
) {
    let (dst, updates) = (dst.cast::<T>(), updates.cast::<T>());
    // SAFETY: the caller's. The packed case is spelled out so that it vectorises.
    unsafe {
        if step == 1 {
            (0..len).for_each(|i| *dst.add(i) = plus(*dst.add(i), *updates.add(i)));
        } else {
            (0..len as isize).for_each(|i| {
                *dst.offset(i) = plus(*dst.offset(i), *updates.offset(i * step));
            });
        }
    }
}

#[inline(always)]
pub(super) fn plus<T: Number>(a: T, b: T) -> T {
    T::narrow(T::add(a.widen(), b.widen()))
}
