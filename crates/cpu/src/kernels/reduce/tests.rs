//! Reductions against one element at a time, written from the definition, bit for bit.

use half::{bf16, f16};
use num_complex::Complex;

use super::*;
use crate::element::Element;
use crate::kernels::sample::{Rng, bytes};

/// Sources of odd and even counts and lengths around the block size, at every alignment.
fn agrees<T: Element>(
    all: &[Reduction],
    make: impl Fn(&mut Rng) -> T::Cell,
    wanted: impl Fn(Reduction, &[T::Cell]) -> T::Cell,
) {
    let (dtype, width) = (T::DTYPE, T::DTYPE.width());
    let mut rng = Rng(width as u64);
    for round in 0..200 {
        let len = [rng.below(20), 511, 512, 513 + rng.below(2000)][round % 4];
        let count = 1 + rng.below(6);
        let sources: Vec<Vec<T::Cell>> = (0..count)
            .map(|_| (0..len).map(|_| make(&mut rng)).collect())
            .collect();
        // One byte or more in front, so that nothing is aligned for its type.
        let front = rng.below(width + 1);
        let placed: Vec<Vec<u8>> = sources
            .iter()
            .map(|cells| [&vec![0; front], bytes(cells)].concat())
            .collect();
        let placed: Vec<&[u8]> = placed.iter().map(|source| &source[front..]).collect();
        for &by in all {
            let each: Vec<T::Cell> = (0..len)
                .map(|at| {
                    let terms: Vec<T::Cell> = sources.iter().map(|cells| cells[at]).collect();
                    wanted(by, &terms)
                })
                .collect();
            let mut got = vec![0xa5; front + len * width];
            reduce_all(dtype, by, &mut got[front..], &placed).expect("a reduction");
            let told = format!("{dtype} {} of {count}, {len} elements", by.name());
            assert!(&got[front..] == bytes(&each), "{told}");
            if let [a, b, ..] = placed[..] {
                let pairs: Vec<T::Cell> = (0..len)
                    .map(|at| wanted(by, &[sources[0][at], sources[1][at]]))
                    .collect();
                got[front..].copy_from_slice(a);
                reduce(dtype, by, &mut got[front..], b).expect("a reduction");
                assert!(&got[front..] == bytes(&pairs), "{told}, in place");
            }
        }
    }
}

fn of_integers<T: Element<Cell = T> + Ord>(draw: fn(&mut Rng) -> T, plus: fn(T, T) -> T) {
    agrees::<T>(&Reduction::ALL, draw, move |by, terms| {
        let terms = terms.iter().copied();
        match by {
            Reduction::Sum => terms.reduce(plus),
            Reduction::Max => terms.max(),
            Reduction::Min => terms.min(),
        }
        .expect("a term")
    });
}

#[test]
fn integers_wrap_and_are_ordered() {
    of_integers::<u8>(|rng| rng.next() as u8, u8::wrapping_add);
    of_integers::<u16>(|rng| rng.next() as u16, u16::wrapping_add);
    of_integers::<u32>(|rng| rng.next() as u32, u32::wrapping_add);
    of_integers::<u64>(|rng| rng.next(), u64::wrapping_add);
    of_integers::<i8>(|rng| rng.next() as i8, i8::wrapping_add);
    of_integers::<i16>(|rng| rng.next() as i16, i16::wrapping_add);
    of_integers::<i32>(|rng| rng.next() as i32, i32::wrapping_add);
    of_integers::<i64>(|rng| rng.next() as i64, i64::wrapping_add);
}

#[test]
fn bool_is_or_or_and_whatever_the_byte_of_true_is() {
    agrees::<bool>(
        &Reduction::ALL,
        |rng| Flag::from_byte([0, 0, 1, 6, 0x80][rng.below(5)]),
        |by, terms| {
            Flag::from(match by {
                Reduction::Sum | Reduction::Max => terms.iter().any(|flag| flag.get()),
                Reduction::Min => terms.iter().all(|flag| flag.get()),
            })
        },
    );
}

/// Values that are awkward for an order, as `f64`.
fn awkward(rng: &mut Rng) -> f64 {
    let few = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 1.5, -1.5, 1e-7];
    match rng.below(16) {
        0 => f64::NAN,
        1..=9 => few[rng.below(few.len())],
        _ => (rng.below(2000) as f64 - 1000.0) / 7.0,
    }
}

/// The largest or smallest by the words of the contract, not by bits.
fn extreme(by: Reduction, terms: &[f64]) -> f64 {
    let better = |a: f64, b: f64| match (a.is_nan(), b.is_nan()) {
        (true, _) => a,
        (_, true) => b,
        _ if a == b && (a.is_sign_negative() == (by == Reduction::Min)) => a,
        _ if a == b => b,
        _ if (a > b) == (by == Reduction::Max) => a,
        _ => b,
    };
    terms.iter().copied().reduce(better).expect("a term")
}

