//! `stridewise run` on a model.

use std::path::{Path, PathBuf};

use stridewise::{Cpu, DType, Engine, Error, Tensor, files};
use stridewise_onnx::Model;

use crate::device::{self, Device};
use crate::failure::Failure;
use crate::inputs::load_one;
use crate::model::{failed, given};
use crate::progress::Progress;
use crate::terminal::count;

/// What the model gives, by name.
pub(crate) fn run(
    path: &Path,
    inputs: &[PathBuf],
    output: Option<&Path>,
    device: Device,
) -> Result<Vec<(String, Tensor)>, Failure> {
    let model = Model::open(path)?;
    if let Some(output) = output {
        require_room(&model, output)?;
    }
    let inputs = given::by_name(&model, inputs)?
        .into_iter()
        .map(|(name, file)| Ok((name, load_one(&file)?)))
        .collect::<Result<Vec<_>, Failure>>()?;
    match device {
        Device::Cpu => walked(&model, &Cpu, Tensor::from_bytes, inputs),
        Device::Gpu => device::model(&model, inputs),
    }
}

/// Runs the model's nodes on an engine, one after another.
pub(crate) fn walked<E: Engine>(
    model: &Model,
    engine: &E,
    constant: impl Fn(DType, &[usize], &[u8]) -> Result<E::Value, Error>,
    inputs: Vec<(&str, E::Value)>,
) -> Result<Vec<(String, E::Value)>, Failure> {
    let placed = model.place(engine, constant).map_err(failed)?;
    let progress = Progress::new(model.nodes().len());
    let mut running = placed.start(inputs).map_err(failed)?;
    for node in model.nodes() {
        progress.begin(node.operator);
        running.step().map_err(failed)?;
        progress.advance();
    }
    running.outputs().map_err(failed)
}

/// That the outputs can go to a file of that name, before any work is done for them.
fn require_room(model: &Model, output: &Path) -> Result<(), Failure> {
    files::require_ending(output)?;
    let single = output
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("npy"));
    match model.outputs().count() {
        n if single && n != 1 => {
            let names: Vec<&str> = model.outputs().collect();
            Err(Failure::Other(format!(
                "the model gives {}, but an .npy file holds one\n  its outputs: {}\n  help: use .safetensors, which holds tensors by name",
                count(n, "tensor"),
                names.join(", ")
            )))
        }
        _ => Ok(()),
    }
}
