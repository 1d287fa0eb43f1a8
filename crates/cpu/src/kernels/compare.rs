//! Elementwise equality of two operands of the same sizes and any two dtypes. Elements of different dtypes
//! are compared in the type both promote to, a few at a time, so nothing large is cast; signed integers and
//! `uint64`, which no integer type holds both, are compared exactly all the same.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};

use stridewise_core::DType;
use stridewise_core::dtype::Family;

use super::Block;
use super::cast::{Row, row_of};
use super::loops::{Loops, Shared, WORTH_THREADS, in_pieces};
use crate::element::{Number, with_dtype};

pub mod close;

/// How many elements are compared at a time: enough to vectorise, few enough to stop early and stay in the
/// first cache.
const AT_A_TIME: usize = 512;

/// Room for that many elements of any dtype.
#[repr(align(64))]
struct Cells(MaybeUninit<[u8; 16 * AT_A_TIME]>);

/// Equality of elements: that of what their sums are kept in, which is exact.
pub(super) trait Same: Number {
    fn same(self, other: Self) -> bool;
    /// Whether it is not a number; for a complex one, whether either part is not.
    fn is_nan(self) -> bool;
}

impl<T: Number<Accumulator: PartialEq>> Same for T {
    #[inline(always)]
    fn same(self, other: T) -> bool {
        self.widen() == other.widen()
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        !self.same(self)
    }
}

/// Compares one row: the two operands with their steps, whether NaN equals NaN, and where to put each answer.
type Each = unsafe fn(*const u8, isize, *const u8, isize, *mut bool, usize);
/// Whether one row is equal throughout.
type All = unsafe fn(*const u8, isize, *const u8, isize, usize, bool) -> bool;

/// One operand: where it lies, and how its elements become those that are compared.
struct Operand {
    start: Shared<*const u8>,
    width: usize,
    convert: Option<Row>,
}

impl Operand {
    fn new(block: Block, from: DType, to: DType) -> Operand {
        Operand {
            start: Shared::new(block.start),
            width: from.width(),
            convert: (from != to).then(|| row_of(from, to)),
        }
    }

    /// The `len` elements at `offset`, converted into `cells` where that is needed: where they lie now, and
    /// their step.
    ///
    /// # Safety
    /// K1, K2 and K4 for those elements; `len` is at most `AT_A_TIME` where the operand is converted.
    unsafe fn read(
        &self,
        offset: isize,
        step: isize,
        len: usize,
        cells: &mut Cells,
    ) -> (*const u8, isize) {
        // SAFETY: K1, by the caller.
        let start = unsafe { self.start.get().offset(offset * self.width as isize) };
        match self.convert {
            None => (start, step),
            Some(row) => {
                // SAFETY: the cells have room for `len` elements of any dtype and are alone (K3).
                unsafe { row(start, step, cells.0.as_mut_ptr().cast(), len) };
                (cells.0.as_ptr().cast(), 1)
            }
        }
    }
}

/// Two operands of the same sizes, and the dtypes they are compared in.
struct Pair {
    a: Operand,
    b: Operand,
    loops: Loops<2>,
}

impl Pair {
    fn new(a: Block, a_to: (DType, DType), b: Block, b_to: (DType, DType)) -> Pair {
        debug_assert_eq!(a.sizes, b.sizes);
        Pair {
            loops: Loops::over(a.sizes, [a.strides, b.strides]),
            a: Operand::new(a, a_to.0, a_to.1),
            b: Operand::new(b, b_to.0, b_to.1),
        }
    }

