//! Both gathers against loops written from their definitions.

use std::ops::Range;

use num_complex::Complex;

use super::{BadIndex, Bounds, gather, gather_aligned};
use crate::element::{Element, Number};
use crate::kernels::sample::{Rng, Sample, bytes, cell, filled, flat, indices, unravel};

const FILL: u8 = 0xA5;
const RULES: [Bounds; 4] = [
    Bounds::Raise,
    Bounds::Wrap,
    Bounds::Clip,
    Bounds::Fill([FILL; 16]),
];

fn of_bytes<T: Number>(make: impl Fn() -> u8) -> T {
    let raw: [u8; 16] = std::array::from_fn(|_| make());
    // SAFETY: any bytes are a number, and none is wider than 16.
    unsafe { raw.as_ptr().cast::<T>().read_unaligned() }
}

fn random<T: Number>(rng: &mut Rng) -> T {
    let seed = std::cell::Cell::new(rng.next());
    of_bytes(|| {
        seed.set(seed.get().rotate_left(9).wrapping_mul(5));
        seed.get() as u8
    })
}

/// Checks one gather and returns whether an index was refused.
fn agrees<T: Element, I: Element<Cell: Into<i128>>>(
    source: &Sample<T::Cell>,
    run: Range<usize>,
    index: &Sample<I::Cell>,
    bounds: Bounds,
) -> bool {
    let n: usize = source.sizes[run.clone()].iter().product();
    if n == 0 && !index.block().is_empty() && !matches!(bounds, Bounds::Fill(_)) {
        return false;
    }
    let (outer, inner) = (&source.sizes[..run.start], &source.sizes[run.end..]);
    let mut wanted: Result<Vec<T::Cell>, BadIndex> = Ok(Vec::new());
    let all = indices(&index.sizes);
    let cells: Vec<_> = all
        .iter()
        .map(|i| cell(index.at(i).into(), n, bounds))
        .collect();
    if let Some(position) = cells.iter().position(|cell| cell.is_err()) {
        wanted = Err(BadIndex {
            position,
            value: cells[position].expect_err("it is bad"),
        });
    } else if let Ok(wanted) = &mut wanted {
        for o in indices(outer) {
            for cell in &cells {
                for i in indices(inner) {
                    wanted.push(match cell.expect("none is bad") {
                        Some(cell) => {
                            let at =
                                [o.clone(), unravel(&source.sizes[run.clone()], cell), i].concat();
                            source.at(&at)
                        }
                        None => of_bytes(|| FILL),
                    });
                }
            }
        }
    }
    let len = outer.iter().chain(&index.sizes).chain(inner).product();
    let mut result = Ok(());
    let got = filled(T::Cell::ZERO, len, |dst| {
        // SAFETY: K1 to K4: samples stay within their memory, and the result is new.
        result = unsafe {
            gather(
                source.block(),
                run.clone(),
                index.block(),
                I::DTYPE,
                T::DTYPE.width(),
                bounds,
                dst,
            )
        };
    });
    match wanted {
        Ok(wanted) => {
            assert_eq!(result, Ok(()));
            assert!(
                bytes(&got) == bytes(&wanted),
                "{source:?} {run:?} {index:?}"
            );
            false
        }
        Err(bad) => {
            assert_eq!(result, Err(bad));
            true
        }
    }
}

fn agrees_for<T: Element, I: Element<Cell: Into<i128>>>(
    value: impl Fn(&mut Rng, usize) -> I::Cell,
) {
    let mut rng = Rng(17 + T::DTYPE.width() as u64);
    let mut refused = 0;
    for round in 0..250 {
        let sizes = rng.sizes(4, 5);
        let source = Sample::random(&mut rng, &sizes, random::<T::Cell>);
        let mut run = [rng.below(sizes.len() + 1), rng.below(sizes.len() + 1)];
        run.sort_unstable();
        let n: usize = sizes[run[0]..run[1]].iter().product();
        let shape = rng.sizes(3, 5);
        let index = Sample::random(&mut rng, &shape, |rng| value(rng, n));
        refused += usize::from(agrees::<T, I>(
            &source,
            run[0]..run[1],
            &index,
            RULES[round % 4],
        ));
    }
    assert!(refused > 0 && refused < 60, "{refused}");
}

/// Mostly inside, sometimes anywhere.
fn signed(rng: &mut Rng, n: usize) -> i64 {
    match rng.below(40) {
        0 => rng.next() as i64,
        1 => i64::MIN,
        2 => n as i64,
        _ => rng.below(2 * n.max(1)) as i64 - n as i64,
    }
}

fn unsigned(rng: &mut Rng, n: usize) -> u64 {
    if rng.below(40) == 0 {
        rng.next()
    } else {
        rng.below(n.max(1)) as u64
    }
}

