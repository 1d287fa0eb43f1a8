//! Mistakes in lists of sizes: expanding, repeating, reshaping, splitting, making.

use stridewise_core::call::Arg;
use stridewise_core::dtype::DType;

use super::{Mistake, in_elements, mistake};
use crate::call::Call;
use crate::input::Input;

fn on(operator: &'static str, from: &[usize]) -> Call {
    Call::of(operator).arg(Input::f32(from))
}

const WRAPS_TO_5: [i128; 5] = [3, 7, 29, 36_760_123, 823_996_703];

fn stretching() -> Vec<Mistake> {
    let expand = |from, sizes: &[i128]| on("expand", from).ints(sizes);
    let broadcast = |from, sizes: &[i128]| on("broadcast_to", from).ints(sizes);
    vec![
        mistake("fewer sizes than axes", expand(&[4, 3], &[4])),
        mistake(
            "an axis that is not 1",
            expand(&[4, 3, 1, 2], &[4, 2, 5, 2]),
        ),
        mistake(
            "an axis that is not 1, behind a new one",
            expand(&[4, 3], &[7, 4, 9]),
        ),
        mistake("an empty axis", expand(&[0, 3], &[2, 3])),
        mistake("-1 for a new axis", expand(&[4, 3], &[-1, 4, 3])),
        mistake("another negative number", expand(&[4, 3], &[-2, 3])),
        mistake("a bool among the sizes", on("expand", &[1]).arg(true)),
        mistake(
            "a float among the sizes",
            on("expand", &[1, 1]).arg(2).arg(3.0),
        ),
        mistake(
            "a complex size",
            on("expand", &[1]).arg(Arg::Complex(2.0, 0.0)),
        ),
        mistake(
            "a size beyond counting",
            on("expand", &[1]).arg(1i128 << 80),
        ),
        mistake(
            "more bytes than can be addressed",
            expand(&[1], &WRAPS_TO_5),
        ),
        mistake("None for the sizes", on("expand", &[1]).arg(())),
        mistake(
            "a float tensor of sizes",
            on("expand", &[1]).arg(Input::f32(&[2])),
        ),
        mistake(
            "a matrix of sizes",
            on("expand", &[1]).arg(Input::i64(&[1, 2], &[2, 3])),
        ),
        mistake(
            "a row among the sizes",
            on("expand", &[1, 1]).arg(2).arg(Input::i64(&[1], &[3])),
        ),
        mistake("no tensor at all", Call::of("expand")),
        mistake(
            "an argument that does not exist",
            on("expand", &[1]).with("size", [2]),
        ),
        mistake(
            "the other does not fit",
            on("expand_as", &[2, 3]).arg(Input::f32(&[2, 4])),
        ),
        mistake(
            "the other has too few axes",
            on("expand_as", &[2, 3]).arg(Input::f32(&[3])),
        ),
        mistake("no other", on("expand_as", &[2, 3])),
        mistake("-1 has no meaning", broadcast(&[2, 3], &[-1, 3])),
        mistake("fewer sizes than axes", broadcast(&[2, 3], &[3])),
        mistake("an axis that is not 1", broadcast(&[2, 3], &[2, 6])),
        mistake("no shape at all", broadcast(&[2, 3], &[])),
    ]
}

fn repeating() -> Vec<Mistake> {
    let interleave = |from| on("repeat_interleave", from);
    vec![
        mistake("fewer counts than axes", on("repeat", &[4, 3]).ints(&[2])),
        mistake("a negative count", on("repeat", &[4, 3]).ints(&[2, -1])),
        mistake("a float count", on("repeat", &[4]).arg(1.5)),
        mistake(
            "more bytes than can be addressed",
            on("repeat", &[1]).ints(&WRAPS_TO_5),
        ),
        mistake("a negative count", on("tile", &[4, 3]).arg([-3])),
        mistake("a bool count", on("tile", &[4]).arg(true)),
        mistake(
            "more bytes than can be addressed",
            on("tile", &[5]).arg([isize::MAX as i128]),
        ),
        mistake(
            "neither one count nor one for each",
            interleave(&[2, 3]).arg([1, 2]).arg(1),
        ),
        mistake(
            "too many counts for the flat input",
            interleave(&[2, 2]).arg([1, 2, 3, 4, 5]),
        ),
        mistake("a negative count", interleave(&[3]).arg([1, -2, 1])),
        mistake("axis out of range", interleave(&[2, 3]).arg(2).arg(2)),
        mistake("no counts", interleave(&[2, 3])),
    ]
}

