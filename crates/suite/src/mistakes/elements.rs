//! Mistakes in sums, casts and joined tensors.

use stridewise_core::call::Arg;

use super::{Mistake, mistake};
use crate::call::Call;
use crate::input::Input;

pub(super) fn mistakes() -> Vec<Mistake> {
    let on = |operator, from: &[usize]| Call::of(operator).arg(Input::f32(from));
    let f = Input::f32;
    let concat = |xs: Vec<Input>| Call::of("concat").arg(xs);
    let stack = |xs: Vec<Input>| Call::of("stack").arg(xs);
    vec![
        mistake("one argument too many", on("contiguous", &[2]).arg(0)),
        mistake(
            "a tensor with None in it",
            Call::of("contiguous").arg(vec![Arg::None]),
        ),
        mistake("no tensor", Call::of("shape_of")),
        mistake("an unknown dtype", on("cast", &[2]).arg("float")),
        mistake("a number for a dtype", on("cast", &[2]).arg(32)),
        mistake("no dtype", on("cast", &[2])),
        mistake("axis out of range", on("sum", &[2, 3]).arg(2)),
        mistake("an axis twice", on("sum", &[2, 3]).arg([1, -1])),
        mistake("an axis of rank 0", on("sum", &[]).arg(0)),
        mistake("keepdims is no bool", on("sum", &[2, 3]).arg(0).arg(1)),
        mistake(
            "a dtype for keepdims",
            on("sum", &[2, 3]).arg(0).arg("float32"),
        ),
        mistake("no tensors", concat(vec![])),
        mistake("no tensors, not even a list", Call::of("concat")),
        mistake(
            "another dtype",
            concat(vec![f(&[2, 3]), Input::i64(&[2, 3], &[0; 6])]),
        ),
        mistake("another rank", concat(vec![f(&[2, 3]), f(&[3])])),
        mistake(
            "another size",
            concat(vec![f(&[2, 3]), f(&[2, 3]), f(&[2, 4])]),
        ),
        mistake(
            "axis out of range",
            concat(vec![f(&[2, 3]), f(&[2, 3])]).arg(2),
        ),
        mistake("rank 0", concat(vec![f(&[]), f(&[])])),
        mistake("one tensor without a list, and a number", {
            Call::of("concat").arg(f(&[2])).arg(f(&[2])).arg(0).arg(1)
        }),
        mistake("no tensors", stack(vec![])),
        mistake("another shape", stack(vec![f(&[2, 3]), f(&[3, 3])])),
        mistake(
            "another dtype",
            stack(vec![f(&[2]), Input::i64(&[2], &[0; 2])]),
        ),
        mistake(
            "axis out of range",
            stack(vec![f(&[2, 3]), f(&[2, 3])]).arg(3),
        ),
        mistake("a float axis", stack(vec![f(&[2, 3])]).arg(0.5)),
    ]
}
