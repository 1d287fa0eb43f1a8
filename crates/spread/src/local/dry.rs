//! Parts without data: a rank of a world that is only imagined, to learn what would be sent.

use std::cell::Cell;
use std::rc::Rc;

use stridewise_core::dtype::DType;
use stridewise_core::error::{Error, Result};
use stridewise_core::size::Shape;
use stridewise_dry::{Dry, Sketch};

use super::{Link, Local, Lookup, Ranks, Relocated, bytes_of_parts, joined, piece};
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
        let shapes: Vec<Shape> = sizes
            .iter()
            .map(|size| piece(x.shape(), axis, *size))
            .collect();
        count(to, Collective::AllGather { counts: &counts }, x);
        self.tensor(x.dtype(), &joined(&shapes, axis))
    }

    fn all_to_all(
        &self,
        to: &Link<'_, Dry>,
        x: &Sketch,
        cut: (usize, &[usize]),
        join: (usize, &[usize]),
    ) -> Result<Sketch> {
        let at = to.line.place(to.world.rank);
        let arriving = match cut.0 == join.0 {
            true => Shape::from(x.shape()),
            false => piece(x.shape(), cut.0, cut.1[at]),
        };
        let send = bytes_of_parts(x.shape(), cut.0, cut.1, x.dtype());
        let recv = bytes_of_parts(&arriving, join.0, join.1, x.dtype());
        count(
            to,
            Collective::AllToAll {
                send: &send,
                recv: &recv,
            },
            x,
        );
        self.tensor(x.dtype(), &piece(&arriving, join.0, join.1.iter().sum()))
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
        self.tensor(x.dtype(), &piece(x.shape(), axis, sizes[at]))
    }

    fn all_reduce(&self, to: &Link<'_, Dry>, x: &Sketch, by: Reduction) -> Result<Sketch> {
        count(to, Collective::AllReduce { by }, x);
        self.tensor(x.dtype(), x.shape())
    }

    fn relocate(&self, index: &Sketch, _: &Lookup<'_>) -> Result<Relocated<Sketch>> {
        Ok(Relocated {
            index: self.tensor(DType::I64, index.shape())?,
            outside: self.tensor(DType::U8, index.shape())?,
        })
    }
}

/// Counts what a rank would receive.
fn count(to: &Link<'_, Dry>, what: Collective<'_>, sent: &Sketch) {
    let at = to.line.place(to.world.rank);
    let bytes = what.received(at, to.line.len, sent.bytes(), sent.dtype().width());
    let received = &to.world.received;
    received.set(received.get().saturating_add(bytes as u64));
}
