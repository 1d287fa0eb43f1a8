//! `contiguous`, `cast`, `sum` and `shape`: what is done to the elements themselves, or asked about them.

use crate::dtype::DType;
use crate::engine::Engine;
use crate::error::Result;
use crate::operator::Operator;
use crate::operators::squeeze::with_axes;
use crate::params::Axes;
use crate::size::Truth;

/// The tensor itself where it is packed, otherwise a packed copy.
#[derive(Clone, Debug)]
pub struct Contiguous {}

/// The elements as another type; the tensor itself where it has that type.
#[derive(Clone, Debug)]
pub struct Cast {
    /// The element type of the result.
    pub dtype: DType,
}

/// The sum over axes.
#[derive(Clone, Debug)]
pub struct Sum {
    /// The axes summed over.
    pub axes: Axes,
    /// Whether they stay, with size 1.
    pub keepdims: bool,
    /// The type to add in; `None` is NumPy's rule: bool and integers grow to 64 bits.
    pub dtype: Option<DType>,
}

/// The shape as a 1-D `int64` tensor.
#[derive(Clone, Debug)]
pub struct ShapeOf {}

impl<E: Engine> Operator<E> for Contiguous {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        match engine.is_packed(inputs[0]) {
            Truth::Yes => Ok(inputs[0].clone()),
            _ => engine.copy(inputs[0]),
        }
    }
}

impl<E: Engine> Operator<E> for Cast {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        match engine.dtype(inputs[0]) == self.dtype {
            true => Ok(inputs[0].clone()),
            false => engine.cast(inputs[0], self.dtype),
        }
    }
}

impl<E: Engine> Operator<E> for Sum {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let mut axes = self.axes.resolve(engine, inputs[0])?;
        axes.sort_unstable();
        let dtype = self.dtype.unwrap_or(engine.dtype(inputs[0]).sum_dtype());
        let x = Cast { dtype }.lower(engine, inputs)?;
        let summed = engine.sum(&x, &axes)?;
        if !self.keepdims {
            return Ok(summed);
        }
        with_axes(engine, &summed, &axes)
    }
}

impl<E: Engine> Operator<E> for ShapeOf {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        engine.sizes(&engine.shape(inputs[0])?)
    }
}
