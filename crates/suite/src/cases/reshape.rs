//! `reshape`, `view` and `flatten`: one `-1`, empty tensors, and views wherever strides allow.

use super::{Case, case};
use crate::call::Call;
use crate::input::Input;
use crate::runner::Family;

fn reshape(from: &[usize], to: &[i128]) -> Call {
    Call::of("reshape").arg(Input::f32(from)).ints(to)
}

fn flatten(from: &[usize]) -> Call {
    Call::of("flatten").arg(Input::f32(from))
}

pub(super) fn cases() -> Vec<Case> {
    let turned = || Input::f32(&[2, 3]).lying(&[3, 2], &[1, 3], 0);
    let gapped = || Input::f32(&[24]).lying(&[2, 4, 2], &[12, 2, 1], 0);
    vec![
        case("another shape", reshape(&[2, 6], &[3, 4]))
            .gives(&[3, 4])
            .strides(&[4, 1]),
        case("one -1", reshape(&[2, 6], &[-1, 4])).gives(&[3, 4]),
        case("a lone -1 flattens", reshape(&[2, 3], &[-1]))
            .gives(&[6])
            .values(&[0, 1, 2, 3, 4, 5]),
        case("to rank 0", reshape(&[1, 1], &[]))
            .gives(&[])
            .values(&[0]),
        case("from rank 0", reshape(&[], &[1, 1])).gives(&[1, 1]),
        case("a lone -1 from rank 0", reshape(&[], &[-1])).gives(&[1]),
        case("empty to empty", reshape(&[0, 3], &[7, 0])).gives(&[7, 0]),
        case("empty to fewer axes", reshape(&[1, 0, 2], &[1, 0, 1])).gives(&[1, 0, 1]),
        case("empty to one axis less", reshape(&[0, 3, 4], &[0, 1])).gives(&[0, 1]),
        case(
            "empty to an empty axis at the end",
            reshape(&[0, 3, 4], &[5, 7, 0]),
        )
        .gives(&[5, 7, 0]),
        case(
            "a view of an empty tensor",
            Call::of("view").arg(Input::f32(&[0, 2, 1])).ints(&[0, 1]),
        )
        .gives(&[0, 1]),
        case("an empty tensor and -1", reshape(&[0, 3], &[5, -1])).gives(&[5, 0]),
        case("-1 beside 0 could be anything", reshape(&[0, 3], &[0, -1])).fails(Family::Shape),
        case("two -1", reshape(&[4], &[-1, -1])).fails(Family::Shape),
        case("another count", reshape(&[4], &[3])).fails(Family::Shape),
        case("-1 that does not divide", reshape(&[4], &[3, -1])).fails(Family::Shape),
        case("another negative", reshape(&[4], &[-4])).fails(Family::Shape),
        case("empty to full", reshape(&[0], &[1])).fails(Family::Shape),
        case(
            "a transposed tensor is copied",
            Call::of("reshape").arg(turned()).ints(&[6]),
        )
        .gives(&[6])
        .values(&[0, 3, 1, 4, 2, 5]),
        case(
            "a gapped tensor is split in place",
            Call::of("reshape").arg(gapped()).ints(&[2, 2, 4]),
        )
        .gives(&[2, 2, 4])
        .strides(&[12, 4, 1]),
        case("view splits", Call::of("view").arg(gapped()).ints(&[2, 8]))
            .gives(&[2, 8])
            .strides(&[12, 1]),
        case(
            "view keeps a transposed tensor's shape",
            Call::of("view").arg(turned()).ints(&[3, 1, 2]),
        )
        .gives(&[3, 1, 2]),
        case(
            "view of -1",
            Call::of("view").arg(Input::f32(&[2, 6])).ints(&[4, -1]),
        )
        .gives(&[4, 3]),
        case(
            "view of what needs a copy",
            Call::of("view").arg(turned()).ints(&[6]),
        )
        .fails(Family::Shape),
        case(
            "view across a gap",
            Call::of("view").arg(gapped()).ints(&[16]),
        )
        .fails(Family::Shape),
        case("view of an empty tensor never needs a copy", {
            Call::of("view")
                .arg(Input::f32(&[]).lying(&[3, 0, 2], &[1, 5, 9], 0))
                .ints(&[0])
        })
        .gives(&[0]),
        case(
            "view of another count",
            Call::of("view").arg(turned()).ints(&[7]),
        )
        .fails(Family::Shape),
        case("flatten all", flatten(&[2, 3, 2])).gives(&[12]),
        case("flatten some", flatten(&[2, 3, 4]).arg(1)).gives(&[2, 12]),
        case(
            "flatten some from the end",
            flatten(&[2, 3, 4]).arg(-3).arg(-2),
        )
        .gives(&[6, 4]),
        case("flatten one", flatten(&[2, 3]).arg(1).arg(1)).gives(&[2, 3]),
        case("flatten rank 0", flatten(&[]))
            .gives(&[1])
            .values(&[0]),
        case("flatten an empty tensor", flatten(&[2, 0, 3])).gives(&[0]),
        case(
            "flatten around an empty axis",
            flatten(&[2, 3, 0]).arg(0).arg(1),
        )
        .gives(&[6, 0]),
        case(
            "flatten a transposed tensor copies",
            Call::of("flatten").arg(turned()),
        )
        .gives(&[6])
        .values(&[0, 3, 1, 4, 2, 5]),
        case("flatten undoes unflatten, whatever the stride", {
            Call::of("flatten")
                .arg(Input::f32(&[24]).lying(&[2, 3, 2], &[-9, -3, 1], 15))
                .arg(0)
                .arg(1)
        })
        .gives(&[6, 2])
        .strides(&[-3, 1]),
        case("start behind stop", flatten(&[2, 3]).arg(1).arg(0)).fails(Family::Axis),
        case("start out of range", flatten(&[2, 3]).arg(2)).fails(Family::Axis),
        case("stop out of range", flatten(&[2, 3]).arg(0).arg(-3)).fails(Family::Axis),
    ]
}
