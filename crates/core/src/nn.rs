//! Operators as layers: objects that are made once and applied to many tensors, alone or in a row.

use std::fmt;

use crate::engine::{Engine, SizeOf, Value};
use crate::error::Result;
use crate::operators;
use crate::params::Sizes;
use crate::size::Size;

/// Something that turns one tensor of an engine into another.
pub trait Layer<V: Value> {
    /// Applies the layer.
    fn forward(&self, x: &V) -> Result<V>;
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

impl<V: Value> Layer<V> for Unflatten<SizeOf<V>> {
    fn forward(&self, x: &V) -> Result<V> {
        x.engine().apply(&self.0, &[x])
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
pub struct Sequential<V>(Vec<Box<dyn Layer<V>>>);

impl<V> Default for Sequential<V> {
    fn default() -> Sequential<V> {
        Sequential(Vec::new())
    }
}

impl<V: Value> Sequential<V> {
    /// No layers yet: returns its input.
    pub fn new() -> Sequential<V> {
        Sequential::default()
    }

    /// The same with one more layer at the end.
    pub fn then(mut self, layer: impl Layer<V> + 'static) -> Sequential<V> {
        self.0.push(Box::new(layer));
        self
    }
}

impl<V: Value> Layer<V> for Sequential<V> {
    fn forward(&self, x: &V) -> Result<V> {
        self.0
            .iter()
            .try_fold(x.clone(), |x, layer| layer.forward(&x))
    }
}
