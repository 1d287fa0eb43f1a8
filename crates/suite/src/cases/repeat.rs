//! `repeat`, `tile` and `repeat_interleave`: the examples, the three decompositions into reshape, expand and
//! reshape, and the rules.

use stridewise_core::operators::{Methods, repeat_plan};
use stridewise_core::params::Sizes;

use super::{Case, case};
use crate::call::Call;
use crate::input::Input;
use crate::runner::{Family, Runner};

fn repeat(from: &[usize], sizes: &[i128]) -> Call {
    Call::of("repeat").arg(Input::f32(from)).ints(sizes)
}

pub(super) fn cases() -> Vec<Case> {
    let abc = || Input::i64(&[3], &[1, 2, 3]);
    let square = || Input::i64(&[2, 2], &[1, 2, 3, 4]);
    let interleave = |x: Input| Call::of("repeat_interleave").arg(x);
    vec![
        case(
            "new axes go in front",
            repeat(&[4, 1, 3, 5], &[2, 1, 2, 4, 1, 1]),
        )
        .gives(&[2, 1, 8, 4, 3, 5]),
        case("the first decomposition's shapes", repeat(&[5], &[3])).gives(&[15]),
        case(
            "the second decomposition's shapes",
            repeat(&[3, 1, 5], &[5, 3, 1]),
        )
        .gives(&[15, 3, 5]),
        case(
            "the third decomposition's shapes",
            repeat(&[3, 1, 5], &[2, 5, 3, 1]),
        )
        .gives(&[2, 15, 3, 5]),
        case(
            "the whole is tiled, not each element",
            Call::of("repeat").arg(abc()).ints(&[2]),
        )
        .gives(&[6])
        .values(&[1, 2, 3, 1, 2, 3]),
        case(
            "both axes are tiled",
            Call::of("repeat").arg(square()).ints(&[2, 2]),
        )
        .gives(&[4, 4])
        .values(&[1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4]),
        case("0 gives an empty axis", repeat(&[2, 3], &[0, 2])).gives(&[0, 6]),
        case("a new axis may be empty", repeat(&[2], &[0, 3])).gives(&[0, 6]),
        case("an empty tensor repeats", repeat(&[0, 2], &[3, 2])).gives(&[0, 4]),
        case("rank 0 repeats", repeat(&[], &[2, 2]))
            .gives(&[2, 2])
            .values(&[0, 0, 0, 0]),
        case("no counts copy rank 0", repeat(&[], &[]))
            .gives(&[])
            .values(&[0]),
        case("counts of 1 copy", repeat(&[2, 2], &[1, 1]))
            .gives(&[2, 2])
            .values(&[0, 1, 2, 3]),
        case(
            "counts may be a tensor",
            Call::of("repeat").arg(abc()).arg(Input::i64(&[2], &[2, 1])),
        )
        .gives(&[2, 3])
        .too_early_without_data(),
        case("fewer counts than axes", repeat(&[2, 3], &[2])).fails(Family::Shape),
        case("a count cannot be negative", repeat(&[2], &[-1])).fails(Family::Shape),
        case(
            "tile fills up in front",
            Call::of("tile").arg(square()).ints(&[2]),
        )
        .gives(&[2, 4])
        .values(&[1, 2, 1, 2, 3, 4, 3, 4]),
        case(
            "tile adds axes in front",
            Call::of("tile").arg(abc()).ints(&[2, 1, 2]),
        )
        .gives(&[2, 1, 6]),
        case(
            "tile without counts copies",
            Call::of("tile").arg(square()).arg([]),
        )
        .gives(&[2, 2])
        .values(&[1, 2, 3, 4]),
        case(
            "tile refuses a negative count",
            Call::of("tile").arg(abc()).ints(&[-2]),
        )
        .fails(Family::Shape),
        case("each element beside itself", interleave(abc()).arg(2))
            .gives(&[6])
            .values(&[1, 1, 2, 2, 3, 3]),
        case(
            "without an axis the tensor is read flat",
            interleave(square()).arg(2),
        )
        .gives(&[8])
        .values(&[1, 1, 2, 2, 3, 3, 4, 4]),
        case("slices along an axis", interleave(square()).arg(2).arg(1))
            .gives(&[2, 4])
            .values(&[1, 1, 2, 2, 3, 3, 4, 4]),
        case(
            "a count for each slice",
            interleave(square()).arg([1, 2]).arg(0),
        )
        .gives(&[3, 2])
        .values(&[1, 2, 3, 4, 3, 4]),
        case("a count may be 0", interleave(abc()).arg([2, 0, 1]).arg(-1))
            .gives(&[3])
            .values(&[1, 1, 3]),
        case("counts of 0 give an empty tensor", interleave(abc()).arg(0)).gives(&[0]),
        case(
            "an empty axis takes no counts",
            interleave(Input::f32(&[0])).arg([]).arg(0),
        )
        .gives(&[0]),
        case(
            "rank 0 counts as one element",
            interleave(Input::f32(&[])).arg(3),
        )
        .gives(&[3])
        .values(&[0, 0, 0]),
        case("too few counts", interleave(abc()).arg([1, 2])).fails(Family::Shape),
        case("no axis 1", interleave(abc()).arg(2).arg(1)).fails(Family::Axis),
        case(
            "a negative count among many",
            interleave(abc()).arg([1, -1, 2]),
        )
        .fails(Family::Shape),
    ]
}

