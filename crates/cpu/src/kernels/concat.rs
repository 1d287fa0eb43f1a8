//! Parts side by side along an axis of one packed output. Along the first axis, or where each part has long rows, the
//! parts are copied one after the other. Short rows would come back to every line of the output once for each part, so
//! there the output is cut along the axes before: all parts of a piece that fits a near cache, then the next piece.

use core::mem::MaybeUninit;
use smallvec::SmallVec;

use super::copy::interleave::Part;
use super::copy::rows::Rows;
use super::copy::{copy, copy_part, stream};
use super::prefetch;
use super::{Block, BlockMut, threads};

/// Bytes of a piece: a part of the second cache, which holds what is read as well.
const PIECE: usize = 128 << 10;
/// A row this long is as well written by itself.
const LONG_ROW: usize = 2 << 10;
/// Below this many bytes one pass over the output for each part is no loss.
pub(crate) const SMALL: usize = 128 << 10;

/// Shares of the pieces for each thread, so that one that is late holds up little.
const SHARES: usize = 4;
/// Bytes written between looks at the next piece.
const STRETCH: usize = 1 << 10;
/// Bytes in a cache line.
const LINE: usize = 64;

/// Where a piece is put together.
#[repr(align(64))]
struct Stage {
    _bytes: [u8; PIECE],
}

