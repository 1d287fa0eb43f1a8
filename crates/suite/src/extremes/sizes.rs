//! Products and sums of sizes that no machine can count, and sizes that no memory holds.

use stridewise_core::call::Arg;
use stridewise_core::dtype::DType;

use super::Comes::{self, Error, Shape, TooMuch};
use super::{MAX, MIN, WRAPS_TO_5};
use crate::call::{Call, range};
use crate::input::Input;
use crate::runner::Family;

pub(super) fn one(shape: &[usize]) -> Input {
    Input::counting(DType::U8, shape)
}

pub(super) fn empty(shape: &[usize]) -> Input {
    Input::counting(DType::U8, &[0]).lying(shape, &vec![0; shape.len()], 0)
}

pub(super) fn products() -> Vec<(Call, Comes)> {
    let overflow = || Error(vec![Family::Overflow]);
    let five = || Input::f32(&[5]);
    let call = |name, input: Input, argument, sizes: &[i128]| {
        Call::of(name).arg(input).with(argument, sizes.to_vec())
    };
    let mut cases = vec![
        (call("reshape", five(), "shape", &WRAPS_TO_5), overflow()),
        (call("view", five(), "shape", &WRAPS_TO_5), overflow()),
        (
            call("unflatten", five(), "shape", &WRAPS_TO_5).with("axis", 0),
            overflow(),
        ),
        (
            call("expand", Input::f32(&[1]), "sizes", &WRAPS_TO_5),
            overflow(),
        ),
        (
            call("broadcast_to", Input::f32(&[1]), "shape", &WRAPS_TO_5),
            overflow(),
        ),
        (
            call("repeat", Input::f32(&[1]), "sizes", &WRAPS_TO_5),
            overflow(),
        ),
        (
            call("tile", Input::f32(&[1]), "reps", &WRAPS_TO_5),
            overflow(),
        ),
        (
            call("repeat", Input::f32(&[5]), "sizes", &[MAX]),
            overflow(),
        ),
        (
            call("tile", Input::f32(&[5]), "reps", &[MAX, 1]),
            overflow(),
        ),
        (
            call("expand", Input::f32(&[1]), "sizes", &[0, MAX]),
            overflow(),
        ),
        (
            call("expand", one(&[1]), "sizes", &[0, MAX]),
            Shape(vec![0, MAX as usize]),
        ),
        (
            call("expand", one(&[1]), "sizes", &[MAX]),
            Shape(vec![MAX as usize]),
        ),
        (call("expand", one(&[1]), "sizes", &[MAX, 2]), overflow()),
        (call("repeat", one(&[0]), "sizes", &[MAX]), Shape(vec![0])),
        (
            call("reshape", empty(&[0]), "shape", &[0, MAX]),
            Shape(vec![0, MAX as usize]),
        ),
        (
            call("reshape", empty(&[0]), "shape", &[0, MAX, 2]),
            overflow(),
        ),
        (
            call("reshape", empty(&[0, MAX as usize]), "shape", &[-1]),
            Shape(vec![0]),
        ),
        (
            call("unflatten", empty(&[0]), "shape", &[0, MAX]).with("axis", 0),
            Shape(vec![0, MAX as usize]),
        ),
        (
            call("unflatten", empty(&[0]), "shape", &[0, MAX, MAX]).with("axis", 0),
            overflow(),
        ),
        (
            call("unflatten", empty(&[0]), "shape", &[-1, MAX]).with("axis", 0),
            Shape(vec![0, MAX as usize]),
        ),
        (
            Call::of("flatten").arg(empty(&[0, MAX as usize])),
            Shape(vec![0]),
        ),
        (
            Call::of("flatten")
                .arg(empty(&[2, 1 << 61, 0]))
                .with("stop", 1),
            Shape(vec![1 << 62, 0]),
        ),
        (
            Call::of("transpose").arg(empty(&[0, MAX as usize])),
            Shape(vec![MAX as usize, 0]),
        ),
        (
            Call::of("flip").arg(empty(&[0, MAX as usize])),
            Shape(vec![0, MAX as usize]),
        ),
        (Call::of("sum").arg(empty(&[0, 3])), Shape(vec![])),
        (
            Call::of("concat").arg(vec![empty(&[0, MAX as usize]); 2]),
            Shape(vec![0, MAX as usize]),
        ),
        (
            Call::of("concat")
                .arg(vec![empty(&[0, MAX as usize]); 3])
                .with("axis", 1),
            overflow(),
        ),
        (
            Call::of("stack").arg(vec![empty(&[0, MAX as usize]); 2]),
            overflow(),
        ),
        (
            Call::of("cast")
                .arg(empty(&[0, MAX as usize]))
                .with("dtype", DType::I64),
            overflow(),
        ),
        (
            call("repeat_interleave", one(&[2]), "repeats", &[MAX]),
            overflow(),
        ),
    ];
    for name in ["zeros", "ones", "full"] {
        let make = |shape: &[i128]| {
            let call = Call::of(name).with("shape", shape.to_vec());
            let call = if name == "full" {
                call.with("value", 1)
            } else {
                call
            };
            call.with("dtype", DType::U8)
        };
        cases.extend([
            (make(&WRAPS_TO_5), overflow()),
            (make(&[0, MAX]), Shape(vec![0, MAX as usize])),
            (make(&[0, MAX, 2]), overflow()),
            (make(&[MAX, MAX, MAX]), overflow()),
            (make(&[MAX + 1]), overflow()),
            (make(&[MIN]), Error(vec![Family::Shape])),
            (make(&[MIN - 1]), overflow()),
            (make(&[i128::MAX]), overflow()),
        ]);
    }
    cases
}

