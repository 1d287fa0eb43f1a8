//! Calls of operators that read or add at an index: inside and outside, negative and twice, empty and of any rank.

use stridewise_core::call::Arg;
use stridewise_core::dtype::DType;
use stridewise_suite::call::range;
use stridewise_suite::number::int_range;
use stridewise_suite::{Argument, Call, Input, Number};

use super::{few_shapes, some, summable};

/// Which indices.
#[derive(Clone, Copy, PartialEq)]
enum Reach {
    /// From either end.
    Inside,
    /// Far off as well.
    Outside,
}

/// An index among `n`.
fn index_of(shape: &[usize], n: usize, reach: Reach, salt: usize) -> Input {
    let dtypes = [
        DType::I64,
        DType::I32,
        DType::I8,
        DType::U8,
        DType::I64,
        DType::I16,
        DType::U64,
    ];
    let dtype = dtypes[salt % dtypes.len()];
    let (low, high) = int_range(dtype);
    let n = n as i128;
    let inside = [0, n - 1, -1, n / 2, 0, -n, n / 3];
    let outside = [n, -1, 0, -n - 1, 3 * n + 1, n - 1, -2 * n, n / 2, 100];
    let count: usize = shape.iter().product();
    let one = |at: usize| {
        let at = at + salt;
        let value = match reach {
            Reach::Inside => inside[at % 7],
            Reach::Outside => outside[at % 9],
        };
        let fits = (low..=high).contains(&value) && (reach == Reach::Outside || n > 0);
        Number::Int(if fits { value } else { 0 })
    };
    Input::of(dtype, shape, (0..count).map(one))
}

fn fill_value(dtype: DType) -> Argument {
    match dtype {
        DType::Bool => Arg::Bool(true),
        dtype if dtype.is_integer() => Arg::Int(100),
        DType::C64 | DType::C128 => Arg::Complex(1.5, -2.5),
        _ => Arg::Float(0.5),
    }
}

pub(super) fn take() -> Vec<Call> {
    let mut all = Vec::new();
    let lists: [&[usize]; 6] = [&[], &[3], &[0], &[2, 2], &[5], &[1, 3]];
    for (at, shape) in few_shapes().iter().enumerate() {
        let whole = (None, shape.iter().product::<usize>());
        let axes = (0..shape.len()).map(|axis| (Some(axis as i128), shape[axis]));
        for (axis, n) in [whole].into_iter().chain(axes) {
            for (turn, list) in lists.iter().enumerate() {
                let salt = at + turn;
                let call = |reach| {
                    let x = some(shape, salt);
                    let index = index_of(list, n, reach, salt);
                    let call = Call::of("take").arg(x).with("index", index);
                    match axis {
                        Some(axis) => call.with("axis", axis - (turn % 2 * shape.len()) as i128),
                        None => call,
                    }
                };
                all.push(call(Reach::Inside));
                all.push(call(Reach::Outside).with("mode", "wrap"));
                all.push(call(Reach::Outside).with("mode", "clip"));
                let value = fill_value(some(shape, salt).dtype);
                let fill = call(Reach::Outside).with("mode", "fill");
                all.push(match turn % 3 {
                    0 => fill,
                    _ => fill.with("fill_value", value),
                });
                if turn % 3 == 1 {
                    all.push(call(Reach::Outside).with("mode", "raise"));
                }
            }
        }
    }
    all
}

pub(super) fn index_select() -> Vec<Call> {
    let mut all = Vec::new();
    let lists: [&[usize]; 4] = [&[3], &[0], &[], &[5]];
    for (at, shape) in few_shapes().iter().enumerate() {
        for (axis, &n) in shape.iter().enumerate() {
            for (turn, list) in lists.iter().enumerate() {
                let call = Call::of("index_select").arg(some(shape, at));
                let call = call.with("axis", axis as i128);
                all.push(call.with("index", index_of(list, n, Reach::Inside, at + turn)));
            }
        }
    }
    all
}

