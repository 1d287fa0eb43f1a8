//! `enforce_shape`: the three examples of the request for comments, its recipe for pixels of any rank, and
//! the rules.

use stridewise_core::call::Arg;
use stridewise_core::operators::Methods;
use stridewise_core::params::{Sizes, Symbol};
use stridewise_core::pattern;

use super::{Case, case};
use crate::call::{Argument, Call};
use crate::input::Input;
use crate::runner::{Entry, Family, Runner};

use Entry::{Rest, Size};

fn int(n: i128) -> Argument {
    Arg::Int(n)
}

fn named(word: &str) -> Argument {
    Arg::Text(word.to_string())
}

fn enforce(from: &[usize], pieces: Vec<Argument>) -> Call {
    Call::of("enforce_shape").arg(Input::f32(from)).arg(pieces)
}

pub(super) fn cases() -> Vec<Case> {
    let none = || Arg::None;
    let rest = || Arg::Rest;
    let d1 = || Arg::Symbol(Symbol::new("d1_input"));
    vec![
        case("the first example: three axes of any size", {
            enforce(&[2, 3, 4], vec![none(), none(), none()])
        })
        .gives(&[2, 3, 4])
        .dims(&[Size(2), Size(3), Size(4)]),
        case(
            "the first example: another rank",
            enforce(&[2, 3], vec![none(), none(), none()]),
        )
        .fails(Family::Shape),
        case("the second example: a symbol, any size, 4", {
            enforce(&[2, 3, 4], vec![d1(), none(), int(4)])
        })
        .gives(&[2, 3, 4])
        .dims(&[Size(2), Size(3), Size(4)]),
        case("the second example: another last size", {
            enforce(&[2, 3, 5], vec![d1(), none(), int(4)])
        })
        .fails(Family::Shape),
        case("the third example: axes between", {
            enforce(&[1, 2, 4, 5, 3], vec![int(1), none(), rest(), int(3)])
        })
        .gives(&[1, 2, 4, 5, 3])
        .dims(&[Size(1), Size(2), Rest(vec![4, 5], 20), Size(3)]),
        case("the third example: no axes between", {
            enforce(&[1, 2, 3], vec![int(1), none(), rest(), int(3)])
        })
        .gives(&[1, 2, 3])
        .dims(&[Size(1), Size(2), Rest(vec![], 1), Size(3)]),
        case("the third example: too few axes", {
            enforce(&[1, 3], vec![int(1), none(), rest(), int(3)])
        })
        .fails(Family::Shape),
        case(
            "an ellipsis alone takes all",
            enforce(&[2, 3], vec![rest()]),
        )
        .gives(&[2, 3])
        .dims(&[Rest(vec![2, 3], 6)]),
        case(
            "an ellipsis in front",
            enforce(&[2, 3, 4], vec![rest(), named("C")]),
        )
        .gives(&[2, 3, 4])
        .dims(&[Rest(vec![2, 3], 6), Size(4)]),
        case(
            "an ellipsis over an empty axis",
            enforce(&[0, 5], vec![rest(), int(5)]),
        )
        .gives(&[0, 5])
        .dims(&[Rest(vec![0], 0), Size(5)]),
        case("rank 0 matches no pieces", enforce(&[], vec![]))
            .gives(&[])
            .dims(&[]),
        case("rank 0 matches an ellipsis", enforce(&[], vec![rest()]))
            .gives(&[])
            .dims(&[Rest(vec![], 1)]),
        case("a size of 0 is a size", enforce(&[0], vec![int(0)]))
            .gives(&[0])
            .dims(&[Size(0)]),
        case(
            "a symbol agrees with itself",
            enforce(&[3, 3], vec![named("n"), named("n")]),
        )
        .gives(&[3, 3])
        .dims(&[Size(3), Size(3)]),
        case("a symbol and its name are one", {
            enforce(&[3, 4], vec![named("n"), Arg::Symbol(Symbol::new("n"))])
        })
        .fails(Family::Shape),
        case("a symbol on both sides of an ellipsis", {
            enforce(&[3, 7, 4], vec![named("n"), rest(), named("n")])
        })
        .fails(Family::Shape),
        case("two ellipses", enforce(&[3], vec![rest(), rest()])).fails(Family::Argument),
        case("a negative size", enforce(&[3], vec![int(-1)])).fails(Family::Shape),
        case(
            "a bool in the pattern",
            enforce(&[1], vec![Arg::Bool(true)]),
        )
        .fails(Family::Type),
        case(
            "a float in the pattern",
            enforce(&[1], vec![Arg::Float(1.0)]),
        )
        .fails(Family::Type),
        case(
            "a pattern that is no list",
            Call::of("enforce_shape").arg(Input::f32(&[3])).arg(3),
        )
        .fails(Family::Type),
        case("strides do not matter", {
            let x = Input::f32(&[6]).lying(&[3, 2], &[-2, 0], 5);
            Call::of("enforce_shape").arg(x).arg(vec![int(3), none()])
        })
        .gives(&[3, 2])
        .strides(&[-2, 0]),
    ]
}

/// The recipe for an operation on the last axis: reduce to 2-D, work, restore. The work here reverses the
/// three channels of each pixel.
pub fn check_pixels<R: Runner>(runner: &R) {
    for shape in [&[3][..], &[4, 3], &[2, 2, 3], &[0, 5, 3], &[2, 1, 2, 1, 3]] {
        let input = Input::f32(shape);
        let rgb = runner.input(&input);
        let (rgb, dims) = rgb
            .enforce_shape(pattern![.., _])
            .expect("any tensor with an axis");
        let (pixels, last) = (
            dims.size(0).expect("a count"),
            dims.size(1).expect("a size"),
        );
        let flat = rgb.reshape([pixels, last].as_slice()).expect("two axes");
        let worked = flat.flip(1).expect("reversed channels");
        let back: Vec<usize> = dims.axes().iter().copied().chain([last]).collect();
        let restored = worked
            .reshape(Sizes::from(back.as_slice()))
            .expect("the axes again");

        let seen = runner.see(&restored);
        assert_eq!(seen.shape, shape);
        let numbers = input.reference().numbers();
        let wanted: Vec<u8> = numbers
            .chunks(3)
            .flat_map(|pixel| pixel.iter().rev())
            .flat_map(|n| n.encode(input.dtype).into_iter().take(4))
            .collect();
        if let Some(elements) = seen.elements {
            assert_eq!(elements, wanted, "{shape:?}");
        }
    }
    let rank_0 = runner.input(&Input::f32(&[]));
    assert!(rank_0.enforce_shape(pattern![.., _]).is_err());
}