    /// Visits a piece, at most `AT_A_TIME` elements at once, until one visit answers no.
    ///
    /// # Safety
    /// K1, K2 and K4 for both operands.
    unsafe fn visit(
        &self,
        piece: Range<usize>,
        mut visit: impl FnMut(usize, (*const u8, isize), (*const u8, isize), usize) -> bool,
    ) -> bool {
        let (mut cells_a, mut cells_b) =
            (Cells(MaybeUninit::uninit()), Cells(MaybeUninit::uninit()));
        let [step_a, step_b] = self.loops.steps();
        let done = self.loops.try_spans(piece, |at, len, [from_a, from_b]| {
            for start in (0..len).step_by(AT_A_TIME) {
                let few = AT_A_TIME.min(len - start);
                let (past_a, past_b) = (start as isize * step_a, start as isize * step_b);
                // SAFETY: K1, K2, K4: the elements lie within the span, which lies within both operands.
                let (a, b) = unsafe {
                    (
                        self.a.read(from_a + past_a, step_a, few, &mut cells_a),
                        self.b.read(from_b + past_b, step_b, few, &mut cells_b),
                    )
                };
                if !visit(at + start, a, b, few) {
                    return Err(());
                }
            }
            Ok(())
        });
        done.is_ok()
    }

    /// Whether `row` holds throughout; stops soon after it does not.
    ///
    /// # Safety
    /// As `visit`; `row` may read what it is given.
    unsafe fn all(
        &self,
        row: impl Fn((*const u8, isize), (*const u8, isize), usize) -> bool + Sync,
    ) -> bool {
        let so_far = AtomicBool::new(true);
        in_pieces(self.loops.len(), WORTH_THREADS, 64, |piece| {
            // SAFETY: by the caller.
            let holds = unsafe {
                self.visit(piece, |_, a, b, len| {
                    so_far.load(Ordering::Relaxed) && row(a, b, len)
                })
            };
            if !holds {
                so_far.store(false, Ordering::Relaxed);
            }
        });
        so_far.into_inner()
    }
}

/// How elements of two dtypes are compared: what each becomes first, and the loops.
struct Plan {
    a: DType,
    b: DType,
    each: Each,
    all: All,
}

fn plan(a: DType, b: DType) -> Plan {
    match (a, b.family()) {
        (DType::U64, Family::Signed) => Plan {
            a,
            b: DType::I64,
            each: each_mixed,
            all: all_mixed,
        },
        _ => {
            let both = a.promote(b);
            let (each, all): (Each, All) = with_dtype!(both, T => (each::<T>, all::<T>));
            Plan {
                a: both,
                b: both,
                each,
                all,
            }
        }
    }
}

/// Whether the pair must change places, so that a `uint64` beside a signed integer comes first.
fn swapped(a: DType, b: DType) -> bool {
    b == DType::U64 && a.family() == Family::Signed
}

/// Writes whether `a == b`, or whether it is not, to `dst`, one byte for each element, packed in row-major
/// order.
///
/// # Safety
/// K1, K2 and K4 for `a` and `b`, which have the same sizes; `dst` has room for as many bytes, under K3.
pub unsafe fn equal(a: Block, a_dtype: DType, b: Block, b_dtype: DType, dst: *mut u8, not: bool) {
    if swapped(a_dtype, b_dtype) {
        // SAFETY: by the caller.
        return unsafe { equal(b, b_dtype, a, a_dtype, dst, not) };
    }
    let plan = plan(a_dtype, b_dtype);
    let pair = Pair::new(a, (a_dtype, plan.a), b, (b_dtype, plan.b));
    let dst = Shared::new(dst);
    in_pieces(pair.loops.len(), WORTH_THREADS, 64, |piece| {
        // SAFETY: K1, K2, K4 by the caller; each visit writes bytes of its own, which are within `dst` (K3).
        unsafe {
            pair.visit(piece, |at, (a, step_a), (b, step_b), len| {
                let to = dst.get().add(at);
                (plan.each)(a, step_a, b, step_b, to.cast(), len);
                if not {
                    (0..len).for_each(|i| *to.add(i) ^= 1);
                }
                true
            });
        }
    });
}

