//! Calls of operators that are given sizes.

use stridewise_core::call::Arg;
use stridewise_suite::{Argument, Call};

use super::{as_tensor, as_tensors, few_shapes, ints, shapes, signed, some};

pub(super) fn atleast_nd() -> Vec<Call> {
    let mut all = Vec::new();
    for (at, shape) in few_shapes().iter().enumerate() {
        for n in [0, 1, 3, 4] {
            for place in ["front", "back", "numpy"] {
                let call = Call::of("atleast_nd").arg(some(shape, at));
                all.push(call.with("n", n).with("place", place));
            }
        }
    }
    all
}

/// Shapes that an expand can give: each axis of size 1 kept, emptied or repeated, with new axes in front.
fn stretched(shape: &[usize]) -> Vec<Vec<i128>> {
    let mut all: Vec<Vec<i128>> = vec![vec![]];
    for &size in shape {
        let choices: &[i128] = match size {
            1 => &[1, 3, 0, 4],
            _ => &[-2],
        };
        let longer = |sizes: &Vec<i128>| -> Vec<Vec<i128>> {
            let with = |&n: &i128| {
                let n = if n == -2 { size as i128 } else { n };
                [&sizes[..], &[n]].concat()
            };
            choices.iter().map(with).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    let fronts: [&[i128]; 4] = [&[], &[2], &[3, 1], &[0]];
    let mut fronted = Vec::new();
    for (at, sizes) in all.iter().enumerate() {
        // All of them for the first, one in turn for the others.
        let fronts = match at {
            0 => &fronts[..],
            _ => &fronts[at % 4..][..1],
        };
        fronted.extend(fronts.iter().map(|front| [front, &sizes[..]].concat()));
    }
    fronted
}

pub(super) fn expand() -> Vec<Call> {
    let mut all = Vec::new();
    for (at, shape) in shapes().iter().enumerate() {
        let call = || Call::of("expand").arg(some(shape, at));
        for sizes in stretched(shape) {
            all.push(call().with("sizes", ints(&sizes)));
        }
        let kept = vec![-1; shape.len()];
        all.push(call().with("sizes", ints(&[&[2], &kept[..]].concat())));
        all.push(call().with("sizes", as_tensor(&signed(shape))));
        if shape.len() < 2 {
            all.push(call().with("sizes", as_tensors(&kept)));
        }
        // Bad: an axis of another size, too few sizes.
        let mut wrong = signed(shape);
        if let Some(last) = wrong.last_mut() {
            *last += 1;
            all.push(call().with("sizes", ints(&wrong)));
            all.push(call().with("sizes", ints(&wrong[1..])));
        }
    }
    all
}

pub(super) fn broadcast_to() -> Vec<Call> {
    let mut all = Vec::new();
    for (at, shape) in few_shapes().iter().enumerate() {
        for sizes in stretched(shape) {
            let call = Call::of("broadcast_to").arg(some(shape, at + 2));
            all.push(call.with("shape", ints(&sizes)));
        }
    }
    all
}

pub(super) fn expand_as() -> Vec<Call> {
    let mut all = Vec::new();
    for (at, shape) in few_shapes().iter().enumerate() {
        for sizes in stretched(shape).iter().take(6) {
            let other: Vec<usize> = sizes.iter().map(|&n| n as usize).collect();
            let call = Call::of("expand_as").arg(some(shape, at));
            all.push(call.with("other", some(&other, at + 1)));
        }
    }
    all
}

pub(super) fn repeat(name: &'static str, argument: &'static str) -> Vec<Call> {
    let mut all = Vec::new();
    let patterns: [[i128; 4]; 7] = [
        [1, 1, 1, 1],
        [2, 1, 3, 1],
        [1, 3, 1, 2],
        [3, 2, 1, 1],
        [0, 2, 1, 1],
        [1, 1, 2, 1],
        [2, 0, 1, 1],
    ];
    for (at, shape) in shapes().iter().enumerate() {
        let rank = shape.len();
        let call = || Call::of(name).arg(some(shape, at));
        for pattern in patterns.iter().take(if rank == 0 { 1 } else { 7 }) {
            all.push(call().with(argument, ints(&pattern[..rank.min(4)])));
        }
        let front = [&[2], &patterns[at % 4][..rank]].concat();
        all.push(call().with(argument, ints(&front)));
        all.push(call().with(argument, as_tensor(&front)));
        let front = [&[3, 0, 1], &patterns[1][..rank]].concat();
        all.push(call().with(argument, ints(&front)));
        // Too few for repeat, fine for tile.
        all.push(call().with(argument, ints(&patterns[1][..rank.saturating_sub(1)])));
        all.push(call().with(argument, ints(&vec![-1; rank.max(1)])));
    }
    all
}

pub(super) fn repeat_interleave() -> Vec<Call> {
    let mut all = Vec::new();
    for (at, shape) in few_shapes().iter().enumerate() {
        let count: usize = shape.iter().product();
        let call = || Call::of("repeat_interleave").arg(some(shape, at));
        for times in [0, 1, 3] {
            all.push(call().with("repeats", times));
        }
        let counts = |n: usize| -> Vec<i128> { (0..n).map(|i| [2, 0, 1, 3][i % 4]).collect() };
        all.push(call().with("repeats", ints(&counts(count))));
        for (axis, &size) in shape.iter().enumerate() {
            let call = || call().with("repeats", ints(&counts(size)));
            all.push(call().with("axis", axis as i128));
            let tensor = as_tensor(&counts(size));
            let call = Call::of("repeat_interleave").arg(some(shape, at + 1));
            let call = call.with("repeats", tensor);
            all.push(call.with("axis", axis as i128 - shape.len() as i128));
            let call = Call::of("repeat_interleave").arg(some(shape, at + 2));
            all.push(call.with("repeats", 2).with("axis", axis as i128));
            let wrong = Call::of("repeat_interleave").arg(some(shape, at + 2));
            let wrong = wrong.with("repeats", ints(&counts(size + 2)));
            all.push(wrong.with("axis", axis as i128));
        }
    }
    all
}

/// All ways to write a number as a product of so many factors, in order.
fn factors(n: usize, count: usize) -> Vec<Vec<usize>> {
    match count {
        0 => (n == 1).then(Vec::new).into_iter().collect(),
        1 => vec![vec![n]],
        _ if n == 0 => vec![
            [vec![0], vec![2; count - 1]].concat(),
            [vec![3; count - 1], vec![0]].concat(),
            vec![0; count],
        ],
        _ => (1..=n)
            .filter(|first| n.is_multiple_of(*first))
            .flat_map(|first| {
                let rest = factors(n / first, count - 1).into_iter();
                rest.map(move |rest| [&[first], &rest[..]].concat())
            })
            .collect(),
    }
}

pub(super) fn unflatten() -> Vec<Call> {
    let mut all = Vec::new();
    for (at, shape) in shapes().iter().enumerate() {
        for (axis, &size) in shape.iter().enumerate() {
            let given = axis as i128 - (at % 2 * shape.len()) as i128;
            let call = || {
                Call::of("unflatten")
                    .arg(some(shape, at))
                    .with("axis", given)
            };
            for count in 1..=3 {
                for sizes in factors(size, count) {
                    all.push(call().with("shape", ints(&signed(&sizes))));
                }
            }
            all.push(call().with("shape", ints(&[-1, 2])));
            all.push(call().with("shape", ints(&[3, -1, 1])));
            all.push(call().with("shape", as_tensor(&[1, -1])));
        }
        all.push(
            Call::of("unflatten")
                .arg(some(shape, at))
                .with("axis", 7)
                .with("shape", ints(&[1])),
        );
    }
    all
}

pub(super) fn reshape(name: &'static str) -> Vec<Call> {
    let mut all = Vec::new();
    for (at, shape) in shapes().iter().enumerate() {
        let count: usize = shape.iter().product();
        let call = || Call::of(name).arg(some(shape, at));
        let targets: Vec<Vec<usize>> = (0..=3).flat_map(|n| factors(count, n)).collect();
        // Where there are many, every so many of them, others for every shape.
        let stride = targets.len().div_ceil(24);
        for sizes in targets.iter().skip(at % stride.max(1)).step_by(stride) {
            all.push(call().with("shape", ints(&signed(sizes))));
        }
        all.push(call().with("shape", ints(&[-1])));
        all.push(call().with("shape", ints(&[2, -1])));
        all.push(call().with("shape", ints(&[-1, 3, 1])));
        all.push(call().with("shape", as_tensor(&[1, -1])));
        all.push(call().with("shape", as_tensors(&[count as i128])));
        all.push(call().with("shape", ints(&[7, 1])));
    }
    all
}

pub(super) fn enforce_shape() -> Vec<Call> {
    let mut all = Vec::new();
    let word = |text: &str| -> Argument { Arg::Text(text.to_string()) };
    for (at, shape) in few_shapes().iter().enumerate() {
        let sizes = |front: usize| signed(&shape[front..]).into_iter().map(Arg::Int);
        let mut push = |pattern: Vec<Argument>| {
            all.push(
                Call::of("enforce_shape")
                    .arg(some(shape, at))
                    .with("pattern", pattern),
            );
        };
        push(sizes(0).collect());
        push(vec![Arg::Rest]);
        push((0..shape.len()).map(|_| Arg::None).collect());
        push((0..shape.len()).map(|_| word("n")).collect());
        push(
            [Arg::Rest]
                .into_iter()
                .chain(sizes(shape.len().min(1)))
                .collect(),
        );
        push([word("first"), Arg::Rest].into_iter().collect());
        push(sizes(0).chain([Arg::Int(1)]).collect());
    }
    all
}
