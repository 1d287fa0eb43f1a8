//! Mistakes in axes, indices, patterns and places.

use stridewise_core::call::Arg;
use stridewise_core::params::Symbol;

use super::{Mistake, mistake};
use crate::call::{Argument, Call, range};
use crate::input::Input;

fn on(operator: &'static str, from: &[usize]) -> Call {
    Call::of(operator).arg(Input::f32(from))
}

fn padding() -> Vec<Mistake> {
    let pair = |a: Input, b: Input| vec![Arg::Tensor(a), Arg::Tensor(b)];
    vec![
        mistake("a string for a tensor", Call::of("atleast_1d").arg("x")),
        mistake(
            "None among several",
            Call::of("atleast_2d").arg(Input::f32(&[2])).arg(()),
        ),
        mistake(
            "an argument that does not exist",
            on("atleast_3d", &[]).with("n", 3),
        ),
        mistake("a list of tensors of two shapes", {
            Call::of("atleast_1d").arg(pair(Input::f32(&[2]), Input::f32(&[3])))
        }),
        mistake("a list of tensors of two dtypes", {
            Call::of("atleast_1d").arg(pair(Input::f32(&[2]), Input::i64(&[2], &[1, 2])))
        }),
        mistake("a negative number of axes", on("atleast_nd", &[2]).arg(-1)),
        mistake("another word", on("atleast_nd", &[2]).arg(3).arg("left")),
        mistake(
            "a place that is no word",
            on("atleast_nd", &[2]).arg(3).arg(0),
        ),
        mistake("no number of axes", on("atleast_nd", &[2])),
    ]
}

fn axes() -> Vec<Mistake> {
    vec![
        mistake(
            "an axis that is not 1",
            on("squeeze", &[1, 4, 3]).arg([0, 1]),
        ),
        mistake("axis out of range", on("squeeze", &[1, 4]).arg(2)),
        mistake("an axis twice", on("squeeze", &[1, 4]).arg([0, -2])),
        mistake(
            "axis past the end of the result",
            on("unsqueeze", &[2, 3]).arg(3),
        ),
        mistake("one place twice", on("unsqueeze", &[2, 3]).arg([1, 1])),
        mistake("None has no meaning", on("unsqueeze", &[2, 3]).arg(())),
        mistake("a float axis", on("unsqueeze", &[2, 3]).arg(1.0)),
        mistake("too few axes", on("permute", &[2, 3, 4]).ints(&[1, 0])),
        mistake("an axis twice", on("permute", &[2, 3]).ints(&[1, 1])),
        mistake("axis out of range", on("permute", &[2, 3]).ints(&[0, 2])),
        mistake("None has no meaning", on("permute", &[2, 3]).arg(())),
        mistake("no axes", on("permute", &[2, 3])),
        mistake(
            "too few axes of many",
            on("transpose", &[2, 3, 4]).ints(&[0]),
        ),
        mistake(
            "two axes, as PyTorch's transpose",
            on("transpose", &[2, 3, 4]).ints(&[0, 1]),
        ),
        mistake("axis out of range", on("swapaxes", &[2, 3]).arg(0).arg(2)),
        mistake("rank 0", on("swapaxes", &[]).arg(0).arg(0)),
        mistake("only one axis", on("swapaxes", &[2, 3]).arg(0)),
        mistake(
            "more axes than places",
            on("moveaxis", &[2, 3, 4]).arg([0, 1]).arg([2]),
        ),
        mistake(
            "one place twice",
            on("moveaxis", &[2, 3]).arg([0, 1]).arg([0, -2]),
        ),
        mistake("source out of range", on("moveaxis", &[2, 3]).arg(2).arg(0)),
        mistake(
            "destination out of range",
            on("moveaxis", &[2, 3]).arg(0).arg(-3),
        ),
        mistake("axis out of range", on("flip", &[2, 3]).arg(2)),
        mistake("an axis twice", on("flip", &[2, 3]).arg([0, 0])),
        mistake("a string for an axis", on("flip", &[2, 3]).arg("rows")),
        mistake("axis out of range", on("unstack", &[2, 3]).arg(2)),
        mistake("rank 0", on("unstack", &[])),
    ]
}

fn indices() -> Vec<Mistake> {
    let index = |items: Vec<Argument>| on("slice", &[4, 3]).arg(items);
    vec![
        mistake("index out of range", index(vec![Arg::Int(4)])),
        mistake(
            "index out of range from the end",
            index(vec![Arg::Rest, Arg::Int(-4)]),
        ),
        mistake("an index of an empty axis", on("slice", &[0]).arg(0)),
        mistake(
            "more items than axes",
            index(vec![Arg::Int(0), Arg::Int(0), Arg::Int(0)]),
        ),
        mistake("a step of 0", index(vec![range(None, None, Some(0))])),
        mistake(
            "two ellipses",
            index(vec![Arg::Rest, Arg::Int(0), Arg::Rest]),
        ),
        mistake("a float index", index(vec![Arg::Float(1.0)])),
        mistake("a bool index", index(vec![Arg::Bool(true)])),
        mistake(
            "a tensor for an index",
            index(vec![Arg::Tensor(Input::i64(&[2], &[0, 1]))]),
        ),
    ]
}

fn patterns() -> Vec<Mistake> {
    let enforce = |from, pieces: Vec<Argument>| on("enforce_shape", from).arg(pieces);
    let named = |word: &str| Arg::Text(word.to_string());
    let int = |n: i128| Arg::Int(n);
    vec![
        mistake(
            "another rank",
            enforce(&[4, 3], vec![Arg::None, Arg::None, Arg::None]),
        ),
        mistake("too few axes for an ellipsis", {
            enforce(&[1, 3], vec![int(1), Arg::None, Arg::Rest, int(3)])
        }),
        mistake(
            "another size",
            enforce(&[2, 480, 4], vec![named("n"), Arg::None, int(3)]),
        ),
        mistake("another size behind an ellipsis", {
            enforce(&[2, 7, 100, 4], vec![int(2), Arg::Rest, int(3)])
        }),
        mistake("another size behind an ellipsis over nothing", {
            enforce(&[2, 4], vec![int(2), Arg::Rest, int(3)])
        }),
        mistake(
            "a symbol for two sizes",
            enforce(&[3, 5, 4], vec![named("n"), Arg::None, named("n")]),
        ),
        mistake("a symbol for two sizes around an ellipsis", {
            let n = || Arg::Symbol(Symbol::new("width"));
            enforce(&[3, 5, 5, 4], vec![n(), Arg::Rest, n()])
        }),
        mistake(
            "two ellipses",
            enforce(&[3, 4], vec![Arg::Rest, int(3), Arg::Rest]),
        ),
        mistake("a negative size", enforce(&[3, 4], vec![int(3), int(-1)])),
        mistake("a bool", enforce(&[1], vec![Arg::Bool(true)])),
        mistake("a float", enforce(&[3], vec![Arg::Float(3.0)])),
        mistake("no list", on("enforce_shape", &[3]).arg("n")),
        mistake("axes of rank 0", enforce(&[], vec![Arg::None])),
        mistake("no pattern", on("enforce_shape", &[3])),
    ]
}

pub(super) fn mistakes() -> Vec<Mistake> {
    [padding(), axes(), indices(), patterns()].concat()
}
