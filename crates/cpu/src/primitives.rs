//! The primitives that make tensors: each takes memory for its result and calls one kernel.

use std::cell::Cell;
use std::sync::Arc;

use stridewise_core::engine::{Along, Engine};
use stridewise_core::layout::Seen;
use stridewise_core::params::{Mode, Scalar};
use stridewise_core::rules::{
    self, bad_index, concat_dtype, concat_shape, require_alike, require_updates, sum_shape,
};
use stridewise_core::size::Shape;
use stridewise_core::smallvec::SmallVec;
use stridewise_core::{Axis, DType, Error, Layout, Result};

use crate::engine::Cpu;
use crate::kernels::index::{BadIndex, Bounds};
use crate::kernels::{self, Block, BlockMut};
use crate::scalar::element;
use crate::storage::Storage;
use crate::tensor::{Room, Tensor, allocate};

/// Where results get their memory.
pub trait Rooms {
    /// Room for so many bytes, which nobody else has.
    #[doc(hidden)]
    fn room(&self, bytes: usize) -> Result<Room>;
}

/// Memory from the pool.
pub struct Pool;

/// The memory of an earlier result, where nobody has that any more and it is large enough; otherwise from the
/// pool.
pub struct Spare(Cell<Option<Arc<Storage>>>);

impl Rooms for Pool {
    #[inline]
    fn room(&self, bytes: usize) -> Result<Room> {
        allocate(bytes)
    }
}

impl Spare {
    /// Memory that may be used again.
    pub fn new(storage: Option<Arc<Storage>>) -> Spare {
        Spare(Cell::new(storage))
    }
}

impl Rooms for Spare {
    fn room(&self, bytes: usize) -> Result<Room> {
        match self.0.take().map(|storage| Room::again(storage, bytes)) {
            Some(Some(room)) => Ok(room),
            _ => allocate(bytes),
        }
    }
}

/// The primitives, with results where `R` says.
pub struct Primitives<'r, R>(pub &'r R);

/// A packed result that is still being written.
pub(crate) struct Unfinished {
    buffer: Room,
    layout: Layout,
    dtype: DType,
}

impl Unfinished {
    pub(crate) fn new(rooms: &impl Rooms, dtype: DType, dims: &[usize]) -> Result<Unfinished> {
        let layout = Layout::packed(dtype.width(), dims)?;
        let buffer = rooms.room(layout.count() * dtype.width())?;
        Ok(Unfinished {
            buffer,
            layout,
            dtype,
        })
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.buffer.as_ptr()
    }

    fn block(&self) -> BlockMut<'_> {
        BlockMut {
            start: self.start(),
            sizes: self.layout.dims(),
            strides: self.layout.strides(),
        }
    }

    /// The tensor, now that every element has been written.
    pub(crate) fn done(self) -> Result<Tensor> {
        Tensor::filled(self.buffer, self.dtype, self.layout)
    }
}

