//! Which results share the input's storage. Views must, whatever the strides; copies must not; `reshape`,
//! `flatten`, `contiguous` and `cast` must where strides allow it.

use stridewise_core::call::Arg;
use stridewise_core::dtype::DType;
use stridewise_core::operators::TABLE;
use stridewise_core::table::Kind;

use crate::call::{Argument, Call, range};
use crate::input::Input;
use crate::random::agree;
use crate::runner::{Runner, run};

/// One tensor of shape (2, 1, 6) for every pattern of strides, then empty ones and one of rank 0.
pub fn layouts() -> Vec<(&'static str, Input)> {
    let storage = || Input::f32(&[64]);
    let shape = [2, 1, 6];
    let none = Input::f32(&[0]);
    vec![
        ("contiguous", Input::f32(&shape)),
        ("permuted", storage().lying(&shape, &[1, 12, 2], 0)),
        ("negative", storage().lying(&shape, &[-6, 6, -1], 11)),
        (
            "negative and permuted",
            storage().lying(&shape, &[-1, -7, 2], 9),
        ),
        ("stride 0", storage().lying(&shape, &[0, 0, 1], 0)),
        (
            "stride 0 everywhere",
            storage().lying(&shape, &[0, 0, 0], 5),
        ),
        ("sliced", storage().lying(&shape, &[24, 24, 2], 0)),
        (
            "sliced and flipped",
            storage().lying(&shape, &[24, 1, -3], 20),
        ),
        ("offset", storage().lying(&shape, &[6, 6, 1], 13)),
        ("overlapping", storage().lying(&shape, &[1, 1, 1], 3)),
        ("empty", none.clone().lying(&[2, 1, 0], &[0, 0, 1], 0)),
        (
            "empty with odd strides",
            none.clone().lying(&[0, 1, 6], &[-3, 7, 0], 0),
        ),
        (
            "empty within storage",
            storage().lying(&[2, 1, 0], &[5, 5, 5], 60),
        ),
        ("rank 0", storage().lying(&[], &[], 7)),
    ]
}

/// Calls of every operator that has an input, on every layout. Those that the layout does not allow (an axis
/// of rank 0, say) are errors, to be agreed on like any other answer.
pub fn calls() -> Vec<Call> {
    layouts()
        .into_iter()
        .flat_map(|(_, input)| calls_on(input))
        .map(Call::listed)
        .collect()
}

fn calls_on(x: Input) -> Vec<Call> {
    let on = |operator| Call::of(operator).arg(x.clone());
    let index = || Input::i64(&[2], &[1, 0]);
    let count: usize = x.shape.iter().product();
    let shape: Vec<i128> = x.shape.iter().map(|&n| n as i128).collect();
    let expanded: Vec<i128> = [3].into_iter().chain(shape.clone()).collect();
    let last = x.shape.last().copied().unwrap_or(1) as i128;
    let halves = vec![last / 2, 2];
    let back = range(None, None, Some(-1));
    let ones: Vec<i128> = vec![1; x.shape.len()];
    let mut source = x.shape.clone();
    if let Some(size) = source.first_mut() {
        *size = 2;
    }
    let along: Vec<usize> = vec![1; x.shape.len()];
    let zeros = vec![0; along.iter().product()];
    let pieces: Vec<Argument> = vec![Arg::Rest];
    let middle = if x.shape.len() == 3 { 1 } else { 0 };
    vec![
        on("atleast_1d"),
        on("atleast_2d"),
        on("atleast_3d"),
        on("atleast_nd").with("n", 5).with("place", "front"),
        on("atleast_nd").with("n", 5).with("place", "back"),
        on("expand").with("sizes", expanded.clone()),
        on("expand").with("sizes", shape.clone()),
        on("expand_as").with("other", Input::f32(&x.shape)),
        on("broadcast_to").with("shape", expanded),
        on("repeat").with("sizes", ones.clone()),
        on("tile").with("reps", ones),
        on("tile").with("reps", [2]),
        on("repeat_interleave").with("repeats", [1]).with("axis", 0),
        on("repeat_interleave").with("repeats", [2]),
        on("unflatten").with("axis", -1).with("shape", halves),
        on("flatten"),
        on("flatten").with("start", 1).with("stop", 2),
        on("reshape").with("shape", [count as i128]),
        on("reshape").with("shape", shape.clone()),
        on("reshape").with("shape", [2, 3, 2]),
        on("view").with("shape", [count as i128]),
        on("view").with("shape", shape),
        on("view").with("shape", [2, 3, 2]),
        on("squeeze"),
        on("squeeze").with("axis", middle),
        on("unsqueeze").with("axis", [0, -1]),
        on("permute").with("axes", [2, 0, 1]),
        on("transpose"),
        on("swapaxes").with("a", 0).with("b", -1),
        on("moveaxis").with("source", 0).with("destination", -1),
        on("flip"),
        on("flip").with("axis", -1),
        on("slice").with("items", vec![Arg::Rest, back]),
        on("slice").with("items", vec![Arg::Int(1)]),
        on("slice").with("items", vec![Arg::Rest, range(Some(3), Some(3), None)]),
        on("slice").with("items", vec![Arg::None, Arg::Rest]),
        on("take").with("index", index()),
        on("take").with("index", index()).with("axis", 0),
        on("index_select").with("axis", -1).with("index", index()),
        on("take_along_axis")
            .with("index", Input::i64(&along, &zeros))
            .with("axis", 0),
        on("index_add")
            .with("axis", 0)
            .with("index", index())
            .with("source", Input::f32(&source)),
        on("enforce_shape").with("pattern", pieces),
        on("unstack"),
        on("unstack").with("axis", -1),
        on("contiguous"),
        on("cast").with("dtype", x.dtype),
        on("cast").with("dtype", DType::F64),
        on("sum"),
        on("sum").with("axis", Vec::<i128>::new()),
        on("sum").with("axis", middle),
        on("shape_of"),
        Call::of("concat").arg(vec![x.clone()]),
        Call::of("concat")
            .arg(vec![x.clone(), x.clone()])
            .with("axis", -1),
        Call::of("stack").arg(vec![x.clone()]),
    ]
}

/// Runs all of them, and checks that each operator was seen to succeed.
pub fn check<R: Runner>(runner: &R) {
    let mut succeeded = Vec::new();
    let mut different = Vec::new();
    for call in calls() {
        let entry = TABLE.iter().find(|entry| entry.name == call.operator);
        let kind = entry.map_or_else(|| panic!("{call} is not in the table"), |e| e.kind);
        match agree(runner, &call, kind) {
            Ok(true) => succeeded.push(call.operator),
            Ok(false) => {}
            Err(difference) => different.push(format!("{call}\n  {difference}")),
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n\n"));
    for entry in TABLE.iter().filter(|entry| entry.kind != Kind::Make) {
        assert!(
            succeeded.contains(&entry.name),
            "no call of {} succeeded",
            entry.name
        );
    }
    // An engine that tells storages apart tells those of two inputs apart; otherwise nothing was checked.
    let two = Call::of("concat").arg(vec![Input::f32(&[2]), Input::f32(&[2])]);
    let ran = run(runner, &two);
    if let (Some(a), Some(b)) = (ran.inputs[0].storage, ran.inputs[1].storage) {
        assert_ne!(a, b, "two tensors in one storage");
    }
}
