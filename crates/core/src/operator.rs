//! What an operator is: parameters, and a lowering to the primitives that knows no engine.

use std::fmt::Debug;

use crate::engine::Engine;
use crate::error::Result;

/// The name an operator goes by everywhere; given by its line in the operator table.
pub trait Named {
    /// The name.
    const NAME: &'static str;
}

/// An operator: a struct of parameters that can lower itself on any engine.
pub trait Operator<E: Engine>: Named + Clone + Debug {
    /// What it returns: a tensor, a list of them, or a tensor and what was learnt about it.
    type Output;

    /// Expresses the operator in primitives. Checks every argument first; nothing has happened when it fails.
    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<Self::Output>;
}