#[test]
fn gathers_agree_with_the_definition() {
    agrees_for::<u8, i64>(signed);
    agrees_for::<u16, i32>(|rng, n| signed(rng, n) as i32);
    agrees_for::<f32, i16>(|rng, n| signed(rng, n) as i16);
    agrees_for::<f64, i8>(|rng, n| (signed(rng, n) as i8).max(-100));
    agrees_for::<num_complex::Complex<f64>, u64>(unsigned);
    agrees_for::<bool, u32>(|rng, n| unsigned(rng, n) as u32);
    agrees_for::<i32, u16>(|rng, n| unsigned(rng, n) as u16);
    agrees_for::<i64, u8>(|rng, n| unsigned(rng, n) as u8);
}

#[test]
fn long_gathers_are_the_same_on_many_threads() {
    let mut rng = Rng(2);
    for (sizes, run, shape) in [
        (vec![3_000_000], 0..1, vec![70_000, 2]),
        (vec![300, 400], 0..2, vec![100_000]),
        (vec![300, 400], 1..2, vec![3, 100]),
        (vec![300, 400], 1..2, vec![700]),
        (vec![3, 400], 1..2, vec![50_000]),
        (vec![300, 400], 0..1, vec![600]),
        (vec![10, 40_000], 0..1, vec![4]),
        (vec![100_000, 3], 1..2, vec![1]),
        (vec![], 0..0, vec![100_000]),
    ] {
        for turned in [false, true] {
            for bounds in RULES {
                let source = Sample::packed(&mut rng, &sizes, random::<u32>);
                // The same axes in the opposite order in memory.
                let source = if turned {
                    let back: Vec<usize> = (0..sizes.len()).rev().collect();
                    let sizes: Vec<usize> = sizes.iter().rev().copied().collect();
                    Sample::packed(&mut rng, &sizes, random::<u32>).permuted(&back)
                } else {
                    source
                };
                let n: usize = sizes[run.clone()].iter().product();
                let inside = |rng: &mut Rng| rng.below(2 * n) as i64 - n as i64;
                let good = Sample::packed(&mut rng, &shape, inside);
                assert!(!agrees::<u32, i64>(&source, run.clone(), &good, bounds));
                let len: usize = shape.iter().product();
                let mut left = [len / 3, len - 1];
                let bad = Sample::packed(&mut rng, &shape, |rng| {
                    left = left.map(|left| left.wrapping_sub(1));
                    if left.contains(&usize::MAX) {
                        -7_000_000_000
                    } else {
                        inside(rng)
                    }
                });
                let refused = agrees::<u32, i64>(&source, run.clone(), &bad, bounds);
                assert_eq!(refused, matches!(bounds, Bounds::Raise));
            }
        }
    }
}

/// Near and far sources, at indices of one dtype, that are all inside, or but for a few.
fn long_for<T: Element, I: Element<Cell: Into<i128>>>(as_index: impl Fn(i64) -> I::Cell) {
    let mut rng = Rng(29);
    for n in [1, 300, 5000, (3 << 20) / T::DTYPE.width()] {
        let source = Sample::packed(&mut rng, &[n], random::<T::Cell>);
        for (len, outside) in [(33, 0), (700, 0), (700, 300), (5003, 0), (5003, 900)] {
            for bounds in RULES {
                let index = Sample::packed(&mut rng, &[len], |rng| {
                    let n = n as i64;
                    match outside > 0 && rng.below(outside) == 0 {
                        true => as_index([n, -n - 1, 3 * n + 1, -5 * n][rng.below(4)]),
                        false => as_index(rng.below(2 * n as usize) as i64 - n),
                    }
                });
                agrees::<T, I>(&source, 0..1, &index, bounds);
            }
        }
    }
}

#[test]
fn an_index_outside_ends_no_strip_early_or_late() {
    long_for::<f32, i64>(|i| i);
    long_for::<f32, i32>(|i| i as i32);
    long_for::<f64, i64>(|i| i);
    long_for::<f64, i32>(|i| i as i32);
    long_for::<u8, i64>(|i| i);
    long_for::<u8, i32>(|i| i as i32);
    long_for::<u16, i64>(|i| i);
    long_for::<Complex<f64>, i32>(|i| i as i32);
}

#[test]
fn rows_of_any_length_are_moved_whole() {
    for row in (1..70).chain([96, 127, 128, 1000]) {
        rows_are_moved_whole(1, 50, row, 300);
    }
    // Sources that are not in the caches; one strip, and many.
    for row in [
        1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 48, 64, 100, 1000, 1024, 4096,
    ] {
        for count in [300, 1100] {
            rows_are_moved_whole(1, (3 << 20) / row, row, count);
            rows_are_moved_whole(2, (3 << 20) / row, row, count);
        }
    }
}

