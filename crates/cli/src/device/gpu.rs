//! Programs and models on the GPU: inputs go there, results come back.

use std::io::Write;

use stridewise::{Device, Gpu, Tensor, To};
use stridewise_core::error::{Error, Result};
use stridewise_onnx::Model;

use crate::failure::Failure;
use crate::model::walked;
use crate::program::{Flow, Program};
use crate::progress::Progress;
use crate::run::walk;

/// Which GPU there is.
pub(crate) fn describe() -> Result<String> {
    Ok(Device::gpu()?.to_string())
}

/// What a program gives on the GPU.
pub(crate) fn chain(
    program: &Program,
    inputs: &[Tensor],
    progress: &Progress,
    out: &mut dyn Write,
) -> Result<Option<Flow<Tensor>>, Failure> {
    let gpu = Device::gpu()?;
    let inputs = inputs.iter().map(|x| x.to(&gpu));
    let inputs = inputs.collect::<Result<Vec<_>>>()?;
    let Some(flow) = walk(gpu.engine(), program, &inputs, progress, out)? else {
        return Ok(None);
    };
    progress.begin("reading");
    // An index that points outside is found there, and told where the result is read.
    let read = flow.try_map(|x| x.to(&Device::cpu()));
    read.map(Some).map_err(|error| blamed(program, error))
}

/// The error of the step it names, where only one has that name.
fn blamed(program: &Program, error: Error) -> Failure {
    let name = error.report().operator();
    let mut named = program.steps.iter().filter(|step| step.entry.name == name);
    match (named.next(), named.next()) {
        (Some(step), None) => Failure::within(&program.source)(step.blamed(&error)),
        _ => error.into(),
    }
}

/// What a model gives on the GPU, by name.
pub(crate) fn model(
    model: &Model,
    inputs: Vec<(&str, Tensor)>,
) -> Result<Vec<(String, Tensor)>, Failure> {
    let gpu = Device::gpu()?;
    let constant = |dtype, shape: &[usize], bytes: &[u8]| -> Result<stridewise::gpu::Tensor> {
        Tensor::from_bytes(dtype, shape, bytes)?.to(&gpu)
    };
    let inputs = inputs.into_iter().map(|(name, x)| Ok((name, x.to(&gpu)?)));
    let inputs = inputs.collect::<Result<Vec<_>>>()?;
    let results: Vec<(String, <Gpu as stridewise::Engine>::Value)> =
        walked(model, gpu.engine(), constant, inputs)?;
    let read = |(name, x): (String, stridewise::gpu::Tensor)| Ok((name, x.to(&Device::cpu())?));
    let read: Result<Vec<_>> = results.into_iter().map(read).collect();
    read.map_err(crate::model::failed)
}
