//! Operators as layers: objects that are made once and applied to many tensors, alone or in a row.

use std::fmt;

use crate::engine::{Engine, Value};
use crate::error::Result;
use crate::operators;
use crate::params::Sizes;
use crate::size::Size;

/// Something that turns one tensor of an engine into another.
pub trait Layer<E: Engine> {
    /// Applies the layer.
    fn forward(&self, engine: &E, x: &E::Value) -> Result<E::Value>;

    /// Applies the layer on the tensor's own engine.
    fn call(&self, x: &E::Value) -> Result<E::Value>
    where
        E::Value: Value<Engine = E>,
    {
        self.forward(&x.engine(), x)
    }
}

/// Splits an axis into several: `unflatten` as a layer.
///
/// ```
/// use stridewise_core::nn::Unflatten;
/// let layer = Unflatten::<usize>::new(1, [2, 3]);
/// assert_eq!(layer.to_string(), "Unflatten(axis=1, shape=[2, 3])");
/// ```
#[derive(Clone, Debug)]
pub struct Unflatten<S = usize>(operators::Unflatten<S>);

impl<S: Size> Unflatten<S> {
    /// A layer that splits `axis` into `shape`.
    pub fn new(axis: isize, shape: impl Into<Sizes<S>>) -> Unflatten<S> {
        Unflatten(operators::Unflatten {
            axis,
            shape: shape.into(),
        })
    }
}

impl<E: Engine> Layer<E> for Unflatten<E::Size> {
    fn forward(&self, engine: &E, x: &E::Value) -> Result<E::Value> {
        engine.apply(&self.0, &[x])
    }
}

impl<S: Size> fmt::Display for Unflatten<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> = self.0.shape.iter().map(|s| s.to_string()).collect();
        write!(
            f,
            "Unflatten(axis={}, shape=[{}])",
            self.0.axis,
            sizes.join(", ")
        )
    }
}

/// Layers applied one after another.
pub struct Sequential<E: Engine>(Vec<Box<dyn Layer<E>>>);

impl<E: Engine> Default for Sequential<E> {
    fn default() -> Sequential<E> {
        Sequential(Vec::new())
    }
}

impl<E: Engine> Sequential<E> {
    /// No layers yet: returns its input.
    pub fn new() -> Sequential<E> {
        Sequential::default()
    }

    /// The same with one more layer at the end.
    pub fn then(mut self, layer: impl Layer<E> + 'static) -> Sequential<E> {
        self.0.push(Box::new(layer));
        self
    }
}

impl<E: Engine> Layer<E> for Sequential<E> {
    fn forward(&self, engine: &E, x: &E::Value) -> Result<E::Value> {
        self.0
            .iter()
            .try_fold(x.clone(), |x, layer| layer.forward(engine, &x))
    }
}
