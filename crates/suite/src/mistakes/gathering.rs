//! Mistakes in indices that are tensors.

use stridewise_core::call::Arg;
use stridewise_core::dtype::DType;

use super::{Mistake, in_elements, mistake};
use crate::call::Call;
use crate::input::Input;
use crate::number::Number;

fn matrix() -> Input {
    Input::f32(&[4, 3])
}

fn taking() -> Vec<Mistake> {
    let take = |index: Input| Call::of("take").arg(matrix()).arg(index);
    let indices = |values: &[i64]| Input::i64(&[values.len()], values);
    let huge = Input::of(DType::U64, &[1], [Number::Int(u64::MAX.into())]);
    let table = Input::i64(&[2, 3], &[0, 1, 2, 3, -5, 9]);
    vec![
        mistake(
            "a bool index",
            take(Input::of(DType::Bool, &[4], [1, 0, 0, 1])),
        ),
        mistake("a float index", take(Input::f32(&[2]))),
        mistake("a complex index", take(Input::of(DType::C64, &[1], [0]))),
        mistake("axis out of range", take(indices(&[0])).arg(2)),
        mistake("a float axis", take(indices(&[0])).arg(1.0)),
        mistake("another word", take(indices(&[0])).with("mode", "warp")),
        mistake(
            "a mode that is no word",
            take(indices(&[0])).with("mode", ()),
        ),
        mistake(
            "a fill value without fill",
            take(indices(&[0])).with("fill_value", 1),
        ),
        mistake("a fill value of another kind", {
            let x = Input::i64(&[2], &[1, 2]);
            let call = Call::of("take").arg(x).arg([0]).with("mode", "fill");
            call.with("fill_value", 0.5)
        }),
        mistake("a fill value that is no number", {
            take(indices(&[0]))
                .with("mode", "fill")
                .with("fill_value", "x")
        }),
        mistake(
            "an empty source",
            Call::of("take").arg(Input::f32(&[0, 3])).arg([0]),
        ),
        mistake(
            "an empty axis",
            Call::of("take").arg(Input::f32(&[3, 0])).arg([0]).arg(1),
        ),
        mistake("an empty source in clip", {
            Call::of("take")
                .arg(Input::f32(&[0]))
                .arg([0])
                .with("mode", "clip")
        }),
        mistake("an uneven list", {
            let row = |n: i128| Arg::List(vec![Arg::Int(0); n as usize]);
            Call::of("take").arg(matrix()).arg(vec![row(2), row(1)])
        }),
        mistake("a string among the indices", {
            Call::of("take")
                .arg(matrix())
                .arg(vec![Arg::Int(0), Arg::Text("1".to_string())])
        }),
        mistake(
            "an index beyond all dtypes",
            Call::of("take").arg(matrix()).arg(1i128 << 70),
        ),
        mistake("no index", Call::of("take").arg(matrix())),
        in_elements("past the end of the flat input", take(indices(&[0, 12]))),
        in_elements("before the start of the flat input", take(indices(&[-13]))),
        in_elements("past the end of an axis", take(indices(&[0, 3, 1])).arg(1)),
        in_elements("the first of several, in a table", take(table).arg(0)),
        in_elements("an index of rank 0", take(Input::i64(&[], &[99]))),
        in_elements("the largest uint64", take(huge)),
        in_elements("a number", Call::of("take").arg(matrix()).arg(4).arg(0)),
        in_elements(
            "from rank 0",
            Call::of("take").arg(Input::f32(&[])).arg([0, 1]),
        ),
    ]
}

fn relatives() -> Vec<Mistake> {
    let select =
        |axis: i128, index: Input| Call::of("index_select").arg(matrix()).arg(axis).arg(index);
    let along = |index: Input| Call::of("take_along_axis").arg(matrix()).arg(index);
    let add = |index: Input, source: Input| {
        Call::of("index_add")
            .arg(matrix())
            .arg(0)
            .arg(index)
            .arg(source)
    };
    let one = || Input::i64(&[1], &[0]);
    vec![
        mistake(
            "an index of rank 2",
            select(0, Input::i64(&[1, 2], &[0, 1])),
        ),
        mistake("a float index", select(0, Input::f32(&[2]))),
        mistake("axis out of range", select(-3, one())),
        mistake(
            "rank 0",
            Call::of("index_select")
                .arg(Input::f32(&[]))
                .arg(0)
                .arg(one()),
        ),
        mistake(
            "an empty axis",
            Call::of("index_select")
                .arg(Input::f32(&[0, 3]))
                .arg(0)
                .arg(one()),
        ),
        in_elements("past the end", select(1, Input::i64(&[2], &[0, 3]))),
        mistake("an index of another rank", along(one())),
        mistake(
            "sizes that do not broadcast",
            along(Input::i64(&[2, 1], &[0, 0])),
        ),
        mistake(
            "a bool index",
            along(Input::of(DType::Bool, &[4, 3], [1; 12])),
        ),
        mistake(
            "axis out of range",
            along(Input::i64(&[4, 1], &[0; 4])).arg(2),
        ),
        mistake(
            "a flat input and a table",
            along(Input::i64(&[1, 1], &[0])).arg(()),
        ),
        in_elements("past the end", along(Input::i64(&[4, 1], &[0, 1, 3, 0]))),
        mistake(
            "an index of rank 2",
            add(Input::i64(&[1, 1], &[0]), Input::f32(&[1, 3])),
        ),
        mistake("a float index", add(Input::f32(&[1]), Input::f32(&[1, 3]))),
        mistake(
            "a source of another dtype",
            add(one(), Input::i64(&[1, 3], &[0; 3])),
        ),
        mistake("a source of another rank", add(one(), Input::f32(&[3]))),
        mistake("a source of another size", add(one(), Input::f32(&[1, 2]))),
        mistake(
            "a source longer than the index",
            add(one(), Input::f32(&[2, 3])),
        ),
        mistake("axis out of range", {
            Call::of("index_add")
                .arg(matrix())
                .arg(2)
                .arg(one())
                .arg(Input::f32(&[1, 3]))
        }),
        in_elements(
            "past the end",
            add(Input::i64(&[2], &[3, 4]), Input::f32(&[2, 3])),
        ),
    ]
}

pub(super) fn mistakes() -> Vec<Mistake> {
    [taking(), relatives()].concat()
}