/// A shape, the counts, and the three shapes of the plan.
type Planned = (&'static [usize], &'static [isize], [&'static [usize]; 3]);

/// The plan's three shapes, and the kernel held to the plan: the three examples, then counts of 0 and 1.
pub fn check_plans<R: Runner>(runner: &R) {
    let examples: [Planned; 7] = [
        (&[5], &[3], [&[1, 5], &[3, 5], &[15]]),
        (
            &[3, 1, 5],
            &[5, 3, 1],
            [&[1, 3, 1, 5], &[5, 3, 3, 5], &[15, 3, 5]],
        ),
        (
            &[3, 1, 5],
            &[2, 5, 3, 1],
            [&[1, 3, 1, 5], &[2, 5, 3, 3, 5], &[2, 15, 3, 5]],
        ),
        (
            &[4, 1, 3, 5],
            &[2, 1, 2, 4, 1, 1],
            [
                &[1, 4, 1, 3, 5],
                &[2, 1, 2, 4, 4, 3, 5],
                &[2, 1, 8, 4, 3, 5],
            ],
        ),
        (&[], &[2], [&[], &[2], &[2]]),
        (&[2, 3], &[1, 1], [&[2, 3], &[2, 3], &[2, 3]]),
        (&[2, 1], &[0, 0], [&[1, 2, 1], &[0, 2, 0], &[0, 0]]),
    ];
    for (shape, sizes, [reshape_input, expand, reshape_output]) in examples {
        let plan = repeat_plan(shape, sizes).expect("a plan");
        assert_eq!(plan.reshape_input, reshape_input, "{shape:?} × {sizes:?}");
        assert_eq!(plan.expand, expand, "{shape:?} × {sizes:?}");
        assert_eq!(plan.reshape_output, reshape_output, "{shape:?} × {sizes:?}");

        let x = runner.input(&Input::f32(shape));
        let repeated = x.repeat(Sizes::from(sizes)).expect("repeat");
        let planned = x
            .reshape(plan.reshape_input.as_slice())
            .and_then(|x| x.expand(plan.expand.as_slice()))
            .and_then(|x| x.reshape(plan.reshape_output.as_slice()))
            .expect("reshape, expand, reshape");
        let (repeated, planned) = (runner.see(&repeated), runner.see(&planned));
        assert_eq!(repeated.shape, planned.shape, "{shape:?} × {sizes:?}");
        assert_eq!(repeated.elements, planned.elements, "{shape:?} × {sizes:?}");
    }
    assert!(repeat_plan(&[2, 3], [2]).is_err());
    assert!(repeat_plan(&[2], [-1]).is_err());
    assert!(repeat_plan(&[1 << 62], [4]).is_err());
}
