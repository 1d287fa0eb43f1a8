//! Expectations worked out apart from the kernel: exact values as text or as wide integers, and the rounding
//! of 16-bit floats by searching for the nearest among all of them.

use half::{bf16, f16};
use num_complex::Complex;
use stridewise_core::DType;

use super::cast;
use crate::element::{Element, Flag, Number};
use crate::kernels::Block;
use crate::kernels::sample::{Rng, Sample, bytes, filled, indices};

fn convert<S: Element, D: Element>(values: &[S::Cell]) -> Vec<D::Cell> {
    let sizes = [values.len()];
    let block = Block {
        start: values.as_ptr().cast(),
        sizes: &sizes,
        strides: &[1],
    };
    filled(D::Cell::ZERO, values.len(), |dst| {
        // SAFETY: K1 to K4: the slice, packed, into a new result.
        unsafe { cast(block, S::DTYPE, dst, D::DTYPE) };
    })
}

fn expect<S: Element, D: Element>(pairs: &[(S::Cell, D::Cell)]) {
    let (from, to): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
    let got = convert::<S, D>(&from);
    for ((from, to), got) in from.iter().zip(&to).zip(&got) {
        let same = bytes(&[*got]) == bytes(&[*to]);
        assert!(same, "{from:?} as {}: {got:?}, not {to:?}", D::DTYPE);
    }
}

#[test]
fn integers_wrap() {
    expect::<i64, u8>(&[
        (-1, 255),
        (256, 0),
        (300, 44),
        (i64::MIN, 0),
        (i64::MAX, 255),
    ]);
    expect::<i64, i8>(&[(128, -128), (-129, 127), (i64::MAX, -1)]);
    expect::<u64, i64>(&[(u64::MAX, -1), (1 << 63, i64::MIN), (5, 5)]);
    expect::<i8, u64>(&[(-1, u64::MAX), (-128, u64::MAX - 127), (127, 127)]);
    expect::<u8, i8>(&[(200, -56), (127, 127)]);
    expect::<i32, u16>(&[(-1, 65535), (65536, 0)]);
    expect::<u32, i32>(&[(u32::MAX, -1)]);
    expect::<i16, i64>(&[(-32768, -32768)]);
}

#[test]
fn floats_truncate_saturate_and_nan_is_zero() {
    let inf = f64::INFINITY;
    expect::<f64, i32>(&[
        (1.9, 1),
        (-1.9, -1),
        (-0.0, 0),
        (f64::NAN, 0),
        (inf, i32::MAX),
        (-inf, i32::MIN),
    ]);
    expect::<f64, u8>(&[
        (255.9, 255),
        (256.0, 255),
        (-0.9, 0),
        (-1.0, 0),
        (f64::NAN, 0),
    ]);
    expect::<f64, u64>(&[
        (1e300, u64::MAX),
        (-5.0, 0),
        (9007199254740993.0, 9007199254740992),
    ]);
    expect::<f64, i64>(&[(9.3e18, i64::MAX), (-9.3e18, i64::MIN)]);
    expect::<f32, i8>(&[(127.5, 127), (-200.0, -128), (f32::NAN, 0)]);
    expect::<f32, u64>(&[(f32::INFINITY, u64::MAX), (16777216.0, 16777216)]);
    let h = f16::from_f32_const;
    expect::<f16, i16>(&[
        (h(-3.75), -3),
        (f16::INFINITY, i16::MAX),
        (f16::NAN, 0),
        (f16::MAX, 32767),
    ]);
    expect::<bf16, u32>(&[
        (bf16::NEG_INFINITY, 0),
        (bf16::from_f32(3.5), 3),
        (bf16::MAX, u32::MAX),
    ]);
}