/// 2⁴⁵ bytes: a right shape for an engine that only counts, and more than memory for one that allocates.
pub(super) fn memory() -> Vec<(Call, Comes)> {
    const BIG: usize = 1 << 45;
    let big = BIG as i128;
    let too_much = |shape: &[usize]| TooMuch(shape.to_vec());
    let wide = || one(&[1]).lying(&[BIG], &[0], 0);
    let index = || Input::i64(&[1], &[0]).lying(&[BIG], &[0], 0);
    vec![
        (
            Call::of("zeros").arg([big]).arg(DType::U8),
            too_much(&[BIG]),
        ),
        (
            Call::of("ones").arg([big / 16, 2]).arg(DType::F64),
            too_much(&[BIG / 16, 2]),
        ),
        (
            Call::of("full").arg([big]).arg(7).arg(DType::I8),
            too_much(&[BIG]),
        ),
        (
            Call::of("arange").arg(big).with("dtype", DType::F64),
            too_much(&[BIG]),
        ),
        (
            Call::of("repeat").arg(one(&[2])).arg(big / 2),
            too_much(&[BIG]),
        ),
        (
            Call::of("tile").arg(one(&[2])).arg([big / 2, 1]),
            too_much(&[BIG / 2, 2]),
        ),
        (
            Call::of("repeat_interleave").arg(one(&[2])).arg(big / 2),
            too_much(&[BIG]),
        ),
        (
            Call::of("contiguous").arg(wide().lying(&[BIG / 2, 2], &[0, 0], 0)),
            too_much(&[BIG / 2, 2]),
        ),
        (
            Call::of("cast").arg(wide()).arg(DType::I16),
            too_much(&[BIG]),
        ),
        (
            Call::of("take").arg(one(&[1])).arg(index()),
            too_much(&[BIG]),
        ),
        (Call::of("take").arg(wide()).arg([0]), Shape(vec![1])),
        (
            Call::of("concat").arg(vec![wide(), wide()]),
            too_much(&[2 * BIG]),
        ),
        (
            Call::of("stack").arg(vec![wide(), wide()]),
            too_much(&[2, BIG]),
        ),
        (
            Call::of("index_select").arg(wide()).arg(0).arg([5, -1]),
            Shape(vec![2]),
        ),
        (Call::of("unstack").arg(wide()), Error(vec![Family::Memory])),
        (Call::of("expand").arg(one(&[1])).arg(big), Shape(vec![BIG])),
        (Call::of("slice").arg(wide()).arg(-1), Shape(vec![])),
        (
            Call::of("slice")
                .arg(wide())
                .arg(range(None, None, Some(1 << 44))),
            Shape(vec![2]),
        ),
        (Call::of("flip").arg(wide()), Shape(vec![BIG])),
        (
            Call::of("unflatten").arg(wide()).arg(0).arg([-1, 1 << 20]),
            Shape(vec![1 << 25, 1 << 20]),
        ),
        (
            Call::of("enforce_shape")
                .arg(wide())
                .arg(vec![Arg::Int(big)]),
            Shape(vec![BIG]),
        ),
    ]
}
