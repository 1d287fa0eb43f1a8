//! Arguments by name. What may be given one by one may be given by its name as well.

use stridewise_core::call::Arg;

use super::{Case, case};
use crate::call::Call;
use crate::input::Input;

pub(super) fn cases() -> Vec<Case> {
    let on = |operator| Call::of(operator).arg(Input::f32(&[2, 1, 3]));
    let named = "a list by its name";
    vec![
        case(named, on("expand").with("sizes", [2, 4, 3])).gives(&[2, 4, 3]),
        case(named, on("broadcast_to").with("shape", [2, 4, 3])).gives(&[2, 4, 3]),
        case(named, on("repeat").with("sizes", [1, 2, 1])).gives(&[2, 2, 3]),
        case(named, on("tile").with("reps", [2])).gives(&[2, 1, 6]),
        case(named, on("reshape").with("shape", [3, -1])).gives(&[3, 2]),
        case(named, on("view").with("shape", [6])).gives(&[6]),
        case(named, on("squeeze").with("axis", [1])).gives(&[2, 3]),
        case(named, on("unsqueeze").with("axis", [0])).gives(&[1, 2, 1, 3]),
        case(named, on("permute").with("axes", [2, 1, 0])).gives(&[3, 1, 2]),
        case(named, on("transpose").with("axes", [2, 1, 0])).gives(&[3, 1, 2]),
        case(named, on("flip").with("axis", [0])).gives(&[2, 1, 3]),
        case(named, on("slice").with("items", vec![Arg::Int(0)])).gives(&[1, 3]),
        case("a single size by its name", on("reshape").with("shape", 6)).gives(&[6]),
        case(
            "the tensor by its name",
            Call::of("flip").with("x", Input::f32(&[2])),
        )
        .gives(&[2]),
        case("tensors by their name", {
            Call::of("concat").with("inputs", vec![Input::f32(&[2]), Input::f32(&[1])])
        })
        .gives(&[3]),
        case("fill_value behind the mode", {
            let call = Call::of("take").arg(Input::f32(&[3])).arg([0, 9]);
            call.arg(()).arg("fill").arg(0.5)
        })
        .gives(&[2]),
        case("all by name", {
            let call = Call::of("take").with("axis", 2).with("mode", "clip");
            call.with("index", [0, 9])
                .with("input", Input::f32(&[2, 1, 3]))
        })
        .gives(&[2, 1, 2])
        .values(&[0, 2, 3, 5]),
    ]
}
