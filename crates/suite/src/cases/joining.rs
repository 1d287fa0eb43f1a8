//! `concat`, `stack` and `unstack`.

use stridewise_core::dtype::DType;

use super::{Case, case};
use crate::call::Call;
use crate::input::Input;
use crate::runner::Family;

pub(super) fn cases() -> Vec<Case> {
    let a = || Input::i64(&[1, 2], &[1, 2]);
    let b = || Input::i64(&[2, 2], &[3, 4, 5, 6]);
    let f = Input::f32;
    let concat = |xs: Vec<Input>| Call::of("concat").arg(xs);
    let stack = |xs: Vec<Input>| Call::of("stack").arg(xs);
    let unstack = |from: &[usize]| Call::of("unstack").arg(Input::f32(from));
    vec![
        case("one after another", concat(vec![a(), b()]))
            .gives(&[3, 2])
            .values(&[1, 2, 3, 4, 5, 6]),
        case("along the last axis", concat(vec![b(), b()]).arg(-1))
            .gives(&[2, 4])
            .values(&[3, 4, 3, 4, 5, 6, 5, 6]),
        case(
            "tensors may be given one by one",
            Call::of("concat").arg(a()).arg(b()).arg(0),
        )
        .gives(&[3, 2]),
        case("one tensor is copied", concat(vec![a()]))
            .gives(&[1, 2])
            .values(&[1, 2]),
        case(
            "empty parts add nothing",
            concat(vec![f(&[0, 2]), f(&[1, 2]), f(&[0, 2])]),
        )
        .gives(&[1, 2])
        .values(&[0, 1]),
        case("only empty parts", concat(vec![f(&[0, 2]), f(&[0, 2])])).gives(&[0, 2]),
        case(
            "an empty part is still held to its shape",
            concat(vec![f(&[1, 2]), f(&[0])]),
        )
        .fails(Family::Shape),
        case(
            "rank 0 cannot be concatenated",
            concat(vec![f(&[]), f(&[])]),
        )
        .fails(Family::Axis),
        case("no tensors", concat(vec![])).fails(Family::Argument),
        case("other sizes", concat(vec![f(&[1, 2]), f(&[1, 3])])).fails(Family::Shape),
        case("other dtypes", concat(vec![a(), f(&[1, 2])])).fails(Family::DType),
        case("numbers count as tensors", Call::of("stack").arg([1, 2, 3]))
            .gives(&[3])
            .dtype(DType::I64)
            .values(&[1, 2, 3]),
        case("side by side", stack(vec![a(), a()]))
            .gives(&[2, 1, 2])
            .values(&[1, 2, 1, 2]),
        case("along a new last axis", stack(vec![b(), b()]).arg(-1))
            .gives(&[2, 2, 2])
            .values(&[3, 3, 4, 4, 5, 5, 6, 6]),
        case("rank 0 stacks", stack(vec![f(&[]), f(&[])])).gives(&[2]),
        case("empty tensors stack", stack(vec![f(&[0]), f(&[0])]).arg(1)).gives(&[0, 2]),
        case("stack of no tensors", stack(vec![])).fails(Family::Argument),
        case("stack of other shapes", stack(vec![a(), b()])).fails(Family::Shape),
        case("stack past the end", stack(vec![a()]).arg(3)).fails(Family::Axis),
        case("unstack gives the slices", unstack(&[2, 3]))
            .gives_many(&[&[3], &[3]])
            .values_of_each(&[&[0, 1, 2], &[3, 4, 5]]),
        case("unstack along the last axis", unstack(&[2, 3]).arg(-1))
            .gives_many(&[&[2], &[2], &[2]])
            .values_of_each(&[&[0, 3], &[1, 4], &[2, 5]]),
        case("unstack of an empty axis gives none", unstack(&[0, 3])).gives_many(&[]),
        case(
            "unstack beside an empty axis gives empty ones",
            unstack(&[2, 0]),
        )
        .gives_many(&[&[0], &[0]]),
        case("unstack of one axis gives rank 0", unstack(&[2]))
            .gives_many(&[&[], &[]])
            .values_of_each(&[&[0], &[1]]),
        case("unstack of rank 0", unstack(&[])).fails(Family::Axis),
    ]
}
