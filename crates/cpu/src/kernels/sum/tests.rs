//! The contract in the header of `sum`, written as literally as possible, against the kernel, bit for bit.

use std::cell::RefCell;

use half::{bf16, f16};
use num_complex::Complex;
use stridewise_core::DType;

use super::columns::Columns;
use super::rows::Rows;
use super::tree::join;
use super::{in_64_bits, sum};
use crate::element::{Element, Flag, Number};
use crate::kernels::loops::Loops;
use crate::kernels::sample::{Rng, Sample, bytes, filled, flat, indices};

fn tree<T: Number>(terms: &[T]) -> T::Accumulator {
    if terms.len() <= 128 {
        let lanes: Vec<T::Accumulator> = (0..8.min(terms.len()))
            .map(|j| {
                let lane = terms.iter().skip(j).step_by(8).map(|x| x.widen());
                lane.reduce(T::add).expect("a lane with terms")
            })
            .collect();
        let pair = |left: Option<T::Accumulator>, right: Option<T::Accumulator>| match (left, right)
        {
            (Some(left), Some(right)) => Some(T::add(left, right)),
            (left, _) => left,
        };
        let lane = |j: usize| lanes.get(j).copied();
        let low = pair(pair(lane(0), lane(1)), pair(lane(2), lane(3)));
        let high = pair(pair(lane(4), lane(5)), pair(lane(6), lane(7)));
        return pair(low, high).expect("at least one term");
    }
    let blocks = terms.len().div_ceil(128);
    let mut left = 1;
    while left * 2 < blocks {
        left *= 2;
    }
    let (left, right) = terms.split_at(left * 128);
    T::add(tree(left), tree(right))
}

fn agrees<T: Element>(sample: &Sample<T::Cell>, reduced: &[bool]) {
    let axes = |flag: bool| -> Vec<usize> {
        let sizes = sample.sizes.iter().zip(reduced);
        sizes
            .filter(|&(_, &is)| is == flag)
            .map(|(&size, _)| size)
            .collect()
    };
    let kept = axes(false);
    let mut terms = vec![Vec::new(); kept.iter().product()];
    for index in indices(&sample.sizes) {
        let out: Vec<usize> = index
            .iter()
            .zip(reduced)
            .filter(|&(_, &is)| !is)
            .map(|(&i, _)| i)
            .collect();
        terms[flat(&kept, &out)].push(sample.at(&index));
    }
    let wanted: Vec<T::Cell> = terms
        .iter()
        .map(|terms| {
            if terms.is_empty() {
                T::Cell::ZERO
            } else {
                T::Cell::narrow(tree(terms))
            }
        })
        .collect();
    let got = filled(T::Cell::ZERO, wanted.len(), |dst| {
        // SAFETY: K1 to K4: a sample stays within its memory, and the result is new.
        unsafe { sum(sample.block(), reduced, dst, T::DTYPE) };
    });
    assert!(
        bytes(&got) == bytes(&wanted),
        "{} {:?} {reduced:?}",
        T::DTYPE,
        sample.sizes
    );
}

fn agrees_for<T: Element>(make: impl Fn(&mut Rng) -> T::Cell) {
    let mut rng = Rng(T::DTYPE.width() as u64);
    for _ in 0..300 {
        let sizes = rng.sizes(5, 7);
        let reduced: Vec<bool> = sizes.iter().map(|_| rng.below(2) == 0).collect();
        agrees::<T>(&Sample::random(&mut rng, &sizes, &make), &reduced);
    }
    for len in [
        1, 2, 7, 8, 9, 127, 128, 129, 255, 256, 300, 384, 385, 1000, 1153,
    ] {
        for (sizes, reduced) in [
            (vec![len], vec![true]),
            (vec![3, len], vec![false, true]),
            (vec![len, 5], vec![true, false]),
            (vec![2, len, 3], vec![true, false, true]),
            (vec![2, len, 3], vec![false, true, false]),
        ] {
            agrees::<T>(&Sample::packed(&mut rng, &sizes, &make), &reduced);
            agrees::<T>(&Sample::random(&mut rng, &sizes, &make), &reduced);
        }
        // Terms that are one element, then those that are a few, over and over.
        let few = || Sample::packed(&mut Rng(len as u64), &[3], &make);
        agrees::<T>(&few().expanded(1, len), &[false, true]);
        agrees::<T>(&few().expanded(0, len), &[true, true]);
        agrees::<T>(&few().expanded(1, len), &[true, true]);
        agrees::<T>(&few().expanded(1, 2).expanded(1, len), &[true, true, true]);
    }
}

