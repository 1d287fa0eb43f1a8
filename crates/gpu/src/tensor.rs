//! The tensor: a layout over shared storage on a device.

use std::fmt;
use std::sync::Arc;

use stridewise_core::layout::Seen;
use stridewise_core::size::tuple;
use stridewise_core::{Axis, DType, Error, Layout, Result, Value};

use crate::device::Device;
use crate::engine::Gpu;
use crate::kernels::movement::copy;
use crate::storage::Storage;

/// A tensor on a device: an immutable value. Clones and views share storage and cost a reference count.
///
/// - **T1**: every index the layout reaches lies inside the storage.
#[derive(Clone)]
pub struct Tensor {
    layout: Layout,
    dtype: DType,
    storage: Arc<Storage>,
}

impl Tensor {
    /// A tensor from its parts: checks T1.
    pub fn new(storage: Arc<Storage>, dtype: DType, layout: Layout) -> Result<Tensor> {
        match fits(&storage, dtype, layout.end()) {
            true => Ok(Tensor {
                layout,
                dtype,
                storage,
            }),
            false => Err(misfit(&storage, dtype, &layout)),
        }
    }

    /// A packed tensor in storage of its own, whose elements a kernel is to write.
    pub fn made(device: &Device, dtype: DType, shape: &[usize]) -> Result<Tensor> {
        let layout = Layout::packed(dtype.width(), shape)?;
        let storage = device.storage(layout.count() * dtype.width())?;
        Ok(Tensor {
            layout,
            dtype,
            storage: Arc::new(storage),
        })
    }

    /// Another layout over the same storage; an error where it would reach outside.
    pub fn with_layout(&self, layout: Layout) -> Result<Tensor> {
        Tensor::new(self.storage.clone(), self.dtype, layout)
    }

    /// A view at single indices of some axes through a map of the others. Where strides do not allow a merge, it is a
    /// view of a packed copy.
    pub(crate) fn view(
        &self,
        at: &[(usize, usize)],
        rank: usize,
        axes: impl Fn(usize) -> Result<Axis<usize>>,
    ) -> Result<Tensor> {
        let (mut seen, mut packed) = (Seen::new(), None::<Tensor>);
        let width = self.dtype.width();
        while !packed
            .as_ref()
            .unwrap_or(self)
            .layout
            .see(&mut seen, width, at, rank, &axes)?
        {
            packed = Some(copy::packed(self.device(), self)?);
        }
        let storage = &packed.as_ref().unwrap_or(self).storage;
        Tensor::new(storage.clone(), self.dtype, Layout::of(&seen))
    }

    /// One run of memory under other sizes; `None` where it is no run, or has another number of elements.
    pub(crate) fn view_of_run(
        &self,
        rank: usize,
        sizes: impl Fn(usize) -> usize,
    ) -> Result<Option<Tensor>> {
        let mut seen = Seen::new();
        match self.layout.see_run(&mut seen, rank, sizes) {
            true => self.with_layout(Layout::of(&seen)).map(Some),
            false => Ok(None),
        }
    }

    /// The size of each axis.
    pub fn shape(&self) -> &[usize] {
        self.layout.dims()
    }

    /// The stride of each axis, in elements.
    pub fn strides(&self) -> &[isize] {
        self.layout.strides()
    }

    /// How many axes.
    pub fn rank(&self) -> usize {
        self.layout.rank()
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// How the axes lie in memory.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How many elements.
    pub fn count(&self) -> usize {
        self.layout.count()
    }

    /// Bytes of all elements, each counted as often as it is seen.
    pub fn nbytes(&self) -> usize {
        self.count() * self.dtype.width()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.layout.is_empty()
    }

    /// Whether the elements lie row-major without gaps.
    pub fn is_contiguous(&self) -> bool {
        self.layout.is_packed()
    }

    /// The storage.
    pub fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    /// The device it is on.
    pub fn device(&self) -> &Device {
        self.storage.device()
    }

    /// Whether two tensors are views of one storage.
    pub fn shares_storage_with(&self, other: &Tensor) -> bool {
        Arc::ptr_eq(&self.storage, &other.storage)
    }

    /// The elements as a packed tensor in main memory. This waits for the device, and raises what was found there: an
    /// index outside, with the text the CPU engine has for it.
    pub fn download(&self) -> Result<stridewise_cpu::Tensor> {
        let packed = match self.layout.is_packed() {
            true => self.clone(),
            false => copy::packed(self.device(), self)?,
        };
        let at = packed.layout.offset() * self.dtype.width();
        stridewise_cpu::Tensor::from_writer(self.dtype, self.shape(), |bytes| {
            self.device().read(&packed.storage, at, bytes)
        })
    }

    /// The elements in main memory under the same strides: what the layout reaches travels, however often it is seen.
    pub fn download_as_it_lies(&self) -> Result<stridewise_cpu::Tensor> {
        let (reach, width) = (self.layout.reach(), self.dtype.width());
        let row = stridewise_cpu::Tensor::from_writer(self.dtype, &[reach.len()], |bytes| {
            self.device()
                .read(&self.storage, reach.start * width, bytes)
        })?;
        let offset = self.layout.offset() - reach.start;
        row.with_layout(Layout::new(width, self.shape(), self.strides(), offset)?)
    }
}

impl Value for Tensor {
    type Engine = Gpu;

    fn engine(&self) -> Gpu {
        Gpu::of(self.device())
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = tuple(self.shape());
        write!(f, "{} of shape {shape} on {}", self.dtype, self.device())
    }
}

fn fits(storage: &Storage, dtype: DType, end: usize) -> bool {
    end.checked_mul(dtype.width())
        .is_some_and(|end| end <= storage.len())
}

#[cold]
fn misfit(storage: &Storage, dtype: DType, layout: &Layout) -> Error {
    Error::shape(format!(
        "the layout does not fit the storage of {} bytes",
        storage.len()
    ))
    .note("shape", tuple(layout.dims()))
    .note("strides", tuple(layout.strides()))
    .note("offset", layout.offset())
    .note("dtype", dtype)
}
