//! Models read from files. Everything that does not depend on the inputs is checked when a model is loaded, so that
//! a file that cannot run says so at once.

mod attributes;
mod declared;
mod enforced;
mod given;
mod load;
mod operators;
mod run;

use std::path::Path;

use stridewise_core::{DType, Error, Result};

pub use declared::DeclaredInput;
pub use run::{Placed, Running};

use crate::proto::{self, ModelProto};
use crate::tensor::Data;
use operators::Call;

/// A model whose nodes are all supported, ready to run on any engine.
#[derive(Clone, Debug)]
pub struct Model {
    inputs: Vec<DeclaredInput>,
    /// The name of each output, and the slot that holds it.
    outputs: Vec<(String, usize)>,
    constants: Vec<Constant>,
    steps: Vec<Step>,
    /// The name of the tensor in each slot. Every tensor has one: inputs, constants, and results of nodes.
    slots: Vec<String>,
}

/// A tensor that the file brings along.
#[derive(Clone, Debug)]
struct Constant {
    slot: usize,
    data: Data,
    /// Its elements, where it can serve as sizes, axes or places.
    numbers: Option<Vec<i64>>,
    /// Whether anything needs it as a tensor; otherwise its numbers are all there is to it.
    needed: bool,
}

/// A node.
#[derive(Clone, Debug)]
struct Step {
    call: Call,
    label: Label,
    /// The slot of each input; none where an optional one is left out.
    inputs: Vec<Option<usize>>,
    output: usize,
    /// Slots that nothing reads any more once this is done.
    done_with: Vec<usize>,
}

/// What a node of a model is called, and what it is called on.
#[derive(Clone, Debug, PartialEq)]
pub struct Node<'m> {
    /// Its place among the nodes of the file, those that are done with once it is loaded included.
    pub number: usize,
    /// ONNX's name of the operator.
    pub operator: &'static str,
    /// Its name, often empty.
    pub name: &'m str,
    /// The names of the tensors it reads; empty for an optional one left out.
    pub inputs: Vec<&'m str>,
    /// The name of what it gives.
    pub output: &'m str,
}

/// What errors call a node.
#[derive(Clone, Debug)]
struct Label {
    operator: &'static str,
    name: String,
    number: usize,
}

impl Model {
    /// The newest set of ONNX's operators that is known here.
    pub const NEWEST_OPSET: i64 = 28;
    /// The oldest in which the supported operators mean the same.
    pub const OLDEST_OPSET: i64 = 13;

    /// Reads and checks a model.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model> {
        Model::from_proto(&proto::decode_model(bytes)?)
    }

    /// Reads and checks the model in a file.
    pub fn open(path: impl AsRef<Path>) -> Result<Model> {
        let path = path.as_ref();
        proto::open_model(path)
            .and_then(|proto| Model::from_proto(&proto).map_err(|error| blame_file(error, path)))
    }

    /// Checks a model that has been decoded.
    pub fn from_proto(model: &ModelProto) -> Result<Model> {
        load::load(model)
    }

    /// The operators a model may be made of.
    pub fn supported_operators() -> Vec<&'static str> {
        let mut names: Vec<&str> = load::RESOLVED.into_iter().chain(Call::NAMES).collect();
        names.sort_unstable();
        names
    }

    /// What it is given, in the order of the file.
    pub fn inputs(&self) -> &[DeclaredInput] {
        &self.inputs
    }

    /// The names of what it gives, in the order of the file.
    pub fn outputs(&self) -> impl Iterator<Item = &str> {
        self.outputs.iter().map(|(name, _)| name.as_str())
    }

    /// The nodes that run, in order.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = Node<'_>> {
        let name = |slot: usize| self.slots[slot].as_str();
        self.steps.iter().map(move |step| Node {
            number: step.label.number,
            operator: step.label.operator,
            name: &step.label.name,
            inputs: step
                .inputs
                .iter()
                .map(|slot| slot.map_or("", name))
                .collect(),
            output: name(step.output),
        })
    }
}

impl Label {
    fn text(&self) -> String {
        let name = crate::tensor::quoted(&self.name);
        format!(
            "{} {name}, number {} of the graph",
            self.operator, self.number
        )
    }

    /// Says in which node something went wrong.
    fn blame(&self, error: Error) -> Error {
        let error = match self.name.as_str() {
            "" => error,
            name => error.named(name),
        };
        error.within(self.operator).note("node", self.text())
    }
}

fn blame_file(error: Error, path: &Path) -> Error {
    error.note("file", path.display())
}

/// The element type and shape of a constant, for errors.
fn describe(dtype: DType, shape: &[usize]) -> String {
    format!("{dtype} of shape {}", stridewise_core::size::tuple(shape))
}
