//! Reading indices: any integer dtype, any strides, under any rule for what lies outside. Gathers and
//! scatters see only the cells that come out, a strip at a time, so none of them is written per dtype.

use std::mem::MaybeUninit;

use stridewise_core::DType;

use super::Block;
use super::loops::{Loops, Shared, WORTH_THREADS, in_pieces};

/// What an index outside the source means. There are `n` cells.
#[derive(Clone, Copy, Debug)]
pub enum Bounds {
    /// From `-n` to `n - 1`, negatives counting from the end; anything else is an error.
    Raise,
    /// Modulo `n`, any distance both ways.
    Wrap,
    /// Negatives are 0, larger ones `n - 1`.
    Clip,
    /// As `Raise`, but what lies outside reads as this element (its bytes, then anything), and nothing is
    /// added there.
    Fill([u8; 16]),
}

/// The first index, in row-major order, that [`Bounds::Raise`] refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadIndex {
    /// Its flat position.
    pub position: usize,
    /// Its value, which may be beyond `i64` for `u64`.
    pub value: i128,
}

// Cells are computed in 64 bits.
const _: () = assert!(usize::BITS == 64);

/// The cell of an index outside under [`Bounds::Fill`]; beyond any number of cells and any offset in bytes.
pub(crate) const OUTSIDE: usize = isize::MIN as usize;

/// How many indices are resolved at a time: few enough for the stack and the first-level cache, enough to
/// forget the cost of a call.
pub(crate) const STRIP: usize = 512;

/// Checks that every index lies in `-n..n`.
///
/// # Safety
/// K1, K2 and K4 for `index`, whose dtype is an integer.
pub unsafe fn check(index: Block, index_dtype: DType, n: usize) -> Result<(), BadIndex> {
    let loops = Loops::over(index.sizes, [index.strides]);
    let reader = Reader::new(index_dtype, n, Bounds::Raise);
    let [step] = loops.steps();
    let start = Shared::new(index.start);
    let first = FirstBad::default();
    in_pieces(loops.len(), WORTH_THREADS, STRIP, |piece| {
        first.note(loops.try_spans(piece, |at, len, [offset]| {
            let mut cells = [MaybeUninit::uninit(); STRIP];
            strips(len, |done, count| {
                // SAFETY: K1: a strip of this span.
                unsafe {
                    let from = reader.at(start.get(), offset + done as isize * step);
                    reader.read(from, step, at + done, &mut cells[..count])?;
                }
                Ok(())
            })
        }));
    });
    first.into_result()
}

/// Shows the cell of every index, in row-major order, up to the first that is refused.
///
/// # Safety
/// K1, K2 and K4 for `index`, whose dtype is an integer.
pub(crate) unsafe fn resolve(
    index: Block,
    index_dtype: DType,
    n: usize,
    bounds: Bounds,
    mut show: impl FnMut(usize),
) -> Result<(), BadIndex> {
    let loops = Loops::over(index.sizes, [index.strides]);
    let reader = Reader::new(index_dtype, n, bounds);
    let [step] = loops.steps();
    loops.try_spans(0..loops.len(), |at, len, [offset]| {
        let mut cells = [MaybeUninit::uninit(); STRIP];
        strips(len, |done, count| {
            // SAFETY: K1: a strip of this span.
            let found = unsafe {
                let from = reader.at(index.start, offset + done as isize * step);
                reader.read(from, step, at + done, &mut cells[..count])?
            };
            found.iter().for_each(|cell| show(*cell));
            Ok(())
        })
    })
}

/// Cuts `0..len` into strips: where each starts and how long it is.
#[inline]
pub(crate) fn strips<E>(
    len: usize,
    mut visit: impl FnMut(usize, usize) -> Result<(), E>,
) -> Result<(), E> {
    let mut done = 0;
    while done < len {
        let count = STRIP.min(len - done);
        visit(done, count)?;
        done += count;
    }
    Ok(())
}

type Resolve =
    unsafe fn(*const u8, isize, usize, &mut [MaybeUninit<usize>]) -> Result<(), (usize, i128)>;

/// Turns indices of one dtype into cells under one rule.
#[derive(Clone, Copy)]
pub(crate) struct Reader {
    resolve: Resolve,
    width: usize,
    n: usize,
}

