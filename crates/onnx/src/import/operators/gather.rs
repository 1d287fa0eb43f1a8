//! `Gather` and `GatherElements`: elements at given indices.

use stridewise_core::engine::Engine;
use stridewise_core::params::{Item, Items, Mode, resolve_axis};
use stridewise_core::size::{Size, Truth};
use stridewise_core::{Error, Result, operators};

use super::Node;
use crate::import::attributes::Attributes;
use crate::import::enforced::enforced;
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
        let engine = given.engine;
        let (data, index) = aligned(engine, given.tensor(0)?, given.tensor(1)?, self.axis)?;
        let take = operators::TakeAlongAxis {
            axis: Some(self.axis),
        };
        engine.apply(&take, &[&data, &index])
    }
}

/// The data as far as the index reaches off the axis, and the index: ONNX reads the first so many, where
/// `take_along_axis` would stretch an index of size 1. Sizes that are not known yet must be equal.
fn aligned<E: Engine>(
    engine: &E,
    data: &E::Value,
    index: &E::Value,
    axis: isize,
) -> Result<(E::Value, E::Value)> {
    let rank = engine.rank(data)?;
    let axis = resolve_axis(axis, rank, "axis", || engine.shape_text(data))?;
    let (mut cut, mut same) = (data.clone(), index.clone());
    // A different rank is for `take_along_axis` to refuse.
    if engine.rank(index)? != rank {
        return Ok((cut, same));
    }
    let mut items = vec![Item::from(..); rank];
    let mut open = vec![None; rank];
    for at in (0..rank).filter(|at| *at != axis) {
        let (has, wanted) = (engine.size(data, at), engine.size(index, at));
        match (has.same(&wanted), has.known(), wanted.known()) {
            (Truth::Yes, ..) => {}
            (_, Some(size), Some(wanted)) if wanted < size => items[at] = Item::from(..wanted),
            (Truth::Unknown, ..) => open[at] = Some(has),
            (Truth::No, ..) => {
                let message = format!(
                    "axis {at} has size {has} in the data, but {wanted} in the indices, which is more"
                );
                return Err(Error::shape(message)
                    .at_argument("indices")
                    .at_axis(at)
                    .sizes(&has, &wanted));
            }
        }
    }
    if items.iter().any(|item| *item != Item::from(..)) {
        let items = Items::from(items);
        cut = engine.apply(&operators::Slice { items }, &[data])?;
    }
    if open.iter().any(Option::is_some) {
        same = enforced(engine, index, open)?;
    }
    Ok((cut, same))
}