#[test]
fn every_sum_follows_the_tree() {
    agrees_for::<bool>(|rng| Flag::from_byte(if rng.below(30) == 0 { 4 } else { 0 }));
    agrees_for::<u8>(|rng| rng.next() as u8);
    agrees_for::<i16>(|rng| rng.next() as i16);
    agrees_for::<u64>(|rng| rng.next());
    agrees_for::<f16>(|rng| f16::from_f32_const(rng.below(9999) as f32 / 7e3 - 0.3));
    agrees_for::<bf16>(|rng| bf16::from_f32(rng.below(9999) as f32 / 7e3 - 0.3));
    agrees_for::<f32>(|rng| rng.below(1 << 30) as f32 / 7e8 - 0.3);
    agrees_for::<f64>(|rng| rng.next() as f64 / 7e17 - 8.0);
    agrees_for::<Complex<f32>>(|rng| {
        Complex::new(rng.below(1 << 30) as f32, rng.below(1 << 20) as f32)
    });
    agrees_for::<Complex<f64>>(|rng| Complex::new(rng.next() as f64, -(rng.next() as f64)));
}

#[test]
fn threads_do_not_change_a_bit() {
    let mut rng = Rng(3);
    let make = |rng: &mut Rng| rng.below(1 << 30) as f32 / 7e8 - 0.3;
    for (sizes, reduced, axes) in [
        (vec![300_000], vec![true], vec![0]),
        (vec![2, 131_072], vec![false, true], vec![0, 1]),
        (vec![100_003, 3], vec![true, false], vec![0, 1]),
        (vec![3, 100_003], vec![true, false], vec![1, 0]),
        (vec![100, 3, 700], vec![true, false, true], vec![0, 1, 2]),
        (vec![90, 5000], vec![true, false], vec![0, 1]),
        (vec![5000, 90], vec![false, true], vec![0, 1]),
        (vec![20_000, 20], vec![false, true], vec![0, 1]),
        (vec![20, 20_000], vec![true, false], vec![1, 0]),
        (vec![20_000, 20], vec![true, false], vec![0, 1]),
        (vec![40, 50, 60], vec![true, false, true], vec![2, 0, 1]),
        (vec![40, 50, 60], vec![false, true, false], vec![2, 1, 0]),
        (vec![100_000, 2], vec![false, false], vec![1, 0]),
        (vec![300, 700], vec![true, true], vec![1, 0]),
        (vec![50, 64, 100], vec![true, true, true], vec![1, 2, 0]),
        (vec![3, 300, 256], vec![false, true, true], vec![0, 2, 1]),
        (vec![2, 90_000], vec![true, true], vec![1, 0]),
        // In the caches, in threads' trees; and not.
        (vec![1500, 100], vec![true, false], vec![0, 1]),
        (vec![5300, 100], vec![true, false], vec![0, 1]),
        (vec![700, 1000], vec![true, false], vec![0, 1]),
        // Few terms of more outputs than have trees of their own, and than a tile has columns.
        (vec![30, 20_000], vec![true, false], vec![0, 1]),
        // Rows that end among the blocks that are summed at once.
        (vec![5, 3, 1408], vec![true, false, true], vec![0, 1, 2]),
        // Whole blocks of more outputs than are added in turn; and of outputs that lie further apart than their rows.
        (vec![5, 600, 128], vec![true, false, true], vec![0, 1, 2]),
        (
            vec![9, 30, 4, 128],
            vec![false, true, true, true],
            vec![0, 2, 1, 3],
        ),
    ] {
        let sample = Sample::packed(&mut rng, &sizes, make).permuted(&axes);
        let reduced: Vec<bool> = axes.iter().map(|&axis| reduced[axis]).collect();
        agrees::<f32>(&sample, &reduced);
        let halves = Sample::packed(&mut rng, &sizes, |rng| {
            f16::from_f32_const(rng.below(9999) as f32 / 7e3 - 0.3)
        });
        agrees::<f16>(&halves.permuted(&axes), &reduced);
    }
}

