//! Calls of operators that put tensors together, cast them, or make them.

use stridewise_core::call::Arg;
use stridewise_core::dtype::DType;
use stridewise_suite::{Call, Input};

use super::{SIZES, as_tensor, few_shapes, ints, shapes, signed, some};

pub(super) fn cast() -> Vec<Call> {
    let mut all = Vec::new();
    for (at, shape) in shapes().iter().enumerate() {
        for turn in 0..3 {
            let dtype = DType::ALL[(at + turn * 5) % DType::ALL.len()];
            all.push(
                Call::of("cast")
                    .arg(some(shape, at + turn))
                    .with("dtype", dtype),
            );
        }
        let own = some(shape, at).dtype;
        all.push(Call::of("cast").arg(some(shape, at)).with("dtype", own));
    }
    all
}

pub(super) fn concat() -> Vec<Call> {
    let mut all = Vec::new();
    for (at, shape) in few_shapes().iter().enumerate() {
        for axis in 0..shape.len() {
            let inputs = |sizes: &[usize]| -> Vec<Input> {
                let dtype = some(shape, at).dtype;
                let one = |(turn, &size): (usize, &usize)| {
                    let mut shape = shape.clone();
                    shape[axis] = size;
                    super::numbers(dtype, &shape, at + turn)
                };
                sizes.iter().enumerate().map(one).collect()
            };
            let mut push = |sizes: &[usize]| {
                let given = axis as i128 - (at % 2 * shape.len()) as i128;
                all.push(Call::of("concat").arg(inputs(sizes)).with("axis", given));
            };
            push(&[shape[axis]]);
            for other in SIZES {
                push(&[shape[axis], other]);
            }
            push(&[shape[axis], 1, 2]);
            push(&[0, shape[axis], 5]);
        }
        if let [first, ..] = shape[..] {
            let mut other = shape.clone();
            other.push(first);
            all.push(Call::of("concat").arg(vec![some(shape, 0), some(&other, 0)]));
        }
    }
    all
}

pub(super) fn stack() -> Vec<Call> {
    let mut all = Vec::new();
    for (at, shape) in few_shapes().iter().enumerate() {
        for axis in 0..=shape.len() {
            for count in 1..=3 {
                let dtype = some(shape, at).dtype;
                let inputs = (0..count).map(|turn| super::numbers(dtype, shape, at + turn));
                let call = Call::of("stack").arg(inputs.collect::<Vec<Input>>());
                all.push(call.with("axis", axis as i128));
            }
        }
    }
    all
}

pub(super) fn constant(name: &'static str) -> Vec<Call> {
    let mut all = Vec::new();
    for (at, shape) in few_shapes().iter().enumerate() {
        let dtype = DType::ALL[at % DType::ALL.len()];
        let sizes = match at % 3 {
            0 => as_tensor(&signed(shape)),
            _ => ints(&signed(shape)),
        };
        all.push(Call::of(name).with("shape", sizes).with("dtype", dtype));
    }
    all.push(Call::of(name).with("shape", ints(&[2, -1])));
    all
}

pub(super) fn full() -> Vec<Call> {
    let mut all = Vec::new();
    for (at, shape) in few_shapes().iter().enumerate() {
        let sizes = match at % 3 {
            0 => as_tensor(&signed(shape)),
            _ => ints(&signed(shape)),
        };
        let value = [Arg::Int(7), Arg::Float(-0.0), Arg::Bool(true), Arg::Int(-3)][at % 4].clone();
        all.push(Call::of("full").with("shape", sizes).with("value", value));
    }
    all
}

pub(super) fn arange() -> Vec<Call> {
    let mut all = Vec::new();
    for size in SIZES {
        let stop = size as i128;
        all.push(Call::of("arange").with("start", stop));
        let down = Call::of("arange").with("start", stop).with("stop", 0);
        all.push(down.with("step", -1));
        let wide = Call::of("arange").with("start", 0).with("stop", 3 * stop);
        all.push(wide.with("step", 3).with("dtype", DType::F32));
    }
    all.push(
        Call::of("arange")
            .with("start", 0)
            .with("stop", 4)
            .with("step", 0),
    );
    all
}
