//! `Tile`: the whole tensor several times along each axis.

use stridewise_core::engine::Engine;
use stridewise_core::size::tuple;
use stridewise_core::{Error, Result, operators};

use super::Node;
use crate::import::attributes::Attributes;
use crate::import::given::{Given, Input, Takes};

#[derive(Clone, Debug)]
pub(in crate::import) struct Tile;

impl Node for Tile {
    const NAME: &'static str = "Tile";
    const INPUTS: &'static [Input] = &[("input", Takes::Tensor), ("repeats", Takes::Numbers)];

    fn read(_: &mut Attributes<'_>) -> Result<Tile> {
        Ok(Tile)
    }

    fn run<E: Engine>(&self, given: &Given<'_, '_, E>) -> Result<E::Value> {
        let (engine, x) = (given.engine, given.tensor(0)?);
        let repeats = given.needed_sizes(1)?;
        let rank = engine.rank(x)?;
        // Stridewise's own would add axes.
        if repeats.len() != rank {
            let message = format!(
                "repeats has {} numbers, but the input has rank {rank}",
                repeats.len()
            );
            return Err(Error::shape(message)
                .at_argument("repeats")
                .sizes(rank, repeats.len())
                .note("repeats", tuple(&repeats)));
        }
        let repeat = operators::Repeat {
            sizes: repeats.into_iter().collect(),
        };
        engine.apply(&repeat, &[x])
    }
}