#[test]
fn rows_of_sums_are_joined_as_the_sums_of_blocks_are() {
    let mut rng = Rng(11);
    for rows in 1..40 {
        let mut sums: Vec<f32> = (0..3 * rows).map(|_| rng.below(1 << 30) as f32).collect();
        // A block whose only term is not zero has that term as its sum.
        let wanted: Vec<f32> = (0..3)
            .map(|at| {
                let blocks = (0..rows).flat_map(|row| {
                    let mut block = [0.0; 128];
                    block[0] = sums[3 * row + at];
                    block
                });
                tree(&blocks.collect::<Vec<f32>>())
            })
            .collect();
        join::<f32>(&mut sums, 3);
        assert_eq!(sums[..3], wanted, "{rows} rows");
    }
}

/// Integers of any strides in 64 bits, against a sum that is wide enough to be cut down at the end.
fn grows_for<T: Element>(make: impl Fn(&mut Rng) -> T::Cell, value: impl Fn(T::Cell) -> i128) {
    let mut rng = Rng(31);
    let shapes = (0..150).map(|_| None).chain([
        Some((vec![300, 500], vec![true, false])),
        Some((vec![300, 500], vec![false, true])),
        Some((vec![200_000], vec![true])),
    ]);
    for shape in shapes {
        let (sizes, reduced) = shape.unwrap_or_else(|| {
            let sizes = rng.sizes(5, 7);
            let reduced = sizes.iter().map(|_| rng.below(2) == 0).collect();
            (sizes, reduced)
        });
        let sample = Sample::random(&mut rng, &sizes, &make);
        let kept = |index: &[usize]| -> Vec<usize> {
            let kept = index.iter().zip(&reduced).filter(|&(_, &is)| !is);
            kept.map(|(&i, _)| i).collect()
        };
        let shape = kept(&sizes);
        let mut wanted = vec![0i128; shape.iter().product()];
        for index in indices(&sizes) {
            wanted[flat(&shape, &kept(&index))] += value(sample.at(&index));
        }
        let wanted: Vec<i64> = wanted.iter().map(|&sum| sum as i64).collect();
        for to in [DType::I64, DType::U64] {
            let sum = in_64_bits(T::DTYPE, to).expect("a sum in 64 bits");
            let got = filled(0i64, wanted.len(), |dst| {
                // SAFETY: K1 to K4: a sample stays within its memory, and the result is new.
                unsafe { sum(sample.block(), &reduced, dst) };
            });
            assert_eq!(got, wanted, "{} {sizes:?} {reduced:?}, seed 31", T::DTYPE);
        }
    }
}

#[test]
fn integers_grow_as_they_are_summed() {
    grows_for::<bool>(
        |rng| Flag::from_byte(if rng.below(3) == 0 { 4 } else { 0 }),
        |x| i128::from(x.get()),
    );
    grows_for::<u8>(|rng| rng.next() as u8, i128::from);
    grows_for::<u16>(|rng| rng.next() as u16, i128::from);
    grows_for::<u32>(|rng| rng.next() as u32, i128::from);
    grows_for::<u64>(|rng| rng.next(), i128::from);
    grows_for::<i8>(|rng| rng.next() as i8, i128::from);
    grows_for::<i16>(|rng| rng.next() as i16, i128::from);
    grows_for::<i32>(|rng| rng.next() as i32, i128::from);
    grows_for::<i64>(|rng| rng.next() as i64, i128::from);
    for (from, to) in [
        (DType::F32, DType::I64),
        (DType::I32, DType::F64),
        (DType::I8, DType::I32),
        (DType::C64, DType::U64),
    ] {
        assert!(in_64_bits(from, to).is_none(), "{from} to {to}");
    }
}

