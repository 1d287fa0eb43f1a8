//! Arithmetic. For now by way of the CPU engine.

use stridewise_core::engine::{Along, Engine};
use stridewise_core::params::Mode;
use stridewise_core::{DType, Result};
use stridewise_cpu::Cpu;

use crate::engine::Gpu;
use crate::kernels::Kernel;
use crate::tensor::Tensor;

/// Every kernel.
pub fn all() -> Vec<Kernel> {
    Vec::new()
}

pub(crate) fn add(gpu: &Gpu, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    gpu.upload(&Cpu.add(&a.download()?, &b.download()?)?)
}

pub(crate) fn cast(gpu: &Gpu, x: &Tensor, dtype: DType) -> Result<Tensor> {
    gpu.upload(&Cpu.cast(&x.download()?, dtype)?)
}

pub(crate) fn sum(gpu: &Gpu, x: &Tensor, axes: &[usize], dtype: DType) -> Result<Tensor> {
    gpu.upload(&Cpu.sum(&x.download()?, axes, dtype)?)
}

pub(crate) fn scatter_add(
    gpu: &Gpu,
    base: &Tensor,
    index: &Tensor,
    updates: &Tensor,
    along: &Along,
    mode: Mode,
) -> Result<Tensor> {
    let (base, index, updates) = (base.download()?, index.download()?, updates.download()?);
    gpu.upload(&Cpu.scatter_add(&base, &index, &updates, along, mode)?)
}