impl<R: Rooms> Primitives<'_, R> {
    /// As [`Engine::copy`].
    pub fn copy(self, x: &Tensor) -> Result<Tensor> {
        let made = Unfinished::new(self.0, x.dtype(), x.shape())?;
        // SAFETY: K1, K2, K4 hold for a tensor's block; the result is new, so K3 holds for it.
        unsafe { kernels::copy::copy(x.block(), made.block(), x.dtype().width()) };
        made.done()
    }

    /// As [`Engine::full`].
    pub fn full(self, dtype: DType, value: Scalar, sizes: &[usize]) -> Result<Tensor> {
        let made = Unfinished::new(self.0, dtype, sizes)?;
        let cell = element(dtype, value);
        let strides: SmallVec<[isize; 8]> = SmallVec::from_elem(0, sizes.len());
        let source = Block {
            start: cell.0.as_ptr(),
            sizes,
            strides: &strides,
        };
        // SAFETY: K1: with strides of 0 only the one cell is read; K2: it is aligned for every dtype; K3: the
        // result is new; K4: the cell has been written.
        unsafe { kernels::copy::copy(source, made.block(), dtype.width()) };
        made.done()
    }

    /// As [`Engine::gather`].
    pub fn gather(
        self,
        source: &Tensor,
        index: &Tensor,
        along: &Along,
        mode: Mode,
    ) -> Result<Tensor> {
        // As with `Unfinished`, but that the layout is written once, at the end: a small gather is mostly that.
        let (dtype, mut seen) = (source.dtype(), Seen::new());
        let dims = addressed(source, index, along, mode)?;
        let count = Layout::see_packed(&mut seen, dtype.width(), &dims)?;
        let buffer = self.0.room(count * dtype.width())?;
        // SAFETY: the result is new and has the gather's shape.
        unsafe { gather(source, index, along, mode, buffer.as_ptr())? };
        Tensor::packed_in(buffer, dtype, &seen)
    }

    /// As [`Engine::scatter_add`].
    pub fn scatter_add(
        &self,
        base: &Tensor,
        index: &Tensor,
        updates: &Tensor,
        along: &Along,
        mode: Mode,
    ) -> Result<Tensor> {
        let dims = addressed(base, index, along, mode)?;
        require_updates((updates.dtype(), updates.shape()), base.dtype(), &dims)?;
        let made = Unfinished::new(self.0, base.dtype(), base.shape())?;
        let (dtype, bounds) = (base.dtype(), bounds(mode, base.dtype()));
        let (at, from, to, dims) = (index.block(), updates.block(), made.start(), base.shape());
        // SAFETY: K1, K2, K4 hold for tensors; K3: the result is new, and the base has been copied into it
        // before anything is added.
        let added = unsafe {
            kernels::copy::copy(base.block(), made.block(), dtype.width());
            match along {
                Along::Run(run) => kernels::scatter_add::scatter_add(
                    to,
                    dims,
                    run.clone(),
                    at,
                    index.dtype(),
                    bounds,
                    from,
                    dtype,
                ),
                Along::Aligned(axis) => kernels::scatter_add::scatter_add_aligned(
                    to,
                    dims,
                    *axis,
                    at,
                    index.dtype(),
                    bounds,
                    from,
                    dtype,
                ),
            }
        };
        added.map_err(|bad| outside(bad, base, index, along))?;
        made.done()
    }

    /// As [`Engine::sum`].
    pub fn sum(self, x: &Tensor, axes: &[usize], dtype: DType) -> Result<Tensor> {
        if x.dtype() != dtype {
            return sum_as(x, axes, dtype);
        }
        let made = Unfinished::new(self.0, dtype, &sum_shape(x.shape(), axes))?;
        let reduced: SmallVec<[bool; 8]> = (0..x.rank()).map(|axis| axes.contains(&axis)).collect();
        // SAFETY: K1, K2, K4 hold for a tensor; K3: the result is new and has the sum's shape.
        unsafe { kernels::sum::sum(x.block(), &reduced, made.start(), dtype) };
        made.done()
    }

    /// As [`Engine::concat`].
    pub fn concat(self, xs: &[&Tensor], axis: usize) -> Result<Tensor> {
        let dims = concat_shape(xs.iter().map(|x| x.shape()), axis)?;
        let dtype = concat_dtype(xs.iter().map(|x| x.dtype()))?;
        let made = Unfinished::new(self.0, dtype, &dims)?;
        let parts: SmallVec<[Block<'_>; 8]> = xs.iter().map(|x| x.block()).collect();
        // SAFETY: K1, K2, K4 hold for tensors; K3: the result is new; the sizes were checked above.
        unsafe { kernels::concat::concat(&parts, made.block(), axis, dtype.width()) };
        made.done()
    }

    /// As [`Engine::cast`].
    pub fn cast(self, x: &Tensor, dtype: DType) -> Result<Tensor> {
        let made = Unfinished::new(self.0, dtype, x.shape())?;
        // SAFETY: K1, K2, K4 hold for a tensor; K3: the result is new and has its shape.
        unsafe { kernels::cast::cast(x.block(), x.dtype(), made.start(), dtype) };
        made.done()
    }

    /// As [`Engine::add`].
    pub fn add(self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        require_alike((a.dtype(), a.shape()), (b.dtype(), b.shape()))?;
        let made = Unfinished::new(self.0, a.dtype(), a.shape())?;
        // SAFETY: K1, K2, K4 hold for tensors of one shape and dtype; K3: the result is new.
        unsafe { kernels::add::add(a.block(), b.block(), made.start(), a.dtype()) };
        made.done()
    }
}

