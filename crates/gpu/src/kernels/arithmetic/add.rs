//! The sum of two operands.

use stridewise_core::Result;
use stridewise_core::rules::require_alike;

use super::job::Job;
use super::number::Number;
use super::{Params, counted};
use crate::engine::Gpu;
use crate::kernels::places::Places;
use crate::tensor::Tensor;

/// `a + b`, element by element; both have one shape and dtype.
pub(crate) fn add(gpu: &Gpu, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    require_alike((a.dtype(), a.shape()), (b.dtype(), b.shape()))?;
    let device = gpu.device();
    let number = Number::of(a.dtype());
    let made = Tensor::made(device, a.dtype(), a.shape())?;
    let params = Params::new([counted(made.count())?, 0, 0])
        .block(1, &Places::of(a.layout()).words())
        .block(2, &Places::of(b.layout()).words());
    let job = Job::Add {
        number,
        native: number.adds_singles() && device.adds_itself(),
    };
    let inputs = [&**a.storage(), b.storage()];
    let threads = made.count().div_ceil(number.lanes() as usize);
    device.launch(
        job.kernel(),
        &params.words,
        made.storage(),
        &inputs,
        threads,
    )?;
    Ok(made)
}
