//! `contiguous`: the elements row-major without gaps, copied only where they are not.

use crate::engine::Engine;
use crate::error::Result;
use crate::operator::Operator;
use crate::size::Truth;

/// The tensor itself where it is packed, otherwise a packed copy.
#[derive(Clone, Debug)]
pub struct Contiguous {}

impl<E: Engine> Operator<E> for Contiguous {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        match engine.is_packed(inputs[0]) {
            Truth::Yes => Ok(inputs[0].clone()),
            _ => engine.copy(inputs[0]),
        }
    }
}
