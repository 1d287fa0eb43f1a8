//! Both scatters against loops written from their definitions, bit for bit.

use std::ops::Range;

use half::f16;
use num_complex::Complex;

use super::adding::plus;
use super::{BadIndex, Bounds, scatter_add, scatter_add_aligned};
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

fn agrees<T: Element, I: Element + Into<i128>>(
    rng: &mut Rng,
    sizes: &[usize],
    kind: &Kind,
    index: &Sample<I>,
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
                I::DTYPE,
                bounds,
                updates,
                T::DTYPE,
            ),
            Kind::Aligned(axis) => scatter_add_aligned(
                dst,
                sizes,
                *axis,
                block,
                I::DTYPE,
                bounds,
                updates,
                T::DTYPE,
            ),
        }
    };
    assert_eq!(result, bad.map_or(Ok(()), Err));
    assert!(
        bad.is_some() || bytes(&got) == bytes(&wanted),
        "{} at {}: {sizes:?} {index:?}",
        T::DTYPE,
        I::DTYPE
    );
}

fn signed(rng: &mut Rng, n: usize) -> i64 {
    if rng.below(40) == 0 {
        rng.next() as i64
    } else {
        rng.below(2 * n.max(1)) as i64 - n as i64
    }
}

fn agrees_for<T: Element, I: Element + Into<i128>>(
    index: impl Fn(i64) -> I,
    make: &impl Fn(&mut Rng) -> T::Cell,
) {
    let mut rng = Rng(30);
    for round in 0..300 {
        let sizes = rng.sizes(4, 5);
        let mut run = [rng.below(sizes.len() + 1), rng.below(sizes.len() + 1)];
        run.sort_unstable();
        let n: usize = sizes[run[0]..run[1]].iter().product();
        let shape = rng.sizes(2, 6);
        let at = Sample::random(&mut rng, &shape, |rng| index(signed(rng, n)));
        agrees::<T, I>(
            &mut rng,
            &sizes,
            &Kind::Run(run[0]..run[1]),
            &at,
            RULES[round % 4],
            make,
        );
        if !sizes.is_empty() {
            let axis = rng.below(sizes.len());
            let mut shape = sizes.clone();
            shape[axis] = rng.below(7);
            let at = Sample::random(&mut rng, &shape, |rng| index(signed(rng, sizes[axis])));
            agrees::<T, I>(
                &mut rng,
                &sizes,
                &Kind::Aligned(axis),
                &at,
                RULES[round % 4],
                make,
            );
        }
    }
}

#[test]
fn scatters_agree_with_the_definition() {
    // Indices of one dtype are read one by one, those of the others several at once where the machine can.
    fn for_each_index<T: Element>(make: impl Fn(&mut Rng) -> T::Cell) {
        agrees_for::<T, i16>(|i| i as i16, &make);
        agrees_for::<T, i32>(|i| i as i32, &make);
        agrees_for::<T, i64>(|i| i, &make);
    }
    for_each_index::<bool>(|rng| Flag::from(rng.below(5) == 0));
    for_each_index::<u8>(|rng| rng.next() as u8);
    for_each_index::<i64>(|rng| rng.next() as i64);
    for_each_index::<f16>(half);
    for_each_index::<f32>(|rng| rng.below(1 << 30) as f32 / 7e8);
    for_each_index::<Complex<f64>>(|rng| Complex::new(rng.next() as f64, rng.next() as f64));
}

/// Numbers whose sums round at nearly every step, and so tell in which order they were added.
fn half(rng: &mut Rng) -> f16 {
    f16::from_f32_const(rng.below(9999) as f32 / 7e3)
}

/// The index at a place, into so many cells.
type Order = fn(&mut Rng, usize, usize) -> i64;

#[test]
fn updates_that_meet_are_added_in_order_however_cells_are_spread_over_strips_and_threads() {
    let random: Order = |rng, n, _| rng.below(2 * n) as i64 - n as i64;
    // Each strip has cells of one thread alone, several times over.
    let sorted: Order = |_, n, i| (i * n / COUNT) as i64;
    let backwards: Order = |_, n, i| -((i * n / COUNT) as i64) - 1;
    // Strips of one thread's cells, of the other's, and of both's.
    let stretches: Order = |rng, n, i| match i / 2000 % 3 {
        0 => rng.below(n.div_ceil(2)) as i64,
        1 => -1 - rng.below(n.div_ceil(2)) as i64,
        _ => rng.below(n) as i64,
    };
    const COUNT: usize = 90_001;
    let mut rng = Rng(12);
    // Too few lines to share, a few, and more cells than a thread has at a time.
    for n in [1, 2, 16, 700, 3000, 35_000] {
        for order in [random, sorted, backwards, stretches] {
            for count in [COUNT / 30, COUNT] {
                let index: Vec<i64> = (0..count)
                    .map(|i| order(&mut rng, n, i * (COUNT / count)))
                    .collect();
                agrees_flat::<i64>(&mut rng, &[n], 0..1, index.iter().copied());
                agrees_flat::<i32>(&mut rng, &[n], 0..1, index.iter().map(|&i| i as i32));
            }
        }
    }
    // More than one outer position, but too few to share out; rows.
    let index: Vec<i64> = (0..40_000).map(|i| random(&mut rng, 20, i)).collect();
    agrees_flat::<i64>(&mut rng, &[2, 20], 1..2, index.iter().copied());
    agrees_flat::<i64>(&mut rng, &[20, 3], 0..1, index.iter().copied());
    agrees_flat::<i32>(
        &mut rng,
        &[20, 70],
        0..1,
        index.iter().take(3000).map(|&i| i as i32),
    );
}

/// A packed index under some rule; and with one that is outside, under two.
fn agrees_flat<I: Element + Into<i128> + TryFrom<i64>>(
    rng: &mut Rng,
    sizes: &[usize],
    run: Range<usize>,
    index: impl ExactSizeIterator<Item = I> + Clone,
) {
    let Ok(outside) = I::try_from(1 << 30) else {
        unreachable!("a wide index")
    };
    let count = index.len();
    let bad = rng.below(count);
    let any = RULES[rng.below(RULES.len())];
    for (bounds, bad) in [(any, usize::MAX), (Bounds::Raise, bad), (RULES[3], bad)] {
        let mut index = index.clone().enumerate();
        let packed = Sample::packed(rng, &[count], |_| match index.next() {
            Some((at, i)) if at != bad => i,
            _ => outside,
        });
        let kind = match sizes.len() == 1 && rng.below(2) == 0 {
            true => Kind::Aligned(0),
            false => Kind::Run(run.clone()),
        };
        agrees::<f16, I>(rng, sizes, &kind, &packed, bounds, &half);
    }
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
            agrees::<f32, i32>(
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
            agrees::<f32, i32>(
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
