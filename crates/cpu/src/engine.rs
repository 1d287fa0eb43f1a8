//! The CPU engine: each primitive allocates its result and calls one kernel.

use std::ops::Range;

use stridewise_core::engine::{Along, Engine};
use stridewise_core::layout::Seen;
use stridewise_core::params::{Extent, Mode, Scalar};
use stridewise_core::rules::{bad_index, concat_shape, gather_shape, runs_len, sum_shape};
use stridewise_core::size::{Shape, Truth, tuple};
use stridewise_core::smallvec::SmallVec;
use stridewise_core::{Axis, DType, Error, Layout, Result};

use crate::kernels::index::{BadIndex, Bounds};
use crate::kernels::{self, Block, BlockMut};
use crate::scalar::{element, evenly_spaced};
use crate::tensor::{Room, Tensor, allocate};

/// The engine that runs at once, in main memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu;

/// A packed result that is still being written.
struct Unfinished {
    buffer: Room,
    layout: Layout,
    dtype: DType,
}

impl Unfinished {
    fn new(dtype: DType, dims: &[usize]) -> Result<Unfinished> {
        let layout = Layout::packed(dtype.width(), dims)?;
        let buffer = allocate(layout.count() * dtype.width())?;
        Ok(Unfinished {
            buffer,
            layout,
            dtype,
        })
    }

    fn start(&self) -> *mut u8 {
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
    fn done(self) -> Result<Tensor> {
        Tensor::filled(self.buffer, self.dtype, self.layout)
    }
}

impl Cpu {
    pub(crate) fn packed_copy(self, x: &Tensor) -> Result<Tensor> {
        let made = Unfinished::new(x.dtype(), x.shape())?;
        // SAFETY: K1, K2, K4 hold for a tensor's block; the result is new, so K3 holds for it.
        unsafe { kernels::copy::copy(x.block(), made.block(), x.dtype().width()) };
        made.done()
    }

    /// Checks indices that are to address a source of that shape.
    pub fn check_indices(self, index: &Tensor, along: &Along, source: &[usize]) -> Result<()> {
        let cells = along.cells(source);
        // SAFETY: K1, K2 and K4 hold for the index.
        unsafe { kernels::index::check(index.block(), index.dtype(), cells) }
            .map_err(|bad| bad_index(bad.value, bad.position, source, index.shape(), along))
    }