fn splitting() -> Vec<Mistake> {
    let unflatten =
        |from, axis: i128, shape: &[i128]| on("unflatten", from).arg(axis).arg(shape.to_vec());
    let sizes = |x: Input| on("unflatten", &[6]).arg(0).arg(x);
    vec![
        mistake("two -1", unflatten(&[2, 8], 1, &[-1, -1, 2])),
        mistake("another product", unflatten(&[2, 4, 5], 1, &[3, 2])),
        mistake("-1 that does not divide", unflatten(&[2, 5], 1, &[2, -1])),
        mistake("another negative number", unflatten(&[8], 0, &[-2, 4])),
        mistake("an empty shape", unflatten(&[2, 4], 1, &[])),
        mistake(
            "0 for an axis that is not empty",
            unflatten(&[6], 0, &[2, 0, 3]),
        ),
        mistake("-1 beside 0", unflatten(&[4, 0], 1, &[0, -1])),
        mistake("axis past the end", unflatten(&[2, 4, 5], 3, &[2, 2])),
        mistake("axis before the start", unflatten(&[2, 4, 5], -4, &[2, 2])),
        mistake("rank 0", unflatten(&[], 0, &[1])),
        mistake("a product past counting", unflatten(&[5], 0, &WRAPS_TO_5)),
        mistake(
            "a bool shape tensor",
            sizes(Input::of(DType::Bool, &[2], [1, 1])),
        ),
        mistake("a float shape tensor", sizes(Input::f32(&[2]))),
        mistake(
            "a float in the shape",
            on("unflatten", &[6]).arg(0).arg(vec![Arg::Float(2.0)]),
        ),
        mistake("a float axis", on("unflatten", &[6]).arg(0.0).arg([2, 3])),
        mistake("no shape", on("unflatten", &[6]).arg(0)),
        in_elements(
            "a negative size in a tensor",
            sizes(Input::i64(&[2], &[-2, -3])),
        ),
        in_elements(
            "a product that differs, in a tensor",
            sizes(Input::i64(&[2], &[2, 2])),
        ),
    ]
}

fn reshaping() -> Vec<Mistake> {
    let turned = || Input::f32(&[2, 3]).lying(&[3, 2], &[1, 3], 0);
    vec![
        mistake("another count", on("reshape", &[2, 6]).ints(&[5, 2])),
        mistake(
            "-1 that does not divide",
            on("reshape", &[2, 6]).ints(&[5, -1]),
        ),
        mistake("two -1", on("reshape", &[4]).ints(&[-1, -1])),
        mistake("another negative number", on("reshape", &[4]).ints(&[-4])),
        mistake("-1 beside 0", on("reshape", &[0, 3]).ints(&[0, -1])),
        mistake(
            "a product that wraps to the count",
            on("reshape", &[5]).ints(&WRAPS_TO_5),
        ),
        mistake("a string for a size", on("reshape", &[4]).arg("4")),
        mistake(
            "a view that needs a copy",
            Call::of("view").arg(turned()).ints(&[6]),
        ),
        mistake(
            "a view of another count",
            Call::of("view").arg(turned()).ints(&[4, 2]),
        ),
        mistake("start behind stop", on("flatten", &[2, 3, 4]).arg(2).arg(1)),
        mistake("start out of range", on("flatten", &[2, 3]).arg(2)),
        mistake("stop out of range", on("flatten", &[2, 3]).arg(0).arg(5)),
        mistake("rank 0 has no axis 1", on("flatten", &[]).arg(1)),
        mistake("a bool axis", on("flatten", &[2, 3]).arg(true)),
        mistake(
            "too many arguments",
            on("flatten", &[2, 3]).arg(0).arg(1).arg(2),
        ),
        mistake(
            "an argument given twice",
            on("flatten", &[2, 3]).arg(0).with("start", 1),
        ),
    ]
}

fn making() -> Vec<Mistake> {
    let full = |value: Arg<Input, usize>| Call::of("full").arg([2]).arg(value);
    let arange = |bounds: &[i128]| Call::of("arange").ints(bounds);
    vec![
        mistake("a negative size", Call::of("zeros").arg([2, -1])),
        mistake(
            "a shape past counting",
            Call::of("zeros").arg(WRAPS_TO_5.to_vec()),
        ),
        mistake(
            "a shape past counting beside 0",
            Call::of("zeros").arg([0, isize::MAX as i128, 2]),
        ),
        mistake("an unknown dtype", Call::of("zeros").arg([2]).arg("float")),
        mistake("a dtype that is none", Call::of("zeros").arg([2]).arg(32)),
        mistake("no shape", Call::of("zeros")),
        mistake("a negative size", Call::of("ones").arg([-3])),
        mistake("a float size", Call::of("ones").arg(2.0)),
        mistake(
            "a float as an integer",
            full(Arg::Float(0.5)).arg(DType::I32),
        ),
        mistake("a value past the dtype", full(Arg::Int(256)).arg(DType::U8)),
        mistake(
            "a complex value as a float",
            full(Arg::Complex(1.0, 2.0)).arg(DType::F32),
        ),
        mistake("a value past all dtypes", full(Arg::Int(1 << 64))),
        mistake("a string for a value", full(Arg::Text("one".to_string()))),
        mistake("a negative size", Call::of("full").arg([-1]).arg(0)),
        mistake("no value", Call::of("full").arg([2])),
        mistake("a step of 0", arange(&[0, 5, 0])),
        mistake("no end", Call::of("arange").arg(0.0).arg(f64::INFINITY)),
        mistake("not a number", Call::of("arange").arg(f64::NAN)),
        mistake(
            "fractions as integers",
            Call::of("arange").arg(0.5).arg(3).with("dtype", DType::I32),
        ),
        mistake(
            "the last value past the dtype",
            arange(&[300]).with("dtype", DType::U8),
        ),
        mistake(
            "the first value past the dtype",
            arange(&[-1, 3]).with("dtype", DType::U8),
        ),
        mistake(
            "complex numbers",
            Call::of("arange").arg(Arg::Complex(1.0, 1.0)),
        ),
        mistake("no arguments", Call::of("arange")),
    ]
}

pub(super) fn mistakes() -> Vec<Mistake> {
    [
        stretching(),
        repeating(),
        splitting(),
        reshaping(),
        making(),
    ]
    .concat()
}
