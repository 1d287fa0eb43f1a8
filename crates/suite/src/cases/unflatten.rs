//! `unflatten`: the test list of its design document, boundary cases included, and the rules.

use stridewise_core::call::Arg;
use stridewise_core::dtype::DType;

use super::{Case, case};
use crate::call::Call;
use crate::input::Input;
use crate::runner::Family;

fn unflatten(from: &[usize], axis: i128, shape: impl Into<crate::call::Value>) -> Call {
    Call::of("unflatten")
        .arg(Input::f32(from))
        .arg(axis)
        .arg(shape)
}

pub(super) fn cases() -> Vec<Case> {
    let ints = |dtype, values: &[i64]| Input::of(dtype, &[values.len()], values.iter().copied());
    let mut cases = vec![
        case("the middle axis splits", unflatten(&[2, 4, 5], 1, [2, 2])).gives(&[2, 2, 2, 5]),
        case("axis from the end", unflatten(&[2, 4, 5], -2, [2, 2])).gives(&[2, 2, 2, 5]),
        case("one -1 is worked out", unflatten(&[3, 8], 1, [-1, 2, 2])).gives(&[3, 2, 2, 2]),
        case("without -1", unflatten(&[3, 8], 1, [2, 2, 2])).gives(&[3, 2, 2, 2]),
        case("a list of three", unflatten(&[6, 2], 0, [1, 2, 3])).gives(&[1, 2, 3, 2]),
        case("into one axis", unflatten(&[4, 0, 16], 0, [-1])).gives(&[4, 0, 16]),
        case("a lone -1 keeps the axis", unflatten(&[5], 0, [-1])).gives(&[5]),
        case(
            "shape as a tensor of int32",
            unflatten(&[2, 4], 1, ints(DType::I32, &[2, 2])),
        )
        .gives(&[2, 2, 2])
        .too_early_without_data(),
        case(
            "shape as a tensor of int64",
            unflatten(&[2, 4], 1, ints(DType::I64, &[-1, 2])),
        )
        .gives(&[2, 2, 2])
        .too_early_without_data(),
        case(
            "tensors of rank 0 among the sizes",
            unflatten(
                &[6],
                0,
                vec![Arg::Int(2), Arg::Tensor(Input::i64(&[], &[3]))],
            ),
        )
        .gives(&[2, 3])
        .too_early_without_data(),
        case("two -1", unflatten(&[2, 8], 1, [-1, -1, 2])).fails(Family::Shape),
        case("axis past the end", unflatten(&[2, 4, 5], 3, [2, 2])).fails(Family::Axis),
        case("axis before the start", unflatten(&[2, 4, 5], -4, [2, 2])).fails(Family::Axis),
        case("another product", unflatten(&[2, 4], 1, [3, 2])).fails(Family::Shape),
        case(
            "-1 beside sizes that do not divide",
            unflatten(&[2, 5], 1, [2, -1]),
        )
        .fails(Family::Shape),
        case("an empty shape", unflatten(&[2, 4], 1, [])).fails(Family::Shape),
        case("an empty shape for an axis of 1", unflatten(&[2, 1], 1, [])).fails(Family::Shape),
        case(
            "0 for an axis that is not empty",
            unflatten(&[6], 0, [2, 0, 3]),
        )
        .fails(Family::Shape),
        case("another negative number", unflatten(&[8], 0, [-2, 4])).fails(Family::Shape),
        case(
            "two negative numbers with the right product",
            unflatten(&[8], 0, [-2, -4]),
        )
        .fails(Family::Shape),
        case("rank 0 has no axis", unflatten(&[], 0, [1])).fails(Family::Axis),
        case("an empty axis into (2, -1)", unflatten(&[0], 0, [2, -1])).gives(&[2, 0]),
        case(
            "an empty axis into (2, 0, 3)",
            unflatten(&[0], 0, [2, 0, 3]),
        )
        .gives(&[2, 0, 3]),
        case(
            "an empty axis among others",
            unflatten(&[3, 0, 2], 1, [0, 5]),
        )
        .gives(&[3, 0, 5, 2]),
        case("(0, -1) could be anything", unflatten(&[0], 0, [0, -1])).fails(Family::Shape),
        case(
            "an empty axis into a full shape",
            unflatten(&[0], 0, [2, 3]),
        )
        .fails(Family::Shape),
        case(
            "a bool shape tensor",
            unflatten(&[6], 0, ints(DType::Bool, &[1, 1])),
        )
        .fails(Family::Type),
        case(
            "a float in the shape",
            unflatten(&[6], 0, vec![Arg::Int(2), Arg::Float(3.0)]),
        )
        .fails(Family::Type),
        case(
            "a bool in the shape",
            unflatten(&[1], 0, vec![Arg::Bool(true)]),
        )
        .fails(Family::Type),
        case(
            "a shape tensor of rank 2",
            unflatten(&[6], 0, Input::i64(&[1, 2], &[2, 3])),
        )
        .fails(Family::Shape),
        case(
            "a tensor of rank 1 among the sizes",
            unflatten(&[6], 0, vec![Arg::Tensor(Input::i64(&[1], &[6]))]),
        )
        .fails(Family::Shape),
        case(
            "a float axis",
            Call::of("unflatten")
                .arg(Input::f32(&[4]))
                .arg(0.0)
                .arg([2, 2]),
        )
        .fails(Family::Type),
        case(
            "a bool axis",
            Call::of("unflatten")
                .arg(Input::f32(&[4]))
                .arg(false)
                .arg([2, 2]),
        )
        .fails(Family::Type),
        case(
            "by name",
            Call::of("unflatten")
                .with("x", Input::f32(&[4]))
                .with("shape", [2, 2])
                .with("axis", 0),
        )
        .gives(&[2, 2])
        .values(&[0, 1, 2, 3]),
        case(
            "any stride splits without a copy",
            Call::of("unflatten")
                .arg(Input::f32(&[24]).lying(&[6, 2], &[-3, 1], 15))
                .arg(0)
                .arg([2, 3]),
        )
        .gives(&[2, 3, 2])
        .strides(&[-9, -3, 1]),
    ];
    for dtype in [
        DType::F32,
        DType::F64,
        DType::F16,
        DType::BF16,
        DType::C64,
        DType::C128,
    ] {
        let new = case(
            "a shape tensor that is not an integer",
            unflatten(&[6], 0, ints(dtype, &[2, 3])),
        );
        cases.push(new.fails(Family::Type));
    }
    for dtype in DType::ALL {
        let x = Input::counting(dtype, &[2, 4]);
        let values = x.reference().numbers();
        let call = Call::of("unflatten").arg(x).arg(1).arg([2, 2]);
        let new = case("every dtype", call).gives(&[2, 2, 2]).dtype(dtype);
        cases.push(new.values(&values));
    }
    cases
}
