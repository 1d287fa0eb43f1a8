//! The primitives that make tensors: each takes memory for its result and calls one kernel.

use std::cell::Cell;
use std::ops::Range;

use stridewise_core::engine::{Along, Engine, raised};
use stridewise_core::layout::Seen;
use stridewise_core::params::{Mode, Scalar};
use stridewise_core::rules::{
    self, bad_index, concat_dtype, concat_shape, require_alike, require_updates, stack_shape,
    sum_shape,
};
use stridewise_core::size::Shape;
use stridewise_core::smallvec::SmallVec;
use stridewise_core::{Axis, DType, Error, Layout, Result};

use crate::engine::Cpu;
use crate::kernels::index::{BadIndex, Bounds};
use crate::kernels::{self, Block, BlockMut};
use crate::scalar::element;
use crate::storage::{Arc, Storage};
use crate::tensor::{Tensor, allocate};

#[doc(hidden)]
pub use crate::tensor::Room;

/// Where results get their memory.
///
/// # Safety
/// Of a room that is larger than was asked for, every byte past that has been written.
pub unsafe trait Rooms {
    /// Room for so many bytes, which nobody else has.
    #[doc(hidden)]
    fn room(&self, bytes: usize) -> Result<Room>;
}

/// Memory from the pool.
pub struct Pool;

/// The memory of an earlier result, where nobody has that any more and it is large enough; otherwise from the
/// pool.
pub struct Spare(Cell<Option<Arc<Storage>>>);

// SAFETY: rooms are as large as was asked for.
unsafe impl Rooms for Pool {
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

// SAFETY: memory that is larger was a result, all of which had been written.
unsafe impl Rooms for Spare {
    #[inline]
    fn room(&self, bytes: usize) -> Result<Room> {
        match self.0.take().map(|storage| Room::again(storage, bytes)) {
            Some(Some(room)) => Ok(room),
            _ => allocate(bytes),
        }
    }
}

/// The primitives, with results where `R` says.
pub struct Primitives<'r, R>(pub &'r R);

/// A packed result that is still being written. Its layout is written once, at the end: a small result is mostly that.
#[doc(hidden)]
pub struct Unfinished<'s> {
    buffer: Room,
    seen: &'s Seen,
    dtype: DType,
}

impl<'s> Unfinished<'s> {
    /// Room for a packed tensor, whose axes are kept in `seen`, where they stay: moving them costs as much as a small copy.
    #[inline]
    pub(crate) fn new(
        rooms: &impl Rooms,
        dtype: DType,
        dims: &[usize],
        seen: &'s mut Seen,
    ) -> Result<Unfinished<'s>> {
        let count = Layout::see_packed(seen, dtype.width(), dims)?;
        let buffer = rooms.room(count * dtype.width())?;
        if !buffer.fits(dtype, count) {
            return Err(Error::memory("the room is too small for the result"));
        }
        Ok(Unfinished {
            buffer,
            seen,
            dtype,
        })
    }

    #[inline]
    pub(crate) fn start(&self) -> *mut u8 {
        self.buffer.as_ptr()
    }

    /// How many bytes are written.
    fn bytes(&self) -> usize {
        self.seen.end() * self.dtype.width()
    }

    /// Writes tensors one after another along an axis, which they have or which is new.
    ///
    /// # Safety
    /// The tensors have the result's dtype, its sizes off the axis, and its size along it together.
    unsafe fn lay(&self, xs: &[&Tensor], axis: usize, new: bool) {
        let (width, mut start) = (self.dtype.width(), self.start());
        let stride = |axis: usize| self.seen.axes()[axis].1;
        for x in xs {
            let part = x.shape().iter().zip(x.strides()).enumerate();
            let part = part.map(|(at, (&size, &from))| {
                let to = stride(at + usize::from(new && at >= axis));
                (size, from, to)
            });
            // SAFETY: K1, K2, K4 hold for a tensor; K3: the parts are disjoint slices of the new result.
            unsafe { kernels::copy::copy_axes(x.as_ptr(), start, width, 0, part) };
            let size = if new { 1 } else { x.shape()[axis] };
            start = start.wrapping_add(size * stride(axis) as usize * width);
        }
    }

    /// The tensor, now that every element has been written.
    #[inline(always)]
    pub fn done(self) -> Tensor {
        Tensor::packed_in(self.buffer, self.dtype, self.seen)
    }
}

/// The size and stride of each axis.
#[inline]
fn axes<'a>(
    sizes: &'a [usize],
    strides: &'a [isize],
) -> impl DoubleEndedIterator<Item = (usize, isize)> + Clone + 'a {
    sizes.iter().copied().zip(strides.iter().copied())
}