#[test]
fn one_term_is_its_own_sum_and_none_is_zero() {
    let minus = Sample::packed(&mut Rng(0), &[1, 4], |_| -0.0f64);
    for reduced in [[true, false], [false, false]] {
        let got = filled(1.0f64, 4, |dst| {
            // SAFETY: K1 to K4: a sample stays within its memory, and the result is new.
            unsafe { sum(minus.block(), &reduced, dst, f64::DTYPE) };
        });
        assert!(got.iter().all(|x| x.to_bits() == (-0.0f64).to_bits()));
    }
    let none = Sample::packed(&mut Rng(0), &[2, 0], |_| 1.0f32);
    let got = filled(1.0f32, 2, |dst| {
        // SAFETY: as above.
        unsafe { sum(none.block(), &[false, true], dst, f32::DTYPE) };
    });
    assert!(got.iter().all(|x| x.to_bits() == 0));
}

#[test]
fn a_broadcast_source_is_summed_as_if_it_were_copied() {
    let one = [0.1f32];
    let sizes = [1000usize, 3];
    let block = crate::kernels::Block {
        start: one.as_ptr().cast(),
        sizes: &sizes,
        strides: &[0, 0],
    };
    let got = filled(0.0f32, 3, |dst| {
        // SAFETY: K1: every index is the one element.
        unsafe { sum(block, &[true, false], dst, f32::DTYPE) };
    });
    assert_eq!(got, [tree(&[0.1f32; 1000]); 3]);
}

/// What takes a sum, with the number of its row.
type Store<'a, T> = &'a dyn Fn(usize, <T as Number>::Accumulator);

/// Sums of packed rows by every way the loop is compiled, which the machine may not choose.
fn every_way_agrees_for<T: Element>(make: impl Fn(&mut Rng) -> T::Cell) {
    let mut rng = Rng(7 + T::DTYPE.width() as u64);
    let short = (1..=20).chain([63, 64, 65, 127, 128, 129, 200, 256, 400]);
    // Few and many rows that are read at several places in turn, with and without a rest.
    let long = [
        (1, 65_536),
        (1, 70_001),
        (2, 131_000),
        (4, 16_384),
        (6, 11_000),
        (1030, 70),
    ];
    for (count, len) in short.map(|len| (5, len)).chain(long) {
        let sample = Sample::packed(&mut rng, &[count, len], &make);
        let terms =
            |row: usize| -> Vec<T::Cell> { (0..len).map(|at| sample.at(&[row, at])).collect() };
        let wanted: Vec<T::Cell> = (0..count)
            .map(|row| T::Cell::narrow(tree(&terms(row))))
            .collect();
        let rows = Rows {
            first: sample.block().start.cast::<T::Cell>(),
            step: len as isize,
            count,
            len,
        };
        let by = |way: &dyn Fn(Store<T::Cell>)| {
            let sums = RefCell::new(vec![T::Cell::ZERO; count]);
            way(&|row, sum| sums.borrow_mut()[row] = T::Cell::narrow(sum));
            let sums = sums.into_inner();
            assert!(bytes(&sums) == bytes(&wanted), "{} {count} {len}", T::DTYPE);
        };
        // SAFETY: K1, K2, K4: the rows are all of the sample.
        by(&|store| unsafe { rows.sum_plainly(store) });
        // SAFETY: as above.
        by(&|store| unsafe { rows.sum(store) });
        if len <= 8 {
            // SAFETY: as above.
            by(&|store| unsafe { rows.sum_short(store) });
        }
        #[cfg(target_arch = "x86_64")]
        if super::vectors() {
            // SAFETY: as above, and the machine has the vectors.
            by(&|store| unsafe { rows.sum_vectors(store) });
        }
    }
}

