//! A build without GPUs.

use std::io::Write;

use stridewise::Tensor;
use stridewise_core::error::{Error, Result};
use stridewise_onnx::Model;

use crate::failure::Failure;
use crate::program::{Flow, Program};
use crate::progress::Progress;

fn none() -> Error {
    Error::device("this build of stridewise has no GPU engine").help(
        "build it with the feature `gpu`, in the repository `cargo run --release --features gpu -- …`",
    )
}

/// Which GPU there is.
pub(crate) fn describe() -> Result<String> {
    Err(none())
}

/// What a program gives on the GPU.
pub(crate) fn chain(
    _: &Program,
    _: &[Tensor],
    _: &Progress,
    _: &mut dyn Write,
) -> Result<Option<Flow<Tensor>>, Failure> {
    Err(none().into())
}

/// What a model gives on the GPU, by name.
pub(crate) fn model(_: &Model, _: Vec<(&str, Tensor)>) -> Result<Vec<(String, Tensor)>, Failure> {
    Err(none().into())
}
