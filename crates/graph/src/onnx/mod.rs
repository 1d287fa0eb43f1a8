//! Graphs and ONNX models: a graph is written as the primitives its operators come down to, with sizes worked out in
//! the model; a model is read by tracing it.
//!
//! ONNX has no way to demand something of sizes. What a graph checks in every run is checked there only where an
//! operator of ONNX's happens to: a model may give a result where the graph gives an error.

mod gather;
mod primitive;
mod sizes;
mod view;

use std::collections::HashMap;

use stridewise_core::call::{Arg, Plain};
use stridewise_core::dim::{Dim, Outline};
use stridewise_core::dtype::DType;
use stridewise_core::error::{Error, Result};
use stridewise_core::operators::TABLE;
use stridewise_core::params::{Extent, Scalar};
use stridewise_cpu::Tensor;
use stridewise_onnx::{Data, DeclaredSize, Model, Var, Writer};

use crate::graph::Graph;
use crate::node::{Body, Call, Id};
use crate::program::Program;
use crate::symbols::is_name;

/// A model while it is written.
struct Export<'p> {
    program: &'p Program,
    writer: Writer,
    /// The tensors written so far. Those of steps inside an operator are among them.
    vars: HashMap<Id, Var>,
}

impl Program {
    /// The graph as the bytes of an ONNX model of opset 18, whose dynamic axes have the names of the symbols.
    /// An error where an operator cannot be written because too little is known of its tensors.
    pub fn to_onnx(&self) -> Result<Vec<u8>> {
        if self.gradient.is_some() {
            return Err(
                Error::argument("a graph of gradients cannot be written to ONNX")
                    .help("write the graph itself, and let the other side differentiate it"),
            );
        }
        let mut export = Export {
            program: self,
            writer: Writer::new("stridewise"),
            vars: HashMap::new(),
        };
        for (input, (name, dtype, shape)) in self.inputs.iter().zip(self.inputs()) {
            let var = match declared(shape) {
                Some(sizes) => export.writer.input(name, dtype, sizes)?,
                None => export.writer.input_of_any_rank(name, dtype)?,
            };
            export.vars.insert(input.id, var);
        }
        for node in &self.nodes {
            let made = match &node.body {
                Body::Primitive(primitive) => {
                    export
                        .writer
                        .on_behalf_of(node.name.as_deref().unwrap_or(""));
                    vec![export.primitive(primitive, node.outputs[0])?]
                }
                Body::Call(call) => {
                    let entry = &TABLE[call.place];
                    export
                        .writer
                        .on_behalf_of(node.name.as_deref().unwrap_or(entry.name));
                    let made = export.call(call, &node.outputs);
                    made.map_err(|error| error.within(entry.name))?
                }
                Body::Require { .. } => Vec::new(),
            };
            export.vars.extend(node.outputs.iter().copied().zip(made));
        }
        for (at, (id, (dtype, shape))) in self.outputs.iter().zip(self.outputs()).enumerate() {
            let var = export.var(*id)?;
            let name = match self.outputs.len() {
                1 => "output".to_string(),
                _ => format!("output{at}"),
            };
            match declared(shape) {
                Some(sizes) => export.writer.output(&name, &var, dtype, sizes)?,
                None => export.writer.output_of_any_rank(&name, &var, dtype)?,
            }
        }
        Ok(export.writer.to_bytes())
    }

    /// The graph of an ONNX model. Its inputs have the names and shapes that the model declares.
    pub fn from_onnx(bytes: &[u8]) -> Result<Program> {
        let model = Model::from_bytes(bytes)?;
        let graph = Graph::new();
        let mut inputs = Vec::new();
        for input in model.inputs() {
            let shape = match &input.shape {
                None => graph.unknown_shape(),
                Some(sizes) => {
                    let size = |size: &DeclaredSize| match size {
                        DeclaredSize::Is(n) => Dim::from(*n),
                        DeclaredSize::Named(name) if is_name(name) => Dim::symbol(name),
                        _ => graph.unknown(),
                    };
                    sizes.iter().map(size).collect::<Vec<_>>().as_slice().into()
                }
            };
            let x = graph.input(&input_name(&input.name), input.dtype, shape)?;
            inputs.push((input.name.clone(), x));
        }
        let constant = |dtype: DType, shape: &[usize], bytes: &[u8]| {
            Ok(graph.constant(&Tensor::from_bytes(dtype, shape, bytes)?))
        };
        let outputs = model.run(&graph, constant, inputs)?;
        graph.finish(&outputs.iter().map(|(_, x)| x).collect::<Vec<_>>())
    }
}

/// A name that an input of a graph may have, as near as possible to one of a model's.
fn input_name(name: &str) -> String {
    let fit = |c: char| {
        if c.is_alphanumeric() || c == '_' {
            c
        } else {
            '_'
        }
    };
    let name: String = name.chars().map(fit).collect();
    match is_name(&name) {
        true => name,
        false => format!("x{name}"),
    }
}

