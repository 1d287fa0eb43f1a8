//! `Transpose`: the axes in another order.

use stridewise_core::engine::Engine;
use stridewise_core::params::Axes;
use stridewise_core::{Result, operators};

use super::Node;
use crate::import::attributes::Attributes;
use crate::import::given::{Given, Input, Takes};

#[derive(Clone, Debug)]
pub(in crate::import) struct Transpose {
    axes: Axes,
}

impl Node for Transpose {
    const NAME: &'static str = "Transpose";
    const INPUTS: &'static [Input] = &[("data", Takes::Tensor)];

    fn read(attributes: &mut Attributes<'_>) -> Result<Transpose> {
        let axes = attributes.ints("perm")?.map_or(Axes::All, Axes::from);
        Ok(Transpose { axes })
    }

    fn run<E: Engine>(&self, given: &Given<'_, '_, E>) -> Result<E::Value> {
        let axes = self.axes.clone();
        let transpose = operators::Transpose { axes };
        given.engine.apply(&transpose, &[given.tensor(0)?])
    }
}
