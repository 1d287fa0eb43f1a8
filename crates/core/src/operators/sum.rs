//! `sum`: over any axes, with NumPy's rule for the type of the result.

use crate::dtype::DType;
use crate::engine::Engine;
use crate::error::Result;
use crate::operator::Operator;
use crate::operators::squeeze::with_axes;
use crate::params::Axes;

/// The sum over axes.
#[derive(Clone, Debug)]
pub struct Sum {
    /// The axes summed over.
    pub axis: Axes,
    /// Whether they stay, with size 1.
    pub keepdims: bool,
    /// The type to add in; `None` is NumPy's rule: bool and integers grow to 64 bits.
    pub dtype: Option<DType>,
}

impl<E: Engine> Operator<E> for Sum {
    type Output = E::Value;

    fn dtype(&self, inputs: &[DType]) -> DType {
        self.dtype.unwrap_or(inputs[0].sum_dtype())
    }

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let mut axes = self.axis.resolve(engine, inputs[0])?;
        axes.sort_unstable();
        let dtype = Operator::<E>::dtype(self, &[engine.dtype(inputs[0])]);
        let summed = engine.sum(inputs[0], &axes, dtype)?;
        if !self.keepdims {
            return Ok(summed);
        }
        with_axes(engine, &summed, &axes)
    }
}
