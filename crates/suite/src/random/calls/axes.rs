//! Random calls of operators that are given axes or an index.

use stridewise_core::call::Arg;

use super::{axes, axis, spoiled};
use crate::call::{Argument, Call};
use crate::random::choices::Choices;

pub(super) fn two_axes(name: &'static str, c: &mut Choices, names: [&'static str; 2]) -> Call {
    let x = c.tensor();
    let rank = x.shape.len();
    let (mut a, mut b) = (axis(rank, c), axis(rank, c));
    if name == "flatten" && c.below(4) > 0 && a >= 0 && b >= 0 {
        (a, b) = (a.min(b), a.max(b));
    }
    let call = Call::of(name).arg(x);
    let call = match (name, c.below(4)) {
        ("flatten", 1) => call,
        ("flatten", 2) => call.with("start", a),
        ("flatten", 3) => call.with("stop", b),
        _ => call.with(names[0], a).with(names[1], b),
    };
    spoiled(call, c)
}

pub(super) fn some_axes(name: &'static str, c: &mut Choices) -> Call {
    let x = c.tensor();
    let rank = x.shape.len();
    let ones: Vec<i128> = (0..rank)
        .filter(|&a| x.shape[a] == 1)
        .map(|a| a as i128)
        .collect();
    let call = Call::of(name).arg(x);
    let call = match c.below(6) {
        0 => call,
        1 => call.with("axis", ()),
        2 => call.with("axis", axis(rank, c)),
        3 if name == "squeeze" => call.with("axis", ones),
        _ => {
            let count = c.below(rank + 1);
            call.with("axis", axes(rank, count, c))
        }
    };
    spoiled(call, c)
}

pub(super) fn unsqueeze(name: &'static str, c: &mut Choices) -> Call {
    let x = c.tensor();
    let rank = x.shape.len();
    let call = Call::of(name).arg(x);
    let call = match c.below(12) {
        0..=2 => call.with("axis", axis(rank + 1, c)),
        11 => call.with("axis", ()),
        _ => {
            let count = c.below(4);
            call.with("axis", axes(rank + count, count, c))
        }
    };
    spoiled(call, c)
}

pub(super) fn reorder(name: &'static str, c: &mut Choices) -> Call {
    let x = c.tensor();
    let rank = x.shape.len();
    let call = Call::of(name).arg(x);
    let call = match c.below(10) {
        0 if name == "transpose" => call,
        1 => call.with("axes", ()),
        2 => {
            let count = c.below(rank + 2);
            call.with("axes", axes(rank, count, c))
        }
        _ => call.with("axes", axes(rank, rank, c)),
    };
    spoiled(call, c)
}

pub(super) fn moveaxis(name: &'static str, c: &mut Choices) -> Call {
    let x = c.tensor();
    let rank = x.shape.len();
    let count = c.below(rank + 1);
    let other = if c.once_in(12) {
        c.below(rank + 1)
    } else {
        count
    };
    let call = Call::of(name).arg(x);
    let call = match c.below(8) {
        0 => call
            .with("source", axis(rank, c))
            .with("destination", axis(rank, c)),
        1 => call
            .with("source", ())
            .with("destination", axes(rank, rank, c)),
        _ => call
            .with("source", axes(rank, count, c))
            .with("destination", axes(rank, other, c)),
    };
    spoiled(call, c)
}

pub(super) fn slice(name: &'static str, c: &mut Choices) -> Call {
    let x = c.tensor();
    let mut items: Vec<Argument> = Vec::new();
    for &size in &x.shape[..c.below(x.shape.len() + 1)] {
        let size = size as i128;
        items.push(match c.below(8) {
            0 | 1 if size > 0 => Arg::Int(c.between(-size, size - 1)),
            2 => Arg::Int(axis(size as usize, c)),
            _ => {
                let mut end = || match c.below(8) {
                    0..=2 => None,
                    7 => Some(c.pick(&[isize::MIN, isize::MAX, 100, -100])),
                    _ => Some(c.between(-size - 2, size + 2) as isize),
                };
                let (start, stop) = (end(), end());
                let step = match c.below(8) {
                    0 | 1 => None,
                    6 => Some(c.pick(&[isize::MIN, isize::MAX, 7, -7])),
                    7 => Some(c.between(-3, 3) as isize),
                    other => Some([1, 2, -1, -2][other % 4]),
                };
                Arg::Range(start, stop, step)
            }
        });
    }
    for _ in 0..c.pick(&[0, 0, 1, 2]) {
        items.insert(c.below(items.len() + 1), Arg::None);
    }
    if c.once_in(3) {
        items.insert(c.below(items.len() + 1), Arg::Rest);
    }
    match c.below(24) {
        21 => items.push(Arg::Rest),
        22 => items.push(Arg::Int(0)),
        23 => items.push(Arg::Float(1.0)),
        _ => {}
    }
    Call::of(name).arg(x).with("items", items)
}

pub(super) fn unstack(name: &'static str, c: &mut Choices) -> Call {
    let x = c.tensor();
    let rank = x.shape.len();
    let call = Call::of(name).arg(x);
    let call = if c.once_in(4) {
        call
    } else {
        call.with("axis", axis(rank, c))
    };
    spoiled(call, c)
}