/// What a model says of a shape; `None` where the rank is not known.
fn declared(shape: &Outline) -> Option<Vec<DeclaredSize>> {
    use stridewise_core::size::Size;
    let size = |dim: &Dim| match (dim.known(), dim.as_symbol()) {
        (Some(n), _) => DeclaredSize::Is(n),
        (None, Some(symbol)) if symbol.name().starts_with('_') => DeclaredSize::Any,
        (None, Some(symbol)) => DeclaredSize::Named(symbol.name().to_string()),
        (None, None) => DeclaredSize::Any,
    };
    Some(shape.shape()?.iter().map(size).collect())
}

/// A tensor as a model holds it.
fn data(tensor: &Tensor) -> Result<Data> {
    Ok(Data {
        dtype: tensor.dtype(),
        shape: tensor.shape().to_vec(),
        bytes: tensor.to_bytes()?,
    })
}

impl Export<'_> {
    fn var(&self, id: Id) -> Result<Var> {
        let var = self.vars.get(&id).cloned();
        var.ok_or_else(|| Error::argument("a value of the graph is used before it is made"))
    }

    fn constant(&mut self, tensor: &Tensor) -> Result<Var> {
        Ok(self.writer.constant(data(tensor)?))
    }

    /// An operator: as the primitives it comes down to, or, where that is not known, as the operator of ONNX's that
    /// asks for sizes only when it runs.
    fn call(&mut self, call: &Call, outputs: &[Id]) -> Result<Vec<Var>> {
        if let Some(lowered) = &call.lowered {
            for (primitive, id) in &lowered.steps {
                let var = self.primitive(primitive, *id)?;
                self.vars.insert(*id, var);
            }
            return lowered.results.iter().map(|id| self.var(*id)).collect();
        }
        let parameter = |wanted: &str| {
            let found = call.parameters.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, argument)| argument)
        };
        let entry = &TABLE[call.place];
        let written = match (entry.name, call.tensors.as_slice()) {
            ("reshape" | "view", [x]) => match parameter("shape") {
                Some(shape) => {
                    let (x, shape) = (self.var(*x)?, self.sizes_given(shape)?);
                    Some(self.writer.reshape(&x, &shape))
                }
                None => None,
            },
            ("broadcast_to", [x]) => match parameter("shape") {
                Some(shape) => {
                    let (x, shape) = (self.var(*x)?, self.sizes_given(shape)?);
                    Some(self.writer.expand(&x, &shape))
                }
                None => None,
            },
            ("zeros" | "ones" | "full", []) => match parameter("shape") {
                Some(shape) => {
                    let shape = self.sizes_given(shape)?;
                    let value = match entry.name {
                        "zeros" => Scalar::Int(0),
                        "ones" => Scalar::Int(1),
                        _ => match parameter("value") {
                            Some(value) => scalar(value),
                            None => Scalar::Int(0),
                        },
                    };
                    let dtype = self.program.values[outputs[0]].dtype;
                    Some(self.full(dtype, value, &shape)?)
                }
                None => None,
            },
            ("squeeze", [x]) if matches!(parameter("axis"), None | Some(Arg::None)) => {
                let x = self.var(*x)?;
                Some(self.writer.squeeze(&x, None))
            }
            _ => None,
        };
        match written {
            Some(var) => Ok(vec![var]),
            None => Err(
                Error::too_early("too little is known of its tensors to write it to ONNX")
                    .help("declare the ranks of the inputs, and sizes as symbols or numbers"),
            ),
        }
    }

    /// Sizes as they were given to an operator, as a 1-D tensor; `-1` is ONNX's too.
    fn sizes_given(&mut self, argument: &Plain<Dim>) -> Result<Var> {
        let items = match argument {
            Arg::List(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        let mut parts = Vec::with_capacity(items.len());
        for item in items {
            parts.push(match item {
                Arg::Int(n) => self
                    .writer
                    .integers(&[i64::try_from(*n).unwrap_or(i64::MAX)]),
                Arg::Extent(Extent::Is(dim)) => self.size(dim)?,
                _ => self.writer.integers(&[-1]),
            });
        }
        Ok(self.joined(&parts))
    }
}

fn scalar(argument: &Plain<Dim>) -> Scalar {
    match argument {
        Arg::Bool(b) => Scalar::Bool(*b),
        Arg::Int(n) => Scalar::Int(*n),
        Arg::Float(x) => Scalar::Float(*x),
        Arg::Complex(re, im) => Scalar::Complex(*re, *im),
        _ => Scalar::Int(0),
    }
}

/// One element.
fn one(dtype: DType, value: Scalar) -> Result<Tensor> {
    use stridewise_core::engine::Engine;
    stridewise_cpu::Cpu.full(dtype, value, &[])
}
