//! Packed elements of many ranks become one: by sum, max or min, element by element. The elements come as bytes that
//! may lie anywhere, since that is how they come from a wire.
//!
//! The sources are taken in the order given, so the same sources give the same bits wherever this runs. Sums follow
//! [`super::add`]: integers wrap, bool is the logical or, and the 16-bit floats are kept in `f32` and rounded once at
//! the end, however many sources there are. Max and min do not depend on the order: see `Ordered`.

use std::mem::MaybeUninit;

use half::{bf16, f16};
use stridewise_core::DType;
use stridewise_core::dtype::Family;
use stridewise_core::error::{Error, Result};

use crate::element::{Flag, Number, with_dtype};

mod order;
#[cfg(test)]
mod tests;

use order::Ordered;

/// How elements become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reduction {
    /// By addition; integers wrap, bool is the logical or.
    Sum,
    /// By the largest; NaN where one is NaN. Not for complex numbers.
    Max,
    /// By the smallest; NaN where one is NaN. Not for complex numbers.
    Min,
}

impl Reduction {
    /// All of them.
    pub const ALL: [Reduction; 3] = [Reduction::Sum, Reduction::Max, Reduction::Min];

    /// `sum`, `max` or `min`.
    pub fn name(self) -> &'static str {
        match self {
            Reduction::Sum => "sum",
            Reduction::Max => "max",
            Reduction::Min => "min",
        }
    }

    /// Whether elements of this type can be reduced so: complex numbers have no order.
    pub fn check(self, dtype: DType) -> Result<()> {
        if self == Reduction::Sum || dtype.family() != Family::Complex {
            return Ok(());
        }
        let name = self.name();
        Err(Error::dtype(format!(
            "{dtype} numbers have no order, so there is no {name} of them"
        ))
        .help("reduce them by sum, or their real and imaginary parts one by one"))
    }
}

/// Reduces `from` into `into`, element by element.
///
/// ```
/// use stridewise_core::DType;
/// use stridewise_cpu::{Reduction, reduce};
///
/// let mut into = [250, 1];
/// reduce(DType::U8, Reduction::Sum, &mut into, &[10, 2]).unwrap();
/// assert_eq!(into, [4, 3]);
/// ```
pub fn reduce(dtype: DType, by: Reduction, into: &mut [u8], from: &[u8]) -> Result<()> {
    check(dtype, by, into.len(), &[from])?;
    let target = into.as_mut_ptr();
    let len = into.len() / dtype.width();
    // SAFETY: both have `len` elements by the check above. `into` is the first source and the target at once, which
    // folding allows.
    unsafe { chosen(dtype, by)(target, &[target, from.as_ptr()], len) };
    Ok(())
}

/// Writes what all `sources` are together, element by element, to `into`; there is at least one.
///
/// ```
/// use stridewise_core::DType;
/// use stridewise_cpu::{Reduction, reduce_all};
///
/// let mut into = [0; 2];
/// reduce_all(DType::I8, Reduction::Max, &mut into, &[&[1, 2], &[3, 0], &[2, 5]]).unwrap();
/// assert_eq!(into, [3, 5]);
/// ```
pub fn reduce_all(dtype: DType, by: Reduction, into: &mut [u8], sources: &[&[u8]]) -> Result<()> {
    check(dtype, by, into.len(), sources)?;
    let starts: Vec<*const u8> = sources.iter().map(|source| source.as_ptr()).collect();
    let len = into.len() / dtype.width();
    // SAFETY: all have `len` elements by the check above.
    unsafe { chosen(dtype, by)(into.as_mut_ptr(), &starts, len) };
    Ok(())
}

fn check(dtype: DType, by: Reduction, into: usize, sources: &[&[u8]]) -> Result<()> {
    by.check(dtype)?;
    if sources.is_empty() {
        return Err(Error::argument("there is nothing to reduce").at_argument("sources"));
    }
    if !into.is_multiple_of(dtype.width()) {
        return Err(Error::shape(format!(
            "{into} bytes are no whole number of {dtype} elements"
        )));
    }
    match sources.iter().find(|source| source.len() != into) {
        None => Ok(()),
        Some(other) => Err(Error::shape(format!(
            "what is reduced has {} bytes, but what it is reduced into has {into}",
            other.len()
        ))
        .sizes(into, other.len())),
    }
}

/// Reduces sources of as many elements each into a target.
type Fold = unsafe fn(*mut u8, &[*const u8], usize);

