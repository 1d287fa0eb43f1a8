//! `Concat`: tensors one after another.

use stridewise_core::engine::Engine;
use stridewise_core::{Result, operators};

use super::Node;
use crate::import::attributes::Attributes;
use crate::import::given::{Given, Input, Takes};

#[derive(Clone, Debug)]
pub(in crate::import) struct Concat {
    axis: isize,
}

impl Node for Concat {
    const NAME: &'static str = "Concat";
    const INPUTS: &'static [Input] = &[("inputs", Takes::Tensors)];

    fn read(attributes: &mut Attributes<'_>) -> Result<Concat> {
        let axis = Attributes::needed("axis", attributes.place("axis")?)?;
        Ok(Concat { axis })
    }

    fn run<E: Engine>(&self, given: &Given<'_, '_, E>) -> Result<E::Value> {
        let concat = operators::Concat { axis: self.axis };
        given.engine.apply(&concat, &given.tensors()?)
    }
}
