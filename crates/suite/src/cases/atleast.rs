//! `atleast_1d`, `atleast_2d`, `atleast_3d` and `atleast_nd`: NumPy's table for ranks 0 to 5.

use stridewise_core::dtype::DType;

use super::{Case, case};
use crate::call::Call;
use crate::input::Input;

pub(super) fn cases() -> Vec<Case> {
    let table: [(&[usize], [&[usize]; 3]); 8] = [
        (&[], [&[1], &[1, 1], &[1, 1, 1]]),
        (&[4], [&[4], &[1, 4], &[1, 4, 1]]),
        (&[2, 3], [&[2, 3], &[2, 3], &[2, 3, 1]]),
        (&[2, 3, 4], [&[2, 3, 4]; 3]),
        (&[2, 1, 3, 2], [&[2, 1, 3, 2]; 3]),
        (&[2, 1, 3, 1, 2], [&[2, 1, 3, 1, 2]; 3]),
        (&[0], [&[0], &[1, 0], &[1, 0, 1]]),
        (&[3, 0], [&[3, 0], &[3, 0], &[3, 0, 1]]),
    ];
    let mut cases = Vec::new();
    for (from, to) in table {
        for (operator, to) in ["atleast_1d", "atleast_2d", "atleast_3d"]
            .into_iter()
            .zip(to)
        {
            let x = Input::f32(from);
            let values = x.reference().numbers();
            let new = case("the table of atleast", Call::of(operator).arg(x)).gives(to);
            cases.push(new.values(&values));
        }
    }
    let number = case(
        "a number counts as one array",
        Call::of("atleast_2d").arg(0.5),
    );
    cases.push(number.gives(&[1, 1]).values(&[0.5]));
    let list = case(
        "a list counts as one array",
        Call::of("atleast_3d").arg([4, 5]),
    );
    cases.push(list.gives(&[1, 2, 1]).values(&[4, 5]));

    let (a, b) = (|| Input::f32(&[]), || Input::of(DType::F32, &[], [1]));
    let all = ["atleast_1d", "atleast_2d", "atleast_3d"];
    for (operator, to) in all.into_iter().zip([&[1][..], &[1, 1], &[1, 1, 1]]) {
        let call = Call::of(operator).arg(a()).arg(b());
        let new = case("several inputs give several tensors", call).gives_many(&[to, to]);
        cases.push(new.values_of_each(&[&[0], &[1]]));
        let mixed = Call::of(operator)
            .arg(a())
            .arg(0.5)
            .arg(Input::f32(&[2, 3, 4, 5]));
        let new = case("numbers and tensors mix", mixed);
        cases.push(new.gives_many(&[to, to, &[2, 3, 4, 5]]));
        cases.push(case("no inputs give no tensors", Call::of(operator)).gives_many(&[]));
    }
    let pair = case(
        "a list of tensors is one tensor",
        Call::of("atleast_1d").arg(vec![a(), b()]),
    );
    cases.push(pair.gives(&[2]).values(&[0, 1]));

    let placed: [(&str, usize, &[usize], &[usize]); 12] = [
        ("front", 3, &[4], &[1, 1, 4]),
        ("back", 3, &[4], &[4, 1, 1]),
        ("numpy", 3, &[4], &[1, 4, 1]),
        ("front", 4, &[2, 3], &[1, 1, 2, 3]),
        ("back", 4, &[2, 3], &[2, 3, 1, 1]),
        ("front", 2, &[], &[1, 1]),
        ("back", 2, &[], &[1, 1]),
        ("numpy", 2, &[4], &[1, 4]),
        ("numpy", 1, &[], &[1]),
        ("back", 0, &[], &[]),
        ("front", 2, &[2, 3, 4], &[2, 3, 4]),
        ("back", 2, &[0], &[0, 1]),
    ];
    for (place, n, from, to) in placed {
        let call = Call::of("atleast_nd")
            .arg(Input::f32(from))
            .arg(n as i128)
            .with("place", place);
        cases.push(case("place says on which side new axes go", call).gives(to));
    }
    let call = Call::of("atleast_nd").arg(Input::f32(&[2, 3])).arg(3);
    cases.push(case("without a place the table holds", call).gives(&[2, 3, 1]));
    cases
}
