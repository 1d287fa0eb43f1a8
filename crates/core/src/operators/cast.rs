//! `cast`: the elements as another type, the one place where that happens.

use crate::dtype::DType;
use crate::engine::Engine;
use crate::error::Result;
use crate::operator::Operator;

/// The elements as another type; the tensor itself where it has that type.
#[derive(Clone, Debug)]
pub struct Cast {
    /// The element type of the result.
    pub dtype: DType,
}

impl<E: Engine> Operator<E> for Cast {
    type Output = E::Value;

    fn dtype(&self, _: &[DType]) -> DType {
        self.dtype
    }

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        match engine.dtype(inputs[0]) == self.dtype {
            true => Ok(inputs[0].clone()),
            false => engine.cast(inputs[0], self.dtype),
        }
    }
}