impl<R: Rooms> Primitives<'_, R> {
    /// As [`Engine::copy`].
    pub fn copy(self, x: &Tensor) -> Result<Tensor> {
        let mut packed = Seen::new();
        let made = Unfinished::new(self.0, x.dtype(), x.shape(), &mut packed)?;
        let (from, width) = (x.block(), x.dtype().width());
        // SAFETY: K1, K2, K4 hold for a tensor's block; the result is new, so K3 holds for it.
        unsafe {
            kernels::copy::pack(
                from.start,
                axes(from.sizes, from.strides),
                made.start(),
                width,
            );
        };
        Ok(made.done())
    }

    /// What `finish` makes of a copy as of [`Engine::copy_merged`], for front doors that keep tensors in places of their own;
    /// nothing of one that is empty: its strides are those of every engine.
    #[doc(hidden)]
    #[inline]
    pub fn copy_merged_as<M>(
        self,
        x: &Tensor,
        rank: usize,
        axes_of: impl Fn(usize) -> Axis<usize>,
        (merged, runs): (usize, impl Fn(usize) -> Range<usize>),
        blame: impl Fn(Error) -> Error,
        finish: impl FnOnce(Unfinished<'_>) -> Result<M>,
    ) -> Result<Option<M>> {
        let (mut seen, width) = (Seen::new(), x.dtype().width());
        let whole = x
            .layout()
            .see(&mut seen, width, &[], rank, |out| Ok(axes_of(out)))
            .map_err(&blame)?;
        if !whole {
            return Err(blame(Error::shape("a merge is no part of such a view")));
        }
        if seen.end() == 0 {
            return Ok(None);
        }
        let start = x.start_of(&seen).map_err(blame)?;
        let size = |run: Range<usize>| seen.axes()[run].iter().map(|axis| axis.0).product();
        let mut dims = Shape::new();
        (0..merged).for_each(|out| dims.push(size(runs(out))));
        let mut packed = Seen::new();
        let made = Unfinished::new(self.0, x.dtype(), &dims, &mut packed)?;
        if dims.iter().product::<usize>() != size(0..rank) {
            return Err(Error::shape("the merged axes are not those of the view"));
        }
        let axes = seen.axes().iter().copied();
        // SAFETY: K1, K2: the view lies inside the storage, as was just seen, and K4 is T3; the result is new and has as
        // many elements, so K3 holds for it.
        unsafe { kernels::copy::pack(start, axes, made.start(), width) };
        finish(made).map(Some)
    }

    /// As [`Engine::full`].
    pub fn full(self, dtype: DType, value: Scalar, sizes: &[usize]) -> Result<Tensor> {
        let mut packed = Seen::new();
        let made = Unfinished::new(self.0, dtype, sizes, &mut packed)?;
        let cell = element(dtype, value);
        let axes = sizes.iter().map(|&size| (size, 0));
        // SAFETY: K1: with strides of 0 only the one cell is read; K2: it is aligned for every dtype; K3: the
        // result is new; K4: the cell has been written.
        unsafe { kernels::copy::pack(cell.0.as_ptr(), axes, made.start(), dtype.width()) };
        Ok(made.done())
    }

    /// As [`Engine::gather`].
    pub fn gather(
        self,
        source: &Tensor,
        index: &Tensor,
        along: &Along,
        mode: Mode,
    ) -> Result<Tensor> {
        self.gather_as(source, index, along, mode, |made| Ok(made.done()))
    }

    /// What `finish` makes of a gather, for front doors that keep tensors in places of their own.
    #[doc(hidden)]
    #[inline]
    pub fn gather_as<M>(
        self,
        source: &Tensor,
        index: &Tensor,
        along: &Along,
        mode: Mode,
        finish: impl FnOnce(Unfinished<'_>) -> Result<M>,
    ) -> Result<M> {
        let (mut dims, mut packed) = (Shape::new(), Seen::new());
        addressed(&mut dims, source, index, along, mode)?;
        let made = Unfinished::new(self.0, source.dtype(), &dims, &mut packed)?;
        // SAFETY: the result is new and has the gather's shape.
        unsafe { gather(source, index, along, mode, made.start())? };
        finish(made)
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
        let mut dims = Shape::new();
        addressed(&mut dims, base, index, along, mode)?;
        require_updates((updates.dtype(), updates.shape()), base.dtype(), &dims)?;
        let mut packed = Seen::new();
        let made = Unfinished::new(self.0, base.dtype(), base.shape(), &mut packed)?;
        let (dtype, bounds) = (base.dtype(), bounds(mode, base.dtype()));
        let (at, from, to, dims) = (index.block(), updates.block(), made.start(), base.shape());
        // SAFETY: K1, K2, K4 hold for tensors; K3: the result is new, and the base has been copied into it
        // before anything is added.
        let added = unsafe {
            let all = axes(dims, base.strides());
            kernels::copy::pack(base.as_ptr(), all, to, dtype.width());
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
        Ok(made.done())
    }

    /// As [`Engine::sum`].
    pub fn sum(self, x: &Tensor, axes: &[usize], dtype: DType) -> Result<Tensor> {
        let grown = kernels::sum::in_64_bits(x.dtype(), dtype);
        if x.dtype() != dtype && grown.is_none() {
            return sum_as(x, axes, dtype);
        }
        let mut packed = Seen::new();
        let made = Unfinished::new(self.0, dtype, &sum_shape(x.shape(), axes), &mut packed)?;
        let reduced: SmallVec<[bool; 8]> = (0..x.rank()).map(|axis| axes.contains(&axis)).collect();
        // SAFETY: K1, K2, K4 hold for a tensor; K3: the result is new and has the sum's shape.
        unsafe {
            match grown {
                Some(sum) => sum(x.block(), &reduced, made.start()),
                None => kernels::sum::sum(x.block(), &reduced, made.start(), dtype),
            }
        };
        Ok(made.done())
    }

    /// As [`Engine::concat`].
    pub fn concat(self, xs: &[&Tensor], axis: usize) -> Result<Tensor> {
        let dims = concat_shape(xs.iter().map(|x| x.shape()), axis)?;
        let dtype = concat_dtype(xs.iter().map(|x| x.dtype()))?;
        let mut packed = Seen::new();
        let made = Unfinished::new(self.0, dtype, &dims, &mut packed)?;
        if made.bytes() < kernels::concat::SMALL {
            // SAFETY: the result is new, and is what the tensors make one after another.
            unsafe { made.lay(xs, axis, false) };
            return Ok(made.done());
        }
        let parts: SmallVec<[Block<'_>; 8]> = xs.iter().map(|x| x.block()).collect();
        let strides: SmallVec<[isize; 8]> = made.seen.axes().iter().map(|axis| axis.1).collect();
        let to = BlockMut {
            start: made.start(),
            sizes: &dims,
            strides: &strides,
        };
        // SAFETY: K1, K2, K4 hold for tensors; K3: the result is new; the sizes were checked above.
        unsafe { kernels::concat::concat(&parts, to, axis, dtype.width()) };
        Ok(made.done())
    }

    /// As [`Engine::stack`], where the result is small: then the tensors need not be seen with the new axis first.
    pub fn stack(self, xs: &[&Tensor], axis: usize) -> Result<Tensor> {
        let dims = stack_shape(xs.iter().map(|x| x.shape()), axis)?;
        let dtype = concat_dtype(xs.iter().map(|x| x.dtype()))?;
        let mut packed = Seen::new();
        let count = Layout::see_packed(&mut packed, dtype.width(), &dims)?;
        if count * dtype.width() >= kernels::concat::SMALL {
            let raised = raised(&Cpu, xs, axis)?;
            return self.concat(&raised.iter().collect::<Vec<_>>(), axis);
        }
        let made = Unfinished::new(self.0, dtype, &dims, &mut packed)?;
        // SAFETY: the result is new, and is what the tensors make along a new axis.
        unsafe { made.lay(xs, axis, true) };
        Ok(made.done())
    }

    /// As [`Engine::cast`].
    pub fn cast(self, x: &Tensor, dtype: DType) -> Result<Tensor> {
        let mut packed = Seen::new();
        let made = Unfinished::new(self.0, dtype, x.shape(), &mut packed)?;
        // SAFETY: K1, K2, K4 hold for a tensor; K3: the result is new and has its shape.
        unsafe { kernels::cast::cast(x.block(), x.dtype(), made.start(), dtype) };
        Ok(made.done())
    }

    /// As [`Engine::add`].
    pub fn add(self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        require_alike((a.dtype(), a.shape()), (b.dtype(), b.shape()))?;
        let mut packed = Seen::new();
        let made = Unfinished::new(self.0, a.dtype(), a.shape(), &mut packed)?;
        // SAFETY: K1, K2, K4 hold for tensors of one shape and dtype; K3: the result is new.
        unsafe { kernels::add::add(a.block(), b.block(), made.start(), a.dtype()) };
        Ok(made.done())
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
#[inline]
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

/// What kernels rely on in a gather or scatter; writes the shape of the result.
#[inline]
pub(crate) fn addressed(
    dims: &mut Shape,
    source: &Tensor,
    index: &Tensor,
    along: &Along,
    mode: Mode,
) -> Result<()> {
    let (from, at) = (source.shape(), index.shape());
    rules::addressed(dims, from, at, index.dtype(), along, mode)
}

#[inline]
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_refused_where_the_merged_axes_are_not_those_of_the_view() {
        let x = Tensor::from_vec((0..6).collect(), &[2, 3]).unwrap();
        let merged = |count: usize, runs: fn(usize) -> Range<usize>| {
            Cpu.copy_merged(&x, 2, Axis::Of, (count, runs), |error| error)
        };
        let flat = merged(1, |_| 0..2).unwrap();
        assert_eq!(flat.to_vec::<i32>().unwrap(), [0, 1, 2, 3, 4, 5]);
        for (count, runs) in [
            (0, (|_| 0..0) as fn(usize) -> Range<usize>),
            (1, |_| 0..1),
            (2, |_| 1..2),
        ] {
            let error = merged(count, runs).unwrap_err();
            assert!(error.to_string().contains("merged axes"), "{error}");
        }
    }
}
