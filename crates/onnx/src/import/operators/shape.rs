//! `Shape`: the sizes as a tensor, or some of them.

use stridewise_core::engine::Engine;
use stridewise_core::{Result, operators};

use super::Node;
use crate::import::attributes::Attributes;
use crate::import::given::{Given, Input, Takes};

#[derive(Clone, Debug)]
pub(in crate::import) struct Shape {
    start: isize,
    end: Option<isize>,
}

impl Node for Shape {
    const NAME: &'static str = "Shape";
    const INPUTS: &'static [Input] = &[("data", Takes::Tensor)];

    fn read(attributes: &mut Attributes<'_>) -> Result<Shape> {
        if !attributes.since(15) {
            let (start, end) = (0, None);
            return Ok(Shape { start, end });
        }
        Ok(Shape {
            start: attributes.place("start")?.unwrap_or(0),
            end: attributes.place("end")?,
        })
    }

    fn run<E: Engine>(&self, given: &Given<'_, '_, E>) -> Result<E::Value> {
        let (engine, x) = (given.engine, given.tensor(0)?);
        if (self.start, self.end) == (0, None) {
            return engine.apply(&operators::ShapeOf {}, &[x]);
        }
        let shape = engine.shape(x)?;
        let end = self
            .end
            .map_or(shape.len(), |end| clipped(end, shape.len()));
        let start = clipped(self.start, shape.len()).min(end);
        engine.sizes(&shape[start..end])
    }
}

/// A place among axes, counted from either end, or the nearest there is.
fn clipped(place: isize, rank: usize) -> usize {
    let from_front = match place < 0 {
        true => place.saturating_add_unsigned(rank),
        false => place,
    };
    usize::try_from(from_front).unwrap_or(0).min(rank)
}
