//! `ReduceSum`: the sum over axes, in the type of the elements.

use stridewise_core::engine::Engine;
use stridewise_core::params::Axes;
use stridewise_core::{DType, Error, Result, operators};

use super::Node;
use crate::import::attributes::Attributes;
use crate::import::given::{Given, Input, Takes};

#[derive(Clone, Debug)]
pub(in crate::import) struct ReduceSum {
    keep_dims: bool,
    /// Whether no axes mean none rather than all.
    none_is_none: bool,
}

/// The types that ONNX has this operator for. Sums of smaller integers would overflow at once.
const DTYPES: [DType; 8] = [
    DType::U32,
    DType::U64,
    DType::I32,
    DType::I64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
];

impl Node for ReduceSum {
    const NAME: &'static str = "ReduceSum";
    const INPUTS: &'static [Input] = &[("data", Takes::Tensor), ("axes", Takes::OptionalNumbers)];

    fn read(attributes: &mut Attributes<'_>) -> Result<ReduceSum> {
        Ok(ReduceSum {
            keep_dims: attributes.flag("keepdims", true)?,
            none_is_none: attributes.flag("noop_with_empty_axes", false)?,
        })
    }

    fn run<E: Engine>(&self, given: &Given<'_, '_, E>) -> Result<E::Value> {
        let (engine, x) = (given.engine, given.tensor(0)?);
        let dtype = engine.dtype(x);
        if !DTYPES.contains(&dtype) {
            let names: Vec<&str> = DTYPES.iter().map(|dtype| dtype.name()).collect();
            let message = format!("ONNX has no sum of {dtype}");
            return Err(Error::dtype(message)
                .at_argument("data")
                .help(format!("cast it to one of {}", names.join(", "))));
        }
        let axis = match given.numbers(1)? {
            Some(axes) if !axes.is_empty() => Axes::from(axes),
            _ if self.none_is_none => return Ok(x.clone()),
            _ => Axes::All,
        };
        let sum = operators::Sum {
            axis,
            keepdims: self.keep_dims,
            dtype: Some(dtype),
        };
        engine.apply(&sum, &[x])
    }
}
