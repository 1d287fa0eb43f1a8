//! The CPU engine: each primitive allocates its result and calls one kernel.

use std::ops::Range;

use stridewise_core::engine::{Along, Engine, copied_then_merged};
use stridewise_core::layout::Seen;
use stridewise_core::params::{Extent, Mode, Scalar};
use stridewise_core::rules::{bad_index, runs_len};
use stridewise_core::size::{Shape, Truth, tuple};
use stridewise_core::{Axis, DType, Error, Layout, Result};

use crate::kernels::{self, BlockMut};
use crate::primitives::{Pool, Primitives, Unfinished, addressed, gather};
use crate::scalar::{element, evenly_spaced};
use crate::tensor::{Tensor, allocate};

/// The engine that runs at once, in main memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu;

impl Cpu {
    /// Apart, so that views that need no copy have nothing of it in their way.
    #[cold]
    #[inline(never)]
    pub(crate) fn packed_copy(self, x: &Tensor) -> Result<Tensor> {
        Primitives(&Pool).copy(x)
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
        let mut dims = Shape::new();
        addressed(&mut dims, source, index, along, mode)?;
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
        Primitives(&Pool).full(dtype, value, sizes)
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
        Ok(Tensor::packed_in(buffer, DType::I64, &seen))
    }

    fn sizes(&self, sizes: &[usize]) -> Result<Tensor> {
        Tensor::from_vec(
            sizes.iter().map(|&size| size as i64).collect(),
            &[sizes.len()],
        )
    }

    fn runs(&self, counts: &[usize]) -> Result<Tensor> {
        let mut packed = Seen::new();
        let made = Unfinished::new(&Pool, DType::I64, &[runs_len(counts)?], &mut packed)?;
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
        Ok(made.done())
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
    ) -> Result<Option<Tensor>> {
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

    #[inline]
    fn copy_merged(
        &self,
        x: &Tensor,
        rank: usize,
        axes: impl Fn(usize) -> Axis<usize>,
        (count, runs): (usize, impl Fn(usize) -> Range<usize>),
        blame: impl Fn(Error) -> Error,
    ) -> Result<Tensor> {
        let done = |made: Unfinished<'_>| Ok(made.done());
        match Primitives(&Pool).copy_merged_as(x, rank, &axes, (count, &runs), &blame, done)? {
            Some(copy) => Ok(copy),
            None => copied_then_merged(self, x, rank, axes, (count, runs), blame),
        }
    }

    fn as_it_is(&self, x: &Tensor) -> Result<Tensor> {
        let storage = x.storage();
        match storage.is_foreign() && storage.as_mut_ptr().is_some() {
            true => self.copy(x),
            false => Ok(x.clone()),
        }
    }

    fn gather(&self, source: &Tensor, index: &Tensor, along: &Along, mode: Mode) -> Result<Tensor> {
        Primitives(&Pool).gather(source, index, along, mode)
    }

    fn scatter_add(
        &self,
        base: &Tensor,
        index: &Tensor,
        updates: &Tensor,
        along: &Along,
        mode: Mode,
    ) -> Result<Tensor> {
        Primitives(&Pool).scatter_add(base, index, updates, along, mode)
    }

    fn sum(&self, x: &Tensor, axes: &[usize], dtype: DType) -> Result<Tensor> {
        Primitives(&Pool).sum(x, axes, dtype)
    }

    fn concat(&self, xs: &[&Tensor], axis: usize) -> Result<Tensor> {
        Primitives(&Pool).concat(xs, axis)
    }

    fn stack(&self, xs: &[&Tensor], axis: usize) -> Result<Tensor> {
        Primitives(&Pool).stack(xs, axis)
    }

    fn cast(&self, x: &Tensor, dtype: DType) -> Result<Tensor> {
        Primitives(&Pool).cast(x, dtype)
    }

    fn add(&self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        Primitives(&Pool).add(a, b)
    }
}
