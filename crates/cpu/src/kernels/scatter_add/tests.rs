//! Both scatters against loops written from their definitions, bit for bit.

use std::ops::Range;

use half::f16;
use num_complex::Complex;

use super::{BadIndex, Bounds, plus, scatter_add, scatter_add_aligned};
use crate::element::{Element, Flag};
use crate::kernels::sample::{Rng, Sample, bytes, cell, flat, indices, unravel};

const RULES: [Bounds; 4] = [
    Bounds::Raise,
    Bounds::Wrap,
    Bounds::Clip,
    Bounds::Fill([0; 16]),
];

/// Where the update at `at` goes, by either definition.
enum Kind {
    Run(Range<usize>),
    Aligned(usize),
}

fn agrees<T: Element>(
    rng: &mut Rng,
    sizes: &[usize],
    kind: &Kind,
    index: &Sample<i32>,
    bounds: Bounds,
    make: &impl Fn(&mut Rng) -> T::Cell,
) {
    let (n, shape) = match kind {
        Kind::Run(run) => {
            let shape = [&sizes[..run.start], &index.sizes, &sizes[run.end..]].concat();
            (sizes[run.clone()].iter().product(), shape)
        }
        Kind::Aligned(axis) => (sizes[*axis], index.sizes.clone()),
    };
    if n == 0 && !index.block().is_empty() && !matches!(bounds, Bounds::Fill(_)) {
        return;
    }
    let updates = Sample::random(rng, &shape, make);
    let base: Vec<T::Cell> = (0..sizes.iter().product::<usize>())
        .map(|_| make(rng))
        .collect();
    let mut wanted = base.clone();
    let mut bad: Option<BadIndex> = None;
    for i in indices(&index.sizes) {
        if let Err(value) = cell(index.at(&i).into(), n, bounds) {
            bad = Some(BadIndex {
                position: flat(&index.sizes, &i),
                value,
            });
            break;
        }
    }
    for at in indices(&shape) {
        if bad.is_some() {
            break;
        }
        let from = match kind {
            Kind::Run(run) => &at[run.start..run.start + index.sizes.len()],
            Kind::Aligned(_) => &at,
        };
        let to = |cell: usize| match kind {
            Kind::Run(run) => {
                let (head, tail) = (&at[..run.start], &at[run.start + index.sizes.len()..]);
                [head, &unravel(&sizes[run.clone()], cell), tail].concat()
            }
            Kind::Aligned(axis) => {
                let mut to = at.clone();
                to[*axis] = cell;
                to
            }
        };
        if let Ok(Some(cell)) = cell(index.at(from).into(), n, bounds) {
            let to = flat(sizes, &to(cell));
            wanted[to] = plus(wanted[to], updates.at(&at));
        }
    }
    let mut got = base;
    let dst = got.as_mut_ptr().cast();
    let (updates, block) = (updates.block(), index.block());
    // SAFETY: K1 to K4: samples stay within their memory, and nothing else refers to `got`.
    let result = unsafe {
        match kind {
            Kind::Run(run) => scatter_add(
                dst,
                sizes,
                run.clone(),
                block,
                i32::DTYPE,
                bounds,
                updates,
                T::DTYPE,
            ),
            Kind::Aligned(axis) => scatter_add_aligned(
                dst,
                sizes,
                *axis,
                block,
                i32::DTYPE,
                bounds,
                updates,
                T::DTYPE,
            ),
        }
    };
    assert_eq!(result, bad.map_or(Ok(()), Err));
    assert!(
        bytes(&got) == bytes(&wanted),
        "{} {sizes:?} {index:?}",
        T::DTYPE
    );
}

fn signed(rng: &mut Rng, n: usize) -> i32 {
    if rng.below(40) == 0 {
        rng.next() as i32
    } else {
        rng.below(2 * n.max(1)) as i32 - n as i32
    }
}

fn agrees_for<T: Element>(make: impl Fn(&mut Rng) -> T::Cell) {
    let mut rng = Rng(30);
    for round in 0..300 {
        let sizes = rng.sizes(4, 5);
        let mut run = [rng.below(sizes.len() + 1), rng.below(sizes.len() + 1)];
        run.sort_unstable();
        let n: usize = sizes[run[0]..run[1]].iter().product();
        let shape = rng.sizes(2, 6);
        let index = Sample::random(&mut rng, &shape, |rng| signed(rng, n));
        agrees::<T>(
            &mut rng,
            &sizes,
            &Kind::Run(run[0]..run[1]),
            &index,
            RULES[round % 4],
            &make,
        );
        if !sizes.is_empty() {
            let axis = rng.below(sizes.len());
            let mut shape = sizes.clone();
            shape[axis] = rng.below(7);
            let index = Sample::random(&mut rng, &shape, |rng| signed(rng, sizes[axis]));
            agrees::<T>(
                &mut rng,
                &sizes,
                &Kind::Aligned(axis),
                &index,
                RULES[round % 4],
                &make,
            );
        }
    }
}

#[test]
fn scatters_agree_with_the_definition() {
    agrees_for::<bool>(|rng| Flag::from(rng.below(5) == 0));
    agrees_for::<u8>(|rng| rng.next() as u8);
    agrees_for::<i64>(|rng| rng.next() as i64);
    agrees_for::<f16>(|rng| f16::from_f32_const(rng.below(9999) as f32 / 7e3));
    agrees_for::<f32>(|rng| rng.below(1 << 30) as f32 / 7e8);
    agrees_for::<Complex<f64>>(|rng| Complex::new(rng.next() as f64, rng.next() as f64));
}

#[test]
fn long_scatters_are_the_same_on_many_threads() {
    let mut rng = Rng(8);
    let make = |rng: &mut Rng| rng.below(1 << 30) as f32 / 7e8;
    for (sizes, run, shape) in [
        (vec![1000], 0..1, vec![100_000]),
        (vec![30, 40], 0..2, vec![300, 300]),
        (vec![100, 40], 1..2, vec![1000]),
        (vec![10, 5000], 0..1, vec![30]),
        (vec![100, 30], 0..1, vec![5000]),
        (vec![2, 100, 3], 1..2, vec![20_000]),
        (vec![1], 0..1, vec![100_000]),
    ] {
        let n: usize = sizes[run.clone()].iter().product();
        let index = Sample::packed(&mut rng, &shape, |rng| rng.below(2 * n) as i32 - n as i32);
        for bounds in RULES {
            agrees::<f32>(
                &mut rng,
                &sizes,
                &Kind::Run(run.clone()),
                &index,
                bounds,
                &make,
            );
        }
    }
    for (sizes, axis, len) in [
        (vec![50, 20, 30], 1, 60),
        (vec![50, 20, 30], 0, 200),
        (vec![9], 0, 90_000),
    ] {
        let mut shape = sizes.clone();
        shape[axis] = len;
        let n = sizes[axis];
        let index = Sample::packed(&mut rng, &shape, |rng| rng.below(2 * n) as i32 - n as i32);
        for bounds in RULES {
            agrees::<f32>(
                &mut rng,
                &sizes,
                &Kind::Aligned(axis),
                &index,
                bounds,
                &make,
            );
        }
    }
}
