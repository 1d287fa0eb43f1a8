//! The typed calls, lightly: each way to write an argument once, scopes of symbols, and layers. What the
//! operators do is the business of the other cases.

use stridewise_core::dtype::DType;
use stridewise_core::engine::{Engine, Value};
use stridewise_core::error::Result;
use stridewise_core::nn::{Layer, Sequential, Unflatten};
use stridewise_core::operators::{Dim, Methods, Shapes, concat, make, stack};
use stridewise_core::params::{Axes, Item, Mode, NewAxis, Place, Scalar, Sizes, Symbol, any, dim};
use stridewise_core::{index, pattern};

use crate::input::Input;
use crate::runner::{Family, Runner, ValueOf, family};

struct Typed<'a, R>(&'a R);

impl<R: Runner> Typed<'_, R> {
    fn f32(&self, shape: &[usize]) -> ValueOf<R> {
        self.0.input(&Input::f32(shape))
    }

    fn gives(&self, x: Result<ValueOf<R>>, shape: &[usize]) {
        let x = x.unwrap_or_else(|error| panic!("wanted {shape:?}, got {error}"));
        assert_eq!(self.0.see(&x).shape, shape);
    }
}

/// Arrays, slices, vectors, `..`, single numbers, and the macros.
pub fn check_conversions<R: Runner>(runner: &R) {
    let on = Typed(runner);
    let x = on.f32(&[2, 1, 3]);
    let sizes: &[isize] = &[2, 4, 3];
    on.gives(x.expand([-1, 4, -1]), &[2, 4, 3]);
    on.gives(x.expand(sizes), &[2, 4, 3]);
    on.gives(x.expand(&[2, 4, 3]), &[2, 4, 3]);
    on.gives(x.expand(vec![2, 4, 3]), &[2, 4, 3]);
    on.gives(x.expand([2usize, 4, 3].as_slice()), &[2, 4, 3]);
    on.gives(x.reshape(-1), &[6]);
    on.gives(x.reshape(Sizes::from([3, 2])), &[3, 2]);
    on.gives(x.expand_as(&on.f32(&[2, 5, 3])), &[2, 5, 3]);
    on.gives(x.squeeze(..), &[2, 3]);
    on.gives(x.squeeze(1), &[2, 3]);
    on.gives(x.squeeze(vec![1]), &[2, 3]);
    on.gives(x.permute([2, 0, 1]), &[3, 2, 1]);
    on.gives(x.transpose(..), &[3, 1, 2]);
    on.gives(x.sum(Axes::All, false, None), &[]);
    on.gives(x.sum([0, 2], true, DType::F64), &[1, 1, 1]);
    on.gives(x.moveaxis(0, -1), &[1, 3, 2]);
    on.gives(x.atleast_nd(4usize, Place::Back), &[2, 1, 3, 1]);
    on.gives(x.repeat_interleave(2, 1), &[2, 2, 3]);
    on.gives(x.repeat_interleave([1, 2], Some(0)), &[3, 1, 3]);
    on.gives(x.repeat_interleave(2, None), &[12]);

    on.gives(x.slice(index![0, .., 1..]), &[1, 2]);
    on.gives(x.slice(index![NewAxis, Item::Rest, -1]), &[1, 2, 1]);
    on.gives(x.slice(index![.., .., ..-1]), &[2, 1, 2]);
    on.gives(x.slice(index![.., .., 0..2]), &[2, 1, 2]);
    on.gives(x.slice([Item::Rest, Item::from(..).step(-2)]), &[2, 1, 2]);

    let index = runner.input(&Input::i64(&[2], &[0, 1]));
    on.gives(x.take(&index, Some(0), Mode::Raise), &[2, 1, 3]);
    on.gives(x.take(&index, None, Mode::Fill(Scalar::from(1.5))), &[2]);
    on.gives(x.index_select(2, &index), &[2, 1, 2]);

    let engine = runner.engine();
    on.gives(make::zeros(&engine, [2, 3], DType::F32), &[2, 3]);
    on.gives(make::full(&engine, 3, 2.5, None), &[3]);
    on.gives(
        make::arange(&engine, 1, Scalar::from(7), 2, DType::I32),
        &[3],
    );
    on.gives(concat(&[&x, &x], 1), &[2, 2, 3]);
    on.gives(stack(&[&x, &x, &x], -1), &[2, 1, 3, 3]);
    assert_eq!(
        family(
            &concat::<ValueOf<R>>(&[], 0)
                .map(drop)
                .expect_err("a mistake")
        ),
        Family::Argument
    );

    let (same, dims) = x
        .enforce_shape(pattern![2, _, "c"])
        .expect("the shape fits");
    assert_eq!(runner.see(&same), runner.see(&x));
    assert_eq!(dims.to_string(), "[2, 1, 3]");
    let symbol = Symbol::new("c");
    let patterns = [
        pattern![.., &symbol],
        pattern![.., symbol.clone()],
        [dim("n"), any(), any()].into(),
    ];
    for pattern in patterns {
        assert!(x.enforce_shape(&pattern).is_ok(), "{pattern}");
    }
    let (_, dims) = x.enforce_shape(pattern![_, ..]).expect("the shape fits");
    assert_eq!(dims.get(1), Some(Dim::Rest(&[1, 3], &3)));
    assert_eq!(
        (dims.size(0), dims.size(1), dims.size(2)),
        (Some(2), Some(3), None)
    );
    assert_eq!(
        family(
            &x.enforce_shape(pattern![2, -1, 3])
                .map(drop)
                .expect_err("a mistake")
        ),
        Family::Shape
    );
}