/// A sum in another dtype, part by part, so that no large tensor is cast as a whole. Parts are cut along
/// a kept axis where there is one; integers may be cut anywhere, since their sums wrap.
fn sum_as(x: &Tensor, axes: &[usize], dtype: DType) -> Result<Tensor> {
    let kept = |axis: &usize| !axes.contains(axis);
    let longest = |axes: &mut dyn Iterator<Item = usize>| axes.max_by_key(|axis| x.shape()[*axis]);
    let exact = dtype.is_integer();
    let cut = longest(&mut (0..x.rank()).filter(kept))
        .filter(|axis| x.shape()[*axis] > 1)
        .or_else(|| longest(&mut (0..x.rank()).filter(|_| exact)))
        .filter(|axis| x.shape()[*axis] > 1);
    let (Some(cut), true) = (cut, x.count() > PART) else {
        return Cpu.sum(&Cpu.cast(x, dtype)?, axes, dtype);
    };
    let size = x.shape()[cut];
    let mut halves = Vec::with_capacity(2);
    for (start, len) in [(0, size / 2), (size / 2, size - size / 2)] {
        let half = Axis::Slice {
            of: cut,
            start,
            len,
            step: 1,
        };
        let part = Cpu.view(x, x.rank(), |out| {
            if out == cut {
                half.clone()
            } else {
                Axis::Of(out)
            }
        })?;
        halves.push(sum_as(&part, axes, dtype)?);
    }
    match axes.contains(&cut) {
        true => Cpu.add(&halves[0], &halves[1]),
        false => {
            let place = (0..cut).filter(kept).count();
            Cpu.concat(&[&halves[0], &halves[1]], place)
        }
    }
}

/// How many elements are cast at once when summing in another dtype.
const PART: usize = 1 << 20;

/// Gathers into packed memory.
///
/// # Safety
/// `to` is aligned room for a packed result of the gather's shape, and K3 holds for it.
pub(crate) unsafe fn gather(
    source: &Tensor,
    index: &Tensor,
    along: &Along,
    mode: Mode,
    to: *mut u8,
) -> Result<()> {
    let (width, bounds) = (source.dtype().width(), bounds(mode, source.dtype()));
    let (from, at) = (source.block(), index.block());
    // SAFETY: K1, K2, K4 hold for tensors; K3 is the caller's promise.
    let gathered = unsafe {
        match along {
            Along::Run(run) => {
                kernels::gather::gather(from, run.clone(), at, index.dtype(), width, bounds, to)
            }
            Along::Aligned(axis) => {
                kernels::gather::gather_aligned(from, *axis, at, index.dtype(), width, bounds, to)
            }
        }
    };
    gathered.map_err(|bad| outside(bad, source, index, along))
}

/// What kernels rely on in a gather or scatter, and the shape of the result.
pub(crate) fn addressed(
    source: &Tensor,
    index: &Tensor,
    along: &Along,
    mode: Mode,
) -> Result<Shape> {
    rules::addressed(source.shape(), index.shape(), index.dtype(), along, mode)
}

fn bounds(mode: Mode, dtype: DType) -> Bounds {
    match mode {
        Mode::Raise => Bounds::Raise,
        Mode::Wrap => Bounds::Wrap,
        Mode::Clip => Bounds::Clip,
        Mode::Fill(value) => Bounds::Fill(element(dtype, value).0),
    }
}

fn outside(bad: BadIndex, source: &Tensor, index: &Tensor, along: &Along) -> Error {
    bad_index(
        bad.value,
        bad.position,
        source.shape(),
        index.shape(),
        along,
    )
}
