//! The shape-only engine: a tensor is a layout without data, and a primitive only notes what it would move.
//!
//! It answers what a program would do (shapes, strides, view or copy, bytes) before there is any input, and
//! it keeps the operators honest: they run here unchanged, with nothing but their shape rules.
//!
//! ```
//! use stridewise_core::{dtype::DType, operators::Methods};
//! use stridewise_dry::Dry;
//!
//! let dry = Dry::new();
//! let x = dry.tensor(DType::F32, &[4, 1, 3, 5])?;
//! let y = x.expand([2, 1, 4, 4, 3, 5])?;
//! assert_eq!(y.strides(), [0, 0, 15, 0, 5, 1]);
//! assert!(y.shares_storage_with(&x));
//! # Ok::<(), stridewise_core::error::Error>(())
//! ```
#![forbid(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use stridewise_core::axis::Axis;
use stridewise_core::dtype::DType;
use stridewise_core::engine::{Along, Engine, Value};
use stridewise_core::error::{Error, Result};
use stridewise_core::layout::Layout;
use stridewise_core::params::{Extent, Mode, Scalar};
use stridewise_core::rules::{concat_shape, gather_shape, runs_len, sum_shape};
use stridewise_core::size::Truth;

/// The engine. Clones share one log.
#[derive(Clone, Debug, Default)]
pub struct Dry(Rc<Log>);

#[derive(Debug, Default)]
struct Log {
    moves: RefCell<Vec<Move>>,
    /// Bytes of the storages that some tensor still has.
    live: Cell<u128>,
    /// The most they have been since that was last asked.
    peak: Cell<u128>,
}

/// The memory that views share; it is there as long as one of them is.
#[derive(Debug)]
struct Storage {
    bytes: u128,
    log: Rc<Log>,
}

impl Drop for Storage {
    fn drop(&mut self) {
        self.log.live.set(self.log.live.get() - self.bytes);
    }
}

/// A primitive that would move data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Its name.
    pub primitive: &'static str,
    /// Bytes it would read.
    pub read: usize,
    /// Bytes it would write.
    pub written: usize,
}

/// A tensor without data.
#[derive(Clone, Debug)]
pub struct Sketch {
    engine: Dry,
    dtype: DType,
    layout: Layout,
    storage: Rc<Storage>,
}

impl Dry {
    /// An engine with an empty log.
    pub fn new() -> Dry {
        Dry::default()
    }

    /// A packed tensor, as one read from a file would be.
    pub fn tensor(&self, dtype: DType, dims: &[usize]) -> Result<Sketch> {
        Layout::packed(dtype.width(), dims).map(|layout| self.with_layout(dtype, layout))
    }

    /// A tensor of any layout, in storage of its own.
    pub fn with_layout(&self, dtype: DType, layout: Layout) -> Sketch {
        let log = &self.0;
        let bytes = layout.reach().len() as u128 * dtype.width() as u128;
        log.live.set(log.live.get() + bytes);
        log.peak.set(log.peak.get().max(log.live.get()));
        let log = Rc::clone(log);
        Sketch {
            engine: self.clone(),
            dtype,
            layout,
            storage: Rc::new(Storage { bytes, log }),
        }
    }

    /// What has been moved since the last time this was asked.
    pub fn take_moves(&self) -> Vec<Move> {
        self.0.moves.take()
    }

    /// The most bytes that tensors had in memory at one time since the last time this was asked. Views share their
    /// memory, and what nobody has any more is given back.
    ///
    /// ```
    /// # use stridewise_core::{dtype::DType, operators::Methods};
    /// let dry = stridewise_dry::Dry::new();
    /// let x = dry.tensor(DType::F32, &[4, 1])?;
    /// x.expand([4, 100])?.contiguous()?; // made, and given back
    /// assert_eq!(dry.take_peak(), 16 + 1600);
    /// assert_eq!(dry.take_peak(), 16);
    /// # Ok::<(), stridewise_core::error::Error>(())
    /// ```
    pub fn take_peak(&self) -> usize {
        let peak = self.0.peak.replace(self.0.live.get());
        usize::try_from(peak).unwrap_or(usize::MAX)
    }

    /// A new packed tensor that `primitive` fills.
    fn made(
        &self,
        primitive: &'static str,
        dtype: DType,
        dims: &[usize],
        reads: &[&Sketch],
    ) -> Result<Sketch> {
        let made = self.tensor(dtype, dims)?;
        let read = reads
            .iter()
            .fold(0, |sum: usize, x| sum.saturating_add(x.bytes()));
        self.0.moves.borrow_mut().push(Move {
            primitive,
            read,
            written: made.bytes(),
        });
        Ok(made)
    }
}

