//! `slice`: Python's rules of indexing, with whole numbers, ranges, `None` and `...`.

use stridewise_core::call::Arg;

use super::{Case, case};
use crate::call::{Call, range};
use crate::input::Input;
use crate::runner::Family;

fn row() -> Call {
    Call::of("slice").arg(Input::f32(&[6]))
}

fn cut(start: Option<isize>, stop: Option<isize>, step: Option<isize>) -> Call {
    row().arg(range(start, stop, step))
}

pub(super) fn cases() -> Vec<Case> {
    let matrix = || Call::of("slice").arg(Input::f32(&[2, 3]));
    let all = || range(None, None, None);
    vec![
        case("one index drops the axis", matrix().arg(1))
            .gives(&[3])
            .values(&[3, 4, 5]),
        case(
            "indices for every axis give rank 0",
            matrix().arg(-1).arg(0),
        )
        .gives(&[])
        .values(&[3]),
        case("a range", cut(Some(1), Some(4), None))
            .gives(&[3])
            .values(&[1, 2, 3]),
        case("ends from the end", cut(Some(-3), Some(-1), None))
            .gives(&[2])
            .values(&[3, 4]),
        case("ends outside are clipped", cut(Some(-100), Some(100), None)).gives(&[6]),
        case("start behind stop is empty", cut(Some(4), Some(1), None)).gives(&[0]),
        case("a step", cut(None, None, Some(4)))
            .gives(&[2])
            .values(&[0, 4])
            .strides(&[4]),
        case("a negative step", cut(None, None, Some(-2)))
            .gives(&[3])
            .values(&[5, 3, 1])
            .strides(&[-2]),
        case("a negative step with ends", cut(Some(4), Some(1), Some(-1)))
            .gives(&[3])
            .values(&[4, 3, 2]),
        case(
            "a negative step from past the end",
            cut(Some(100), None, Some(-5)),
        )
        .gives(&[2])
        .values(&[5, 0]),
        case("a step past the end reads one", cut(None, None, Some(100)))
            .gives(&[1])
            .values(&[0]),
        case("None adds an axis", matrix().arg(()).arg(0).arg(())).gives(&[1, 1, 3]),
        case(
            "... stands for the axes between",
            matrix().arg(Arg::Rest).arg(0),
        )
        .gives(&[2])
        .values(&[0, 3]),
        case(
            "... may stand for none",
            matrix().arg(0).arg(Arg::Rest).arg(1),
        )
        .gives(&[])
        .values(&[1]),
        case("None around ...", matrix().arg(()).arg(Arg::Rest).arg(())).gives(&[1, 2, 3, 1]),
        case("no items keep everything", matrix().arg([])).gives(&[2, 3]),
        case(
            "... of rank 0",
            Call::of("slice").arg(Input::f32(&[])).arg(Arg::Rest),
        )
        .gives(&[]),
        case(
            "None of rank 0",
            Call::of("slice").arg(Input::f32(&[])).arg(()),
        )
        .gives(&[1]),
        case(
            "a range of an empty axis",
            Call::of("slice").arg(Input::f32(&[0, 2])).arg(all()),
        )
        .gives(&[0, 2]),
        case("a backward range of an empty axis", {
            Call::of("slice")
                .arg(Input::f32(&[0]))
                .arg(range(None, None, Some(-1)))
        })
        .gives(&[0]),
        case("index out of range", row().arg(6)).fails(Family::Index),
        case("index out of range from the end", row().arg(-7)).fails(Family::Index),
        case(
            "an index of an empty axis",
            Call::of("slice").arg(Input::f32(&[0])).arg(0),
        )
        .fails(Family::Index),
        case("a step of 0", cut(None, None, Some(0))).fails(Family::Argument),
        case("more items than axes", row().arg(0).arg(0)).fails(Family::Shape),
        case("two ...", matrix().arg(Arg::Rest).arg(Arg::Rest)).fails(Family::Argument),
        case("a float index", row().arg(1.0)).fails(Family::Type),
        case("a bool index", row().arg(true)).fails(Family::Type),
    ]
}
