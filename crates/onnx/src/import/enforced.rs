//! Requirements that an engine cannot decide yet. They become calls of `enforce_shape`, which a graph keeps and
//! checks in every run.

use stridewise_core::engine::Engine;
use stridewise_core::params::{Pattern, Piece};
use stridewise_core::{Result, operators};

/// The tensor, of which these sizes are required; none where any will do.
pub(super) fn enforced<E: Engine>(
    engine: &E,
    x: &E::Value,
    sizes: Vec<Option<E::Size>>,
) -> Result<E::Value> {
    let pieces = sizes
        .into_iter()
        .map(|size| size.map_or(Piece::Any, Piece::Is));
    let pattern = Pattern(pieces.collect());
    let (x, _) = engine.apply(&operators::EnforceShape { pattern }, &[x])?;
    Ok(x)
}
