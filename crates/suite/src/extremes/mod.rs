//! Sizes, axes, steps and indices at the ends of what a machine can count. Each call must be an error or a
//! right answer; none may panic, wrap around or abort.

mod axes;
mod sizes;

use stridewise_core::dtype::DType;

use crate::call::Call;
use crate::input::Input;
use crate::number::Number;
use crate::runner::{Family, Runner, family, run, run_shapes};

/// Five numbers whose product is 2⁶⁴ · k + 5: it wraps to 5.
const WRAPS_TO_5: [i128; 5] = [3, 7, 29, 36_760_123, 823_996_703];
const MAX: i128 = isize::MAX as i128;
const MIN: i128 = isize::MIN as i128;

/// What must come of a call.
#[derive(Clone, Debug)]
enum Comes {
    /// An error of one of these families.
    Error(Vec<Family>),
    /// A tensor of this shape.
    Shape(Vec<usize>),
    /// Too much for memory; a shape where there is no data.
    TooMuch(Vec<usize>),
}

use Comes::{Error, Shape, TooMuch};

/// Runs all of them.
pub fn check<R: Runner>(runner: &R) {
    let mut wrong = Vec::new();
    let all = [
        sizes::products(),
        sizes::memory(),
        axes::ends(),
        axes::ranks(),
    ]
    .concat();
    for (call, comes) in all {
        let call = call.listed();
        let came = run_shapes(runner, &call);
        let fine = match (&came, &comes) {
            (Err(error), Error(families)) => families.contains(&family(error)),
            (Err(error), TooMuch(_)) => R::HOLDS_DATA && family(error) == Family::Memory,
            (Ok(shapes), Shape(shape)) => *shapes == [shape.clone()],
            (Ok(shapes), TooMuch(shape)) => !R::HOLDS_DATA && *shapes == [shape.clone()],
            _ => false,
        };
        if !fine {
            let came = came.map_err(|error| format!("{:?}: {error}", family(&error)));
            wrong.push(format!("{call}\n  wanted {comes:?}, got {came:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    check_values(runner);
}

/// Right answers, not only right shapes, past the heap-free rank and at the ends of the integers.
fn check_values<R: Runner>(runner: &R) {
    let shape = [1, 2, 1, 2, 1, 2, 1, 2, 1, 2];
    let x = Input::of(
        DType::U64,
        &shape,
        (0..32).map(|n| Number::Int(u64::MAX as i128 - n)),
    );
    let calls = [
        Call::of("transpose").arg(x.clone()),
        Call::of("flip").arg(x.clone()),
        Call::of("reshape").arg(x.clone()).with("shape", [4, 8]),
        Call::of("repeat")
            .arg(x.clone())
            .with("sizes", [1, 1, 2, 1, 1, 2, 1, 1, 1, 2]),
        Call::of("sum").arg(x.clone()).with("axis", [1, 9]),
        Call::of("cast").arg(x).with("dtype", DType::I64),
    ];
    for call in calls.map(Call::listed) {
        let ran = run(runner, &call);
        let seen = ran
            .outcome
            .unwrap_or_else(|error| panic!("{call}: {error}"));
        let wanted = crate::oracle::judge(&call, R::HOLDS_DATA).expect("a good call");
        let (seen, wanted) = (&seen.tensors()[0], &wanted.tensors()[0]);
        assert_eq!(seen.shape, wanted.shape, "{call}");
        if let Some(elements) = &seen.elements {
            assert_eq!(*elements, wanted.bytes(), "{call}");
        }
    }
}