fn rows_are_moved_whole(outers: usize, rows: usize, row: usize, count: usize) {
    let mut rng = Rng(31);
    let source = Sample::packed(&mut rng, &[outers, rows, row], random::<u8>);
    let index = Sample::packed(&mut rng, &[count], |rng| rng.below(rows) as i64);
    let got = filled(0u8, outers * count * row, |dst| {
        let (from, at) = (source.block(), index.block());
        // SAFETY: K1 to K4: samples stay within their memory, and the result is new.
        unsafe { gather(from, 1..2, at, i64::DTYPE, 1, Bounds::Raise, dst) }
            .expect("every index is inside");
    });
    for (i, got) in got.chunks_exact(row).enumerate() {
        let cell = index.at(&[i % count]) as usize;
        let wanted = (0..row).map(|j| source.at(&[i / count, cell, j]));
        assert!(wanted.eq(got.iter().copied()), "row {i} of {row} bytes");
    }
}

#[test]
fn outputs_larger_than_the_last_cache_are_written_whole() {
    let row = 4096;
    let source: Vec<u64> = (0..40 * row as u64).collect();
    let rows = crate::kernels::caches::last() / (row * 8);
    let index: Vec<i64> = (0..rows as i64).map(|i| i * 17 % 80 - 40).collect();
    let index = &index;
    let mut skip = 0;
    let got = filled(0u64, rows * row + 8, |dst| {
        // From the start of a line, as storage does.
        skip = (dst.addr().next_multiple_of(64) - dst.addr()) / 8;
        let from = crate::kernels::Block {
            start: source.as_ptr().cast(),
            sizes: &[40, row],
            strides: &[row as isize, 1],
        };
        let at = crate::kernels::Block {
            start: index.as_ptr().cast(),
            sizes: &[rows],
            strides: &[1],
        };
        // SAFETY: K1 to K4: both are as long as their sizes say, and the result is new.
        unsafe {
            gather(
                from,
                0..1,
                at,
                i64::DTYPE,
                8,
                Bounds::Raise,
                dst.add(skip * 8),
            )
        }
        .expect("every index is inside");
    });
    for (got, &i) in got[skip..].chunks_exact(row).zip(index) {
        let cell = i.rem_euclid(40) as usize;
        assert!(got == &source[cell * row..][..row], "row {cell}");
    }
}

#[test]
fn a_bad_index_is_refused_even_when_nothing_is_read() {
    let mut rng = Rng(0);
    let source = Sample::packed(&mut rng, &[0, 3], |_| 0u8);
    let index = Sample::packed(&mut rng, &[2], |_| 3i64);
    assert!(agrees::<u8, i64>(&source, 1..2, &index, Bounds::Raise));
}

fn agrees_aligned<T: Element>(
    source: &Sample<T::Cell>,
    axis: usize,
    index: &Sample<i64>,
    bounds: Bounds,
) -> bool {
    let n = source.sizes[axis];
    if n == 0 && !index.block().is_empty() && !matches!(bounds, Bounds::Fill(_)) {
        return false;
    }
    let mut wanted = Vec::new();
    let mut bad = None;
    for i in indices(&index.sizes) {
        match cell(index.at(&i).into(), n, bounds) {
            Ok(Some(cell)) => {
                let mut at = i.clone();
                at[axis] = cell;
                wanted.push(source.at(&at));
            }
            Ok(None) => wanted.push(of_bytes(|| FILL)),
            Err(value) => {
                bad = Some(BadIndex {
                    position: flat(&index.sizes, &i),
                    value,
                });
                break;
            }
        }
    }
    let mut result = Ok(());
    let got = filled(T::Cell::ZERO, index.block().len(), |dst| {
        // SAFETY: K1 to K4: samples stay within their memory, and the result is new.
        result = unsafe {
            gather_aligned(
                source.block(),
                axis,
                index.block(),
                i64::DTYPE,
                T::DTYPE.width(),
                bounds,
                dst,
            )
        };
    });
    assert_eq!(result, bad.map_or(Ok(()), Err));
    assert!(bad.is_some() || bytes(&got) == bytes(&wanted));
    bad.is_some()
}

#[test]
fn aligned_gathers_agree_with_the_definition() {
    let mut rng = Rng(4);
    let mut refused = 0;
    for round in 0..600 {
        let mut sizes = rng.sizes(4, 5);
        sizes.push(1 + rng.below(4));
        if round % 50 == 0 {
            sizes = vec![300, 1 + rng.below(9), 200];
        }
        let axis = rng.below(sizes.len());
        let source = Sample::random(&mut rng, &sizes, random::<u16>);
        let n = sizes[axis];
        sizes[axis] = rng.below(8);
        let often = round % 50 != 0;
        let index = Sample::random(&mut rng, &sizes, |rng| {
            if often {
                signed(rng, n)
            } else {
                rng.below(n.max(1)) as i64
            }
        });
        refused += usize::from(agrees_aligned::<u16>(
            &source,
            axis,
            &index,
            RULES[round % 4],
        ));
    }
    assert!(refused > 20, "{refused}");
}
