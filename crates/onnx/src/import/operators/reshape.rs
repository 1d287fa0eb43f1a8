//! `Reshape`: another shape, in which a 0 may stand for the input's size at its place.

use stridewise_core::engine::{Condition, Engine};
use stridewise_core::params::Extent;
use stridewise_core::size::{Size, Truth, tuple};
use stridewise_core::{Error, Result, operators};

use super::Node;
use crate::import::attributes::Attributes;
use crate::import::given::{Given, Input, Takes};

#[derive(Clone, Debug)]
pub(in crate::import) struct Reshape {
    /// Whether a 0 is a size of 0.
    allow_zero: bool,
}

impl Node for Reshape {
    const NAME: &'static str = "Reshape";
    const INPUTS: &'static [Input] = &[("data", Takes::Tensor), ("shape", Takes::Numbers)];

    fn read(attributes: &mut Attributes<'_>) -> Result<Reshape> {
        let known = attributes.since(14);
        Ok(Reshape {
            allow_zero: known && attributes.flag("allowzero", false)?,
        })
    }

    fn run<E: Engine>(&self, given: &Given<'_, '_, E>) -> Result<E::Value> {
        let (engine, x) = (given.engine, given.tensor(0)?);
        let mut shape = given.needed_sizes(1)?;
        for at in 0..shape.len() {
            if let (Extent::Is(size), false) = (&shape[at], self.allow_zero) {
                let size = or_copied(engine, x, at, size).map_err(|error| {
                    error
                        .at_argument("shape")
                        .at_item(at)
                        .note("shape", tuple(&shape))
                })?;
                shape[at] = Extent::Is(size);
            }
        }
        let reshape = operators::Reshape {
            shape: shape.into_iter().collect(),
        };
        engine.apply(&reshape, &[x])
    }
}

/// The size itself, or the input's at the same place where it is 0.
fn or_copied<E: Engine>(engine: &E, x: &E::Value, at: usize, size: &E::Size) -> Result<E::Size> {
    let zero = size.is(0);
    if zero == Truth::No {
        return Ok(size.clone());
    }
    let has = match at < engine.rank(x)? {
        true => Some(engine.size(x, at)),
        false => None,
    };
    match (zero, has) {
        (Truth::Yes, Some(has)) => Ok(has),
        (Truth::Yes, None) => Err(Error::shape(format!(
            "shape[{at}] is 0, which copies axis {at}, but the input has no such axis"
        ))
        .note("input shape", engine.shape_text(x))
        .help("allowzero makes 0 a size like any other")),
        (_, Some(has)) if has.same(size) == Truth::Yes => Ok(has),
        // A size that is not known yet is taken for itself; were it to be 0, it would have to be copied instead. An
        // engine that lets the requirement pass refuses such a run nevertheless, unless the input is empty.
        _ => {
            let is_some = Condition::Readable {
                reads: 1.into(),
                from: size.clone(),
            };
            engine.require(is_some, || {
                Error::shape(format!("shape[{at}] is {size}, which turned out to be 0"))
            })?;
            Ok(size.clone())
        }
    }
}