    /// Gathers into `out`, which must have the result's shape and dtype, be writable and alone in its
    /// memory. Nothing is written when the call fails.
    pub fn gather_into(
        self,
        source: &Tensor,
        index: &Tensor,
        along: &Along,
        mode: Mode,
        out: &mut Tensor,
    ) -> Result<()> {
        let dims = addressed(source, index, along, mode)?;
        let blame = |error: Error| {
            error
                .at_argument("out")
                .note("out shape", tuple(out.shape()))
                .note("result shape", tuple(&dims))
        };
        if out.shape() != dims.as_slice() {
            return Err(blame(Error::shape("out has another shape than the result")));
        }
        if out.dtype() != source.dtype() {
            let message = format!(
                "out is {}, but the result is {}",
                out.dtype(),
                source.dtype()
            );
            return Err(blame(
                Error::dtype(message).sizes(source.dtype(), out.dtype()),
            ));
        }
        if out.layout().overlaps_itself() {
            return Err(blame(Error::argument(
                "out overlaps itself: two of its indices share a cell",
            )));
        }
        for (other, name) in [(source, "the input"), (index, "the index")] {
            if out.overlaps(other) {
                return Err(blame(Error::argument(format!(
                    "out overlaps {name} in memory"
                ))));
            }
        }
        let (layout, dtype) = (out.layout().clone(), out.dtype());
        let offset = layout.offset() * dtype.width();
        let storage = out.storage_mut().ok_or_else(|| {
            Error::argument("out shares its storage with other tensors, which would change too")
                .at_argument("out")
        })?;
        let start = storage
            .as_mut_ptr()
            .ok_or_else(|| Error::argument("out is read-only").at_argument("out"))?
            .wrapping_add(offset);
        // A packed `out` is written directly, with the indices checked first; any other gets a copy.
        if layout.is_packed() {
            if mode == Mode::Raise {
                self.check_indices(index, along, source.shape())?;
            }
            // SAFETY: `out` has the gather's shape, is the only user of its storage and overlaps neither
            // input nor index, as checked above.
            return unsafe { gather(source, index, along, mode, start) };
        }
        let result = self.gather(source, index, along, mode)?;
        let into = BlockMut {
            start,
            sizes: layout.dims(),
            strides: layout.strides(),
        };
        // SAFETY: K1, K2, K4 hold for both tensors; K3: `out` is the only user of its storage and does not
        // overlap itself, as checked above.
        unsafe { kernels::copy::copy(result.block(), into, dtype.width()) };
        Ok(())
    }
}

impl Cpu {
    /// A sum in another dtype, part by part, so that no large tensor is cast as a whole. Parts are cut along
    /// a kept axis where there is one; integers may be cut anywhere, since their sums wrap.
    fn sum_as(self, x: &Tensor, axes: &[usize], dtype: DType) -> Result<Tensor> {
        let kept = |axis: &usize| !axes.contains(axis);
        let longest =
            |axes: &mut dyn Iterator<Item = usize>| axes.max_by_key(|axis| x.shape()[*axis]);
        let exact = dtype.is_integer();
        let cut = longest(&mut (0..x.rank()).filter(kept))
            .filter(|axis| x.shape()[*axis] > 1)
            .or_else(|| longest(&mut (0..x.rank()).filter(|_| exact)))
            .filter(|axis| x.shape()[*axis] > 1);
        let (Some(cut), true) = (cut, x.count() > PART) else {
            return self.sum(&self.cast(x, dtype)?, axes, dtype);
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
            let part = self.view(x, x.rank(), |out| {
                if out == cut {
                    half.clone()
                } else {
                    Axis::Of(out)
                }
            })?;
            halves.push(self.sum_as(&part, axes, dtype)?);
        }
        match axes.contains(&cut) {
            true => self.add(&halves[0], &halves[1]),
            false => {
                let place = (0..cut).filter(kept).count();
                self.concat(&[&halves[0], &halves[1]], place)
            }
        }
    }
}

/// How many elements are cast at once when summing in another dtype.
const PART: usize = 1 << 20;

/// Gathers into packed memory.
///
/// # Safety
/// `to` is aligned room for a packed result of the gather's shape, and K3 holds for it.
unsafe fn gather(
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

/// What kernels rely on in a gather or scatter: an integer index that goes with the source, and something to
/// read. Gives the shape of the result.
fn addressed(source: &Tensor, index: &Tensor, along: &Along, mode: Mode) -> Result<Shape> {
    let dims = gather_shape(source.shape(), index.shape(), along)?;
    if !index.dtype().is_integer() {
        return Err(Error::dtype(format!(
            "an index of dtype {} is not an integer",
            index.dtype()
        )));
    }
    let reads = index.count() > 0 && !matches!(mode, Mode::Fill(_));
    match reads && along.cells(source.shape()) == 0 {
        true => Err(
            Error::index("the source is empty, so there is nothing to read")
                .note("source shape", tuple(source.shape())),
        ),
        false => Ok(dims),
    }
}

fn bounds(mode: Mode, dtype: DType) -> Bounds {
    match mode {
        Mode::Raise => Bounds::Raise,
        Mode::Wrap => Bounds::Wrap,
        Mode::Clip => Bounds::Clip,
        Mode::Fill(value) => Bounds::Fill(element(dtype, value).0),
    }
}

impl Engine for Cpu {
    type Size = usize;
    type Value = Tensor;

    #[inline]
    fn rank(&self, x: &Tensor) -> Result<usize> {
        Ok(x.rank())
    }

    #[inline]
    fn size(&self, x: &Tensor, axis: usize) -> usize {
        x.shape()[axis]
    }

    #[inline]
    fn dtype(&self, x: &Tensor) -> DType {
        x.dtype()
    }

    #[inline]
    fn count(&self, x: &Tensor) -> Result<usize> {
        Ok(x.count())
    }

    fn full(&self, dtype: DType, value: Scalar, sizes: &[usize]) -> Result<Tensor> {
        let made = Unfinished::new(dtype, sizes)?;
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

    fn range(&self, dtype: DType, start: Scalar, step: Scalar, len: usize) -> Result<Tensor> {
        Layout::packed(dtype.width(), &[len])?;
        let (wide, values) = evenly_spaced(dtype, start, step, len)?;
        let values = Tensor::filled(values, wide, Layout::packed(wide.width(), &[len])?)?;
        if wide == dtype {
            Ok(values)
        } else {
            self.cast(&values, dtype)
        }
    }

    fn literal(&self, dtype: DType, sizes: &[usize], values: &[Scalar]) -> Result<Tensor> {
        let width = dtype.width();
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| element(dtype, *value).0.into_iter().take(width))
            .collect();
        Tensor::from_bytes(dtype, sizes, &bytes)
    }

    fn integers(&self, numbers: &[isize]) -> Result<Tensor> {
        let mut seen = Seen::new();
        let count = Layout::see_packed(&mut seen, DType::I64.width(), &[numbers.len()])?;
        let buffer = allocate(count * DType::I64.width())?;
        let start = buffer.as_ptr().cast::<i64>();
        for (at, &number) in numbers.iter().enumerate() {
            // SAFETY: the buffer is new, aligned, and has room for as many cells.
            unsafe { start.add(at).write(number as i64) };
        }
        Tensor::packed_in(buffer, DType::I64, &seen)
    }

    fn sizes(&self, sizes: &[usize]) -> Result<Tensor> {
        Tensor::from_vec(
            sizes.iter().map(|&size| size as i64).collect(),
            &[sizes.len()],
        )
    }

    fn runs(&self, counts: &[usize]) -> Result<Tensor> {
        let made = Unfinished::new(DType::I64, &[runs_len(counts)?])?;
        let mut next = made.start().cast::<i64>();
        for (slice, &count) in counts.iter().enumerate() {
            for _ in 0..count {
                // SAFETY: the result is new and has room for as many cells as the counts add up to.
                unsafe {
                    next.write(slice as i64);
                    next = next.add(1);
                }
            }
        }
        made.done()
    }

    fn read_sizes(&self, x: &Tensor) -> Result<Vec<Extent<usize>>> {
        let values = self.cast(x, DType::I64)?.to_vec::<i64>()?;
        let too_large = |n: &i64| x.dtype() == DType::U64 && *n < 0;
        if let Some(n) = values.iter().find(|n| too_large(n)) {
            return Err(Error::overflow(format!(
                "a size is {}, which no machine can address",
                *n as u64
            )));
        }
        Ok(values
            .into_iter()
            .map(|n| Extent::from(n as isize))
            .collect())
    }

    #[inline]
    fn try_view(
        &self,
        x: &Tensor,
        rank: usize,
        axes: impl Fn(usize) -> Result<Axis<usize>>,
    ) -> Result<Tensor> {
        x.view(&[], rank, axes)
    }

    #[inline]
    fn view_at(
        &self,
        x: &Tensor,
        at: &[(usize, usize)],
        rank: usize,
        axes: impl Fn(usize) -> Axis<usize>,
    ) -> Result<Tensor> {
        x.view(at, rank, |out| Ok(axes(out)))
    }

    #[inline]
    fn is_one_run(&self, x: &Tensor) -> bool {
        x.layout().is_one_run()
    }

    #[inline]
    fn view_of_run(
        &self,
        x: &Tensor,
        rank: usize,
        sizes: impl Fn(usize) -> usize,
    ) -> Result<Tensor> {
        x.view_of_run(rank, sizes)
    }

    fn merges(&self, x: &Tensor, run: Range<usize>) -> Truth {
        x.layout().merged_stride(run).is_some().into()
    }

    fn is_packed(&self, x: &Tensor) -> Truth {
        x.layout().is_packed().into()
    }

    fn copy(&self, x: &Tensor) -> Result<Tensor> {
        self.packed_copy(x)
    }

    fn gather(&self, source: &Tensor, index: &Tensor, along: &Along, mode: Mode) -> Result<Tensor> {
        // As with `Unfinished`, but that the layout is written once, at the end: a small gather is mostly that.
        let (dtype, mut seen) = (source.dtype(), Seen::new());
        let dims = addressed(source, index, along, mode)?;
        let count = Layout::see_packed(&mut seen, dtype.width(), &dims)?;
        let buffer = allocate(count * dtype.width())?;
        // SAFETY: the result is new and has the gather's shape.
        unsafe { gather(source, index, along, mode, buffer.as_ptr())? };
        Tensor::packed_in(buffer, dtype, &seen)
    }

    fn scatter_add(
        &self,
        base: &Tensor,
        index: &Tensor,
        updates: &Tensor,
        along: &Along,
        mode: Mode,
    ) -> Result<Tensor> {
        let dims = addressed(base, index, along, mode)?;
        if updates.shape() != dims.as_slice() || updates.dtype() != base.dtype() {
            let updates = format!("{} of shape {}", updates.dtype(), tuple(updates.shape()));
            return Err(
                Error::shape("the updates do not fit the base and the index")
                    .note("updates", updates)
                    .note(
                        "needed",
                        format!("{} of shape {}", base.dtype(), tuple(&dims)),
                    ),
            );
        }
        let made = Unfinished::new(base.dtype(), base.shape())?;
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

    fn sum(&self, x: &Tensor, axes: &[usize], dtype: DType) -> Result<Tensor> {
        if x.dtype() != dtype {
            return self.sum_as(x, axes, dtype);
        }
        let made = Unfinished::new(dtype, &sum_shape(x.shape(), axes))?;
        let reduced: SmallVec<[bool; 8]> = (0..x.rank()).map(|axis| axes.contains(&axis)).collect();
        // SAFETY: K1, K2, K4 hold for a tensor; K3: the result is new and has the sum's shape.
        unsafe { kernels::sum::sum(x.block(), &reduced, made.start(), dtype) };
        made.done()
    }

    fn concat(&self, xs: &[&Tensor], axis: usize) -> Result<Tensor> {
        let dims = concat_shape(xs.iter().map(|x| x.shape()), axis)?;
        if let Some(other) = xs.iter().find(|x| x.dtype() != xs[0].dtype()) {
            return Err(Error::dtype(format!(
                "{} cannot stand behind {}",
                other.dtype(),
                xs[0].dtype()
            )));
        }
        let made = Unfinished::new(xs[0].dtype(), &dims)?;
        let width = made.dtype.width();
        let strides = made.layout.strides();
        let mut before = 0;
        for x in xs {
            let start = made
                .start()
                .wrapping_add(before * strides[axis] as usize * width);
            let part = BlockMut {
                start,
                sizes: x.shape(),
                strides,
            };
            // SAFETY: K1, K2, K4 hold for a tensor; K3: the parts are disjoint slices of the new result.
            unsafe { kernels::copy::copy(x.block(), part, width) };
            before += x.shape()[axis];
        }
        made.done()
    }

    fn cast(&self, x: &Tensor, dtype: DType) -> Result<Tensor> {
        let made = Unfinished::new(dtype, x.shape())?;
        // SAFETY: K1, K2, K4 hold for a tensor; K3: the result is new and has its shape.
        unsafe { kernels::cast::cast(x.block(), x.dtype(), made.start(), dtype) };
        made.done()
    }

    fn add(&self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        if a.shape() != b.shape() || a.dtype() != b.dtype() {
            let message = format!(
                "{} of shape {} cannot be added to",
                a.dtype(),
                tuple(a.shape())
            );
            return Err(Error::shape(message)
                .note("the other", format!("{} {}", b.dtype(), tuple(b.shape()))));
        }
        let made = Unfinished::new(a.dtype(), a.shape())?;
        // SAFETY: K1, K2, K4 hold for tensors of one shape and dtype; K3: the result is new.
        unsafe { kernels::add::add(a.block(), b.block(), made.start(), a.dtype()) };
        made.done()
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