/// Sums are of finite terms, since the sign of a NaN that an addition makes is the machine's own affair.
macro_rules! of_floats {
    ($type:ty, $make:expr, $widen:expr) => {
        agrees::<$type>(
            &[Reduction::Max, Reduction::Min],
            |rng| $make(awkward(rng)),
            |by, terms| {
                let wide: Vec<f64> = terms.iter().map(|&term| $widen(term)).collect();
                $make(extreme(by, &wide))
            },
        );
        agrees::<$type>(
            &[Reduction::Sum],
            |rng| $make((rng.below(2000) as f64 - 1000.0) / 7.0),
            |_, terms| {
                let wide = terms.iter().map(|term| term.widen());
                <$type>::narrow(wide.reduce(|a, b| a + b).expect("a term"))
            },
        );
    };
}

#[test]
fn floats_sum_in_order_and_nan_wins_every_order() {
    let half = |x: f64| f16::from_f32_const(x as f32);
    let brain = |x: f64| bf16::from_f32_const(x as f32);
    of_floats!(f16, half, |x: f16| f64::from(x.to_f32_const()));
    of_floats!(bf16, brain, |x: bf16| f64::from(x.to_f32_const()));
    of_floats!(f32, |x| x as f32, f64::from);
    of_floats!(f64, |x| x, |x| x);
    let nan = f32::NAN.to_ne_bytes();
    let mut into = 1f32.to_ne_bytes();
    reduce(DType::F32, Reduction::Sum, &mut into, &nan).expect("a sum");
    assert!(f32::from_ne_bytes(into).is_nan());
}

#[test]
fn complex_numbers_have_sums_only() {
    agrees::<Complex<f32>>(
        &[Reduction::Sum],
        |rng| Complex::new(rng.below(99) as f32 / 7.0, rng.below(9) as f32),
        |_, terms| terms.iter().copied().reduce(|a, b| a + b).expect("a term"),
    );
    agrees::<Complex<f64>>(
        &[Reduction::Sum],
        |rng| Complex::new(rng.below(99) as f64 / 7.0, rng.below(9) as f64),
        |_, terms| terms.iter().copied().reduce(|a, b| a + b).expect("a term"),
    );
    let error = reduce(DType::C64, Reduction::Max, &mut [0; 8], &[0; 8]).expect_err("no order");
    assert!(matches!(error, Error::DType(_)));
    assert_eq!(
        error.to_string(),
        "complex64 numbers have no order, so there is no max of them\n  \
         help: reduce them by sum, or their real and imaginary parts one by one"
    );
}

#[test]
fn any_two_bit_patterns_have_one_largest_and_one_smallest() {
    let special: Vec<u16> = [
        0u16, 1, 0x3ff, 0x400, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7fff,
    ]
    .iter()
    .flat_map(|&bits| [bits, bits | 0x8000])
    .collect();
    for dtype in [DType::F16, DType::BF16] {
        for by in [Reduction::Max, Reduction::Min] {
            for &a in &special {
                for &b in &special {
                    let (mut ab, mut ba) = (a.to_ne_bytes(), b.to_ne_bytes());
                    reduce(dtype, by, &mut ab, &b.to_ne_bytes()).expect("a reduction");
                    reduce(dtype, by, &mut ba, &a.to_ne_bytes()).expect("a reduction");
                    assert_eq!(ab, ba, "{dtype} {} of {a:#x} and {b:#x}", by.name());
                }
            }
        }
    }
}

#[test]
fn sixteen_bit_floats_round_once_however_many_there_are() {
    let tiny = f16::from_f32_const(0.0004).to_ne_bytes();
    let one = f16::ONE.to_ne_bytes();
    let mut into = [0; 2];
    let all: [&[u8]; 4] = [&one, &tiny, &tiny, &tiny];
    reduce_all(DType::F16, Reduction::Sum, &mut into, &all).expect("a sum");
    assert!(f16::from_ne_bytes(into) > f16::ONE);
}

#[test]
fn sizes_that_do_not_go_together_are_errors() {
    let (mut into, by) = ([0; 8], Reduction::Sum);
    assert!(reduce(DType::F32, by, &mut into, &[0; 4]).is_err());
    assert!(reduce(DType::F32, by, &mut into[..6], &[0; 6]).is_err());
    assert!(reduce_all(DType::F32, by, &mut into, &[]).is_err());
    assert!(reduce_all(DType::F32, by, &mut [], &[&[]]).is_ok());
}
