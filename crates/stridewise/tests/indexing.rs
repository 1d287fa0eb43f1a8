//! `x[...]` with integer arrays, on the CPU and on the engine without data.

use stridewise::operators::{GetItem, Pick};
use stridewise::prelude::*;
use stridewise::{Dry, Result, Value};

/// The items of `x[...]` with an array wherever there is none.
fn get<V: Value>(x: &V, picks: &[Pick], arrays: &[&V]) -> Result<V>
where
    V::Engine: Engine<Value = V>,
{
    let inputs: Vec<&V> = [x].into_iter().chain(arrays.iter().copied()).collect();
    let operator = GetItem {
        picks: picks.to_vec(),
    };
    x.engine().apply(&operator, &inputs)
}

fn item(item: impl Into<Item>) -> Pick {
    Pick::Item(item.into())
}

fn cube() -> Tensor {
    arange(0, 24, 1, None)
        .and_then(|x| x.reshape([4, 3, 2]))
        .expect("a cube")
}

#[test]
fn arrays_broadcast_together_and_stand_where_they_stood() {
    let x = cube();
    let i = tensor([[0], [-1]]).unwrap();
    let j = tensor([2i64, 0, 1]).unwrap();
    let y = get(&x, &[Pick::Array, Pick::Array], &[&i, &j]).unwrap();
    assert_eq!(y.shape(), [2, 3, 2]);
    assert_eq!(
        y.to_vec::<i64>().unwrap(),
        [4, 5, 0, 1, 2, 3, 22, 23, 18, 19, 20, 21]
    );
    let k = tensor([1u8, 0, 1]).unwrap();
    let behind = get(&x, &[item(..), Pick::Array, Pick::Array], &[&j, &k]).unwrap();
    assert_eq!(behind.shape(), [4, 3]);
    assert_eq!(behind.to_vec::<i64>().unwrap()[..3], [5, 0, 3]);
}

#[test]
fn what_stands_between_arrays_sends_their_axes_to_the_front() {
    let x = cube();
    let i = tensor([0, 1, 2, 3, 0]).unwrap();
    let k = tensor([1]).unwrap();
    let shape =
        |picks: &[Pick], arrays: &[&Tensor]| get(&x, picks, arrays).unwrap().shape().to_vec();
    assert_eq!(
        shape(&[Pick::Array, item(..), Pick::Array], &[&i, &k]),
        [5, 3]
    );
    assert_eq!(shape(&[item(0), item(..), Pick::Array], &[&k]), [1, 3]);
    assert_eq!(shape(&[item(..), item(0), Pick::Array], &[&k]), [4, 1]);
    let apart = [item(..), Pick::Array, item(NewAxis), Pick::Array];
    assert_eq!(shape(&apart, &[&k, &k]), [1, 4, 1]);
    assert_eq!(
        shape(&[Pick::Item(Item::Rest), Pick::Array], &[&k]),
        [4, 3, 1]
    );
}

#[test]
fn a_long_axis_costs_no_table_and_negative_indices_count_from_the_end() {
    let x = arange(0, 60_000, 1, None)
        .unwrap()
        .reshape([20_000, 3])
        .unwrap();
    let i = tensor([-1i64, 0, 19_999, -20_000]).unwrap();
    let j = tensor([-1i8, 1, 0, -3]).unwrap();
    let both = [Pick::Array, Pick::Array];
    let y = get(&x, &both, &[&i, &j]).unwrap();
    assert_eq!(y.to_vec::<i64>().unwrap(), [59_999, 1, 59_997, 0]);
    let turned = get(&x.transpose(..).unwrap(), &both, &[&j, &i]).unwrap();
    assert_eq!(turned.to_vec::<i64>().unwrap(), [59_999, 1, 59_997, 0]);
}

#[test]
fn an_index_outside_is_told_of_the_axis_that_was_given() {
    let x = cube();
    let (i, j) = (tensor([0, 1]).unwrap(), tensor([0, 3]).unwrap());
    let both = [item(..), Pick::Array, Pick::Array];
    for (arrays, axis, text) in [
        (
            [&j, &i],
            1,
            "index: index 3 at position (1,) is out of range for axis 1, which has size 3",
        ),
        (
            [&i, &j],
            2,
            "index: index 3 at position (1,) is out of range for axis 2, which has size 2",
        ),
    ] {
        let error = get(&x, &both, &arrays).unwrap_err();
        assert!(error.to_string().starts_with(text), "{error}");
        assert_eq!(error.report().axis(), Some(axis));
        assert_eq!(error.report().actual(), Some("3"));
    }
    let one = get(&x, &[item(0), Pick::Array], &[&j]).unwrap_err();
    assert_eq!(one.report().axis(), Some(1));
    let error = get(&x, &both, &[&tensor([0, 1, 2]).unwrap(), &i]).unwrap_err();
    assert!(matches!(error, stridewise::Error::Shape(_)), "{error}");
    let error = get(&x, &[Pick::Array], &[&tensor([true]).unwrap()]).unwrap_err();
    assert!(
        error.to_string().contains("a mask is not an index"),
        "{error}"
    );
}

#[test]
fn empty_axes_are_read_by_empty_arrays_only() {
    let x = zeros([0, 3], DType::F32).unwrap();
    let none = Tensor::from_vec::<i64>(vec![], &[0]).unwrap();
    let (one, both) = (tensor([0]).unwrap(), [Pick::Array, Pick::Array]);
    assert_eq!(get(&x, &both, &[&none, &none]).unwrap().shape(), [0]);
    assert_eq!(get(&x, &both, &[&one, &none]).unwrap().shape(), [0]);
    let error = get(&x, &both, &[&one, &one]).unwrap_err();
    assert_eq!(error.report().axis(), Some(0));
}

#[test]
fn without_data_the_shapes_are_the_same() {
    let dry = Dry::new();
    let x = dry.tensor(DType::F32, &[4, 3, 2]).unwrap();
    let i = dry.tensor(DType::I64, &[5, 1]).unwrap();
    let j = dry.tensor(DType::I32, &[7]).unwrap();
    let shape = |picks: &[Pick]| get(&x, picks, &[&i, &j]).unwrap().shape().to_vec();
    assert_eq!(shape(&[Pick::Array, Pick::Array]), [5, 7, 2]);
    assert_eq!(shape(&[Pick::Array, item(1..), Pick::Array]), [5, 7, 2]);
    assert_eq!(shape(&[item(..), Pick::Array, Pick::Array]), [4, 5, 7]);
    let long = dry.tensor(DType::F32, &[1_000_000, 2]).unwrap();
    dry.take_moves();
    get(&long, &[Pick::Array, Pick::Array], &[&j, &j]).unwrap();
    let moved: usize = dry.take_moves().iter().map(|m| m.written).sum();
    assert!(moved < 10_000, "{moved} bytes for 7 elements");
}
