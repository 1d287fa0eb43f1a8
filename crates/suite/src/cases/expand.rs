//! `expand`, `expand_as` and `broadcast_to`: the two examples with all their legal size lists, the strides,
//! the two views of a tensor split over two devices, and the rules.

use super::{Case, case};
use crate::call::Call;
use crate::input::Input;
use crate::runner::Family;

fn expand(from: &[usize], sizes: &[i128]) -> Call {
    Call::of("expand").arg(Input::f32(from)).ints(sizes)
}

/// A shape and its packed strides, the sizes given, and the shape and strides of the result.
type Strided = (
    &'static [usize],
    &'static [isize],
    &'static [i128],
    &'static [usize],
    &'static [isize],
);

fn examples() -> Vec<Case> {
    let first: [&[i128]; 7] = [
        &[4, 3, 5, 2],
        &[-1, 3, 5, 2],
        &[-1, -1, 5, 2],
        &[-1, -1, 5, -1],
        &[4, -1, 5, 2],
        &[4, -1, 5, -1],
        &[4, 3, 5, -1],
    ];
    let second: [&[i128]; 7] = [
        &[2, 1, 2, 4, 3, 5],
        &[2, 1, 2, -1, 3, 5],
        &[2, 1, 2, -1, -1, 5],
        &[2, 1, 2, -1, -1, -1],
        &[2, 1, 2, 4, -1, 5],
        &[2, 1, 2, 4, -1, -1],
        &[2, 1, 2, 4, 3, -1],
    ];
    let mut cases = Vec::new();
    for sizes in first {
        let call = expand(&[4, 3, 1, 2], sizes);
        let new = case("the first example's size lists are all legal", call);
        cases.push(new.gives(&[4, 3, 5, 2]).strides(&[6, 2, 0, 1]));
    }
    for sizes in second {
        let call = expand(&[1, 4, 3, 5], sizes);
        let new = case("the second example's size lists are all legal", call);
        cases.push(new.gives(&[2, 1, 2, 4, 3, 5]).strides(&[0, 0, 0, 15, 5, 1]));
    }
    let strides: [Strided; 3] = [
        (
            &[4, 1, 3, 5],
            &[15, 15, 5, 1],
            &[2, 1, 4, 4, 3, 5],
            &[2, 1, 4, 4, 3, 5],
            &[0, 0, 15, 0, 5, 1],
        ),
        (
            &[4, 3, 1, 2],
            &[6, 2, 2, 1],
            &[2, 4, 3, 4, 2],
            &[2, 4, 3, 4, 2],
            &[0, 6, 2, 0, 1],
        ),
        (
            &[4, 3, 1, 1],
            &[3, 1, 1, 1],
            &[2, 4, 3, 4, 1],
            &[2, 4, 3, 4, 1],
            &[0, 3, 1, 0, 1],
        ),
    ];
    for (from, packed, sizes, to, strides) in strides {
        let call = Call::of("contiguous").arg(Input::f32(from));
        cases.push(
            case("a packed tensor's strides", call)
                .gives(from)
                .strides(packed),
        );
        let new = case(
            "expanded axes get stride 0, others keep theirs",
            expand(from, sizes),
        );
        cases.push(new.gives(to).strides(strides));
    }
    let call = Call::of("contiguous").arg(Input::f32(&[6, 3, 4, 5]));
    let new = case(
        "the stride of an axis is the product of the sizes behind it",
        call,
    );
    cases.push(new.gives(&[6, 3, 4, 5]).strides(&[60, 20, 5, 1]));
    cases
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = examples();
    let x = || Input::f32(&[2, 1]);
    cases.extend([
        case(
            "every copy reads the same element",
            Call::of("expand").arg(x()).ints(&[2, 2, 3]),
        )
        .gives(&[2, 2, 3])
        .values(&[0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1]),
        case(
            "sizes may be one list",
            Call::of("expand").arg(x()).arg([2, 3]),
        )
        .gives(&[2, 3])
        .values(&[0, 0, 0, 1, 1, 1]),
        case("a size of 1 may become 0", expand(&[2, 1], &[2, 0])).gives(&[2, 0]),
        case("a new axis may have size 0", expand(&[2, 3], &[0, 2, 3])).gives(&[0, 2, 3]),
        case(
            "a size of 0 is kept like any other",
            expand(&[0, 1], &[-1, 4]),
        )
        .gives(&[0, 4]),
        case("rank 0 expands to any shape", expand(&[], &[2, 2]))
            .gives(&[2, 2])
            .values(&[0, 0, 0, 0]),
        case("no sizes keep rank 0", expand(&[], &[])).gives(&[]),
        case(
            "an axis of 1 kept at 1 keeps its stride",
            expand(&[3, 1], &[3, 1]),
        )
        .gives(&[3, 1])
        .strides(&[1, 1]),
        case(
            "sizes may be a tensor",
            Call::of("expand").arg(x()).arg(Input::i64(&[2], &[-1, 3])),
        )
        .gives(&[2, 3])
        .too_early_without_data(),
        case(
            "a size may be a tensor of rank 0",
            Call::of("expand")
                .arg(x())
                .arg(2)
                .arg(Input::i64(&[], &[3])),
        )
        .gives(&[2, 3])
        .too_early_without_data(),
        case("fewer sizes than axes", expand(&[2, 3], &[3])).fails(Family::Shape),
        case("only 1 can be expanded", expand(&[2, 3], &[4, 3])).fails(Family::Shape),
        case("0 cannot be expanded", expand(&[0], &[2])).fails(Family::Shape),
        case("more cannot become 0", expand(&[2], &[0])).fails(Family::Shape),
        case("a new axis has no size to keep", expand(&[2], &[-1, 2])).fails(Family::Shape),
        case(
            "no other negative number has a meaning",
            expand(&[2], &[-2]),
        )
        .fails(Family::Shape),
        case(
            "a bool is not a size",
            Call::of("expand").arg(x()).arg(2).arg(true),
        )
        .fails(Family::Type),
        case(
            "a float is not a size",
            Call::of("expand").arg(x()).arg(2).arg(3.0),
        )
        .fails(Family::Type),
        case(
            "negative and gapped axes keep their strides",
            Call::of("expand")
                .arg(Input::f32(&[12]).lying(&[3, 1, 2], &[-4, 7, 2], 8))
                .ints(&[5, -1, 2, -1]),
        )
        .gives(&[5, 3, 2, 2])
        .strides(&[0, -4, 0, 2]),
        case(
            "expand_as takes the other's shape",
            Call::of("expand_as").arg(x()).arg(Input::f32(&[4, 2, 3])),
        )
        .gives(&[4, 2, 3])
        .strides(&[0, 1, 0]),
        case(
            "expand_as fails as expand does",
            Call::of("expand_as").arg(x()).arg(Input::f32(&[3, 3])),
        )
        .fails(Family::Shape),
        case(
            "broadcast_to gives the shape",
            Call::of("broadcast_to").arg(x()).ints(&[4, 2, 3]),
        )
        .gives(&[4, 2, 3])
        .strides(&[0, 1, 0]),
        case(
            "broadcast_to has no -1",
            Call::of("broadcast_to").arg(x()).ints(&[-1, 3]),
        )
        .fails(Family::Shape),
    ]);
    cases
}