#[test]
fn rows_are_summed_alike_by_every_way_the_loop_is_compiled() {
    every_way_agrees_for::<bool>(|rng| Flag::from_byte(if rng.below(90) == 0 { 4 } else { 0 }));
    every_way_agrees_for::<i8>(|rng| rng.next() as i8);
    every_way_agrees_for::<u32>(|rng| rng.next() as u32);
    every_way_agrees_for::<f16>(|rng| f16::from_f32_const(rng.below(9999) as f32 / 7e3 - 0.3));
    every_way_agrees_for::<bf16>(|rng| bf16::from_f32(rng.below(9999) as f32 / 7e3 - 0.3));
    every_way_agrees_for::<f32>(|rng| rng.below(1 << 30) as f32 / 7e8 - 0.3);
    every_way_agrees_for::<f64>(|rng| rng.next() as f64 / 7e17 - 8.0);
    every_way_agrees_for::<Complex<f32>>(|rng| {
        Complex::new(rng.below(1 << 30) as f32, rng.below(1 << 20) as f32)
    });
    every_way_agrees_for::<Complex<f64>>(|rng| {
        Complex::new(rng.next() as f64, -(rng.next() as f64))
    });
}

/// Columns whose rows follow each other, leave gaps, or lie on pages of their own; in the cache and not; with vectors and
/// without.
fn columns_agree_for<T: Element>(make: impl Fn(&mut Rng) -> T::Cell) {
    let mut rng = Rng(23);
    let memory: Vec<T::Cell> = (0..300_000).map(|_| make(&mut rng)).collect();
    for round in 0..240 {
        let width = 1 + rng.below([5, 20, 120, 700][round % 4]);
        let stride = width + [0, 0, 3, 1100][rng.below(4)];
        let apart = stride + rng.below(9);
        // One row of terms, or rows that end anywhere in a block.
        let inner =
            [1, 8, 16, 20, 40, 128, 300, 1000][rng.below(8)].min((memory.len() - width) / apart);
        let room = (memory.len() - width) / (apart * inner);
        let outer = 1 + rng.below(6.min(room));
        // From the start of the memory on, or from far enough towards it.
        let (first, sign) = [(0, 1), (outer * inner * apart, -1)][rng.below(2)];
        let terms = Loops::new(
            [
                (outer, [sign * apart as isize * inner as isize]),
                (inner, [sign * stride as isize]),
            ]
            .into_iter(),
        );
        let far = rng.below(2) == 0;
        let mut columns = Columns::<T::Cell>::new(width, far);
        columns.vectors &= rng.below(3) > 0;
        let vectors = columns.vectors;
        // SAFETY: K1, K2, K4: the first and the last term of the last column lie within the memory.
        let sums = unsafe {
            let corner = memory.as_ptr().add(first);
            columns.sum(width, (corner, 1), &terms, 0..terms.len())
        };
        for (c, &sum) in sums.iter().enumerate() {
            let column: Vec<T::Cell> = (0..terms.len())
                .map(|t| memory[(first + c).wrapping_add_signed(terms.offsets(t)[0])])
                .collect();
            let (sum, wanted) = (T::Cell::narrow(sum), T::Cell::narrow(tree(&column)));
            assert_eq!(
                bytes(&[sum]),
                bytes(&[wanted]),
                "{}: column {c} of {width}, stride {stride}, {} terms, far {far}, vectors {vectors}, seed 23",
                T::DTYPE,
                terms.len()
            );
        }
    }
}

#[test]
fn columns_follow_the_tree_however_their_terms_are_taken() {
    columns_agree_for::<i8>(|rng| rng.next() as i8);
    columns_agree_for::<u32>(|rng| rng.next() as u32);
    columns_agree_for::<i16>(|rng| rng.next() as i16);
    columns_agree_for::<f16>(|rng| f16::from_f32_const(rng.below(9999) as f32 / 7e3 - 0.3));
    columns_agree_for::<bf16>(|rng| bf16::from_f32(rng.below(9999) as f32 / 7e3 - 0.3));
    columns_agree_for::<f32>(|rng| rng.below(1 << 30) as f32 / 7e8 - 0.3);
    columns_agree_for::<f64>(|rng| rng.next() as f64 / 7e17 - 8.0);
    columns_agree_for::<Complex<f64>>(|rng| Complex::new(rng.next() as f64, -(rng.next() as f64)));
}
