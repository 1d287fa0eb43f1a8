//! What an engine does for its tensors to lie on many ranks.

mod cpu;
mod dry;
#[cfg(feature = "gpu")]
mod gpu;

pub use dry::Imagined;

use stridewise_core::dtype::DType;
use stridewise_core::engine::{Along, Engine};
use stridewise_core::error::{Error, Result};
use stridewise_core::params::Mode;
use stridewise_core::size::Shape;

use crate::mesh::Line;
use crate::sbp::Reduction;
use crate::world::Collective;

/// An engine whose tensors can be the parts of a global one.
pub trait Local: Engine<Size = usize> + Clone {
    /// How it reaches the other ranks.
    type World: Ranks;

    /// The parts of all ranks of the line, one after another along `axis`, where they have these sizes.
    fn all_gather(
        &self,
        to: &Link<'_, Self>,
        x: &Self::Value,
        axis: usize,
        sizes: &[usize],
    ) -> Result<Self::Value>;

    /// Each rank's tensor is cut along an axis, and each rank gets its piece of all, one after another along another
    /// axis (or the same one).
    fn all_to_all(
        &self,
        to: &Link<'_, Self>,
        x: &Self::Value,
        cut: (usize, &[usize]),
        join: (usize, &[usize]),
    ) -> Result<Self::Value>;

    /// The tensors of all ranks, reduced to one, of which each rank gets its part along `axis`.
    fn reduce_scatter(
        &self,
        to: &Link<'_, Self>,
        x: &Self::Value,
        axis: usize,
        sizes: &[usize],
        by: Reduction,
    ) -> Result<Self::Value>;

    /// The tensors of all ranks, reduced to one.
    fn all_reduce(
        &self,
        to: &Link<'_, Self>,
        x: &Self::Value,
        by: Reduction,
    ) -> Result<Self::Value>;

    /// An index into all cells as an index into those of a window.
    fn relocate(&self, index: &Self::Value, seen: &Lookup<'_>) -> Result<Relocated<Self::Value>>;
}

/// Who takes part in a collective, and on whose behalf.
pub struct Link<'a, E: Local> {
    /// The world.
    pub world: &'a E::World,
    /// The ranks that take part.
    pub line: Line,
    /// The operator or method, for messages.
    pub operator: &'static str,
}

/// Which of how many ranks this is.
pub trait Ranks: Clone {
    /// This rank.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// Whether both are the same rank of the same world.
    fn is(&self, other: &Self) -> bool;

    /// Bytes this rank has received from others so far.
    fn received(&self) -> u64;

    /// Tells the others that this rank has failed.
    fn fail(&self, why: &Error);
}

/// The cells that a part has, of those an index can address.
pub struct Lookup<'a> {
    /// The cells it has.
    pub cells: std::ops::Range<usize>,
    /// What an index outside all of them means.
    pub mode: Mode,
    /// The shape of the whole source, for messages.
    pub source: &'a [usize],
    /// Which of its axes the index addresses.
    pub along: &'a Along,
}

/// An index into a window.
pub struct Relocated<V> {
    /// As int64; what lies outside the window is outside for certain, however it is counted.
    pub index: V,
    /// 1 where an index lay outside all cells, and stands for a fill value; else 0.
    pub outside: V,
}

/// A shape with another size of one axis.
fn piece(shape: &[usize], axis: usize, size: usize) -> Shape {
    let mut piece = Shape::from(shape);
    piece[axis] = size;
    piece
}

/// What a rank sends to each and receives from each, in bytes, where tensors are cut along one axis and put together
/// along another or the same; and what arrives, but for the size of the latter axis.
struct Exchange {
    send: Vec<usize>,
    recv: Vec<usize>,
    arriving: Shape,
}

impl Exchange {
    fn new(
        shape: &[usize],
        dtype: DType,
        cut: (usize, &[usize]),
        join: (usize, &[usize]),
        at: usize,
    ) -> Exchange {
        let arriving = match cut.0 == join.0 {
            true => Shape::from(shape),
            false => piece(shape, cut.0, cut.1[at]),
        };
        Exchange {
            send: bytes_of_parts(shape, cut.0, cut.1, dtype),
            recv: bytes_of_parts(&arriving, join.0, join.1, dtype),
            arriving,
        }
    }

    fn collective(&self) -> Collective<'_> {
        Collective::AllToAll {
            send: &self.send,
            recv: &self.recv,
        }
    }
}

/// Whether the pieces of an axis lie one after another in packed memory, so that none must be put in order.
fn in_order(shape: &[usize], axis: usize) -> bool {
    shape[..axis].iter().product::<usize>() <= 1
}

/// The bytes of the parts that an axis is cut into.
fn bytes_of_parts(shape: &[usize], axis: usize, sizes: &[usize], dtype: DType) -> Vec<usize> {
    let others = (0..shape.len()).filter(|at| *at != axis);
    let row: usize = others.map(|at| shape[at]).product::<usize>() * dtype.width();
    sizes.iter().map(|size| size * row).collect()
}
