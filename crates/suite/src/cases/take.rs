//! `take` and its kin: NumPy's examples, the four modes, every kind of index, and the rules.

use stridewise_core::call::Arg;
use stridewise_core::dtype::DType;

use super::{Case, case};
use crate::call::{Argument, Call};
use crate::input::Input;
use crate::runner::Family;

fn list(values: &[i128]) -> Argument {
    Arg::List(values.iter().map(|&n| Arg::Int(n)).collect())
}

fn source() -> Input {
    Input::i64(&[6], &[4, 3, 5, 7, 6, 8])
}

fn take(index: impl Into<crate::call::Value>) -> Call {
    Call::of("take").arg(source()).arg(index)
}

fn modes() -> Vec<Case> {
    let far = || Input::i64(&[6], &[-13, -7, -1, 6, 11, 12]);
    let float = || {
        Call::of("take")
            .arg(Input::f32(&[3]))
            .arg([0, 5])
            .with("mode", "fill")
    };
    vec![
        case("raise counts from the end", take([-1, -6]))
            .gives(&[2])
            .values(&[8, 4]),
        case("raise refuses what is past the end", take([0, 6]))
            .fails(Family::Index)
            .gives_without_data(&[2]),
        case("raise refuses what is before the start", take([-7]))
            .fails(Family::Index)
            .gives_without_data(&[1]),
        case(
            "wrap goes any distance both ways",
            take(far()).with("mode", "wrap"),
        )
        .gives(&[6])
        .values(&[8, 8, 8, 4, 8, 4]),
        case(
            "clip turns negatives into 0",
            take(far()).with("mode", "clip"),
        )
        .gives(&[6])
        .values(&[4, 4, 4, 8, 8, 8]),
        case(
            "fill counts from the end, and fills further out",
            take(far()).with("mode", "fill"),
        )
        .gives(&[6])
        .values(&[0, 0, 8, 0, 0, 0]),
        case(
            "fill with a value",
            take([-7, 0]).with("mode", "fill").with("fill_value", -1),
        )
        .gives(&[2])
        .values(&[-1, 4]),
        case(
            "fill a float with a whole number",
            float().with("fill_value", 7),
        )
        .gives(&[2])
        .values(&[0, 7]),
        case("fill from an empty source", {
            Call::of("take")
                .arg(Input::f32(&[0]))
                .arg([0, 5])
                .with("mode", "fill")
        })
        .gives(&[2])
        .values(&[0, 0]),
        case(
            "a fill value that does not fit",
            take([0]).with("mode", "fill").with("fill_value", 0.5),
        )
        .fails(Family::DType),
        case("a fill value without fill", take([0]).with("fill_value", 1)).fails(Family::Argument),
        case("another word", take([0]).with("mode", "warp")).fails(Family::Argument),
        case("a mode that is no word", take([0]).with("mode", 1)).fails(Family::Type),
    ]
}

fn empties() -> Vec<Case> {
    let empty = |index: Argument, mode: &str| {
        Call::of("take")
            .arg(Input::f32(&[0, 3]))
            .arg(index)
            .with("mode", mode)
    };
    let mut cases = Vec::new();
    for mode in ["raise", "wrap", "clip"] {
        let new = case("an empty source and an index", empty(list(&[0]), mode));
        cases.push(new.fails(Family::Index));
        let new = case(
            "an empty axis and an index",
            empty(list(&[0]), mode).with("axis", 0),
        );
        cases.push(new.fails(Family::Index));
        let new = case("an empty source and an empty index", empty(list(&[]), mode));
        cases.push(new.gives(&[0]));
        let new = case(
            "an empty axis and an empty index",
            empty(list(&[]), mode).with("axis", 0),
        );
        cases.push(new.gives(&[0, 3]));
        let new = case(
            "another axis is empty",
            empty(list(&[2, 2]), mode).with("axis", 1),
        );
        cases.push(new.gives(&[0, 2]));
    }
    cases
}

