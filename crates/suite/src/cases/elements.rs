//! `contiguous`, `cast`, `sum` and `shape_of`.

use stridewise_core::dtype::DType;

use super::{Case, case};
use crate::call::Call;
use crate::input::Input;
use crate::number::Number;
use crate::runner::Family;

fn sums() -> Vec<Case> {
    let sum = || Call::of("sum").arg(Input::f32(&[2, 3]));
    let mut cases = vec![
        case("the sum of all", sum()).gives(&[]).values(&[15]),
        case("over one axis", sum().arg(0))
            .gives(&[3])
            .values(&[3, 5, 7]),
        case("over the last", sum().arg(-1))
            .gives(&[2])
            .values(&[3, 12]),
        case("over several", sum().arg([1, 0]))
            .gives(&[])
            .values(&[15]),
        case("over none", sum().arg([]))
            .gives(&[2, 3])
            .values(&[0, 1, 2, 3, 4, 5]),
        case("keeping the axes", sum().arg([0]).with("keepdims", true))
            .gives(&[1, 3])
            .values(&[3, 5, 7]),
        case("keeping all axes", sum().with("keepdims", true))
            .gives(&[1, 1])
            .values(&[15]),
        case("as another dtype", sum().with("dtype", DType::I32))
            .gives(&[])
            .dtype(DType::I32)
            .values(&[15]),
        case("of rank 0", Call::of("sum").arg(Input::i64(&[], &[7])))
            .gives(&[])
            .values(&[7]),
        case(
            "of an empty tensor is 0",
            Call::of("sum").arg(Input::f32(&[0])),
        )
        .gives(&[])
        .values(&[0]),
        case(
            "over an empty axis is 0",
            Call::of("sum").arg(Input::f32(&[0, 2])).arg(0),
        )
        .gives(&[2])
        .values(&[0, 0]),
        case(
            "beside an empty axis is empty",
            Call::of("sum").arg(Input::f32(&[0, 2])).arg(1),
        )
        .gives(&[0]),
        case("integers wrap in their own dtype", {
            let x = Input::of(DType::U8, &[2], [200, 100]);
            Call::of("sum").arg(x).with("dtype", "uint8")
        })
        .gives(&[])
        .values(&[44]),
        case("an expanded axis counts every time", {
            Call::of("sum").arg(Input::f32(&[2]).lying(&[3, 2], &[0, 1], 0))
        })
        .gives(&[])
        .values(&[3]),
        case("no axis 2", sum().arg(2)).fails(Family::Axis),
        case("an axis twice", sum().arg([0, -2])).fails(Family::Axis),
        case("keepdims is a bool", sum().with("keepdims", 1)).fails(Family::Type),
    ];
    for dtype in DType::ALL {
        let grown = match dtype {
            DType::Bool | DType::I8 | DType::I16 | DType::I32 => DType::I64,
            DType::U8 | DType::U16 | DType::U32 => DType::U64,
            other => other,
        };
        let call = Call::of("sum").arg(Input::of(dtype, &[3], [1, 1, 1]));
        let new = case("bool and integers grow to 64 bits", call).gives(&[]);
        cases.push(new.dtype(grown).values(&[3]));
    }
    cases
}

fn casts() -> Vec<Case> {
    let float = |x: f64| Input::of(DType::F64, &[1], [x]);
    let cast = |x: Input, to: DType| Call::of("cast").arg(x).arg(to);
    let mut cases = vec![
        case("floats truncate toward zero", cast(float(-1.9), DType::I32))
            .gives(&[1])
            .values(&[-1]),
        case("integers wrap", cast(Input::i64(&[1], &[300]), DType::U8))
            .gives(&[1])
            .values(&[44]),
        case("anything but 0 is true", cast(float(0.1), DType::Bool))
            .gives(&[1])
            .values(&[1]),
        case("floats round to nearest", cast(float(65519.9), DType::F16))
            .gives(&[1])
            .values(&[65504.0]),
        case("complex drops its imaginary part", {
            let x = Input::of(DType::C128, &[1], [Number::Complex(2.5, 7.0)]);
            cast(x, DType::F32)
        })
        .gives(&[1])
        .values(&[2.5]),
        case("real becomes complex", cast(float(2.5), DType::C64))
            .gives(&[1])
            .values(&[Number::Complex(2.5, 0.0)]),
        case(
            "dtypes by their short names",
            Call::of("cast").arg(float(3.0)).arg("i16"),
        )
        .gives(&[1])
        .dtype(DType::I16)
        .values(&[3]),
        case(
            "an unknown dtype",
            Call::of("cast").arg(float(3.0)).arg("float"),
        )
        .fails(Family::DType),
        case(
            "a dtype that is no word",
            Call::of("cast").arg(float(3.0)).arg(32),
        )
        .fails(Family::Type),
        case("an empty tensor", cast(Input::f32(&[0, 2]), DType::I8))
            .gives(&[0, 2])
            .dtype(DType::I8),
        case(
            "a flipped tensor",
            cast(Input::f32(&[3]).lying(&[3], &[-1], 2), DType::I8),
        )
        .gives(&[3])
        .values(&[2, 1, 0]),
    ];
    for from in DType::ALL {
        for to in DType::ALL {
            let call = cast(Input::of(from, &[2], [1, 0]), to);
            cases.push(
                case("every dtype to every other", call)
                    .gives(&[2])
                    .dtype(to)
                    .values(&[1, 0]),
            );
        }
    }
    cases
}

pub(super) fn cases() -> Vec<Case> {
    let turned = Input::f32(&[2, 3]).lying(&[3, 2], &[1, 3], 0);
    let mut cases = vec![
        case("contiguous packs", Call::of("contiguous").arg(turned))
            .gives(&[3, 2])
            .strides(&[2, 1])
            .values(&[0, 3, 1, 4, 2, 5]),
        case(
            "contiguous of an expanded tensor has storage for all of it",
            Call::of("contiguous").arg(Input::f32(&[1]).lying(&[2, 2], &[0, 0], 0)),
        )
        .gives(&[2, 2])
        .strides(&[2, 1]),
        case(
            "contiguous of rank 0",
            Call::of("contiguous").arg(Input::f32(&[])),
        )
        .gives(&[]),
        case("shape_of", Call::of("shape_of").arg(Input::f32(&[2, 0, 3])))
            .gives(&[3])
            .dtype(DType::I64)
            .values(&[2, 0, 3]),
        case("shape_of rank 0", Call::of("shape_of").arg(Input::f32(&[]))).gives(&[0]),
    ];
    cases.extend(sums());
    cases.extend(casts());
    cases
}
