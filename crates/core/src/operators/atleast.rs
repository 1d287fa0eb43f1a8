//! `atleast_1d`, `atleast_2d`, `atleast_3d` and `atleast_nd`: new axes of size 1 until there are enough.
//! Several inputs are the front doors' business; each counts as one array, as in NumPy.

use crate::axis::Axis;
use crate::engine::Engine;
use crate::error::Result;
use crate::operator::Operator;
use crate::params::Place;

/// At least one axis.
#[derive(Clone, Debug)]
pub struct Atleast1d {}

/// At least two axes; a row of N becomes (1, N).
#[derive(Clone, Debug)]
pub struct Atleast2d {}

/// At least three axes; a row of N becomes (1, N, 1), a matrix (M, N) becomes (M, N, 1).
#[derive(Clone, Debug)]
pub struct Atleast3d {}

/// At least `n` axes, with the new ones where `place` says.
#[derive(Clone, Debug)]
pub struct AtleastNd {
    /// How many axes there are at least.
    pub n: usize,
    /// On which side new axes go.
    pub place: Place,
}

impl<E: Engine> Operator<E> for Atleast1d {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        pad(engine, inputs[0], 1, Place::Front)
    }
}

impl<E: Engine> Operator<E> for Atleast2d {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        pad(engine, inputs[0], 2, Place::Front)
    }
}

impl<E: Engine> Operator<E> for Atleast3d {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        pad(engine, inputs[0], 3, Place::Numpy)
    }
}

impl<E: Engine> Operator<E> for AtleastNd {
    type Output = E::Value;

    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        pad(engine, inputs[0], self.n, self.place)
    }
}

#[inline]
fn pad<E: Engine>(engine: &E, x: &E::Value, n: usize, place: Place) -> Result<E::Value> {
    let rank = engine.rank(x)?;
    if rank >= n {
        return Ok(x.clone());
    }
    let front = match place {
        Place::Front => n - rank,
        Place::Back => 0,
        // NumPy's table carried on to any n: the last new axis goes behind once there are three.
        Place::Numpy => n - rank - usize::from(n >= 3 && rank > 0),
    };
    engine.view(x, n, |out| match out.checked_sub(front) {
        Some(axis) if axis < rank => Axis::Of(axis),
        _ => Axis::Fresh(1.into()),
    })
}
