//! `Expand`: axes of size 1 repeated. Unlike Stridewise's own, both sides may have axes of size 1 and either may
//! have more axes.

use stridewise_core::engine::Engine;
use stridewise_core::params::Extent;
use stridewise_core::size::{Size, Truth, tuple};
use stridewise_core::{Error, Result, operators};

use super::Node;
use crate::import::attributes::Attributes;
use crate::import::given::{Given, Input, Takes};

#[derive(Clone, Debug)]
pub(in crate::import) struct Expand;

impl Node for Expand {
    const NAME: &'static str = "Expand";
    const INPUTS: &'static [Input] = &[("input", Takes::Tensor), ("shape", Takes::Numbers)];

    fn read(_: &mut Attributes<'_>) -> Result<Expand> {
        Ok(Expand)
    }

    fn run<E: Engine>(&self, given: &Given<'_, '_, E>) -> Result<E::Value> {
        let (engine, x) = (given.engine, given.tensor(0)?);
        let shape = given.needed_sizes(1)?;
        let rank = engine.rank(x)?;
        let new = shape.len().saturating_sub(rank);
        // The axes that the shape does not reach are kept, and so are those it has a 1 for.
        let missing = rank.saturating_sub(shape.len());
        let mut sizes: Vec<Extent<E::Size>> = vec![Extent::Infer; missing];
        for (at, extent) in shape.iter().enumerate() {
            sizes.push(match extent {
                Extent::Is(size) if at >= new && size.is(1) == Truth::Yes => Extent::Infer,
                Extent::Is(_) => extent.clone(),
                negative => {
                    let message =
                        format!("shape[{at}] is {negative}, but a size cannot be negative");
                    return Err(Error::shape(message)
                        .at_argument("shape")
                        .at_item(at)
                        .note("shape", tuple(&shape))
                        .help("1 keeps an axis"));
                }
            });
        }
        let expand = operators::Expand {
            sizes: sizes.into_iter().collect(),
        };
        engine.apply(&expand, &[x])
    }
}
