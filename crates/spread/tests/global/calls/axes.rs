//! Calls of operators that are given axes or an index.

use stridewise_core::call::Arg;
use stridewise_core::dtype::DType;
use stridewise_suite::call::range;
use stridewise_suite::{Argument, Call};

use super::{few_shapes, ints, shapes, some, summable};

/// Every set of axes below a rank.
fn sets(rank: usize) -> Vec<Vec<i128>> {
    (0..1usize << rank)
        .map(|bits| {
            let inside = (0..rank).filter(|axis| bits >> axis & 1 == 1);
            inside.map(|axis| axis as i128).collect()
        })
        .collect()
}

/// Every order of the axes below a rank.
fn permutations(rank: usize) -> Vec<Vec<i128>> {
    let mut all: Vec<Vec<i128>> = vec![vec![]];
    for axis in 0..rank as i128 {
        let longer = |order: &Vec<i128>| -> Vec<Vec<i128>> {
            (0..=order.len())
                .map(|at| [&order[..at], &[axis], &order[at..]].concat())
                .collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

pub(super) fn flatten() -> Vec<Call> {
    let mut all = Vec::new();
    for (at, shape) in shapes().iter().enumerate() {
        let rank = shape.len() as i128;
        let call = || Call::of("flatten").arg(some(shape, at));
        all.push(call());
        for start in 0..rank {
            for stop in start..rank {
                let stop = if at % 2 == 0 { stop } else { stop - rank };
                all.push(call().with("start", start).with("stop", stop));
            }
        }
        all.push(call().with("start", rank + 1));
    }
    all
}

pub(super) fn subsets(name: &'static str) -> Vec<Call> {
    let mut all = Vec::new();
    for (at, shape) in shapes().iter().enumerate() {
        let call = || Call::of(name).arg(some(shape, at));
        all.push(call());
        for set in sets(shape.len()) {
            // What cannot be squeezed is a mistake that few shapes are enough for.
            let wrong = name == "squeeze" && set.iter().any(|axis| shape[*axis as usize] != 1);
            if !wrong || at % 8 == 0 {
                all.push(call().with("axis", ints(&set)));
            }
        }
        all.push(call().with("axis", -(shape.len() as i128) - 1));
    }
    all
}

pub(super) fn unsqueeze() -> Vec<Call> {
    let mut all = Vec::new();
    for (at, shape) in shapes().iter().enumerate() {
        let rank = shape.len() as i128;
        let call = || Call::of("unsqueeze").arg(some(shape, at));
        for axis in 0..=rank {
            all.push(call().with("axis", axis));
            all.push(call().with("axis", ints(&[axis, -1 - (axis == rank + 1) as i128])));
        }
        all.push(call().with("axis", ints(&[0, 2])));
        all.push(call().with("axis", rank + 1));
    }
    all
}

pub(super) fn orders(name: &'static str) -> Vec<Call> {
    let mut all = Vec::new();
    for (at, shape) in shapes().iter().enumerate() {
        let call = || Call::of(name).arg(some(shape, at));
        for order in permutations(shape.len()) {
            all.push(call().with("axes", ints(&order)));
        }
        if name == "transpose" {
            all.push(call());
        }
        all.push(call().with("axes", ints(&[0, 0])));
    }
    all
}

pub(super) fn pairs(name: &'static str, names: [&'static str; 2]) -> Vec<Call> {
    let mut all = Vec::new();
    for (at, shape) in shapes().iter().enumerate() {
        let rank = shape.len() as i128;
        let call = || Call::of(name).arg(some(shape, at));
        for a in 0..rank {
            for b in 0..rank {
                all.push(call().with(names[0], a).with(names[1], b - rank));
            }
        }
        if name == "moveaxis" && rank > 1 {
            let call = call().with(names[0], ints(&[0, 1]));
            all.push(call.with(names[1], ints(&[rank - 1, 0])));
        }
        all.push(call().with(names[0], 0).with(names[1], rank));
    }
    all
}

/// What can stand for an axis of that size.
fn items(size: usize) -> Vec<Argument> {
    let mut all = vec![
        range(None, None, None),
        range(Some(1), None, None),
        range(None, Some(-1), None),
        range(None, None, Some(2)),
        range(Some(1), None, Some(2)),
        range(None, None, Some(-1)),
        range(Some(-2), None, Some(-2)),
        range(Some(4), Some(0), Some(-1)),
        range(Some(2), Some(2), None),
        range(Some(2), Some(4), None),
        range(None, None, Some(-3)),
        range(Some(1), Some(-1), Some(3)),
        range(None, Some(1), None),
        range(Some(-1), None, None),
    ];
    if size > 0 {
        all.extend([0, size / 2, size - 1].map(|at| Arg::Int(at as i128)));
        all.push(Arg::Int(-1));
    }
    all
}

pub(super) fn slice() -> Vec<Call> {
    let mut all = Vec::new();
    let whole = || range(None, None, None);
    for (at, shape) in shapes().iter().enumerate() {
        let mut push = |items: Vec<Argument>| {
            all.push(Call::of("slice").arg(some(shape, at)).with("items", items))
        };
        push(vec![]);
        push(vec![Arg::None, Arg::Rest, Arg::None]);
        push(vec![Arg::Int(7)]);
        for (axis, &size) in shape.iter().enumerate() {
            for item in items(size) {
                let mut all: Vec<Argument> = (0..axis).map(|_| whole()).collect();
                all.push(item);
                push(all);
            }
        }
        // Two axes at once, other pairs for every shape.
        if let [first, .., last] = shape[..] {
            let (first, last) = (items(first), items(last));
            for turn in 0..first.len().max(last.len()) {
                let a = first[turn % first.len()].clone();
                let b = last[(turn * 5 + at) % last.len()].clone();
                push(vec![a, Arg::Rest, b]);
            }
        }
        if shape.len() == 2 {
            push(vec![
                Arg::None,
                whole(),
                Arg::None,
                range(None, None, Some(-1)),
            ]);
        }
    }
    all
}

pub(super) fn unstack() -> Vec<Call> {
    let mut all = Vec::new();
    for (at, shape) in few_shapes().iter().enumerate() {
        for axis in 0..=shape.len() {
            let call = Call::of("unstack").arg(some(shape, at));
            all.push(call.with("axis", axis as i128));
        }
    }
    all
}

pub(super) fn sum() -> Vec<Call> {
    let mut all = Vec::new();
    for (at, shape) in shapes().iter().enumerate() {
        let call = || Call::of("sum").arg(summable(shape, at));
        all.push(call());
        for (turn, set) in sets(shape.len()).iter().enumerate() {
            for keep in [false, true] {
                let call = call().with("axis", ints(set)).with("keepdims", keep);
                let own = summable(shape, at).dtype;
                // Its own dtype makes partial sums of partial sums; another one does not.
                let dtype = [None, Some(own), Some(DType::F64), Some(DType::I64)][(turn + at) % 4];
                let complex = matches!(own, DType::C64 | DType::C128);
                match dtype.filter(|dtype| !complex || *dtype == own) {
                    Some(dtype) => all.push(call.with("dtype", dtype)),
                    None => all.push(call),
                }
            }
        }
        all.push(call().with("axis", shape.len() as i128));
    }
    all
}
