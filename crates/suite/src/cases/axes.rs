//! `squeeze`, `unsqueeze`, `permute`, `transpose`, `swapaxes`, `moveaxis` and `flip`.

use super::{Case, case};
use crate::call::Call;
use crate::input::Input;
use crate::runner::Family;

fn on(operator: &'static str, from: &[usize]) -> Call {
    Call::of(operator).arg(Input::f32(from))
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        case(
            "squeeze drops all axes of 1",
            on("squeeze", &[1, 2, 1, 3, 1]),
        )
        .gives(&[2, 3]),
        case("squeeze drops one", on("squeeze", &[1, 2, 1]).arg(-1)).gives(&[1, 2]),
        case(
            "squeeze drops several",
            on("squeeze", &[1, 2, 1]).arg([0, 2]),
        )
        .gives(&[2]),
        case(
            "squeeze of no axes keeps all",
            on("squeeze", &[1, 2]).arg([]),
        )
        .gives(&[1, 2]),
        case("squeeze of None drops all", on("squeeze", &[1, 2]).arg(())).gives(&[2]),
        case("squeeze to rank 0", on("squeeze", &[1, 1]))
            .gives(&[])
            .values(&[0]),
        case("squeeze keeps empty axes", on("squeeze", &[1, 0])).gives(&[0]),
        case("squeeze of a longer axis", on("squeeze", &[1, 2]).arg(1)).fails(Family::Shape),
        case(
            "squeeze of an axis twice",
            on("squeeze", &[1, 2]).arg([0, -2]),
        )
        .fails(Family::Axis),
        case("unsqueeze in front", on("unsqueeze", &[2, 3]).arg(0)).gives(&[1, 2, 3]),
        case("unsqueeze behind", on("unsqueeze", &[2, 3]).arg(-1)).gives(&[2, 3, 1]),
        case(
            "unsqueeze counts in the result",
            on("unsqueeze", &[2, 3]).arg([0, 3]),
        )
        .gives(&[1, 2, 3, 1]),
        case(
            "unsqueeze of several from the end",
            on("unsqueeze", &[2]).ints(&[-1, -3]),
        )
        .gives(&[1, 2, 1]),
        case("unsqueeze of rank 0", on("unsqueeze", &[]).arg(0)).gives(&[1]),
        case("unsqueeze past the end", on("unsqueeze", &[2]).arg(2)).fails(Family::Axis),
        case(
            "unsqueeze twice at one place",
            on("unsqueeze", &[2]).arg([0, 0]),
        )
        .fails(Family::Axis),
        case("permute", on("permute", &[2, 3, 4]).ints(&[2, 0, 1]))
            .gives(&[4, 2, 3])
            .strides(&[1, 12, 4]),
        case("permute from the end", on("permute", &[2, 3]).arg([-1, 0]))
            .gives(&[3, 2])
            .values(&[0, 3, 1, 4, 2, 5]),
        case("permute of rank 0", on("permute", &[]).arg([])).gives(&[]),
        case("permute needs every axis", on("permute", &[2, 3]).arg([1])).fails(Family::Axis),
        case(
            "permute names an axis once",
            on("permute", &[2, 3]).arg([1, 1]),
        )
        .fails(Family::Axis),
        case("transpose reverses", on("transpose", &[2, 3, 4]))
            .gives(&[4, 3, 2])
            .strides(&[1, 4, 12]),
        case(
            "transpose by axes",
            on("transpose", &[2, 3, 4]).ints(&[1, 0, 2]),
        )
        .gives(&[3, 2, 4]),
        case("transpose of rank 0", on("transpose", &[])).gives(&[]),
        case(
            "transpose of too few axes",
            on("transpose", &[2, 3, 4]).ints(&[0, 1]),
        )
        .fails(Family::Axis),
        case("swapaxes", on("swapaxes", &[2, 3, 4]).arg(0).arg(-1)).gives(&[4, 3, 2]),
        case(
            "swapaxes with itself",
            on("swapaxes", &[2, 3]).arg(1).arg(-1),
        )
        .gives(&[2, 3]),
        case(
            "swapaxes out of range",
            on("swapaxes", &[2, 3]).arg(0).arg(2),
        )
        .fails(Family::Axis),
        case("moveaxis", on("moveaxis", &[2, 3, 4]).arg(0).arg(-1)).gives(&[3, 4, 2]),
        case(
            "moveaxis of several",
            on("moveaxis", &[2, 3, 4, 5]).arg([0, 1]).arg([-1, -2]),
        )
        .gives(&[4, 5, 3, 2]),
        case(
            "moveaxis keeps the others in order",
            on("moveaxis", &[2, 3, 4, 5]).arg(2).arg(0),
        )
        .gives(&[4, 2, 3, 5]),
        case(
            "moveaxis of more than places",
            on("moveaxis", &[2, 3]).arg([0, 1]).arg([0]),
        )
        .fails(Family::Axis),
        case(
            "moveaxis to one place twice",
            on("moveaxis", &[2, 3]).arg([0, 1]).arg([0, 0]),
        )
        .fails(Family::Axis),
        case("flip of all axes", on("flip", &[2, 3]))
            .gives(&[2, 3])
            .strides(&[-3, -1])
            .values(&[5, 4, 3, 2, 1, 0]),
        case("flip of one", on("flip", &[2, 3]).arg(1))
            .gives(&[2, 3])
            .values(&[2, 1, 0, 5, 4, 3]),
        case("flip of none", on("flip", &[3]).arg([]))
            .gives(&[3])
            .values(&[0, 1, 2]),
        case("flip of an empty axis", on("flip", &[0, 2])).gives(&[0, 2]),
        case("flip of rank 0", on("flip", &[]))
            .gives(&[])
            .values(&[0]),
        case("flip out of range", on("flip", &[2]).arg(1)).fails(Family::Axis),
    ]
}