impl Reader {
    #[inline]
    pub(crate) fn new(dtype: DType, n: usize, bounds: Bounds) -> Reader {
        let resolve = match dtype {
            DType::U8 => of::<u8>(bounds),
            DType::U16 => of::<u16>(bounds),
            DType::U32 => of::<u32>(bounds),
            DType::U64 => of::<u64>(bounds),
            DType::I8 => of::<i8>(bounds),
            DType::I16 => of::<i16>(bounds),
            DType::I32 => of::<i32>(bounds),
            DType::I64 => of::<i64>(bounds),
            other => unreachable!("an index of {other} is refused before any kernel"),
        };
        Reader {
            resolve,
            width: dtype.width(),
            n,
        }
    }

    /// The index `offset` elements from `start`.
    ///
    /// # Safety
    /// K1.
    #[inline]
    pub(crate) unsafe fn at(&self, start: *const u8, offset: isize) -> *const u8 {
        // SAFETY: the caller's.
        unsafe { start.offset(offset * self.width as isize) }
    }

    /// Resolves one index into each of `cells` and returns them; `position` is the flat position of the
    /// first, for the error.
    ///
    /// # Safety
    /// K1, K2, K4 for as many indices, `step` elements apart.
    #[inline]
    pub(crate) unsafe fn read<'c>(
        &self,
        from: *const u8,
        step: isize,
        position: usize,
        cells: &'c mut [MaybeUninit<usize>],
    ) -> Result<&'c [usize], BadIndex> {
        // SAFETY: the caller's; resolving writes every cell.
        unsafe {
            match (self.resolve)(from, step, self.n, cells) {
                Ok(()) => Ok(&*(&raw const *cells as *const [usize])),
                Err((i, value)) => Err(BadIndex {
                    position: position + i,
                    value,
                }),
            }
        }
    }
}

/// The first bad index found by any of several threads.
#[derive(Default)]
pub(crate) struct FirstBad(std::sync::Mutex<Option<BadIndex>>);

impl FirstBad {
    pub(crate) fn note(&self, result: Result<(), BadIndex>) {
        if let Err(bad) = result {
            let mut first = self
                .0
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            if first.is_none_or(|seen| bad.position < seen.position) {
                *first = Some(bad);
            }
        }
    }

    pub(crate) fn into_result(self) -> Result<(), BadIndex> {
        let first = self
            .0
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        first.map_or(Ok(()), Err)
    }
}

/// An integer that is an index.
pub(crate) trait Integer: Copy + Into<i128> {
    /// The number itself, or something negative as a signed one if it is negative or beyond `isize`.
    fn plain(self) -> usize;
    /// The cell, counting negatives from the end, or something not below `n`.
    fn counted(self, n: usize) -> usize;
    /// Modulo `n`, which is not 0.
    fn wrapped(self, n: usize) -> usize;
    /// Into `0..n`, which is not empty.
    fn clipped(self, n: usize) -> usize;
}

// A size fits an isize, so `n` is exact as an i64; and what is below -n stays negative when n is added,
// and huge as an unsigned number.
macro_rules! integers {
    ($($type:ty as $wide:ty, $counted:expr, $wrapped:expr;)*) => {$(
        impl Integer for $type {
            #[inline(always)]
            fn plain(self) -> usize {
                <$wide>::from(self) as usize
            }
            #[inline(always)]
            fn counted(self, n: usize) -> usize {
                $counted(<$wide>::from(self), n)
            }
            #[inline(always)]
            fn wrapped(self, n: usize) -> usize {
                // Division is slow and most indices are inside.
                let cell = self.counted(n);
                if cell < n { cell } else { $wrapped(<$wide>::from(self), n) }
            }
            #[inline(always)]
            fn clipped(self, n: usize) -> usize {
                <$wide>::from(self).clamp(0, n as $wide - 1) as usize
            }
        }
    )*};
}

#[inline(always)]
fn counted_signed(i: i64, n: usize) -> usize {
    // `i >> 63` is all ones for a negative.
    i.wrapping_add((i >> 63) & n as i64) as usize
}

