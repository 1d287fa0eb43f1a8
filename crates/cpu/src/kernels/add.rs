//! Elementwise sums of two operands of the same sizes, into packed memory. Broadcasting is the caller's: an
//! operand with stride 0 works like any other.

use stridewise_core::DType;

use super::Block;
use super::loops::{Loops, Shared, WORTH_THREADS, in_pieces};
use crate::element::{Number, with_dtype};

/// One row: the two operands with their steps, the destination, the length.
type Row = unsafe fn(*const u8, isize, *const u8, isize, *mut u8, usize);

/// Writes `a + b` to `dst`, packed in row-major order. Integers wrap, bool is the logical or, the 16-bit
/// floats add in `f32` and round once.
///
/// # Safety
/// K1, K2 and K4 for `a` and `b`, which have the same sizes; `dst` has room for as many elements, under K2
/// and K3.
pub unsafe fn add(a: Block, b: Block, dst: *mut u8, dtype: DType) {
    debug_assert_eq!(a.sizes, b.sizes);
    let width = dtype.width();
    let row: Row = with_dtype!(dtype, T => row::<T>);
    let loops = Loops::over(a.sizes, [a.strides, b.strides]);
    let [step_a, step_b] = loops.steps();
    let (a, b, dst) = (Shared::new(a.start), Shared::new(b.start), Shared::new(dst));
    in_pieces(loops.len(), WORTH_THREADS, 64, |piece| {
        loops.spans(piece, |at, len, [from_a, from_b]| {
            // SAFETY: K1: the span lies within both operands, and `at + len` within the destination; K3: no
            // other piece has this span.
            unsafe {
                row(
                    a.get().offset(from_a * width as isize),
                    step_a,
                    b.get().offset(from_b * width as isize),
                    step_b,
                    dst.get().add(at * width),
                    len,
                );
            }
        });
    });
}

unsafe fn row<T: Number>(
    a: *const u8,
    step_a: isize,
    b: *const u8,
    step_b: isize,
    dst: *mut u8,
    len: usize,
) {
    let (a, b, dst) = (a.cast::<T>(), b.cast::<T>(), dst.cast::<T>());
    // SAFETY: K1, K2, K4: each operand has `len` elements at its step, and so has the destination.
    unsafe {
        let sum = |x: *const T, y: *const T| T::narrow(T::add((*x).widen(), (*y).widen()));
        // The packed cases are spelled out so that they vectorise.
        match (step_a, step_b) {
            (1, 1) => (0..len).for_each(|i| dst.add(i).write(sum(a.add(i), b.add(i)))),
            (1, 0) => {
                let y = (*b).widen();
                (0..len).for_each(|i| dst.add(i).write(T::narrow(T::add((*a.add(i)).widen(), y))));
            }
            (0, 1) => {
                let x = (*a).widen();
                (0..len).for_each(|i| dst.add(i).write(T::narrow(T::add(x, (*b.add(i)).widen()))));
            }
            _ => (0..len as isize).for_each(|i| {
                dst.offset(i)
                    .write(sum(a.offset(i * step_a), b.offset(i * step_b)));
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};
    use num_complex::Complex;

    use super::*;
    use crate::element::{Element, Flag};
    use crate::kernels::sample::{Rng, Sample, bytes, filled, indices};

    fn agrees<T: Element<Cell: PartialEq>>(
        make: impl Fn(&mut Rng) -> T::Cell,
        plus: fn(T::Cell, T::Cell) -> T::Cell,
    ) {
        let mut rng = Rng(7);
        for round in 0..60 {
            let sizes = if round == 0 {
                vec![3, 50_000]
            } else {
                rng.sizes(4, 6)
            };
            let a = Sample::random(&mut rng, &sizes, &make);
            let b = Sample::random(&mut rng, &sizes, &make);
            let wanted: Vec<_> = indices(&sizes)
                .iter()
                .map(|i| plus(a.at(i), b.at(i)))
                .collect();
            let sum = filled(T::Cell::ZERO, wanted.len(), |dst| {
                // SAFETY: K1 to K4: samples stay within their memory, and the result is new.
                unsafe { add(a.block(), b.block(), dst, T::DTYPE) };
            });
            assert_eq!(bytes(&sum), bytes(&wanted), "{}", T::DTYPE);
        }
    }

    #[test]
    fn sums_agree_with_the_definition_for_any_strides() {
        agrees::<bool>(
            |rng| Flag::from_byte([0, 0, 1, 6][rng.below(4)]),
            |a, b| Flag::from(a.get() || b.get()),
        );
        agrees::<u8>(|rng| rng.next() as u8, u8::wrapping_add);
        agrees::<i16>(|rng| rng.next() as i16, i16::wrapping_add);
        agrees::<u32>(|rng| rng.next() as u32, u32::wrapping_add);
        agrees::<i64>(|rng| rng.next() as i64, i64::wrapping_add);
        let half = |rng: &mut Rng| f16::from_f32_const(rng.below(2000) as f32 / 7.0);
        agrees::<f16>(half, |a, b| {
            f16::from_f32_const(a.to_f32_const() + b.to_f32_const())
        });
        let brain = |rng: &mut Rng| bf16::from_f32(rng.below(2000) as f32 / 7.0);
        agrees::<bf16>(brain, |a, b| bf16::from_f32(a.to_f32() + b.to_f32()));
        agrees::<f32>(|rng| rng.below(99) as f32 / 7.0, |a, b| a + b);
        agrees::<f64>(|rng| rng.below(99) as f64 / 7.0, |a, b| a + b);
        let complex = |rng: &mut Rng| Complex::new(rng.below(99) as f64 / 7.0, rng.below(9) as f64);
        agrees::<Complex<f64>>(complex, |a, b| a + b);
    }
}
