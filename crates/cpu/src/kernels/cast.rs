//! From any dtype to any other. Each source widens without loss to one of five types (`i64`, `u64`, `f32`,
//! `f64`, a complex of doubles) and each target is made from those five, so the 225 pairs are 15 + 75 short
//! rules, and every pair is still one direct loop.
//!
//! The rules are NumPy's `astype` where that is defined:
//! - integer to integer wraps modulo 2ⁿ;
//! - float to integer truncates toward zero; beyond the target's range, where NumPy's answer depends on the
//!   machine, it saturates, and NaN becomes 0, as Rust's `as` has it;
//! - to bool is `!= 0`, so NaN is true; from bool is 0 or 1;
//! - to float rounds to nearest even, once, also from 64-bit integers and from doubles to 16 bits;
//! - complex to real drops the imaginary part; complex to bool is true if either part is; real to complex
//!   has an imaginary part of 0.

use half::{bf16, f16};
use num_complex::Complex;
use stridewise_core::DType;

use super::Block;
use super::loops::{Loops, Shared, WORTH_THREADS, in_pieces};
use crate::element::half_float::{
    f32_to_bf16, f32_to_f16, f64_to_bf16, f64_to_f16, i64_to_f64_odd, u64_to_f64_odd,
};
use crate::element::{Flag, Number, with_dtype};

/// One row: the source and its step, the destination, the length.
pub(super) type Row = unsafe fn(*const u8, isize, *mut u8, usize);

/// Writes `src`, converted, to `dst`, packed in row-major order.
///
/// # Safety
/// K1, K2 and K4 for `src`; `dst` has room for as many elements of `to`, under K2 and K3.
pub unsafe fn cast(src: Block, from: DType, dst: *mut u8, to: DType) {
    let row = row_of(from, to);
    let loops = Loops::over(src.sizes, [src.strides]);
    let [step] = loops.steps();
    let (src, dst) = (Shared::new(src.start), Shared::new(dst));
    in_pieces(loops.len(), WORTH_THREADS, 64, |piece| {
        loops.spans(piece, |at, len, [offset]| {
            // SAFETY: K1: the span lies within the source, and `at + len` within the destination; K3: no
            // other piece has this span.
            unsafe {
                row(
                    src.get().offset(offset * from.width() as isize),
                    step,
                    dst.get().add(at * to.width()),
                    len,
                );
            }
        });
    });
}

/// The loop for a pair of dtypes.
pub(super) fn row_of(from: DType, to: DType) -> Row {
    with_dtype!(from, S => row_from::<S>(to))
}

fn row_from<S: Source>(to: DType) -> Row {
    with_dtype!(to, D => row::<S, D>)
}

unsafe fn row<S: Source, D: Target>(src: *const u8, step: isize, dst: *mut u8, len: usize) {
    let (src, dst) = (src.cast::<S>(), dst.cast::<D>());
    // SAFETY: K1, K2, K4: the source has `len` elements at its step, and so has the destination.
    unsafe {
        // Spelled out so that it vectorises.
        if step == 1 {
            (0..len).for_each(|i| dst.add(i).write(convert(*src.add(i))));
        } else {
            (0..len as isize).for_each(|i| dst.offset(i).write(convert(*src.offset(i * step))));
        }
    }
}

#[inline(always)]
fn convert<S: Source, D: Target>(x: S) -> D {
    x.wide().into_target()
}

/// What widens without loss.
trait Source: Number {
    type Wide: Wide;
    fn wide(self) -> Self::Wide;
}

/// One of the five types in the middle.
trait Wide {
    fn into_target<D: Target>(self) -> D;
}

/// What can be made from each of the five, rounding or wrapping once.
trait Target: Number {
    fn from_i64(x: i64) -> Self;
    fn from_u64(x: u64) -> Self;
    fn from_f32(x: f32) -> Self;
    fn from_f64(x: f64) -> Self;
    #[inline(always)]
    fn from_complex(x: Complex<f64>) -> Self {
        Self::from_f64(x.re)
    }
}

