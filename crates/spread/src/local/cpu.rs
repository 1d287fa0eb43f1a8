//! Parts in main memory, carried by a world from where they lie to where they go.

use stridewise_core::axis::Axis;
use stridewise_core::dtype::DType;
use stridewise_core::engine::Engine;
use stridewise_core::error::{Error, Result};
use stridewise_cpu::{Cpu, Rows, Tensor};

use super::{Exchange, Link, Local, Lookup, Ranks, Relocated, bytes_of_parts, in_order, piece};
use crate::sbp::Reduction;
use crate::world::{Call, Collective, World};

impl Ranks for World {
    fn rank(&self) -> usize {
        self.wire().rank()
    }

    fn size(&self) -> usize {
        self.wire().size()
    }

    fn is(&self, other: &World) -> bool {
        std::ptr::addr_eq(self.wire(), other.wire())
    }

    fn received(&self) -> u64 {
        self.wire().received()
    }

    fn fail(&self, why: &Error) {
        self.wire().fail(why);
    }
}

impl Local for Cpu {
    type World = World;

    fn all_gather(
        &self,
        to: &Link<'_, Cpu>,
        x: &Tensor,
        axis: usize,
        sizes: &[usize],
    ) -> Result<Tensor> {
        let counts = bytes_of_parts(x.shape(), axis, sizes, x.dtype());
        let what = Collective::AllGather { counts: &counts };
        let x = &packed(x)?;
        let send = [Rows::from(x)];
        received(to, what, x.dtype(), &send, x.shape(), (axis, sizes))
    }

    fn all_to_all(
        &self,
        to: &Link<'_, Cpu>,
        x: &Tensor,
        cut: (usize, &[usize]),
        join: (usize, &[usize]),
    ) -> Result<Tensor> {
        let at = to.line.place(Ranks::rank(to.world));
        let exchange = Exchange::new(x.shape(), x.dtype(), cut, join, at);
        let pieces = pieces(&by_rows(x)?, cut.0, cut.1)?;
        let send: Vec<Rows<'_>> = pieces.iter().map(Rows::from).collect();
        let what = exchange.collective();
        received(to, what, x.dtype(), &send, &exchange.arriving, join)
    }

    fn reduce_scatter(
        &self,
        to: &Link<'_, Cpu>,
        x: &Tensor,
        axis: usize,
        sizes: &[usize],
        by: Reduction,
    ) -> Result<Tensor> {
        let at = to.line.place(Ranks::rank(to.world));
        let counts = bytes_of_parts(x.shape(), axis, sizes, x.dtype());
        let what = Collective::ReduceScatter {
            counts: &counts,
            by,
        };
        let send = in_a_row(x, axis, sizes)?;
        moved(to, what, &send, &piece(x.shape(), axis, sizes[at]))
    }

    fn all_reduce(&self, to: &Link<'_, Cpu>, x: &Tensor, by: Reduction) -> Result<Tensor> {
        moved(to, Collective::AllReduce { by }, &packed(x)?, x.shape())
    }

    fn relocate(&self, index: &Tensor, seen: &Lookup<'_>) -> Result<Relocated<Tensor>> {
        let cells = seen.cells.clone();
        let (index, outside) = self.windowed(index, seen.along, seen.source, seen.mode, cells)?;
        Ok(Relocated { index, outside })
    }
}

/// The tensor as it is where it is packed, otherwise a packed copy.
fn packed(x: &Tensor) -> Result<Tensor> {
    match x.is_contiguous() {
        true => Ok(x.clone()),
        false => Cpu.copy(x),
    }
}

/// The tensor as it is where elements of its last axis are neighbours, so that it is read in runs; otherwise a packed
/// copy.
fn by_rows(x: &Tensor) -> Result<Tensor> {
    match x.strides().last() {
        None | Some(1) => Ok(x.clone()),
        _ => packed(x),
    }
}

/// The pieces of a tensor cut along an axis.
fn pieces(x: &Tensor, axis: usize, sizes: &[usize]) -> Result<Vec<Tensor>> {
    let mut start = 0;
    let mut pieces = Vec::with_capacity(sizes.len());
    for &len in sizes {
        let cut = Axis::Slice {
            of: axis,
            start,
            len,
            step: 1,
        };
        pieces.push(Cpu.view(x, x.rank(), |out| match out == axis {
            true => cut.clone(),
            false => Axis::Of(out),
        })?);
        start += len;
    }
    Ok(pieces)
}

/// They, one after another in one run of memory.
fn in_a_row(x: &Tensor, axis: usize, sizes: &[usize]) -> Result<Tensor> {
    match in_order(x.shape(), axis) {
        true => packed(x),
        false => Tensor::packed_together(&pieces(x, axis, sizes)?),
    }
}

/// Does a collective that gives a packed tensor of that shape.
fn moved(
    to: &Link<'_, Cpu>,
    what: Collective<'_>,
    send: &Tensor,
    shape: &[usize],
) -> Result<Tensor> {
    let call = Call {
        operator: to.operator,
        what,
        dtype: send.dtype(),
    };
    let none = || Error::argument("only packed tensors are sent");
    let bytes = send.as_bytes().ok_or_else(none)?;
    Tensor::from_writer(send.dtype(), shape, |into| {
        to.world.wire().collective(to.line, &call, bytes, into)
    })
}

/// Does a collective that gives tensors of that shape but for one axis, each in its place along it.
fn received(
    to: &Link<'_, Cpu>,
    what: Collective<'_>,
    dtype: DType,
    send: &[Rows<'_>],
    shape: &[usize],
    (axis, sizes): (usize, &[usize]),
) -> Result<Tensor> {
    let call = Call {
        operator: to.operator,
        what,
        dtype,
    };
    let whole = piece(shape, axis, sizes.iter().sum());
    Tensor::from_pieces(dtype, &whole, (axis, sizes), |recv| {
        to.world.wire().exchange(to.line, &call, send, recv)
    })
}
