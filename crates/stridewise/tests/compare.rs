//! Comparing tensors: elementwise with broadcasting, and as a whole.

use stridewise::prelude::*;
use stridewise::{Error, Tolerance, allclose, array_equal, equal, not_equal};

#[test]
fn elements_are_compared_by_value_with_broadcasting() {
    let x = tensor([[1, 2, 3], [4, 5, 6]]).unwrap();
    let seen = equal(&x, &tensor([1.0, 5.0, 3.0]).unwrap()).unwrap();
    assert_eq!(seen.shape(), [2, 3]);
    assert_eq!(
        seen.to_vec::<bool>().unwrap(),
        [true, false, true, false, true, false]
    );
    let column = tensor([[1i8], [6]]).unwrap();
    let seen = not_equal(&x, &column).unwrap();
    assert_eq!(
        seen.to_vec::<bool>().unwrap(),
        [false, true, true, true, true, false]
    );
    let error = equal(&x, &tensor([1, 2]).unwrap()).unwrap_err();
    assert!(matches!(error, Error::Shape(_)));
    assert!(
        error.to_string().starts_with("equal: axis 1 has size 3"),
        "{error}"
    );
    let none = zeros([0, 3], DType::F32).unwrap();
    assert_eq!(equal(&none, &tensor(1).unwrap()).unwrap().shape(), [0, 3]);
}

#[test]
fn whole_tensors_are_equal_where_shapes_and_elements_are() {
    let x = tensor([[1, 2], [3, 4]]).unwrap();
    assert!(array_equal(&x, &x.cast(DType::F16).unwrap(), false));
    assert!(!array_equal(&x, &x.transpose(..).unwrap(), false));
    assert!(!array_equal(&x, &x.flatten(0, 1).unwrap(), false));
    let nan = tensor([1.0, f64::NAN]).unwrap();
    assert!(!array_equal(&nan, &nan, false) && array_equal(&nan, &nan, true));
    let (low, high) = (tensor([-1i64]).unwrap(), tensor([u64::MAX]).unwrap());
    assert!(!array_equal(&low, &high, false) && !array_equal(&high, &low, false));
    let large = zeros([1000, 1000], DType::U8).unwrap();
    assert!(array_equal(&large, &large.transpose(..).unwrap(), false));
}

#[test]
fn close_is_numpys_formula() {
    let numpy = Tolerance {
        relative: 1e-5,
        absolute: 1e-8,
        equal_nan: false,
    };
    let x = tensor([1e10, 1e-7]).unwrap();
    assert!(!allclose(&x, &tensor([1.00001e10, 1e-8]).unwrap(), numpy).unwrap());
    assert!(
        allclose(
            &tensor([1e10, 1e-8]).unwrap(),
            &tensor([1.00001e10, 1e-9]).unwrap(),
            numpy
        )
        .unwrap()
    );
    assert!(
        allclose(
            &tensor([1, 2]).unwrap(),
            &tensor([[1.0f32, 2.0]]).unwrap(),
            numpy
        )
        .unwrap()
    );
    assert!(allclose(&x, &tensor([1, 2, 3]).unwrap(), numpy).is_err());
}