integers! {
    u8 as u64, |i, _| i as usize, |i, n| (i % n as u64) as usize;
    u16 as u64, |i, _| i as usize, |i, n| (i % n as u64) as usize;
    u32 as u64, |i, _| i as usize, |i, n| (i % n as u64) as usize;
    u64 as u64, |i, _| i as usize, |i, n| (i % n as u64) as usize;
    i8 as i64, counted_signed, |i: i64, n| i.rem_euclid(n as i64) as usize;
    i16 as i64, counted_signed, |i: i64, n| i.rem_euclid(n as i64) as usize;
    i32 as i64, counted_signed, |i: i64, n| i.rem_euclid(n as i64) as usize;
    i64 as i64, counted_signed, |i: i64, n| i.rem_euclid(n as i64) as usize;
}

// Each rule first does what is right for indices that are all inside, which are most, and only then, if one is
// not, what takes a branch or a division.
fn of<I: Integer>(bounds: Bounds) -> Resolve {
    match bounds {
        Bounds::Raise => raise::<I>,
        Bounds::Wrap => |from, step, n, cells| {
            // SAFETY: the caller of the function pointer's.
            unsafe {
                if !all_inside(from, step, n, cells, |i: I| i.counted(n)) {
                    each(from, step, cells, |i: I| i.wrapped(n));
                }
            }
            Ok(())
        },
        Bounds::Clip => |from, step, n, cells| {
            // SAFETY: as above.
            unsafe {
                if !all_inside(from, step, n, cells, |i: I| i.plain()) {
                    each(from, step, cells, |i: I| i.clipped(n));
                }
            }
            Ok(())
        },
        Bounds::Fill(_) => |from, step, n, cells| {
            // SAFETY: as above.
            unsafe {
                if !all_inside(from, step, n, cells, |i: I| i.counted(n)) {
                    each(from, step, cells, |i: I| {
                        let cell = i.counted(n);
                        if cell < n { cell } else { OUTSIDE }
                    });
                }
            }
            Ok(())
        },
    }
}

unsafe fn raise<I: Integer>(
    from: *const u8,
    step: isize,
    n: usize,
    cells: &mut [MaybeUninit<usize>],
) -> Result<(), (usize, i128)> {
    // SAFETY: the caller's.
    if unsafe { all_inside(from, step, n, cells, |i: I| i.counted(n)) } {
        return Ok(());
    }
    // Only now look for where: the loop above has no exit and so vectorises.
    let value = |i: usize| {
        // SAFETY: K1: one of the indices just read.
        unsafe { *from.cast::<I>().offset(i as isize * step) }
    };
    let first = (0..cells.len())
        .find(|&i| value(i).counted(n) >= n)
        .unwrap_or(0);
    Err((first, value(first).into()))
}

/// Resolves every index and tells whether all cells are below `n`.
///
/// # Safety
/// As for [`each`].
#[inline(always)]
unsafe fn all_inside<I: Integer>(
    from: *const u8,
    step: isize,
    n: usize,
    cells: &mut [MaybeUninit<usize>],
    resolve: impl Fn(I) -> usize,
) -> bool {
    let last = (n as isize).wrapping_sub(1);
    let mut signs = 0;
    // SAFETY: the caller's.
    unsafe {
        each(from, step, cells, |i: I| {
            let cell = resolve(i);
            // Negative if the cell is, or if it lies beyond the last; no comparison, which SSE2 lacks for
            // 64 bits.
            signs |= cell as isize | last.wrapping_sub(cell as isize);
            cell
        });
    }
    signs >= 0
}

/// # Safety
/// K1, K2, K4 for as many indices as there are cells, `step` elements apart.
#[inline(always)]
unsafe fn each<I: Integer>(
    from: *const u8,
    step: isize,
    cells: &mut [MaybeUninit<usize>],
    mut resolve: impl FnMut(I) -> usize,
) {
    let from = from.cast::<I>();
    // SAFETY: the caller's. The packed case is spelled out so that it vectorises.
    unsafe {
        if step == 1 {
            for (i, cell) in cells.iter_mut().enumerate() {
                cell.write(resolve(*from.add(i)));
            }
        } else {
            for (i, cell) in cells.iter_mut().enumerate() {
                cell.write(resolve(*from.offset(i as isize * step)));
            }
        }
    }
}

#[cfg(test)]
mod tests;