/// Writes `parts` side by side along `axis` of `dst`, which is packed. Elements are `width` bytes.
///
/// # Safety
/// The sizes of the parts along `axis` add up to that of `dst`, and all others agree. K1, K2 and K4 hold for the parts;
/// K1, K2 and K3 for `dst`.
pub unsafe fn concat(parts: &[Block<'_>], dst: BlockMut<'_>, axis: usize, width: usize) {
    let bytes = dst.sizes.iter().product::<usize>() * width;
    // SAFETY: passed on unchanged.
    unsafe { side_by_side(parts, dst, axis, width, !stream::stays_in_cache(bytes)) }
}

/// As [`concat`]; what is put together is written past the caches, or where it belongs.
unsafe fn side_by_side(
    parts: &[Block<'_>],
    dst: BlockMut<'_>,
    axis: usize,
    width: usize,
    staged: bool,
) {
    let total = dst.sizes.iter().product::<usize>() * width;
    let row = |part: &Block<'_>| part.sizes[axis..].iter().product::<usize>() * width;
    let long = total < SMALL || axis == 0 || parts.iter().all(|part| row(part) >= LONG_ROW);
    if !long && let Some(rows) = as_rows(parts, axis, width, dst.start) {
        let count = dst.sizes[..axis].iter().product();
        // SAFETY: the caller's.
        return unsafe { rows.write(count, dst.start, staged) };
    }
    let cut = if long {
        None
    } else {
        Cut::of(dst.sizes, axis, width)
    };
    let side = Side {
        parts,
        dst,
        axis,
        width,
        total,
        staged,
    };
    match cut {
        // SAFETY: passed on unchanged.
        None => unsafe { side.by_side(dst.start) },
        Some(cut) => {
            let pieces = cut.pieces(dst.sizes);
            // Neighbours by one thread, so that it can ask for the next while it writes one.
            let shares = (threads::count() * SHARES).min(pieces);
            threads::each(shares, |share| {
                let (from, to) = (pieces * share / shares, pieces * (share + 1) / shares);
                for piece in from..to {
                    let next = (piece + 1 < to).then_some(piece + 1);
                    // SAFETY: each piece is written once, by one thread, and lies inside the output (K1, K3).
                    unsafe { side.piece(&cut, piece, next) };
                }
            });
        }
    }
}

/// The parts as rows of an output at `dst`; none where they are not, or where there is no good way to write them.
fn as_rows(parts: &[Block<'_>], axis: usize, width: usize, dst: *const u8) -> Option<Rows> {
    let full = parts.iter().filter(|part| part.sizes[axis] > 0);
    let parts = full.map(|part| part_in_rows(part, axis, width));
    Rows::of(parts.collect::<Option<_>>()?, dst)
}

/// A part as rows before `axis`, if all of them are runs, evenly apart.
fn part_in_rows(part: &Block<'_>, axis: usize, width: usize) -> Option<Part> {
    let axes = |range: core::ops::Range<usize>| {
        let axes = part.sizes[range.clone()].iter().zip(&part.strides[range]);
        axes.rev().filter(|(size, _)| **size > 1)
    };
    let mut run = 1;
    for (&size, &stride) in axes(axis..part.sizes.len()) {
        if stride != run {
            return None;
        }
        run *= size as isize;
    }
    let mut outer = axes(0..axis);
    let (&size, &first) = outer.next().unwrap_or((&1, &0));
    let mut next = first * size as isize;
    for (&size, &stride) in outer {
        if stride != next {
            return None;
        }
        next *= size as isize;
    }
    Some(Part {
        start: part.start,
        stride: first * width as isize,
        bytes: run as usize * width,
    })
}

/// Which axis is cut into pieces, and how many of its indices each has.
struct Cut {
    axis: usize,
    indices: usize,
}

impl Cut {
    /// The first axis before `axis` of which one index is no more than a piece; none where even a row is more.
    fn of(sizes: &[usize], axis: usize, width: usize) -> Option<Cut> {
        let bytes = |i: usize| sizes[i + 1..].iter().product::<usize>() * width;
        let axis = (0..axis).find(|&i| bytes(i) <= PIECE)?;
        let indices = (PIECE / bytes(axis).max(1)).min(sizes[axis]);
        Some(Cut { axis, indices })
    }

    fn pieces(&self, sizes: &[usize]) -> usize {
        let before: usize = sizes[..self.axis].iter().product();
        before * sizes[self.axis].div_ceil(self.indices)
    }
}

/// What is put side by side.
#[derive(Clone, Copy)]
struct Side<'a> {
    parts: &'a [Block<'a>],
    dst: BlockMut<'a>,
    axis: usize,
    width: usize,
    /// Bytes of the whole output.
    total: usize,
    staged: bool,
}

// SAFETY: the parts are only read, and threads write pieces that share no cell (K3).
unsafe impl Sync for Side<'_> {}

impl Side<'_> {
    /// Copies one part after the other to an output that starts at `start`.
    unsafe fn by_side(&self, start: *mut u8) {
        let mut before = 0;
        for part in self.parts {
            let at = before * self.dst.strides[self.axis].unsigned_abs() * self.width;
            let dst = BlockMut {
                start: start.wrapping_add(at),
                sizes: part.sizes,
                strides: self.dst.strides,
            };
            // SAFETY: the part lies inside the output, beside those before (K1, K3).
            unsafe { copy_part(*part, dst, self.width, self.total) };
            before += part.sizes[self.axis];
        }
    }

    /// Where a piece begins among the indices of the cut axis, and how many of them it has.
    fn indices(&self, cut: &Cut, number: usize) -> (usize, usize) {
        let size = self.dst.sizes[cut.axis];
        let first = number % size.div_ceil(cut.indices) * cut.indices;
        (first, cut.indices.min(size - first))
    }

    /// How far a piece is from the start of memory with these strides, in bytes.
    fn offset(&self, cut: &Cut, number: usize, strides: &[isize]) -> isize {
        let sizes = self.dst.sizes;
        let mut left = number / sizes[cut.axis].div_ceil(cut.indices);
        let mut offset = self.indices(cut, number).0 as isize * strides[cut.axis];
        for i in (0..cut.axis).rev() {
            offset += (left % sizes[i]) as isize * strides[i];
            left /= sizes[i];
        }
        offset * self.width as isize
    }

    /// Writes the piece with that number, and asks for what the next one reads.
    unsafe fn piece(&self, cut: &Cut, number: usize, next: Option<usize>) {
        let Side {
            parts,
            dst,
            axis,
            width,
            staged,
            ..
        } = *self;
        let (_, indices) = self.indices(cut, number);
        let to = dst
            .start
            .wrapping_offset(self.offset(cut, number, dst.strides));
        let bytes = indices * dst.sizes[cut.axis + 1..].iter().product::<usize>() * width;
        let mut stage = MaybeUninit::<Stage>::uninit();
        let start = if staged {
            stage.as_mut_ptr().cast()
        } else {
            to
        };
        let strides = &dst.strides[cut.axis..];
        let mut sizes = SmallVec::<[usize; 8]>::from_slice(&dst.sizes[cut.axis..]);
        sizes[0] = indices;
        let inner = axis - cut.axis;
        let mut before = 0;
        for part in parts {
            sizes[inner] = part.sizes[axis];
            let at = before * dst.strides[axis].unsigned_abs() * width;
            let from = Block {
                start: part
                    .start
                    .wrapping_offset(self.offset(cut, number, part.strides)),
                sizes: &sizes,
                strides: &part.strides[cut.axis..],
            };
            let to = BlockMut {
                start: start.wrapping_add(at),
                sizes: &sizes,
                strides,
            };
            // SAFETY: `first + indices` is at most the size of the cut axis, so that what is read lies inside the part, and
            // what is written inside the piece (K1, K3): `bytes` from `start`, for which the stage has room.
            unsafe { copy(from, to, width) };
            before += part.sizes[axis];
        }
        if staged {
            let mut coming = self.lines(cut, next);
            let mut at = 0;
            while at < bytes {
                // The first stretch ends on a line, so that no other line is written in parts.
                let head = if at == 0 { to.align_offset(LINE) } else { 0 };
                let part = (STRETCH + head).min(bytes - at);
                // SAFETY: the parts have filled the piece (K4), which lies in the output and is written here alone (K1, K3).
                unsafe { stream::stream(start.add(at), to.add(at), part) };
                coming
                    .by_ref()
                    .take(part / LINE)
                    .for_each(prefetch::nearest);
                at += part;
            }
            stream::fence();
        }
    }

    /// The lines that a piece reads of parts which are one run there; the processor sees others coming no worse.
    fn lines(&self, cut: &Cut, number: Option<usize>) -> impl Iterator<Item = *const u8> {
        let parts = if number.is_some() { self.parts } else { &[] };
        let number = number.unwrap_or(0);
        let (_, indices) = self.indices(cut, number);
        parts.iter().flat_map(move |part| {
            let row: usize = part.sizes[cut.axis + 1..].iter().product();
            let run = part.strides[cut.axis] == row as isize && part.strides.last() == Some(&1);
            let start = part
                .start
                .wrapping_offset(self.offset(cut, number, part.strides));
            let lines = if run {
                (indices * row * self.width).div_ceil(LINE)
            } else {
                0
            };
            (0..lines).map(move |line| start.wrapping_add(line * LINE))
        })
    }
}

#[cfg(test)]
mod tests;