/// Whether all elements are equal; with `nan`, NaN is equal to NaN.
///
/// # Safety
/// K1, K2 and K4 for `a` and `b`, which have the same sizes.
pub unsafe fn all_equal(a: Block, a_dtype: DType, b: Block, b_dtype: DType, nan: bool) -> bool {
    if swapped(a_dtype, b_dtype) {
        // SAFETY: by the caller.
        return unsafe { all_equal(b, b_dtype, a, a_dtype, nan) };
    }
    let plan = plan(a_dtype, b_dtype);
    let pair = Pair::new(a, (a_dtype, plan.a), b, (b_dtype, plan.b));
    // SAFETY: by the caller; the loop reads elements of the dtypes the plan converts to.
    unsafe { pair.all(|(a, step_a), (b, step_b), len| (plan.all)(a, step_a, b, step_b, len, nan)) }
}

unsafe fn each<T: Same>(
    a: *const u8,
    step_a: isize,
    b: *const u8,
    step_b: isize,
    to: *mut bool,
    len: usize,
) {
    let (a, b) = (a.cast::<T>(), b.cast::<T>());
    // SAFETY: K1, K2, K4: each operand has `len` elements at its step; K3: there is room for as many answers,
    // which nothing else reaches.
    unsafe {
        let to = slice::from_raw_parts_mut(to.cast::<MaybeUninit<bool>>(), len);
        // The packed cases are spelled out, as slices that cannot overlap, so that they vectorise.
        match (step_a, step_b) {
            (1, 1) => {
                let pairs = slice::from_raw_parts(a, len)
                    .iter()
                    .zip(slice::from_raw_parts(b, len));
                for (to, (x, y)) in to.iter_mut().zip(pairs) {
                    to.write(x.same(*y));
                }
            }
            (1, 0) => {
                let y = *b;
                for (to, x) in to.iter_mut().zip(slice::from_raw_parts(a, len)) {
                    to.write(x.same(y));
                }
            }
            _ => {
                for (i, to) in to.iter_mut().enumerate() {
                    let i = i as isize;
                    to.write((*a.offset(i * step_a)).same(*b.offset(i * step_b)));
                }
            }
        }
    }
}

unsafe fn all<T: Same>(
    a: *const u8,
    step_a: isize,
    b: *const u8,
    step_b: isize,
    len: usize,
    nan: bool,
) -> bool {
    let (a, b) = (a.cast::<T>(), b.cast::<T>());
    let same = |x: T, y: T| x.same(y) | (nan & x.is_nan() & y.is_nan());
    // SAFETY: K1, K2, K4: each operand has `len` elements at its step.
    unsafe {
        // Without a way out of the loop it vectorises; rows are short.
        match (step_a, step_b) {
            (1, 1) => (0..len).fold(true, |all, i| all & same(*a.add(i), *b.add(i))),
            _ => (0..len as isize).fold(true, |all, i| {
                all & same(*a.offset(i * step_a), *b.offset(i * step_b))
            }),
        }
    }
}

/// A `uint64` and an `int64` are equal where their bits are and the sign is not set.
#[inline(always)]
fn mixed(a: u64, b: i64) -> bool {
    (a == b as u64) & (b >= 0)
}

unsafe fn each_mixed(
    a: *const u8,
    step_a: isize,
    b: *const u8,
    step_b: isize,
    to: *mut bool,
    len: usize,
) {
    let (a, b) = (a.cast::<u64>(), b.cast::<i64>());
    for i in 0..len as isize {
        // SAFETY: as in `each`.
        unsafe {
            to.offset(i)
                .write(mixed(*a.offset(i * step_a), *b.offset(i * step_b)))
        };
    }
}

unsafe fn all_mixed(
    a: *const u8,
    step_a: isize,
    b: *const u8,
    step_b: isize,
    len: usize,
    _nan: bool,
) -> bool {
    let (a, b) = (a.cast::<u64>(), b.cast::<i64>());
    (0..len as isize).fold(true, |all, i| {
        // SAFETY: as in `all`.
        all & unsafe { mixed(*a.offset(i * step_a), *b.offset(i * step_b)) }
    })
}

#[cfg(test)]
mod tests;
