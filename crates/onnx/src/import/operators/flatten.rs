//! `Flatten`: two axes, of everything before a place and everything from it on.

use stridewise_core::engine::Engine;
use stridewise_core::params::{Extent, resolve_axis};
use stridewise_core::size::Size;
use stridewise_core::{Error, Result, operators};

use super::Node;
use crate::import::attributes::Attributes;
use crate::import::given::{Given, Input, Takes};

#[derive(Clone, Debug)]
pub(in crate::import) struct Flatten {
    axis: isize,
}

impl Node for Flatten {
    const NAME: &'static str = "Flatten";
    const INPUTS: &'static [Input] = &[("input", Takes::Tensor)];

    fn read(attributes: &mut Attributes<'_>) -> Result<Flatten> {
        let axis = attributes.place("axis")?.unwrap_or(1);
        Ok(Flatten { axis })
    }

    fn run<E: Engine>(&self, given: &Given<'_, '_, E>) -> Result<E::Value> {
        let (engine, x) = (given.engine, given.tensor(0)?);
        let shape = engine.shape(x)?;
        // The place may be behind the last axis.
        let place = match usize::try_from(self.axis) {
            Ok(place) if place == shape.len() => place,
            _ => resolve_axis(self.axis, shape.len(), "axis", || engine.shape_text(x))?,
        };
        let product = |sizes: &[E::Size]| {
            E::Size::product(sizes)
                .map(Extent::Is)
                .ok_or_else(|| Error::overflow("the product of the sizes is too large"))
        };
        let sizes = [product(&shape[..place])?, product(&shape[place..])?];
        let reshape = operators::Reshape {
            shape: sizes.into_iter().collect(),
        };
        engine.apply(&reshape, &[x])
    }
}