/// Symbols agree within a pattern and across patterns, and a check that fails binds nothing.
pub fn check_scopes<R: Runner>(runner: &R) {
    let on = Typed(runner);
    let (n, c) = (Symbol::new("n"), Symbol::new("c"));
    let scope = Shapes::new();
    assert_eq!(scope.get(&n), None);

    let (same, dims) = scope
        .enforce(&on.f32(&[4, 3]), pattern!["n", "c"])
        .expect("nothing is bound");
    assert_eq!(runner.see(&same).shape, [4, 3]);
    assert_eq!(dims.to_string(), "[4, 3]");
    assert_eq!((scope.get(&n), scope.get(&c)), (Some(4), Some(3)));
    assert!(
        scope
            .enforce(&on.f32(&[3, 7, 4]), pattern!["c", _, "n"])
            .is_ok()
    );

    let error = scope
        .enforce(&on.f32(&[5, 3]), pattern!["n", "c"])
        .map(drop)
        .expect_err("a mistake");
    assert_eq!(family(&error), Family::Shape);
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("a_symbol_that_was_bound_elsewhere", error);
    });

    let scope = Shapes::new();
    assert!(
        scope
            .enforce(&on.f32(&[2, 3, 4]), pattern!["a", "b", "b"])
            .is_err()
    );
    assert_eq!(scope.get("a"), None, "a failed check binds nothing");
    assert!(
        scope
            .enforce(&on.f32(&[9, 3, 3]), pattern!["a", "b", "b"])
            .is_ok()
    );
    assert_eq!(scope.get("a"), Some(9));

    // Without a scope nothing is remembered.
    assert!(on.f32(&[2]).enforce_shape(pattern!["n"]).is_ok());
    assert!(on.f32(&[3]).enforce_shape(pattern!["n"]).is_ok());
}

struct Doubled;

impl<V: Value> Layer<V> for Doubled {
    fn forward(&self, x: &V) -> Result<V> {
        let engine = x.engine();
        let sizes = Sizes::from(vec![2; engine.rank(x)?]);
        engine.apply(&stridewise_core::operators::Repeat { sizes }, &[x])
    }
}

/// A layer prints, is applied to a tensor, and stands in a row with others.
pub fn check_layers<R: Runner>(runner: &R) {
    let on = Typed(runner);
    let layer = Unflatten::new(1, [2, 3]);
    assert_eq!(layer.to_string(), "Unflatten(axis=1, shape=[2, 3])");
    assert_eq!(
        Unflatten::<usize>::new(-1, [-1, 2]).to_string(),
        "Unflatten(axis=-1, shape=[-1, 2])"
    );
    on.gives(layer.forward(&on.f32(&[4, 6])), &[4, 2, 3]);
    on.gives(layer.forward(&on.f32(&[4, 6, 5])), &[4, 2, 3, 5]);
    let error = layer
        .forward(&on.f32(&[4, 5]))
        .map(drop)
        .expect_err("a mistake");
    assert_eq!(
        (family(&error), error.report().operator()),
        (Family::Shape, "unflatten")
    );

    let row = Sequential::new()
        .then(layer)
        .then(Doubled)
        .then(Unflatten::new(0, [-1, 2]));
    on.gives(row.forward(&on.f32(&[3, 6])), &[3, 2, 4, 6]);
    on.gives(Sequential::new().forward(&on.f32(&[3])), &[3]);
    let error = row
        .forward(&on.f32(&[3, 7]))
        .map(drop)
        .expect_err("a mistake");
    assert_eq!(family(&error), Family::Shape);
}
