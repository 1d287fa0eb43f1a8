//! `shape_of`: the shape as a tensor, for programs that compute with sizes.

use crate::engine::Engine;
use crate::error::Result;
use crate::operator::Operator;

/// The shape as a 1-D `int64` tensor.
#[derive(Clone, Debug)]
pub struct ShapeOf {}

impl<E: Engine> Operator<E> for ShapeOf {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        engine.sizes_of(inputs[0])
    }
}
