//! The GPU engine: each primitive allocates its result and launches one kernel or a few.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use stridewise_core::engine::{Along, Engine};
use stridewise_core::operator::on_behalf_of;
use stridewise_core::params::{Extent, Mode, Scalar};
use stridewise_core::size::Truth;
use stridewise_core::{Axis, DType, Error, Layout, Operator, Result};
use stridewise_cpu::Cpu;

use crate::device::{Counts, Device, Info, lock};
use crate::kernels::arithmetic;
use crate::kernels::movement::{concat, copy, fill, gather};
use crate::tensor::Tensor;

/// The engine that runs on a GPU. A clone is the same engine.
///
/// Calls return before they have run: the commands gather until a result is read. An index that is out of range is
/// therefore raised by the call that reads, with the text it has on the CPU.
#[derive(Clone, Debug)]
pub struct Gpu {
    device: Device,
}

static OPEN: Mutex<Option<Gpu>> = Mutex::new(None);

impl Gpu {
    /// The GPU of this process: opened at the first call, and again when it was lost. The error says why there is none.
    pub fn open() -> Result<Gpu> {
        let mut open = lock(&OPEN);
        match &*open {
            Some(gpu) if !gpu.device.is_lost() => Ok(gpu.clone()),
            _ => Ok(open.insert(Gpu::another()?).clone()),
        }
    }

    /// A device of its own, whose tensors do not go together with those of others.
    pub fn another() -> Result<Gpu> {
        Device::open().map(|device| Gpu { device })
    }

    /// The engine of a device.
    pub fn of(device: &Device) -> Gpu {
        Gpu {
            device: device.clone(),
        }
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What is known of the device.
    pub fn info(&self) -> &Info {
        self.device.info()
    }

    /// What the device has done so far.
    pub fn counts(&self) -> Counts {
        self.device.counts()
    }

    /// A tensor with the same elements on this device. It keeps its strides where no more memory travels than it has
    /// elements.
    pub fn upload(&self, x: &stridewise_cpu::Tensor) -> Result<Tensor> {
        let (dtype, width) = (x.dtype(), x.dtype().width());
        let reach = x.layout().reach();
        if reach.len() > x.count() {
            return self.upload(&Cpu.copy(x)?);
        }
        let row = Layout::new(width, &[reach.len()][..], &[1][..], reach.start)?;
        let row = x.with_layout(row)?;
        let bytes = row
            .as_bytes()
            .ok_or_else(|| Error::shape("one run of elements is not packed"))?;
        let storage = self.device.storage(bytes.len())?;
        self.device.write(&storage, bytes)?;
        let offset = x.layout().offset() - reach.start;
        let layout = Layout::new(width, x.shape(), x.strides(), offset)?;
        Tensor::new(Arc::new(storage), dtype, layout)
    }

    /// Requires that tensors are on this device.
    fn require_here(&self, xs: &[&Tensor]) -> Result<()> {
        match xs.iter().find(|x| !x.device().is(&self.device)) {
            None => Ok(()),
            Some(stranger) => Err(self.elsewhere(stranger)),
        }
    }

    #[cold]
    fn elsewhere(&self, stranger: &Tensor) -> Error {
        let (here, there) = (&self.device, stranger.device());
        Error::device(format!(
            "a tensor on {there} does not go together with one on {here}"
        ))
        .sizes(here, there)
        .help("bring both to one device")
    }
}

impl Engine for Gpu {
    type Size = usize;
    type Value = Tensor;

    fn rank(&self, x: &Tensor) -> Result<usize> {
        Ok(x.rank())
    }

    fn size(&self, x: &Tensor, axis: usize) -> usize {
        x.shape()[axis]
    }

    fn dtype(&self, x: &Tensor) -> DType {
        x.dtype()
    }

    fn count(&self, x: &Tensor) -> Result<usize> {
        Ok(x.count())
    }

    fn full(&self, dtype: DType, value: Scalar, sizes: &[usize]) -> Result<Tensor> {
        fill::full(&self.device, dtype, value, sizes)
    }

    fn range(&self, dtype: DType, start: Scalar, step: Scalar, len: usize) -> Result<Tensor> {
        self.upload(&Cpu.range(dtype, start, step, len)?)
    }

    fn literal(&self, dtype: DType, sizes: &[usize], values: &[Scalar]) -> Result<Tensor> {
        self.upload(&Cpu.literal(dtype, sizes, values)?)
    }

    fn integers(&self, numbers: &[isize]) -> Result<Tensor> {
        self.upload(&Cpu.integers(numbers)?)
    }

    fn sizes(&self, sizes: &[usize]) -> Result<Tensor> {
        self.upload(&Cpu.sizes(sizes)?)
    }

    fn runs(&self, counts: &[usize]) -> Result<Tensor> {
        self.upload(&Cpu.runs(counts)?)
    }

    fn read_sizes(&self, x: &Tensor) -> Result<Vec<Extent<usize>>> {
        Cpu.read_sizes(&x.download()?)
    }

    fn try_view(
        &self,
        x: &Tensor,
        rank: usize,
        axes: impl Fn(usize) -> Result<Axis<usize>>,
    ) -> Result<Tensor> {
        x.view(&[], rank, axes)
    }

    fn view_at(
        &self,
        x: &Tensor,
        at: &[(usize, usize)],
        rank: usize,
        axes: impl Fn(usize) -> Axis<usize>,
    ) -> Result<Tensor> {
        x.view(at, rank, |out| Ok(axes(out)))
    }

    fn is_one_run(&self, x: &Tensor) -> bool {
        x.layout().is_one_run()
    }

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
        self.require_here(&[x])?;
        copy::packed(&self.device, x)
    }

    fn gather(&self, source: &Tensor, index: &Tensor, along: &Along, mode: Mode) -> Result<Tensor> {
        self.require_here(&[source, index])?;
        gather::gather(self, source, index, along, mode)
    }

    fn scatter_add(
        &self,
        base: &Tensor,
        index: &Tensor,
        updates: &Tensor,
        along: &Along,
        mode: Mode,
    ) -> Result<Tensor> {
        self.require_here(&[base, index, updates])?;
        arithmetic::scatter_add(self, base, index, updates, along, mode)
    }

    fn sum(&self, x: &Tensor, axes: &[usize], dtype: DType) -> Result<Tensor> {
        self.require_here(&[x])?;
        arithmetic::sum(self, x, axes, dtype)
    }

    fn concat(&self, xs: &[&Tensor], axis: usize) -> Result<Tensor> {
        self.require_here(xs)?;
        concat::concat(&self.device, xs, axis)
    }

    fn cast(&self, x: &Tensor, dtype: DType) -> Result<Tensor> {
        self.require_here(&[x])?;
        arithmetic::cast(self, x, dtype)
    }

    fn add(&self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        self.require_here(&[a, b])?;
        arithmetic::add(self, a, b)
    }

    fn run<O: Operator<Self>>(&self, operator: &O, inputs: &[&Tensor]) -> Result<O::Output> {
        self.require_here(inputs)?;
        on_behalf_of(O::NAME, || operator.lower(self, inputs))
    }
}
