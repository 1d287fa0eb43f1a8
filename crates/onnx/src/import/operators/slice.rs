//! `Slice`: parts of axes.

use stridewise_core::engine::Engine;
use stridewise_core::params::{Item, Items, resolve_axis};
use stridewise_core::size::{Size, tuple};
use stridewise_core::{Error, Result, operators};

use super::Node;
use crate::import::attributes::Attributes;
use crate::import::given::{Given, Input, Takes};

#[derive(Clone, Debug)]
pub(in crate::import) struct Slice;

impl Node for Slice {
    const NAME: &'static str = "Slice";
    const INPUTS: &'static [Input] = &[
        ("data", Takes::Tensor),
        ("starts", Takes::Numbers),
        ("ends", Takes::Numbers),
        ("axes", Takes::OptionalNumbers),
        ("steps", Takes::OptionalNumbers),
    ];

    fn read(_: &mut Attributes<'_>) -> Result<Slice> {
        Ok(Slice)
    }

    fn run<E: Engine>(&self, given: &Given<'_, '_, E>) -> Result<E::Value> {
        let (engine, x) = (given.engine, given.tensor(0)?);
        let rank = engine.rank(x)?;
        let starts = given.needed_numbers(1)?;
        let ends = given.needed_numbers(2)?;
        let axes = given.numbers(3)?;
        let axes = axes.unwrap_or_else(|| (0..starts.len() as isize).collect());
        let steps = given.numbers(4)?.unwrap_or_else(|| vec![1; starts.len()]);
        for (name, list) in [("ends", &ends), ("axes", &axes), ("steps", &steps)] {
            if list.len() != starts.len() {
                let message = format!(
                    "there are {} {name}, but {} starts",
                    list.len(),
                    starts.len()
                );
                return Err(Error::shape(message)
                    .at_argument(name)
                    .sizes(starts.len(), list.len()));
            }
        }
        let mut items = vec![None; rank];
        for (at, &axis) in axes.iter().enumerate() {
            let axis = resolve_axis(axis, rank, "axes", || engine.shape_text(x))?;
            let start = first(starts[at], steps[at], engine.size(x, axis), axis)?;
            let range = Item::Range {
                start: Some(start),
                stop: Some(ends[at]),
                step: steps[at],
            };
            if items[axis].replace(range).is_some() {
                let message = format!("axes names axis {axis} more than once");
                return Err(Error::axis(message)
                    .at_argument("axes")
                    .at_item(at)
                    .note("axes", tuple(&axes)));
            }
        }
        let whole = Item::from(..);
        let items: Vec<Item> = items
            .into_iter()
            .map(|item| item.unwrap_or(whole))
            .collect();
        let items = Items::from(items);
        engine.apply(&operators::Slice { items }, &[x])
    }
}

/// Where a slice begins. Backwards from before the front, ONNX begins at 0, where Python reads nothing.
fn first<S: Size>(start: isize, step: isize, size: S, axis: usize) -> Result<isize> {
    if start >= -1 || step > 0 {
        return Ok(start);
    }
    let size = size.known().ok_or_else(|| {
        Error::too_early(format!(
            "axis {axis} has size {size}, which is not known yet"
        ))
        .at_argument("starts")
        .at_axis(axis)
    })?;
    Ok(start.saturating_add_unsigned(size).max(0))
}
