//! Equality up to a tolerance, by NumPy's formula: `|a - b| <= atol + rtol · |b|` for a finite `b`, or `a == b`.
//! Each step rounds as NumPy's does: the distance in the type both promote to, the tolerance in `b`'s own.

use std::mem::MaybeUninit;

use half::{bf16, f16};
use num_complex::Complex;
use stridewise_core::DType;
use stridewise_core::dtype::Family;

use super::{AT_A_TIME, Cells, Pair, Same};
use crate::element::Number;
use crate::kernels::Block;
use crate::kernels::cast::row_of;

/// How far apart two elements may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// A part of the second element's size.
    pub relative: f64,
    /// The same for all elements.
    pub absolute: f64,
    /// Whether NaN is close to NaN.
    pub equal_nan: bool,
}

/// The arithmetic of distances. All answers widen to `f64` exactly.
trait Measure: Same {
    fn distance(self, other: Self) -> f64;
    fn allowed(self, tolerance: Tolerance) -> f64;
    fn is_finite(self) -> bool;
}

macro_rules! real {
    ($($t:ty)*) => {$(
        impl Measure for $t {
            #[inline(always)]
            fn distance(self, other: $t) -> f64 {
                f64::from((self - other).abs())
            }
            #[inline(always)]
            fn allowed(self, t: Tolerance) -> f64 {
                f64::from(t.absolute as $t + t.relative as $t * self.abs())
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                <$t>::is_finite(self)
            }
        }

        impl Measure for Complex<$t> {
            #[inline(always)]
            fn distance(self, other: Complex<$t>) -> f64 {
                f64::from((self - other).norm())
            }
            #[inline(always)]
            fn allowed(self, t: Tolerance) -> f64 {
                f64::from(t.absolute as $t + t.relative as $t * self.norm())
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                self.re.is_finite() && self.im.is_finite()
            }
        }
    )*};
}

real! { f32 f64 }

macro_rules! half_real {
    ($($t:ty)*) => {$(
        impl Measure for $t {
            #[inline(always)]
            fn distance(self, other: $t) -> f64 {
                f64::from(<$t>::narrow(self.widen() - other.widen()).widen().abs())
            }
            #[inline(always)]
            fn allowed(self, t: Tolerance) -> f64 {
                let rounded = |x: f64| <$t>::from_f64(x).widen();
                let part = <$t>::narrow(rounded(t.relative) * self.widen().abs()).widen();
                f64::from(<$t>::narrow(rounded(t.absolute) + part).widen())
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                <$t>::is_finite(self)
            }
        }
    )*};
}

half_real! { f16 bf16 }

/// Writes how far apart each pair of elements may be.
type Allowed = unsafe fn(*const u8, isize, usize, Tolerance, &mut [f64; AT_A_TIME]);
/// Whether each pair of elements is close.
type Close = unsafe fn(
    (*const u8, isize),
    (*const u8, isize),
    usize,
    &[f64; AT_A_TIME],
    equal_nan: bool,
) -> bool;

/// The loop for a dtype among the floats and complex numbers.
macro_rules! with_measure {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            DType::F16 => {
                type $T = f16;
                $body
            }
            DType::BF16 => {
                type $T = bf16;
                $body
            }
            DType::F32 => {
                type $T = f32;
                $body
            }
            DType::C64 => {
                type $T = Complex<f32>;
                $body
            }
            DType::C128 => {
                type $T = Complex<f64>;
                $body
            }
            _ => {
                type $T = f64;
                $body
            }
        }
    };
}

/// Whether all elements of `a` are close to those of `b`.
///
/// # Safety
/// K1, K2 and K4 for `a` and `b`, which have the same sizes.
pub unsafe fn all_close(
    a: Block,
    a_dtype: DType,
    b: Block,
    b_dtype: DType,
    tolerance: Tolerance,
) -> bool {
    // Integers are measured as doubles.
    let own = match b_dtype.family() {
        Family::Float | Family::Complex => b_dtype,
        _ => DType::F64,
    };
    let both = a_dtype.promote(own);
    let allowed: Allowed = with_measure!(own, T => allowed::<T>);
    let close: Close = with_measure!(both, T => close::<T>);
    // What is read of `b` is its own type; where the distance needs a wider one, it is widened from there.
    let pair = Pair::new(a, (a_dtype, both), b, (b_dtype, own));
    let widen = (own != both).then(|| row_of(own, both));
    // SAFETY: by the caller; the loops read elements of the dtypes they are made for.
    unsafe {
        pair.all(|a, (b, step), len| {
            let mut room = [0.0; AT_A_TIME];
            allowed(b, step, len, tolerance, &mut room);
            let mut cells = Cells(MaybeUninit::uninit());
            let b = match widen {
                None => (b, step),
                Some(row) => {
                    row(b, step, cells.0.as_mut_ptr().cast(), len);
                    (cells.0.as_ptr().cast(), 1)
                }
            };
            close(a, b, len, &room, tolerance.equal_nan)
        })
    }
}

unsafe fn allowed<T: Measure>(
    b: *const u8,
    step: isize,
    len: usize,
    tolerance: Tolerance,
    room: &mut [f64; AT_A_TIME],
) {
    let b = b.cast::<T>();
    for (i, room) in room.iter_mut().enumerate().take(len) {
        // SAFETY: K1, K2, K4: there are `len` elements at the step.
        *room = unsafe { *b.offset(i as isize * step) }.allowed(tolerance);
    }
}

unsafe fn close<T: Measure>(
    (a, step_a): (*const u8, isize),
    (b, step_b): (*const u8, isize),
    len: usize,
    allowed: &[f64; AT_A_TIME],
    equal_nan: bool,
) -> bool {
    let (a, b) = (a.cast::<T>(), b.cast::<T>());
    let mut all = true;
    for (i, &allowed) in allowed.iter().enumerate().take(len) {
        let i = i as isize;
        // SAFETY: K1, K2, K4: each operand has `len` elements at its step.
        let (x, y) = unsafe { (*a.offset(i * step_a), *b.offset(i * step_b)) };
        let near = (x.distance(y) <= allowed) & y.is_finite();
        all &= near | x.same(y) | (equal_nan & x.is_nan() & y.is_nan());
    }
    all
}