#[test]
fn truth_is_anything_but_zero() {
    let (yes, no) = (Flag::from(true), Flag::from(false));
    expect::<f64, bool>(&[
        (f64::NAN, yes),
        (-0.0, no),
        (5e-324, yes),
        (f64::INFINITY, yes),
    ]);
    expect::<f32, bool>(&[(f32::NAN, yes), (-0.0, no), (1e-45, yes)]);
    expect::<f16, bool>(&[
        (f16::NEG_ZERO, no),
        (f16::MIN_POSITIVE_SUBNORMAL, yes),
        (f16::NAN, yes),
    ]);
    expect::<bf16, bool>(&[(bf16::NEG_ZERO, no), (bf16::MIN_POSITIVE_SUBNORMAL, yes)]);
    expect::<i64, bool>(&[(256, yes), (0, no), (i64::MIN, yes)]);
    expect::<u64, bool>(&[(1 << 40, yes), (0, no)]);
    let c = Complex::<f32>::new;
    expect::<Complex<f32>, bool>(&[
        (c(0.0, 1.0), yes),
        (c(0.0, -0.0), no),
        (c(0.0, f32::NAN), yes),
    ]);
    let c = Complex::<f64>::new;
    expect::<Complex<f64>, bool>(&[
        (c(0.0, 5e-324), yes),
        (c(-0.0, 0.0), no),
        (c(2.0, 0.0), yes),
    ]);
    let seven = Flag::from_byte(7);
    expect::<bool, bool>(&[(seven, yes), (no, no)]);
    expect::<bool, u8>(&[(seven, 1), (no, 0)]);
    expect::<bool, i64>(&[(seven, 1)]);
    expect::<bool, f16>(&[(seven, f16::ONE), (no, f16::ZERO)]);
    expect::<bool, bf16>(&[(seven, bf16::ONE)]);
    expect::<bool, f64>(&[(seven, 1.0), (no, 0.0)]);
    expect::<bool, Complex<f32>>(&[(seven, Complex::new(1.0, 0.0))]);
}

#[test]
fn complex_numbers_drop_or_gain_an_imaginary_part() {
    let c = Complex::<f64>::new;
    expect::<Complex<f64>, f32>(&[(c(0.1, 9.0), 0.1), (c(-0.0, f64::NAN), -0.0)]);
    expect::<Complex<f64>, u8>(&[(c(-1.0, 3.0), 0), (c(7.9, 3.0), 7)]);
    expect::<Complex<f64>, f16>(&[(c(65519.999999999, 1.0), f16::MAX)]);
    expect::<Complex<f64>, Complex<f32>>(&[(c(0.1, -1e300), Complex::new(0.1, f32::NEG_INFINITY))]);
    expect::<Complex<f32>, Complex<f64>>(&[(Complex::new(0.1, -0.0), c(f64::from(0.1f32), -0.0))]);
    expect::<Complex<f32>, f64>(&[(Complex::new(0.1, 1.0), f64::from(0.1f32))]);
    expect::<f32, Complex<f64>>(&[(-0.0, c(-0.0, 0.0)), (f32::INFINITY, c(f64::INFINITY, 0.0))]);
    expect::<i64, Complex<f64>>(&[(i64::MIN, c(-9223372036854775808.0, 0.0))]);
    expect::<u64, Complex<f32>>(&[(u64::MAX, Complex::new(18446744073709551616.0, 0.0))]);
}

#[test]
fn wide_integers_round_once() {
    // Halfway between two floats; a little more must go up, which a stop at f64 would lose.
    let half = (1u64 << 62) + (1 << 38);
    expect::<u64, f32>(&[
        (half, 2f32.powi(62)),
        (half + 1, 2f32.powi(62) + 2f32.powi(39)),
    ]);
    expect::<i64, f32>(&[(-(half as i64) - 1, -(2f32.powi(62) + 2f32.powi(39)))]);
    let half = (1u64 << 62) + (1 << 54);
    let (low, high) = (
        bf16::from_f32(2f32.powi(62)),
        bf16::from_f32(2f32.powi(62) + 2f32.powi(55)),
    );
    expect::<u64, bf16>(&[(half, low), (half + 1, high), (half - 1, low)]);
    expect::<i64, bf16>(&[(-(half as i64), -low), (-(half as i64) - 1, -high)]);
    expect::<i64, f16>(&[(2049, f16::from_f32(2048.0)), (2051, f16::from_f32(2052.0))]);
    expect::<i64, f16>(&[
        (65519, f16::MAX),
        (65520, f16::INFINITY),
        (i64::MIN, f16::NEG_INFINITY),
    ]);
    expect::<u64, f64>(&[
        (u64::MAX, 18446744073709551616.0),
        ((1 << 53) + 1, 9007199254740992.0),
    ]);
    expect::<i32, f32>(&[(16777217, 16777216.0), (i32::MIN, -2147483648.0)]);
}

/// The nearest finite half, ties to the even one, by looking at all of them.
fn nearest(x: f64) -> f16 {
    let distance = |h: f16| (f64::from(h.to_f32_const()) - x).abs();
    (0..0x7c00u16)
        .flat_map(|bits| [f16::from_bits(bits), f16::from_bits(bits | 0x8000)])
        .filter(|h| h.is_sign_negative() == x.is_sign_negative())
        .min_by(|a, b| {
            distance(*a)
                .total_cmp(&distance(*b))
                .then((a.to_bits() & 1).cmp(&(b.to_bits() & 1)))
        })
        .expect("there are halves of either sign")
}

