//! Indices that point outside: raised by whoever reads, as on the CPU.

use stridewise_core::operators::{self, Methods};
use stridewise_core::params::Mode;
use stridewise_core::{DType, Error};
use stridewise_cpu::Tensor;

use crate::{alone, counted, gpu, row, same};

#[track_caller]
fn text(x: &stridewise_gpu::Tensor) -> String {
    x.download().unwrap_err().to_string()
}

#[test]
fn a_bad_index_is_raised_at_every_read_with_the_text_of_the_cpu() {
    let gpu = gpu();
    let x = counted(DType::F32, &[4, 3]);
    let far = gpu.upload(&x).unwrap();
    for values in [
        vec![0i64, 4],
        vec![-5, 9],
        vec![1, 2, i64::MIN],
        vec![i64::MAX],
    ] {
        let index = row(values);
        for axis in [Some(0), Some(1), None] {
            let near = x.take(&index, axis, Mode::Raise);
            let y = far
                .take(&gpu.upload(&index).unwrap(), axis, Mode::Raise)
                .unwrap();
            match near {
                Ok(near) => same(&y, &near),
                Err(error) => {
                    for _ in 0..3 {
                        assert_eq!(text(&y), error.to_string());
                        assert!(matches!(y.download(), Err(Error::Index(_))));
                    }
                }
            }
        }
    }
}

#[test]
fn every_integer_type_is_told_right() {
    let gpu = gpu();
    let x = row([1u8, 2, 3]);
    let far = gpu.upload(&x).unwrap();
    let bad = [
        row([2u8, 255]),
        row([2u16, 65535]),
        row([2u32, u32::MAX]),
        row([2u64, u64::MAX]),
        row([2i8, -128]),
        row([2i16, i16::MIN]),
        row([2i32, i32::MIN]),
        row([2i64, 1 << 32]),
    ];
    for index in bad {
        let near = x.take(&index, 0, Mode::Raise).unwrap_err();
        let y = far
            .take(&gpu.upload(&index).unwrap(), 0, Mode::Raise)
            .unwrap();
        assert_eq!(text(&y), near.to_string());
        for mode in [Mode::Wrap, Mode::Clip, Mode::Fill(9.into())] {
            let y = far.take(&gpu.upload(&index).unwrap(), 0, mode).unwrap();
            same(&y, &x.take(&index, 0, mode).unwrap());
        }
    }
}

#[test]
fn what_depends_on_a_bad_index_raises_and_nothing_else_does() {
    let gpu = gpu();
    let x = row(0..10i64);
    let far = gpu.upload(&x).unwrap();
    let bad = far
        .take(&gpu.upload(&row([1i64, 99])).unwrap(), 0, Mode::Raise)
        .unwrap();
    let worse = far
        .take(&gpu.upload(&row([77i64])).unwrap(), 0, Mode::Raise)
        .unwrap();
    let fine = far
        .take(&gpu.upload(&row([9i32])).unwrap(), 0, Mode::Raise)
        .unwrap();

    // Through views, copies, joins, sums, casts and as an index.
    let dependents = [
        bad.flip([0]),
        bad.repeat([3]),
        bad.cast(DType::F16),
        bad.sum([0], false, None),
        operators::concat(&[&fine, &bad], 0),
        fine.take(&bad, 0, Mode::Clip),
        far.take(&bad, 0, Mode::Raise),
        far.index_add(0, &bad, &fine.repeat([2]).unwrap()),
        bad.slice(stridewise_core::index![0..0]),
    ];
    for y in dependents {
        let text = y.and_then(|y| y.download()).unwrap_err().to_string();
        assert!(
            text.starts_with("take: index 99 at position (1,) is out of"),
            "{text}"
        );
    }
    // Of two the first, whatever their order in the call.
    let both = operators::concat(&[&worse, &bad], 0).unwrap();
    assert!(text(&both).contains("index 99"));

    same(&fine, &row([9i64]));
    same(&far, &x);
    let later = far
        .take(&gpu.upload(&row([-1i64, 0])).unwrap(), 0, Mode::Raise)
        .unwrap();
    same(&later, &row([9i64, 0]));
}

#[test]
fn a_bad_index_is_raised_where_nothing_is_read_and_the_operator_is_named() {
    let gpu = gpu();
    let x = Tensor::from_vec(Vec::<f32>::new(), &[3, 0]).unwrap();
    let index = row([1i32, 3]);
    let far = (gpu.upload(&x).unwrap(), gpu.upload(&index).unwrap());
    let near = x.index_select(0, &index).unwrap_err();
    let y = far.0.index_select(0, &far.1).unwrap();
    assert_eq!(text(&y), near.to_string());
    assert!(text(&y).starts_with("index_select: "));
}

#[test]
fn waiting_for_checks_is_one_submission() {
    let gpu = alone();
    let x = gpu.upload(&row(0..5i32)).unwrap();
    let y = x.take(&gpu.upload(&row([4i64])).unwrap(), 0, Mode::Raise);
    let before = gpu.counts();
    gpu.device().finish().unwrap();
    assert_eq!(gpu.counts().since(before).submissions, 1);
    drop(y);
    // And where there is nothing to wait for, none.
    gpu.device().finish().unwrap();
    assert_eq!(gpu.counts().since(before).submissions, 1);
}

#[test]
fn a_chain_of_checks_tells_the_first() {
    let gpu = alone();
    let turn = gpu.upload(&row([1i64, 2, 0])).unwrap();
    let mut y = gpu.upload(&row([0i64, 5, 2])).unwrap();
    for _ in 0..1500 {
        y = turn.take(&y, 0, Mode::Raise).unwrap();
    }
    assert!(text(&y).starts_with("take: index 5 at position (1,)"));
}

#[test]
fn more_checks_than_slots_are_told_apart() {
    let gpu = alone();
    let x = gpu.upload(&row(0..5i32)).unwrap();
    let takes: Vec<_> = (0..2500i64)
        .map(|n| {
            let index = gpu.upload(&row([n % 7])).unwrap();
            x.take(&index, 0, Mode::Raise).unwrap()
        })
        .collect();
    for (n, y) in takes.iter().enumerate() {
        match n % 7 {
            good @ 0..5 => same(y, &row([good as i32])),
            bad => assert!(text(y).contains(&format!("index {bad} at")), "{n}"),
        }
    }
}