pub(super) fn take_along_axis() -> Vec<Call> {
    let mut all = Vec::new();
    for (at, shape) in few_shapes().iter().enumerate() {
        for (axis, &n) in shape.iter().enumerate() {
            for len in [0, 1, 2, 5] {
                let mut like = shape.clone();
                like[axis] = len;
                let call = |reach| {
                    let x = some(shape, at + len);
                    let index = index_of(&like, n, reach, at + len);
                    let call = Call::of("take_along_axis").arg(x);
                    call.with("index", index).with("axis", axis as i128)
                };
                all.push(call(Reach::Inside));
                if len == 2 && at % 4 == 0 {
                    all.push(call(Reach::Outside));
                }
            }
            // Axes of size 1 are repeated.
            if shape.len() > 1 {
                let mut like = vec![1; shape.len()];
                like[axis] = 3;
                let index = index_of(&like, n, Reach::Inside, at);
                let call = Call::of("take_along_axis").arg(some(shape, at));
                all.push(call.with("index", index).with("axis", axis as i128));
            }
        }
        let count = shape.iter().product();
        let index = index_of(&[4], count, Reach::Inside, at);
        let call = Call::of("take_along_axis").arg(some(shape, at));
        all.push(call.with("index", index).with("axis", ()));
    }
    all
}

pub(super) fn index_add() -> Vec<Call> {
    let mut all = Vec::new();
    for (at, shape) in few_shapes().iter().enumerate() {
        for (axis, &n) in shape.iter().enumerate() {
            for len in [0, 1, 3, 5] {
                let mut like = shape.clone();
                like[axis] = len;
                let source = {
                    let dtype = summable(shape, at).dtype;
                    super::numbers(dtype, &like, at + 7)
                };
                let call = |reach| {
                    let call = Call::of("index_add").arg(summable(shape, at));
                    let call = call.with("axis", axis as i128);
                    let call = call.with("index", index_of(&[len], n, reach, at + len));
                    call.with("source", source.clone())
                };
                all.push(call(Reach::Inside));
                if len == 3 && at % 4 == 0 {
                    all.push(call(Reach::Outside));
                }
            }
        }
    }
    all
}

pub(super) fn index() -> Vec<Call> {
    let mut all = Vec::new();
    let whole = || range(None, None, None);
    for (at, shape) in few_shapes().iter().enumerate() {
        let rank = shape.len();
        let mut push = |items: Vec<Argument>| {
            all.push(Call::of("index").arg(some(shape, at)).arg(items));
        };
        let array = |axis: usize, list: &[usize]| {
            Arg::Tensor(index_of(list, shape[axis], Reach::Inside, at + axis))
        };
        for axis in 0..rank {
            let before = || (0..axis).map(|_| whole());
            for list in [&[3][..], &[], &[0], &[2, 2]] {
                push(before().chain([array(axis, list)]).collect());
            }
            push(before().chain([Arg::None, array(axis, &[3])]).collect());
            if axis + 1 < rank {
                push(
                    before()
                        .chain([array(axis, &[3]), range(None, None, Some(-1))])
                        .collect(),
                );
                push(
                    before()
                        .chain([range(Some(1), None, None), array(axis + 1, &[3])])
                        .collect(),
                );
                push(
                    before()
                        .chain([array(axis, &[3]), array(axis + 1, &[3])])
                        .collect(),
                );
                push(
                    before()
                        .chain([array(axis, &[2, 1]), array(axis + 1, &[3])])
                        .collect(),
                );
                push(before().chain([array(axis, &[3]), Arg::Int(-1)]).collect());
            }
        }
        if rank == 3 {
            push(vec![array(0, &[3]), whole(), array(2, &[3])]);
            push(vec![array(0, &[2]), array(1, &[2]), array(2, &[2])]);
        }
    }
    all
}
