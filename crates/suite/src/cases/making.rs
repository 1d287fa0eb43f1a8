//! `zeros`, `ones`, `full` and `arange`.

use stridewise_core::call::Arg;
use stridewise_core::dtype::DType;

use super::{Case, case};
use crate::call::Call;
use crate::input::Input;
use crate::number::Number;
use crate::runner::Family;

pub(super) fn cases() -> Vec<Case> {
    let full = |value: Arg<Input, usize>| Call::of("full").arg([2]).arg(value);
    let arange = |bounds: &[i128]| Call::of("arange").ints(bounds);
    let mut cases = vec![
        case("zeros are float64", Call::of("zeros").arg([2, 2]))
            .gives(&[2, 2])
            .dtype(DType::F64)
            .strides(&[2, 1])
            .values(&[0, 0, 0, 0]),
        case("ones by a size", Call::of("ones").arg(3))
            .gives(&[3])
            .values(&[1, 1, 1]),
        case("zeros of rank 0", Call::of("zeros").arg([]))
            .gives(&[])
            .values(&[0]),
        case("an empty tensor", Call::of("ones").arg([2, 0, 3]))
            .gives(&[2, 0, 3])
            .strides(&[3, 3, 1]),
        case(
            "sizes from a tensor",
            Call::of("zeros").arg(Input::i64(&[2], &[1, 2])),
        )
        .gives(&[1, 2])
        .too_early_without_data(),
        case("zeros of a negative size", Call::of("zeros").arg([-1])).fails(Family::Shape),
        case("ones of a negative size", Call::of("ones").arg([2, -2])).fails(Family::Shape),
        case("full keeps an int an int", full(Arg::Int(7)))
            .gives(&[2])
            .dtype(DType::I64)
            .values(&[7, 7]),
        case("full keeps a bool a bool", full(Arg::Bool(true)))
            .gives(&[2])
            .dtype(DType::Bool),
        case("full keeps a float a float", full(Arg::Float(0.5)))
            .gives(&[2])
            .dtype(DType::F64)
            .values(&[0.5, 0.5]),
        case(
            "full keeps a complex number one",
            full(Arg::Complex(1.0, -2.0)),
        )
        .gives(&[2])
        .dtype(DType::C128)
        .values(&[Number::Complex(1.0, -2.0); 2]),
        case(
            "full of the largest uint64",
            full(Arg::Int(u64::MAX.into())),
        )
        .gives(&[2])
        .dtype(DType::U64)
        .values(&[Number::Int(u64::MAX.into()); 2]),
        case(
            "full of a float as an integer",
            full(Arg::Float(0.5)).arg(DType::I32),
        )
        .fails(Family::DType),
        case(
            "full of what the dtype cannot hold",
            full(Arg::Int(256)).arg(DType::U8),
        )
        .fails(Family::DType),
        case(
            "full of a number beyond all dtypes",
            full(Arg::Int(1 << 64)),
        )
        .fails(Family::DType),
        case("full of a negative size", Call::of("full").arg([-1]).arg(0)).fails(Family::Shape),
        case("arange up to", arange(&[4]))
            .gives(&[4])
            .dtype(DType::I64)
            .values(&[0, 1, 2, 3]),
        case("arange from and up to", arange(&[2, 5]))
            .gives(&[3])
            .values(&[2, 3, 4]),
        case("arange by a step", arange(&[2, 9, 3]))
            .gives(&[3])
            .values(&[2, 5, 8]),
        case("arange downward", arange(&[5, 0, -2]))
            .gives(&[3])
            .values(&[5, 3, 1]),
        case("arange away from the end is empty", arange(&[5, 0])).gives(&[0]),
        case(
            "arange of floats",
            Call::of("arange").arg(0.0).arg(1.0).arg(0.25),
        )
        .gives(&[4])
        .dtype(DType::F64)
        .values(&[0.0, 0.25, 0.5, 0.75]),
        case("arange as a dtype", arange(&[3]).with("dtype", "f16"))
            .gives(&[3])
            .dtype(DType::F16)
            .values(&[0, 1, 2]),
        case("arange by 0", arange(&[0, 5, 0])).fails(Family::Argument),
        case("arange of fractions as integers", {
            Call::of("arange")
                .arg(0.5)
                .arg(3.0)
                .with("dtype", DType::I32)
        })
        .fails(Family::DType),
        case(
            "arange past the dtype",
            arange(&[300]).with("dtype", DType::U8),
        )
        .fails(Family::DType),
        case(
            "arange below an unsigned dtype",
            arange(&[-1, 3]).with("dtype", DType::U8),
        )
        .fails(Family::DType),
        case(
            "arange of complex numbers",
            Call::of("arange").arg(Arg::Complex(1.0, 1.0)),
        )
        .fails(Family::DType),
        case(
            "arange without end",
            Call::of("arange").arg(0.0).arg(f64::INFINITY),
        )
        .fails(Family::Argument),
        case("arange to NaN", Call::of("arange").arg(f64::NAN)).fails(Family::Argument),
    ];
    for dtype in DType::ALL {
        let call = Call::of("ones").arg([2]).arg(dtype);
        cases.push(
            case("ones of every dtype", call)
                .gives(&[2])
                .dtype(dtype)
                .values(&[1, 1]),
        );
        let call = Call::of("zeros").arg([2]).arg(dtype.short_name());
        cases.push(
            case("zeros of every dtype", call)
                .gives(&[2])
                .dtype(dtype)
                .values(&[0, 0]),
        );
    }
    cases
}
