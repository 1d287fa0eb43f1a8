//! Random calls of operators that copy, compute or make elements.

use stridewise_core::call::Arg;
use stridewise_core::dtype::DType;

use super::{axes, axis, sizes, spoiled};
use crate::call::{Argument, Call};
use crate::input::Input;
use crate::random::choices::{Choices, Fill};

pub(super) fn tiled(name: &'static str, c: &mut Choices, argument: &'static str) -> Call {
    let x = c.tensor();
    let mut left = 2000 / x.shape.iter().product::<usize>().max(1);
    let extra = c.pick(&[0, 0, 1, 2]);
    let mut counts: Vec<i128> = (0..x.shape.len() + extra)
        .map(|_| {
            let count = c.pick(&[1, 2, 3, 1, 0, 4]).min(left.max(1));
            left /= count.max(1);
            if c.once_in(40) { -1 } else { count as i128 }
        })
        .collect();
    if c.once_in(10) {
        counts.pop();
    }
    let counts = sizes(&counts, c);
    spoiled(Call::of(name).arg(x).with(argument, counts), c)
}

pub(super) fn repeat_interleave(name: &'static str, c: &mut Choices) -> Call {
    let x = c.tensor();
    let (along, size) = match c.below(4) {
        0 => (None, x.shape.iter().product()),
        _ => {
            let given = axis(x.shape.len(), c);
            let front = given.rem_euclid(x.shape.len().max(1) as i128) as usize;
            (Some(given), x.shape.get(front).copied().unwrap_or(1))
        }
    };
    let len = match c.below(8) {
        0..=2 => 1,
        7 => size + 1,
        _ => size,
    };
    let counts: Vec<i128> = (0..len)
        .map(|_| if c.once_in(200) { -1 } else { c.between(0, 3) })
        .collect();
    let counts = sizes(&counts, c);
    let call = Call::of(name).arg(x).with("repeats", counts);
    let call = match along {
        Some(given) => call.with("axis", given),
        None if c.once_in(2) => call.with("axis", ()),
        None => call,
    };
    spoiled(call, c)
}

pub(super) fn cast(name: &'static str, c: &mut Choices) -> Call {
    let shape = c.shape();
    let fill = c.pick(&[Fill::Edges, Fill::Small, Fill::Bits]);
    let x = c.tensor_of(&shape, fill);
    let to = match c.below(12) {
        10 => Arg::Text(
            c.pick(&["f32", "float16", "bool", "c128", "int64"])
                .to_string(),
        ),
        11 => Arg::Text(c.pick(&["float", "f33", ""]).to_string()),
        _ => Arg::DType(c.dtype()),
    };
    spoiled(Call::of(name).arg(x).with("dtype", to), c)
}

pub(super) fn sum(name: &'static str, c: &mut Choices) -> Call {
    let shape = c.shape();
    let x = c.tensor_of(&shape, Fill::Small);
    let rank = shape.len();
    let mut call = Call::of(name).arg(x);
    call = match c.below(6) {
        0 => call,
        1 => call.with("axis", ()),
        2 => call.with("axis", axis(rank, c)),
        _ => {
            let count = c.below(rank + 1);
            call.with("axis", axes(rank, count, c))
        }
    };
    if c.once_in(2) {
        call = call.with("keepdims", c.once_in(2));
    }
    if c.once_in(3) {
        call = call.with("dtype", c.dtype());
    }
    spoiled(call, c)
}

pub(super) fn joined(name: &'static str, c: &mut Choices) -> Call {
    let rank = c.pick(&[2, 1, 3, 4, 0]);
    let shape = c.shape_of_rank(rank);
    let given = axis(if name == "stack" { rank + 1 } else { rank }, c);
    let front = given.rem_euclid(rank.max(1) as i128) as usize;
    let dtype = c.dtype();
    let count = c.pick(&[2, 1, 3, 4, 0]);
    let inputs: Vec<Input> = (0..count)
        .map(|_| {
            let mut shape = shape.clone();
            if let ("concat", Some(size)) = (name, shape.get_mut(front)) {
                *size = c.below(4)
            }
            match c.below(40) {
                38 => shape.push(1),
                39 => shape.iter_mut().for_each(|size| *size += 1),
                _ => {}
            }
            let dtype = if c.once_in(40) { DType::I16 } else { dtype };
            c.tensor_with(dtype, &shape, Fill::Bits)
        })
        .collect();
    let call = Call::of(name).arg(inputs);
    let call = if c.once_in(6) {
        call
    } else {
        call.with("axis", given)
    };
    spoiled(call, c)
}

pub(super) fn new_shape(c: &mut Choices) -> Argument {
    let mut shape: Vec<i128> = c.shape().into_iter().map(|n| n as i128).collect();
    if c.once_in(10) {
        shape.push(c.pick(&[-1, -5, isize::MIN as i128]));
    }
    sizes(&shape, c)
}

pub(super) fn constant(name: &'static str, c: &mut Choices) -> Call {
    let call = Call::of(name).with("shape", new_shape(c));
    let call = if c.once_in(4) {
        call
    } else {
        call.with("dtype", c.dtype())
    };
    spoiled(call, c)
}

/// A number of any kind, at the ends of ranges too.
pub(super) fn number(c: &mut Choices) -> Argument {
    c.pick(&[
        Arg::Int(7),
        Arg::Int(0),
        Arg::Bool(true),
        Arg::Float(0.1),
        Arg::Int(-1),
        Arg::Complex(1.5, -2.0),
        Arg::Int(255),
        Arg::Int(256),
        Arg::Int(i64::MAX.into()),
        Arg::Int(u64::MAX.into()),
        Arg::Int(1 << 70),
        Arg::Float(f64::NAN),
        Arg::Float(f64::INFINITY),
        Arg::Int(1),
    ])
}

pub(super) fn full(name: &'static str, c: &mut Choices) -> Call {
    let call = Call::of(name)
        .with("shape", new_shape(c))
        .with("value", number(c));
    let call = if c.once_in(2) {
        call
    } else {
        call.with("dtype", c.dtype())
    };
    spoiled(call, c)
}

pub(super) fn arange(name: &'static str, c: &mut Choices) -> Call {
    let bound = |c: &mut Choices| match c.below(12) {
        8 | 9 => Arg::Float(c.between(-20, 20) as f64 / 4.0),
        10 => Arg::Bool(true),
        11 => Arg::Complex(1.0, 0.0),
        _ => Arg::Int(c.between(-5, 40)),
    };
    let mut call = Call::of(name).with("start", bound(c));
    if c.once_in(2) {
        call = call.with("stop", bound(c));
    }
    if c.once_in(2) {
        let step = match c.below(8) {
            5 => Arg::Float(c.pick(&[0.25, -0.5, 1.5])),
            6 => Arg::Int(0),
            7 => Arg::Float(f64::NAN),
            _ => Arg::Int(c.pick(&[1, 2, -1, 3, -7])),
        };
        call = call.with("step", step);
    }
    if c.once_in(2) {
        call = call.with("dtype", c.dtype());
    }
    spoiled(call, c)
}
