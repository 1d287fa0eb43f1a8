//! Parts in main memory: packed, carried by a world, and unpacked. What lies in one run already is sent from where it
//! is, and what arrives in order stays where it arrives.

use stridewise_core::axis::Axis;
use stridewise_core::dtype::DType;
use stridewise_core::engine::Engine;
use stridewise_core::error::{Error, Result};
use stridewise_core::layout::Layout;
use stridewise_core::size::Shape;
use stridewise_cpu::{Cpu, Tensor};

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
        received(to, what, &packed(x)?, x.shape(), (axis, sizes))
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
        let send = pieces(x, cut.0, cut.1)?;
        received(to, exchange.collective(), &send, &exchange.arriving, join)
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
        let send = pieces(x, axis, sizes)?;
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

/// The pieces of a tensor cut along an axis, one after another in one run of memory.
fn pieces(x: &Tensor, axis: usize, sizes: &[usize]) -> Result<Tensor> {
    if in_order(x.shape(), axis) {
        return packed(x);
    }
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
    Tensor::packed_together(&pieces)
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

/// Does a collective that gives tensors of that shape but for one axis, and puts them together along it.
fn received(
    to: &Link<'_, Cpu>,
    what: Collective<'_>,
    send: &Tensor,
    shape: &[usize],
    (axis, sizes): (usize, &[usize]),
) -> Result<Tensor> {
    let whole = piece(shape, axis, sizes.iter().sum());
    if in_order(&whole, axis) {
        return moved(to, what, send, &whole);
    }
    let flat = moved(to, what, send, &[whole.iter().product()])?;
    let shapes: Vec<Shape> = sizes.iter().map(|size| piece(shape, axis, *size)).collect();
    let parts = unpacked(&flat, &shapes, send.dtype())?;
    Cpu.concat(&parts.iter().collect::<Vec<_>>(), axis)
}

/// Views of tensors that lie one after another.
fn unpacked(flat: &Tensor, shapes: &[Shape], dtype: DType) -> Result<Vec<Tensor>> {
    let mut start = 0;
    let mut parts = Vec::with_capacity(shapes.len());
    for shape in shapes {
        let packed = Layout::packed(dtype.width(), shape)?;
        let layout = Layout::new(dtype.width(), &shape[..], packed.strides(), start)?;
        start += layout.count();
        parts.push(flat.with_layout(layout)?);
    }
    Ok(parts)
}
