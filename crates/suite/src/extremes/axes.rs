//! Axes, indices and steps at the ends of the integers, and ranks past what is kept without the heap.

use stridewise_core::call::Arg;

use super::Comes::{self, Error, Shape};
use super::{MAX, MIN};
use crate::call::{Argument, Call, range};
use crate::input::Input;
use crate::runner::Family;

pub(super) fn ends() -> Vec<(Call, Comes)> {
    let axis = || Error(vec![Family::Axis]);
    let x = || Input::f32(&[2, 3]);
    let on = |name| Call::of(name).arg(x());
    let int = |n: i128| Arg::<Input, usize>::Int(n);
    let mut cases = Vec::new();
    for end in [MIN, MAX, -3, 2] {
        let index = || Input::i64(&[1], &[0]);
        cases.extend([
            (on("squeeze").with("axis", end), axis()),
            (on("permute").with("axes", [end, 0]), axis()),
            (on("transpose").with("axes", [0, end]), axis()),
            (on("swapaxes").with("a", end).with("b", 0), axis()),
            (
                on("moveaxis").with("source", end).with("destination", 0),
                axis(),
            ),
            (
                on("moveaxis").with("source", 0).with("destination", end),
                axis(),
            ),
            (on("flip").with("axis", end), axis()),
            (on("sum").with("axis", end), axis()),
            (on("unstack").with("axis", end), axis()),
            (on("flatten").with("start", end), axis()),
            (on("flatten").with("stop", end), axis()),
            (on("unflatten").with("axis", end).with("shape", [2]), axis()),
            (on("take").with("index", index()).with("axis", end), axis()),
            (
                on("index_select").with("index", index()).with("axis", end),
                axis(),
            ),
            (
                on("take_along_axis")
                    .with("index", Input::i64(&[1, 1], &[0]))
                    .with("axis", end),
                axis(),
            ),
            (
                on("repeat_interleave").with("repeats", 2).with("axis", end),
                axis(),
            ),
            (
                on("index_add")
                    .with("axis", end)
                    .with("index", index())
                    .with("source", x()),
                axis(),
            ),
            (Call::of("concat").arg(vec![x()]).with("axis", end), axis()),
        ]);
    }
    for end in [MIN, MAX] {
        let shape = || Error(vec![Family::Shape, Family::Overflow]);
        let index = || Error(vec![Family::Index]);
        cases.extend([
            (on("unsqueeze").with("axis", end), axis()),
            (Call::of("stack").arg(vec![x()]).with("axis", end), axis()),
            (on("expand").with("sizes", [end, 3]), shape()),
            (on("reshape").with("shape", [end]), shape()),
            (on("reshape").with("shape", [-1, end]), shape()),
            (
                on("unflatten").with("axis", 0).with("shape", [end, end]),
                shape(),
            ),
            (
                on("enforce_shape").with("pattern", vec![int(end), int(3)]),
                shape(),
            ),
            (on("slice").with("items", vec![int(end)]), index()),
            (
                on("atleast_nd").with("n", MIN),
                Error(vec![Family::Argument]),
            ),
            (
                on("atleast_nd").with("n", MAX),
                Error(vec![Family::Overflow]),
            ),
            (
                on("atleast_nd").with("n", i128::MAX),
                Error(vec![Family::Overflow]),
            ),
        ]);
    }
    cases.extend(slices());
    cases
}

pub(super) fn slices() -> Vec<(Call, Comes)> {
    let (max, min) = (isize::MAX, isize::MIN);
    let cut = |start, stop, step| {
        let item: Argument = range(start, stop, step);
        Call::of("slice")
            .arg(Input::f32(&[5]))
            .with("items", vec![item])
    };
    let gives = |n: usize| Shape(vec![n]);
    vec![
        (cut(Some(min), Some(max), Some(1)), gives(5)),
        (cut(Some(max), Some(min), Some(-1)), gives(5)),
        (cut(None, None, Some(max)), gives(1)),
        (cut(None, None, Some(min)), gives(1)),
        (cut(Some(max), None, Some(max)), gives(0)),
        (cut(Some(min), None, Some(min)), gives(0)),
        (cut(Some(min), Some(min), None), gives(0)),
        (cut(Some(max), Some(max), Some(-1)), gives(0)),
        (cut(Some(1), Some(max), Some(max)), gives(1)),
        (cut(Some(3), Some(min), Some(min)), gives(1)),
    ]
}

/// Ranks past what is kept without the heap.
pub(super) fn ranks() -> Vec<(Call, Comes)> {
    let mut cases = Vec::new();
    for rank in 9..=12 {
        let shape: Vec<usize> = (0..rank).map(|axis| 1 + axis % 2).collect();
        let sizes: Vec<i128> = shape.iter().map(|&n| n as i128).collect();
        let reversed: Vec<usize> = shape.iter().rev().copied().collect();
        let x = || Input::f32(&shape);
        let on = |name| Call::of(name).arg(x());
        let longer = |front: usize| [vec![front], shape.clone()].concat();
        let count: usize = shape.iter().product();
        let twos: Vec<i128> = vec![2; rank];
        let doubled: Vec<usize> = shape.iter().map(|n| 2 * n).collect();
        let pieces: Vec<Argument> = sizes.iter().map(|&n| Arg::Int(n)).collect();
        let kept: Vec<usize> = shape.iter().copied().filter(|&n| n != 1).collect();
        cases.extend([
            (on("transpose"), Shape(reversed.clone())),
            (
                on("expand").arg([vec![3], sizes.clone()].concat()),
                Shape(longer(3)),
            ),
            (on("unsqueeze").with("axis", [0]), Shape(longer(1))),
            (on("flip"), Shape(shape.clone())),
            (on("squeeze"), Shape(kept)),
            (on("flatten"), Shape(vec![count])),
            (on("repeat").arg(twos), Shape(doubled)),
            (on("sum").with("keepdims", true), Shape(vec![1; rank])),
            (on("slice").arg(()), Shape(longer(1))),
            (on("enforce_shape").arg(pieces), Shape(shape.clone())),
            (on("take").arg(0).arg(-1), Shape(shape[..rank - 1].to_vec())),
            (
                on("atleast_nd").arg(rank as i128 + 1).arg("front"),
                Shape(longer(1)),
            ),
            (Call::of("stack").arg(vec![x(), x()]), Shape(longer(2))),
            (
                Call::of("reshape").arg(Input::f32(&[count])).arg(sizes),
                Shape(shape.clone()),
            ),
        ]);
    }
    cases
}
