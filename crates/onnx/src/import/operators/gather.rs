//! `Gather` and `GatherElements`: elements at given indices.

use stridewise_core::engine::{Condition, Engine};
use stridewise_core::params::{Item, Items, Mode, resolve_axis};
use stridewise_core::size::{Size, Truth};
use stridewise_core::{Error, Result, operators};

use super::Node;
use crate::import::attributes::Attributes;
use crate::import::given::{Given, Input, Takes};

#[derive(Clone, Debug)]
pub(in crate::import) struct Gather {
    axis: isize,
}

#[derive(Clone, Debug)]
pub(in crate::import) struct GatherElements {
    axis: isize,
}

const INPUTS: &[Input] = &[("data", Takes::Tensor), ("indices", Takes::Tensor)];

impl Node for Gather {
    const NAME: &'static str = "Gather";
    const INPUTS: &'static [Input] = INPUTS;

    fn read(attributes: &mut Attributes<'_>) -> Result<Gather> {
        let axis = attributes.place("axis")?.unwrap_or(0);
        Ok(Gather { axis })
    }

    fn run<E: Engine>(&self, given: &Given<'_, '_, E>) -> Result<E::Value> {
        let take = operators::Take {
            axis: Some(self.axis),
            mode: Mode::Raise,
        };
        let inputs = [given.tensor(0)?, given.tensor(1)?];
        given.engine.apply(&take, &inputs)
    }
}

impl Node for GatherElements {
    const NAME: &'static str = "GatherElements";
    const INPUTS: &'static [Input] = INPUTS;

    fn read(attributes: &mut Attributes<'_>) -> Result<GatherElements> {
        let axis = attributes.place("axis")?.unwrap_or(0);
        Ok(GatherElements { axis })
    }

    fn run<E: Engine>(&self, given: &Given<'_, '_, E>) -> Result<E::Value> {
        let (engine, index) = (given.engine, given.tensor(1)?);
        let data = as_far_as(engine, given.tensor(0)?, index, self.axis)?;
        let take = operators::TakeAlongAxis {
            axis: Some(self.axis),
        };
        engine.apply(&take, &[&data, index])
    }
}

/// The data as far as the index reaches off the axis: ONNX reads the first so many, where `take_along_axis`
/// would stretch an index of size 1.
fn as_far_as<E: Engine>(
    engine: &E,
    data: &E::Value,
    index: &E::Value,
    axis: isize,
) -> Result<E::Value> {
    let rank = engine.rank(data)?;
    let axis = resolve_axis(axis, rank, "axis", || engine.shape_text(data))?;
    // A different rank is for `take_along_axis` to refuse.
    if engine.rank(index)? != rank {
        return Ok(data.clone());
    }
    let mut items = vec![Item::from(..); rank];
    for at in (0..rank).filter(|at| *at != axis) {
        let (has, wanted) = (engine.size(data, at), engine.size(index, at));
        let too_far = || {
            let message = format!(
                "axis {at} has size {has} in the data, but {wanted} in the indices, which is more"
            );
            Error::shape(message)
                .at_argument("indices")
                .at_axis(at)
                .sizes(&has, &wanted)
        };
        match (has.same(&wanted), has.known(), wanted.known()) {
            (Truth::Yes, ..) => {}
            (_, Some(size), Some(wanted)) if wanted < size => items[at] = Item::from(..wanted),
            _ => engine.require(Condition::Same(has.clone(), wanted.clone()), too_far)?,
        }
    }
    if items.iter().all(|item| *item == Item::from(..)) {
        return Ok(data.clone());
    }
    let items = Items::from(items);
    engine.apply(&operators::Slice { items }, &[data])
}