fn indices() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        let index = Input::of(dtype, &[2], [1, 0]);
        let new = case("an index of every dtype", take(index));
        cases.push(match dtype.is_integer() {
            true => new.gives(&[2]).values(&[3, 4]),
            false => new.fails(Family::DType),
        });
        let x = Input::of(dtype, &[3], [0, 1, 1]);
        let new = case(
            "a source of every dtype",
            Call::of("take").arg(x).arg([2, 0, 1]),
        );
        cases.push(new.gives(&[3]).values(&[1, 0, 1]).dtype(dtype));
    }
    let huge = || Input::of(DType::U64, &[1], [crate::Number::Int(u64::MAX.into())]);
    cases.extend([
        case("u64::MAX is not -1", take(huge()))
            .fails(Family::Index)
            .gives_without_data(&[1]),
        case("u64::MAX wraps", take(huge()).with("mode", "wrap"))
            .gives(&[1])
            .values(&[7]),
        case(
            "u64::MAX clips to the end",
            take(huge()).with("mode", "clip"),
        )
        .gives(&[1])
        .values(&[8]),
        case(
            "i64::MIN wraps",
            take(Input::i64(&[1], &[i64::MIN])).with("mode", "wrap"),
        )
        .gives(&[1])
        .values(&[6]),
        case("i64::MIN raises", take(Input::i64(&[1], &[i64::MIN])))
            .fails(Family::Index)
            .gives_without_data(&[1]),
    ]);
    cases
}

