//! Comparison against its definition, for any strides and pairs of dtypes.

use half::{bf16, f16};
use num_complex::Complex;

use super::close::{Tolerance, all_close};
use super::*;
use crate::element::Element;
use crate::element::Flag;
use crate::kernels::sample::{Rng, Sample, filled, indices};

fn agrees<A: Element, B: Element>(
    make_a: impl Fn(&mut Rng) -> A::Cell,
    make_b: impl Fn(&mut Rng) -> B::Cell,
    same: fn(A::Cell, B::Cell) -> bool,
) {
    let mut rng = Rng(11);
    for round in 0..60 {
        let sizes = if round == 0 {
            vec![3, 50_000]
        } else {
            rng.sizes(4, 6)
        };
        let a = Sample::random(&mut rng, &sizes, &make_a);
        let b = Sample::random(&mut rng, &sizes, &make_b);
        let wanted: Vec<u8> = indices(&sizes)
            .iter()
            .map(|i| u8::from(same(a.at(i), b.at(i))))
            .collect();
        for not in [false, true] {
            let seen = filled(9u8, wanted.len(), |dst| {
                // SAFETY: K1 to K4: samples stay within their memory, and the result is new.
                unsafe { equal(a.block(), A::DTYPE, b.block(), B::DTYPE, dst, not) };
            });
            let wanted: Vec<u8> = wanted.iter().map(|w| w ^ u8::from(not)).collect();
            assert_eq!(seen, wanted, "{} {}", A::DTYPE, B::DTYPE);
        }
        // SAFETY: as above.
        let all = unsafe { all_equal(a.block(), A::DTYPE, b.block(), B::DTYPE, false) };
        assert_eq!(all, wanted.iter().all(|w| *w == 1));
    }
}

#[test]
fn equality_is_by_value_for_any_strides_and_dtypes() {
    agrees::<u8, u8>(|r| r.below(3) as u8, |r| r.below(3) as u8, |a, b| a == b);
    agrees::<i8, u8>(
        |r| r.next() as i8 / 100,
        |r| r.below(2) as u8,
        |a, b| i32::from(a) == i32::from(b),
    );
    let edge = |r: &mut Rng| [0, 1, i64::MAX, i64::MIN, -1][r.below(5)];
    let wide = |r: &mut Rng| [0, 1, u64::MAX, 1 << 63, i64::MAX as u64][r.below(5)];
    agrees::<i64, u64>(edge, wide, |a, b| i128::from(a) == i128::from(b));
    agrees::<u64, i64>(wide, edge, |a, b| i128::from(a) == i128::from(b));
    agrees::<i16, f32>(
        |r| r.below(3) as i16,
        |r| r.below(5) as f32 / 2.0,
        |a, b| f32::from(a) == b,
    );
    let odd = |r: &mut Rng| [0.0, -0.0, f32::NAN, 1.0, f32::INFINITY][r.below(5)];
    agrees::<f32, f32>(odd, odd, |a, b| a == b);
    agrees::<f16, bf16>(
        |r| f16::from_f32(r.below(3) as f32),
        |r| bf16::from_f32(r.below(3) as f32),
        |a, b| a.to_f32() == b.to_f32(),
    );
    agrees::<bool, Complex<f64>>(
        |r| Flag::from_byte([0, 1, 7][r.below(3)]),
        |r| Complex::new(r.below(2) as f64, 0.0),
        |a, b| Complex::new(f64::from(u8::from(a.get())), 0.0) == b,
    );
}

#[test]
fn closeness_is_not_symmetric_and_knows_no_number_beside_infinity() {
    let close = |a: f64, b: f64, equal_nan: bool| {
        let tolerance = Tolerance {
            relative: 0.5,
            absolute: 0.0,
            equal_nan,
        };
        let one = |x: &f64| -> *const u8 { std::ptr::from_ref(x).cast() };
        let block = |x: &f64| Block {
            start: one(x),
            sizes: &[],
            strides: &[],
        };
        // SAFETY: K1 to K4: one element each, on this stack.
        unsafe { all_close(block(&a), DType::F64, block(&b), DType::F64, tolerance) }
    };
    assert!(close(1.0, 2.0, false) && !close(2.0, 1.0, false));
    assert!(close(f64::INFINITY, f64::INFINITY, false));
    assert!(!close(1.0, f64::INFINITY, false) && !close(f64::INFINITY, 1.0, false));
    assert!(!close(f64::NAN, f64::NAN, false) && close(f64::NAN, f64::NAN, true));
}
