//! Parts without data: a rank of a world that is only imagined, to learn what would be sent.

use std::cell::Cell;
use std::rc::Rc;

use stridewise_core::dtype::DType;
use stridewise_core::error::{Error, Result};
use stridewise_dry::{Dry, Sketch};

use super::{Exchange, Link, Local, Lookup, Ranks, Relocated, bytes_of_parts, in_order, piece};
use crate::sbp::Reduction;
use crate::world::Collective;

/// One rank of a world of any size, of which nothing exists.
#[derive(Clone, Debug)]
pub struct Imagined {
    rank: usize,
    size: usize,
    received: Rc<Cell<u64>>,
}

impl Imagined {
    /// Rank `rank` of `size`.
    pub fn new(rank: usize, size: usize) -> Imagined {
        Imagined {
            rank,
            size,
            received: Rc::default(),
        }
    }
}

impl Ranks for Imagined {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn is(&self, other: &Imagined) -> bool {
        (self.rank, self.size) == (other.rank, other.size)
    }

    fn received(&self) -> u64 {
        self.received.get()
    }

    fn fail(&self, _: &Error) {}
}

impl Local for Dry {
    type World = Imagined;

    fn all_gather(
        &self,
        to: &Link<'_, Dry>,
        x: &Sketch,
        axis: usize,
        sizes: &[usize],
    ) -> Result<Sketch> {
        let counts = bytes_of_parts(x.shape(), axis, sizes, x.dtype());
        count(to, Collective::AllGather { counts: &counts }, x);
        let _sent = packed(self, x)?;
        let whole = piece(x.shape(), axis, sizes.iter().sum());
        received(self, x.dtype(), &whole, axis)
    }

    fn all_to_all(
        &self,
        to: &Link<'_, Dry>,
        x: &Sketch,
        cut: (usize, &[usize]),
        join: (usize, &[usize]),
    ) -> Result<Sketch> {
        let at = to.line.place(to.world.rank);
        let exchange = Exchange::new(x.shape(), x.dtype(), cut, join, at);
        count(to, exchange.collective(), x);
        let _sent = pieces(self, x, cut.0)?;
        let whole = piece(&exchange.arriving, join.0, join.1.iter().sum());
        received(self, x.dtype(), &whole, join.0)
    }

    fn reduce_scatter(
        &self,
        to: &Link<'_, Dry>,
        x: &Sketch,
        axis: usize,
        sizes: &[usize],
        by: Reduction,
    ) -> Result<Sketch> {
        let at = to.line.place(to.world.rank);
        let counts = bytes_of_parts(x.shape(), axis, sizes, x.dtype());
        count(
            to,
            Collective::ReduceScatter {
                counts: &counts,
                by,
            },
            x,
        );
        let _sent = pieces(self, x, axis)?;
        self.tensor(x.dtype(), &piece(x.shape(), axis, sizes[at]))
    }

    fn all_reduce(&self, to: &Link<'_, Dry>, x: &Sketch, by: Reduction) -> Result<Sketch> {
        count(to, Collective::AllReduce { by }, x);
        let _sent = packed(self, x)?;
        self.tensor(x.dtype(), x.shape())
    }

    fn relocate(&self, index: &Sketch, _: &Lookup<'_>) -> Result<Relocated<Sketch>> {
        Ok(Relocated {
            index: self.tensor(DType::I64, index.shape())?,
            outside: self.tensor(DType::U8, index.shape())?,
        })
    }
}

/// The memory that is sent from: that of the tensor where it is packed, otherwise of a copy.
fn packed(dry: &Dry, x: &Sketch) -> Result<Sketch> {
    match x.layout().is_packed() {
        true => Ok(x.clone()),
        false => dry.tensor(x.dtype(), x.shape()),
    }
}

/// The same where pieces of an axis are sent, one after another.
fn pieces(dry: &Dry, x: &Sketch, axis: usize) -> Result<Sketch> {
    match in_order(x.shape(), axis) {
        true => packed(dry, x),
        false => dry.tensor(x.dtype(), x.shape()),
    }
}

/// What arrives along an axis; where that is not the order in memory, it arrives elsewhere and is copied.
fn received(dry: &Dry, dtype: DType, shape: &[usize], axis: usize) -> Result<Sketch> {
    let _arrived = match in_order(shape, axis) {
        true => None,
        false => Some(dry.tensor(dtype, shape)?),
    };
    dry.tensor(dtype, shape)
}

/// Counts what a rank would receive.
fn count(to: &Link<'_, Dry>, what: Collective<'_>, sent: &Sketch) {
    let at = to.line.place(to.world.rank);
    let bytes = what.received(at, to.line.len, sent.bytes(), sent.dtype().width());
    let received = &to.world.received;
    received.set(received.get().saturating_add(bytes as u64));
}