fn relatives() -> Vec<Case> {
    let x = || Input::i64(&[2, 3], &[0, 1, 2, 3, 4, 5]);
    let select =
        |axis: i128, index: Argument| Call::of("index_select").arg(x()).arg(axis).arg(index);
    let along = |index: Input| Call::of("take_along_axis").arg(x()).arg(index);
    let add = |axis: i128, index: Argument, source: Input| {
        Call::of("index_add")
            .arg(x())
            .arg(axis)
            .arg(index)
            .arg(source)
    };
    vec![
        case("index_select picks slices", select(1, list(&[2, 0])))
            .gives(&[2, 2])
            .values(&[2, 0, 5, 3]),
        case("index_select counts from the end", select(-1, list(&[-1])))
            .gives(&[2, 1])
            .values(&[2, 5]),
        case(
            "index_select by one number keeps the axis",
            select(0, Arg::Int(1)),
        )
        .gives(&[1, 3])
        .values(&[3, 4, 5]),
        case("index_select by an empty index", select(0, list(&[]))).gives(&[0, 3]),
        case("index_select out of range", select(0, list(&[2])))
            .fails(Family::Index)
            .gives_without_data(&[1, 3]),
        case(
            "index_select by a matrix",
            select(0, Arg::Tensor(Input::i64(&[1, 1], &[0]))),
        )
        .fails(Family::Shape),
        case("index_select without such an axis", select(2, list(&[0]))).fails(Family::Axis),
        case(
            "take_along_axis reads along the last axis",
            along(Input::i64(&[2, 1], &[2, 0])),
        )
        .gives(&[2, 1])
        .values(&[2, 3]),
        case(
            "take_along_axis along the first",
            along(Input::i64(&[1, 3], &[1, 0, -1])).arg(0),
        )
        .gives(&[1, 3])
        .values(&[3, 1, 5]),
        case(
            "take_along_axis broadcasts the index",
            along(Input::i64(&[1, 2], &[0, 2])),
        )
        .gives(&[2, 2])
        .values(&[0, 2, 3, 5]),
        case("take_along_axis broadcasts the input", {
            let row = Input::i64(&[1, 3], &[7, 8, 9]);
            Call::of("take_along_axis")
                .arg(row)
                .arg(Input::i64(&[2, 1], &[2, 0]))
        })
        .gives(&[2, 1])
        .values(&[9, 7]),
        case(
            "take_along_axis of everything, flat",
            along(Input::i64(&[2], &[5, 0])).arg(()),
        )
        .gives(&[2])
        .values(&[5, 0]),
        case(
            "take_along_axis needs an axis for every axis",
            along(Input::i64(&[2], &[0, 0])),
        )
        .fails(Family::Shape),
        case(
            "take_along_axis needs sizes that broadcast",
            along(Input::i64(&[3, 1], &[0, 0, 0])),
        )
        .fails(Family::Shape),
        case(
            "take_along_axis out of range",
            along(Input::i64(&[2, 1], &[0, 3])),
        )
        .fails(Family::Index)
        .gives_without_data(&[2, 1]),
        case("take_along_axis by floats", along(Input::f32(&[2, 1]))).fails(Family::DType),
        case("index_add adds duplicates up", {
            add(
                0,
                list(&[1, 1]),
                Input::i64(&[2, 3], &[10, 20, 30, 1, 2, 3]),
            )
        })
        .gives(&[2, 3])
        .values(&[0, 1, 2, 14, 26, 38]),
        case(
            "index_add along the last axis",
            add(1, list(&[-1]), Input::i64(&[2, 1], &[5, 6])),
        )
        .gives(&[2, 3])
        .values(&[0, 1, 7, 3, 4, 11]),
        case(
            "index_add of nothing copies",
            add(0, list(&[]), Input::i64(&[0, 3], &[])),
        )
        .gives(&[2, 3])
        .values(&[0, 1, 2, 3, 4, 5]),
        case(
            "index_add out of range",
            add(0, list(&[2]), Input::i64(&[1, 3], &[1, 1, 1])),
        )
        .fails(Family::Index)
        .gives_without_data(&[2, 3]),
        case(
            "index_add of another dtype",
            add(0, list(&[0]), Input::f32(&[1, 3])),
        )
        .fails(Family::DType),
        case(
            "index_add of another size",
            add(0, list(&[0]), Input::i64(&[1, 2], &[1, 1])),
        )
        .fails(Family::Shape),
        case(
            "index_add of another rank",
            add(0, list(&[0]), Input::i64(&[3], &[1, 1, 1])),
        )
        .fails(Family::Shape),
        case("index_add wraps integers", {
            let x = Input::of(DType::U8, &[1], [250]);
            let source = Input::of(DType::U8, &[2], [5, 3]);
            Call::of("index_add").arg(x).arg(0).arg([0, 0]).arg(source)
        })
        .gives(&[1])
        .values(&[2]),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    let x = || Input::i64(&[2, 3], &[0, 1, 2, 3, 4, 5]);
    let nested = vec![list(&[0, 1]), list(&[2, 3])];
    let mut cases = vec![
        case("NumPy's first example", take([0, 1, 4]))
            .gives(&[3])
            .values(&[4, 3, 6]),
        case("NumPy's second example", take(nested))
            .gives(&[2, 2])
            .values(&[4, 3, 5, 7]),
        case("one number gives rank 0", take(2))
            .gives(&[])
            .values(&[5]),
        case("an empty list gives an empty tensor", take([]))
            .gives(&[0])
            .dtype(DType::I64),
        case(
            "without an axis the input is read flat",
            Call::of("take").arg(x()).arg([5, 0]),
        )
        .gives(&[2])
        .values(&[5, 0]),
        case("the index's axes stand where the axis stood", {
            Call::of("take")
                .arg(x())
                .arg(Input::i64(&[2, 2], &[0, 2, 1, 0]))
                .arg(1)
        })
        .gives(&[2, 2, 2])
        .values(&[0, 2, 1, 0, 3, 5, 4, 3]),
        case(
            "an index of rank 0 drops the axis",
            Call::of("take").arg(x()).arg(1).arg(0),
        )
        .gives(&[3])
        .values(&[3, 4, 5]),
        case(
            "axis from the end",
            Call::of("take").arg(x()).arg([0]).arg(-1),
        )
        .gives(&[2, 1])
        .values(&[0, 3]),
        case(
            "rank 0 has one element to take",
            Call::of("take").arg(Input::f32(&[])).arg([0, -1]),
        )
        .gives(&[2])
        .values(&[0, 0]),
        case("a transposed input is read in its own order", {
            Call::of("take")
                .arg(x().lying(&[3, 2], &[1, 3], 0))
                .arg([0, 1, 2])
        })
        .gives(&[3])
        .values(&[0, 3, 1]),
        case("no axis 2", Call::of("take").arg(x()).arg([0]).arg(2)).fails(Family::Axis),
        case("a mask is not an index", take(vec![Arg::Bool(true)])).fails(Family::DType),
        case("floats are not indices", take(1.0)).fails(Family::DType),
        case("an uneven list", take(vec![list(&[0, 1]), list(&[2])])).fails(Family::Shape),
    ];
    cases.extend(modes());
    cases.extend(empties());
    cases.extend(indices());
    cases.extend(relatives());
    cases
}
