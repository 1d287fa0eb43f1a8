//! `Cast`: the elements as another type.

use stridewise_core::engine::Engine;
use stridewise_core::{DType, Result, operators};

use super::Node;
use crate::import::attributes::Attributes;
use crate::import::given::{Given, Input, Takes};

#[derive(Clone, Debug)]
pub(in crate::import) struct Cast {
    to: DType,
}

impl Node for Cast {
    const NAME: &'static str = "Cast";
    const INPUTS: &'static [Input] = &[("input", Takes::Tensor)];

    fn read(attributes: &mut Attributes<'_>) -> Result<Cast> {
        let to = Attributes::needed("to", attributes.dtype("to")?)?;
        // Both are about floats of 8 bits only, which `to` cannot be.
        if attributes.since(19) {
            attributes.int("saturate")?;
        }
        if attributes.since(24) {
            attributes.text("round_mode")?;
        }
        Ok(Cast { to })
    }

    fn run<E: Engine>(&self, given: &Given<'_, '_, E>) -> Result<E::Value> {
        let cast = operators::Cast { dtype: self.to };
        given.engine.apply(&cast, &[given.tensor(0)?])
    }
}
