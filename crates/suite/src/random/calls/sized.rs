//! Random calls of view operators that are given sizes, counts of axes or patterns.

use stridewise_core::call::Arg;

use super::{axis, plain, sizes, spoiled};
use crate::call::{Argument, Call};
use crate::random::choices::{Choices, Fill};

pub(super) fn atleast_nd(name: &'static str, c: &mut Choices) -> Call {
    let n = c.between(0, 10) - if c.once_in(10) { 11 } else { 0 };
    let call = plain(name, c).with("n", n);
    let call = match c.below(6) {
        0 => call,
        5 => call.with("place", "middle"),
        at => call.with("place", ["front", "back", "numpy", "front"][at - 1]),
    };
    spoiled(call, c)
}

pub(super) fn stretched(
    name: &'static str,
    c: &mut Choices,
    argument: &'static str,
    keeps: bool,
) -> Call {
    let x = c.tensor();
    let mut given: Vec<i128> = Vec::new();
    for &size in &x.shape {
        let size = size as i128;
        given.push(match c.below(12) {
            0..=3 if size == 1 => c.between(0, 3),
            4..=6 if keeps => -1,
            10 if c.once_in(4) => c.between(-3, 4),
            _ => size,
        });
    }
    for _ in 0..c.pick(&[0, 0, 1, 2]) {
        given.insert(0, if c.once_in(12) { -1 } else { c.between(0, 3) });
    }
    if c.once_in(16) {
        given.pop();
    }
    let given = sizes(&given, c);
    spoiled(Call::of(name).arg(x).with(argument, given), c)
}

pub(super) fn expand_as(name: &'static str, c: &mut Choices) -> Call {
    let x = c.tensor();
    let mut shape = x.shape.clone();
    for size in &mut shape {
        match c.below(10) {
            0..=3 if *size == 1 => *size = c.below(4),
            9 if c.once_in(3) => *size += 1,
            _ => {}
        }
    }
    if c.once_in(3) {
        shape.insert(0, c.below(4));
    }
    if c.once_in(12) {
        shape.pop();
    }
    let other = c.tensor_of(&shape, Fill::Bits);
    spoiled(Call::of(name).arg(x).with("other", other), c)
}

/// Sizes whose product is `n`, now and then with a `-1` or a fault.
pub(super) fn factors(n: usize, c: &mut Choices) -> Vec<i128> {
    let mut parts = vec![n];
    for _ in 0..c.below(4) {
        let at = c.below(parts.len());
        let whole = parts[at];
        let divisors: Vec<usize> = match whole {
            0 => vec![0, 2],
            _ => (1..=whole).filter(|d| whole % d == 0).collect(),
        };
        let divisor = c.pick(&divisors);
        let rest = whole.checked_div(divisor).unwrap_or(3);
        parts.splice(at..=at, [divisor, rest]);
    }
    let mut parts: Vec<i128> = parts.into_iter().map(|n| n as i128).collect();
    let at = c.below(parts.len());
    match c.below(10) {
        0..=3 => parts[at] = -1,
        7 => parts[at] += 1,
        8 => parts.push(-1),
        9 if c.once_in(3) => parts = vec![-1, c.between(-2, 3)],
        9 if c.once_in(2) => parts = Vec::new(),
        _ => {}
    }
    parts
}

pub(super) fn unflatten(name: &'static str, c: &mut Choices) -> Call {
    let x = c.tensor();
    let given = axis(x.shape.len(), c);
    let front = given.rem_euclid(x.shape.len().max(1) as i128) as usize;
    let parts = factors(x.shape.get(front).copied().unwrap_or(1), c);
    let parts = sizes(&parts, c);
    spoiled(
        Call::of(name)
            .arg(x)
            .with("axis", given)
            .with("shape", parts),
        c,
    )
}

pub(super) fn reshape(name: &'static str, c: &mut Choices) -> Call {
    let x = c.tensor();
    let mut given = match c.below(3) {
        0 => factors(x.shape.iter().product(), c),
        // Neighbours merged and ones put in: the reshapes that gapped tensors allow without a copy.
        _ => {
            let mut given: Vec<i128> = Vec::new();
            for &size in &x.shape {
                match (c.below(3), given.last_mut()) {
                    (0, Some(last)) => *last *= size as i128,
                    _ => given.push(size as i128),
                }
            }
            given
        }
    };
    if c.once_in(4) {
        given.insert(c.below(given.len() + 1), 1);
    }
    if c.once_in(24) {
        given.push(2);
    }
    let given = sizes(&given, c);
    spoiled(Call::of(name).arg(x).with("shape", given), c)
}

pub(super) fn enforce_shape(name: &'static str, c: &mut Choices) -> Call {
    let x = c.tensor();
    let rank = x.shape.len();
    let mut pieces: Vec<Argument> = x
        .shape
        .iter()
        .map(|&size| match c.below(10) {
            0..=2 => Arg::None,
            // One name for each size, so that symbols agree unless a wrong one is drawn.
            3..=5 => Arg::Text(["zero", "one", "two", "three", "four", "five"][size].to_string()),
            6 if c.once_in(6) => Arg::Text("n".to_string()),
            7 if c.once_in(6) => Arg::Int(c.between(-1, 5)),
            _ => Arg::Int(size as i128),
        })
        .collect();
    if c.once_in(2) {
        let start = c.below(rank + 1);
        let end = start + c.below(rank - start + 1);
        pieces.splice(start..end, [Arg::Rest]);
    }
    match c.below(16) {
        12 => pieces.push(Arg::None),
        13 => pieces.push(Arg::Rest),
        14 => pieces.push(c.pick(&[Arg::Bool(true), Arg::Float(1.0), Arg::Int(-2)])),
        15 => drop(pieces.pop()),
        _ => {}
    }
    spoiled(Call::of(name).arg(x).with("pattern", pieces), c)
}