impl Sketch {
    /// The size of each axis.
    pub fn shape(&self) -> &[usize] {
        self.layout.dims()
    }

    /// The stride of each axis, in elements.
    pub fn strides(&self) -> &[isize] {
        self.layout.strides()
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// How the axes lie in memory.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Bytes of all elements, each counted as often as it is seen.
    pub fn bytes(&self) -> usize {
        self.layout.count() * self.dtype.width()
    }

    /// Whether two tensors are views of one storage.
    pub fn shares_storage_with(&self, other: &Sketch) -> bool {
        Rc::ptr_eq(&self.storage, &other.storage)
    }
}

impl Value for Sketch {
    type Engine = Dry;

    fn engine(&self) -> Dry {
        self.engine.clone()
    }
}

impl Engine for Dry {
    type Size = usize;
    type Value = Sketch;

    fn rank(&self, x: &Sketch) -> Result<usize> {
        Ok(x.layout.rank())
    }

    fn size(&self, x: &Sketch, axis: usize) -> usize {
        x.shape()[axis]
    }

    fn dtype(&self, x: &Sketch) -> DType {
        x.dtype
    }

    fn full(&self, dtype: DType, _: Scalar, sizes: &[usize]) -> Result<Sketch> {
        self.made("full", dtype, sizes, &[])
    }

    fn range(&self, dtype: DType, _: Scalar, _: Scalar, len: usize) -> Result<Sketch> {
        self.made("range", dtype, &[len], &[])
    }

    fn literal(&self, dtype: DType, sizes: &[usize], _: &[Scalar]) -> Result<Sketch> {
        self.tensor(dtype, sizes)
    }

    fn sizes(&self, sizes: &[usize]) -> Result<Sketch> {
        self.tensor(DType::I64, &[sizes.len()])
    }

    fn runs(&self, counts: &[usize]) -> Result<Sketch> {
        self.tensor(DType::I64, &[runs_len(counts)?])
    }

    fn read_sizes(&self, _: &Sketch) -> Result<Vec<Extent<usize>>> {
        Err(
            Error::too_early("sizes are read from a tensor, but there is no data yet")
                .help("give the sizes as numbers"),
        )
    }

    fn try_view(
        &self,
        x: &Sketch,
        rank: usize,
        axes: impl Fn(usize) -> Result<Axis<usize>>,
    ) -> Result<Sketch> {
        let seen = |x: &Sketch| x.layout.view(x.dtype.width(), rank, &axes);
        match seen(x)? {
            Some(layout) => Ok(Sketch {
                layout,
                ..x.clone()
            }),
            None => {
                let packed = self.copy(x)?;
                let layout =
                    seen(&packed)?.ok_or_else(|| Error::shape("a packed tensor must merge"))?;
                Ok(Sketch { layout, ..packed })
            }
        }
    }

    fn merges(&self, x: &Sketch, run: Range<usize>) -> Truth {
        x.layout.merged_stride(run).is_some().into()
    }

    fn is_packed(&self, x: &Sketch) -> Truth {
        x.layout.is_packed().into()
    }

    fn copy(&self, x: &Sketch) -> Result<Sketch> {
        self.made("copy", x.dtype, x.shape(), &[x])
    }

    fn gather(&self, source: &Sketch, index: &Sketch, along: &Along, _: Mode) -> Result<Sketch> {
        let dims = gather_shape(source.shape(), index.shape(), along)?;
        let made = self.made("gather", source.dtype, &dims, &[index])?;
        if let Some(last) = self.0.moves.borrow_mut().last_mut() {
            last.read = last.read.saturating_add(made.bytes());
        }
        Ok(made)
    }

    fn scatter_add(
        &self,
        base: &Sketch,
        index: &Sketch,
        updates: &Sketch,
        _: &Along,
        _: Mode,
    ) -> Result<Sketch> {
        self.made(
            "scatter_add",
            base.dtype,
            base.shape(),
            &[base, index, updates],
        )
    }

    fn sum(&self, x: &Sketch, axes: &[usize], dtype: DType) -> Result<Sketch> {
        self.made("sum", dtype, &sum_shape(x.shape(), axes), &[x])
    }

    fn concat(&self, xs: &[&Sketch], axis: usize) -> Result<Sketch> {
        let dims = concat_shape(xs.iter().map(|x| x.shape()), axis)?;
        self.made("concat", xs[0].dtype, &dims, xs)
    }

    fn cast(&self, x: &Sketch, dtype: DType) -> Result<Sketch> {
        self.made("cast", dtype, x.shape(), &[x])
    }

    fn add(&self, a: &Sketch, b: &Sketch) -> Result<Sketch> {
        self.made("add", a.dtype, a.shape(), &[a, b])
    }
}