fn chosen(dtype: DType, by: Reduction) -> Fold {
    match by {
        Reduction::Sum => with_dtype!(dtype, T => fold::<Sum<T>>),
        Reduction::Max => ordered::<true>(dtype),
        Reduction::Min => ordered::<false>(dtype),
    }
}

fn ordered<const MAX: bool>(dtype: DType) -> Fold {
    match dtype {
        DType::Bool => fold::<Most<Flag, MAX>>,
        DType::U8 => fold::<Most<u8, MAX>>,
        DType::U16 => fold::<Most<u16, MAX>>,
        DType::U32 => fold::<Most<u32, MAX>>,
        DType::U64 => fold::<Most<u64, MAX>>,
        DType::I8 => fold::<Most<i8, MAX>>,
        DType::I16 => fold::<Most<i16, MAX>>,
        DType::I32 => fold::<Most<i32, MAX>>,
        DType::I64 => fold::<Most<i64, MAX>>,
        DType::F16 => fold::<Most<f16, MAX>>,
        DType::BF16 => fold::<Most<bf16, MAX>>,
        DType::F32 => fold::<Most<f32, MAX>>,
        DType::F64 => fold::<Most<f64, MAX>>,
        DType::C64 | DType::C128 => unreachable!("a reduction is checked before it is chosen"),
    }
}

/// How cells become one: taken up, joined in order, and put down.
trait Rule {
    type Cell: Number;
    type Kept: Copy;
    fn take(cell: Self::Cell) -> Self::Kept;
    fn join(a: Self::Kept, b: Self::Kept) -> Self::Kept;
    fn put(kept: Self::Kept) -> Self::Cell;
}

struct Sum<T>(T);

impl<T: Number> Rule for Sum<T> {
    type Cell = T;
    type Kept = T::Accumulator;
    #[inline(always)]
    fn take(cell: T) -> T::Accumulator {
        cell.widen()
    }
    #[inline(always)]
    fn join(a: T::Accumulator, b: T::Accumulator) -> T::Accumulator {
        T::add(a, b)
    }
    #[inline(always)]
    fn put(kept: T::Accumulator) -> T {
        T::narrow(kept)
    }
}

struct Most<T, const MAX: bool>(T);

impl<T: Ordered, const MAX: bool> Rule for Most<T, MAX> {
    type Cell = T;
    type Kept = T::Key;
    #[inline(always)]
    fn take(cell: T) -> T::Key {
        cell.key::<MAX>()
    }
    #[inline(always)]
    fn join(a: T::Key, b: T::Key) -> T::Key {
        if b > a { b } else { a }
    }
    #[inline(always)]
    fn put(kept: T::Key) -> T {
        T::of::<MAX>(kept)
    }
}

/// Elements that are kept at a time: they and a source's stay in the fastest cache.
const KEPT: usize = 512;

/// # Safety
/// K1 and K4 for the target and each source, which have `len` packed elements; they need not be aligned. K3 for the
/// target, but for sources that start where it does.
unsafe fn fold<R: Rule>(into: *mut u8, sources: &[*const u8], len: usize) {
    let into = into.cast::<R::Cell>();
    // An element of the target is written after the last time that it is read as a source.
    // SAFETY: K1: positions are below `len`; K4: any bits are a cell.
    let load = |source: *const u8, at: usize| unsafe {
        R::take(source.cast::<R::Cell>().add(at).read_unaligned())
    };
    // SAFETY: as above.
    let store = |at: usize, kept: R::Kept| unsafe { into.add(at).write_unaligned(R::put(kept)) };
    match *sources {
        [] => {}
        [one] => (0..len).for_each(|at| store(at, load(one, at))),
        [a, b] => (0..len).for_each(|at| store(at, R::join(load(a, at), load(b, at)))),
        [a, b, ref rest @ ..] => {
            let mut kept = [MaybeUninit::<R::Kept>::uninit(); KEPT];
            for start in (0..len).step_by(KEPT) {
                let kept = &mut kept[..KEPT.min(len - start)];
                for (i, kept) in kept.iter_mut().enumerate() {
                    kept.write(R::join(load(a, start + i), load(b, start + i)));
                }
                for &source in rest {
                    for (i, kept) in kept.iter_mut().enumerate() {
                        // SAFETY: written by the loop before.
                        let before = unsafe { kept.assume_init() };
                        kept.write(R::join(before, load(source, start + i)));
                    }
                }
                for (i, kept) in kept.iter().enumerate() {
                    // SAFETY: written by the loops before.
                    store(start + i, unsafe { kept.assume_init() });
                }
            }
        }
    }
}
