//! `Squeeze` and `Unsqueeze`: axes of size 1 dropped and added.

use stridewise_core::engine::Engine;
use stridewise_core::params::Axes;
use stridewise_core::{Result, operators};

use super::Node;
use crate::import::attributes::Attributes;
use crate::import::given::{Given, Input, Takes};

#[derive(Clone, Debug)]
pub(in crate::import) struct Squeeze;

#[derive(Clone, Debug)]
pub(in crate::import) struct Unsqueeze;

impl Node for Squeeze {
    const NAME: &'static str = "Squeeze";
    const INPUTS: &'static [Input] = &[("data", Takes::Tensor), ("axes", Takes::OptionalNumbers)];

    fn read(_: &mut Attributes<'_>) -> Result<Squeeze> {
        Ok(Squeeze)
    }

    fn run<E: Engine>(&self, given: &Given<'_, '_, E>) -> Result<E::Value> {
        let axis = given.numbers(1)?.map_or(Axes::All, Axes::from);
        let squeeze = operators::Squeeze { axis };
        given.engine.apply(&squeeze, &[given.tensor(0)?])
    }
}

impl Node for Unsqueeze {
    const NAME: &'static str = "Unsqueeze";
    const INPUTS: &'static [Input] = &[("data", Takes::Tensor), ("axes", Takes::Numbers)];

    fn read(_: &mut Attributes<'_>) -> Result<Unsqueeze> {
        Ok(Unsqueeze)
    }

    fn run<E: Engine>(&self, given: &Given<'_, '_, E>) -> Result<E::Value> {
        let axis = Axes::from(given.needed_numbers(1)?);
        let unsqueeze = operators::Unsqueeze { axis };
        given.engine.apply(&unsqueeze, &[given.tensor(0)?])
    }
}