macro_rules! sources {
    ($($type:ty => $wide:ty, $widen:expr;)*) => {$(
        impl Source for $type {
            type Wide = $wide;
            #[inline(always)]
            fn wide(self) -> $wide {
                $widen(self)
            }
        }
    )*};
}

sources! {
    Flag => u64, |x: Flag| u64::from(x.get());
    u8 => u64, u64::from;
    u16 => u64, u64::from;
    u32 => u64, u64::from;
    u64 => u64, u64::from;
    i8 => i64, i64::from;
    i16 => i64, i64::from;
    i32 => i64, i64::from;
    i64 => i64, i64::from;
    f16 => f32, Number::widen;
    bf16 => f32, Number::widen;
    f32 => f32, f32::from;
    f64 => f64, f64::from;
    Complex<f32> => Complex<f64>, |x: Complex<f32>| Complex::new(f64::from(x.re), f64::from(x.im));
    Complex<f64> => Complex<f64>, |x: Complex<f64>| x;
}

macro_rules! wides {
    ($($type:ty, $make:ident;)*) => {$(
        impl Wide for $type {
            #[inline(always)]
            fn into_target<D: Target>(self) -> D {
                D::$make(self)
            }
        }
    )*};
}

wides! {
    i64, from_i64;
    u64, from_u64;
    f32, from_f32;
    f64, from_f64;
    Complex<f64>, from_complex;
}

macro_rules! targets {
    ($($type:ty: $i64:expr, $u64:expr, $f32:expr, $f64:expr $(, $complex:expr)?;)*) => {$(
        impl Target for $type {
            #[inline(always)]
            fn from_i64(x: i64) -> $type {
                $i64(x)
            }
            #[inline(always)]
            fn from_u64(x: u64) -> $type {
                $u64(x)
            }
            #[inline(always)]
            fn from_f32(x: f32) -> $type {
                $f32(x)
            }
            #[inline(always)]
            fn from_f64(x: f64) -> $type {
                $f64(x)
            }
            $(#[inline(always)]
            fn from_complex(x: Complex<f64>) -> $type {
                $complex(x)
            })?
        }
    )*};
}

/// The plain numbers, for which Rust's `as` has exactly the rules above.
macro_rules! plain_targets {
    ($($type:ty)*) => {
        targets! {$($type: |x| x as $type, |x| x as $type, |x| x as $type, |x| x as $type;)*}
    };
}

plain_targets! { u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 }

targets! {
    Flag:
        |x| Flag::from(x != 0),
        |x| Flag::from(x != 0),
        |x| Flag::from(x != 0.0),
        |x| Flag::from(x != 0.0),
        |x: Complex<f64>| Flag::from(x.re != 0.0 || x.im != 0.0);
    f16:
        |x| f64_to_f16(i64_to_f64_odd(x)),
        |x| f64_to_f16(u64_to_f64_odd(x)),
        f32_to_f16,
        f64_to_f16;
    bf16:
        |x| f64_to_bf16(i64_to_f64_odd(x)),
        |x| f64_to_bf16(u64_to_f64_odd(x)),
        f32_to_bf16,
        f64_to_bf16;
    Complex<f32>:
        |x| Complex::new(x as f32, 0.0),
        |x| Complex::new(x as f32, 0.0),
        |x| Complex::new(x, 0.0),
        |x| Complex::new(x as f32, 0.0),
        |x: Complex<f64>| Complex::new(x.re as f32, x.im as f32);
    Complex<f64>:
        |x| Complex::new(x as f64, 0.0),
        |x| Complex::new(x as f64, 0.0),
        |x| Complex::new(f64::from(x), 0.0),
        |x| Complex::new(x, 0.0),
        |x| x;
}

#[cfg(test)]
mod tests;