#[test]
fn doubles_round_once_to_sixteen_bits() {
    // Just above a midpoint of halves, but that midpoint itself once it has been a float.
    let above = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
    expect::<f64, f16>(&[
        (above, f16::from_bits(0x3c01)),
        (1.0 + 2f64.powi(-11), f16::ONE),
    ]);
    let above = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
    expect::<f64, bf16>(&[
        (above, bf16::from_bits(0x3f81)),
        (1.0 + 2f64.powi(-8), bf16::ONE),
    ]);
    let tiny = 2f64.powi(-25);
    expect::<f64, f16>(&[
        (tiny, f16::ZERO),
        (tiny.next_up(), f16::from_bits(1)),
        (-tiny, f16::NEG_ZERO),
    ]);
    expect::<f64, f16>(&[
        (f64::INFINITY, f16::INFINITY),
        (-1e9, f16::NEG_INFINITY),
        (-0.0, f16::NEG_ZERO),
    ]);
    expect::<f32, bf16>(&[
        (f32::MAX, bf16::INFINITY),
        (1e-45, bf16::ZERO),
        (-0.0, bf16::NEG_ZERO),
    ]);
    assert!(convert::<f64, f16>(&[f64::NAN])[0].is_nan());
    assert!(convert::<f64, bf16>(&[f64::from_bits(0x7ff0_0000_0000_0001)])[0].is_nan());
    assert!(convert::<f32, bf16>(&[f32::from_bits(0x7f80_0001)])[0].is_nan());
    assert!(convert::<f16, f64>(&[f16::NAN])[0].is_nan());
    let mut rng = Rng(5);
    for _ in 0..200 {
        let x = (rng.next() as f64 / 1e19 - 0.9) * 10f64.powi(rng.below(12) as i32 - 8);
        assert_eq!(
            convert::<f64, f16>(&[x])[0].to_bits(),
            nearest(x).to_bits(),
            "{x:e}"
        );
    }
}

/// Small whole numbers mean the same in every dtype, so every pair must carry them over.
#[test]
fn every_pair_keeps_small_numbers_for_any_strides() {
    let mut rng = Rng(9);
    for from in DType::ALL {
        for to in DType::ALL {
            let sizes = rng.sizes(4, 6);
            let small = Sample::random(&mut rng, &sizes, |rng| rng.below(2) as u8);
            // The same strides over every dtype: cast the whole sample twice, once from strided bytes.
            let mut memory = vec![0u128; indices(&sizes).len() + 1];
            // SAFETY: K1 to K4: the sample, then packed memory with room for any dtype.
            unsafe { cast(small.block(), DType::U8, memory.as_mut_ptr().cast(), from) };
            let strides: Vec<isize> = (0..sizes.len())
                .map(|i| sizes[i + 1..].iter().product::<usize>() as isize)
                .collect();
            let reversed = |xs: &[usize]| xs.iter().rev().copied().collect::<Vec<_>>();
            let turned: Vec<isize> = strides.iter().rev().copied().collect();
            let turned_sizes = reversed(&sizes);
            let middle = Block {
                start: memory.as_ptr().cast(),
                sizes: &turned_sizes,
                strides: &turned,
            };
            let mut there = vec![0u128; memory.len()];
            // SAFETY: K1 to K4, as above.
            unsafe { cast(middle, from, there.as_mut_ptr().cast(), to) };
            let len = memory.len() - 1;
            let line = Block {
                start: there.as_ptr().cast(),
                sizes: &[len],
                strides: &[1],
            };
            let back = filled(9u8, len, |dst| {
                // SAFETY: K1 to K4, as above.
                unsafe { cast(line, to, dst, DType::U8) };
            });
            let wanted: Vec<u8> = indices(&turned_sizes)
                .iter()
                .map(|i| small.at(&reversed(i)))
                .collect();
            assert_eq!(back, wanted, "{from} to {to}");
        }
    }
}

#[test]
fn long_casts_are_the_same_on_many_threads() {
    let mut rng = Rng(1);
    let sample = Sample::packed(&mut rng, &[300, 700], |rng| rng.next() as i64).permuted(&[1, 0]);
    let wanted: Vec<f32> = indices(&sample.sizes)
        .iter()
        .map(|i| sample.at(i) as f32)
        .collect();
    let got = filled(0f32, wanted.len(), |dst| {
        // SAFETY: K1 to K4: a sample stays within its memory, and the result is new.
        unsafe { cast(sample.block(), DType::I64, dst, DType::F32) };
    });
    assert_eq!(got, wanted);
}
