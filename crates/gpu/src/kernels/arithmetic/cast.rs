//! From one dtype to another.

use stridewise_core::{DType, Result};

use super::convert::{Wide, flags};
use super::job::Job;
use super::number::Number;
use super::{Params, counted};
use crate::engine::Gpu;
use crate::kernels::movement::copy;
use crate::kernels::places::Places;
use crate::tensor::Tensor;

/// The elements of `x`, converted.
pub(crate) fn cast(gpu: &Gpu, x: &Tensor, dtype: DType) -> Result<Tensor> {
    let device = gpu.device();
    // Any byte may be true, but a cast gives 1.
    if x.dtype() == dtype && dtype != DType::Bool {
        return copy::packed(device, x);
    }
    let to = Number::of(dtype);
    let made = Tensor::made(device, dtype, x.shape())?;
    let params = Params::new([counted(made.count())?, flags(x.dtype(), dtype), 0])
        .block(2, &Places::of(x.layout()).words());
    let from = Wide::of(x.dtype());
    let job = Job::Cast { from, to };
    let threads = made.count().div_ceil(to.lanes() as usize);
    device.launch(
        job.kernel(),
        &params.words,
        made.storage(),
        &[x.storage()],
        threads,
    )?;
    Ok(made)
}
