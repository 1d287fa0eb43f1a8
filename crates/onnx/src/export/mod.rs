//! Models written to files. A [`Writer`] takes inputs, nodes and outputs in the order they are made, so that every
//! node stands behind those it reads and every name is its own: what it writes is a valid model.

pub mod attributes;
mod nodes;

use std::collections::{HashMap, HashSet};

use stridewise_core::{DType, Error, Result};

use crate::proto::{
    self, AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, ValueInfoProto,
};
use crate::size::{DeclaredSize, tensor_type};
use crate::tensor::Data;

/// The version of the format: the first that has the opset written here.
const IR_VERSION: i64 = 8;

/// A graph while it is written.
#[derive(Debug)]
pub struct Writer {
    graph: GraphProto,
    names: HashSet<String>,
    constants: HashMap<Data, Var>,
    caller: String,
}

/// A tensor of the graph that is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Var(String);

impl Var {
    /// Its name in the file.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl Writer {
    /// The set of ONNX's operators that nodes are of.
    pub const OPSET: i64 = 18;

    /// An empty graph of that name.
    pub fn new(name: &str) -> Writer {
        let name = if name.is_empty() { "graph" } else { name };
        Writer {
            graph: GraphProto {
                name: name.to_string(),
                ..GraphProto::default()
            },
            names: HashSet::new(),
            constants: HashMap::new(),
            caller: String::new(),
        }
    }

    /// A tensor that the graph is given.
    pub fn input(
        &mut self,
        name: &str,
        dtype: DType,
        sizes: impl IntoIterator<Item = DeclaredSize>,
    ) -> Result<Var> {
        let sizes: Vec<DeclaredSize> = sizes.into_iter().collect();
        self.add_input(name, dtype, Some(&sizes))
    }

    /// A tensor that the graph is given, of a rank that is not known. ONNX's checker wants a rank; runtimes take it.
    pub fn input_of_any_rank(&mut self, name: &str, dtype: DType) -> Result<Var> {
        self.add_input(name, dtype, None)
    }

    /// A tensor that the graph gives, under a name of its own.
    pub fn output(
        &mut self,
        name: &str,
        var: &Var,
        dtype: DType,
        sizes: impl IntoIterator<Item = DeclaredSize>,
    ) -> Result<()> {
        let sizes: Vec<DeclaredSize> = sizes.into_iter().collect();
        self.add_output(name, var, dtype, Some(&sizes))
    }

    /// A tensor that the graph gives, of a rank that is not known.
    pub fn output_of_any_rank(&mut self, name: &str, var: &Var, dtype: DType) -> Result<()> {
        self.add_output(name, var, dtype, None)
    }

    /// Says whose nodes follow: their names begin with it. Empty for nobody's.
    pub fn on_behalf_of(&mut self, caller: &str) {
        self.caller = caller.to_string();
    }

    /// A tensor that the graph brings along. The same one twice is written once.
    pub fn constant(&mut self, data: Data) -> Var {
        if let Some(var) = self.constants.get(&data) {
            return var.clone();
        }
        let name = self.fresh_name("constant");
        self.graph.initializer.push(data.to_proto(&name));
        self.constants.insert(data, Var(name.clone()));
        Var(name)
    }

    /// Whole numbers as an `int64` tensor of rank 1.
    pub fn integers(&mut self, numbers: &[i64]) -> Var {
        self.constant(Data::integers(numbers))
    }

    /// A whole number as an `int64` tensor of rank 0.
    pub fn integer(&mut self, number: i64) -> Var {
        self.constant(Data {
            shape: Vec::new(),
            ..Data::integers(&[number])
        })
    }

    /// A node with one output, of any operator of the opset. An input left out is `None`.
    pub fn node<const N: usize>(
        &mut self,
        operator: &str,
        inputs: &[Option<&Var>],
        attributes: [AttributeProto; N],
    ) -> Var {
        let name = self.fresh_name(operator);
        self.graph.node.push(NodeProto {
            input: listed(inputs),
            output: vec![name.clone()],
            name: name.clone(),
            op_type: operator.to_string(),
            attribute: attributes.into(),
            ..NodeProto::default()
        });
        Var(name)
    }

    /// The model as it is so far.
    pub fn to_proto(&self) -> ModelProto {
        ModelProto {
            ir_version: IR_VERSION,
            producer_name: "stridewise".to_string(),
            producer_version: env!("CARGO_PKG_VERSION").to_string(),
            graph: Some(self.graph.clone()),
            opset_import: vec![OperatorSetIdProto {
                domain: String::new(),
                version: Writer::OPSET,
            }],
            ..ModelProto::default()
        }
    }

    /// The bytes of a file with the model as it is so far.
    pub fn to_bytes(&self) -> Vec<u8> {
        proto::encode(&self.to_proto())
    }

    fn add_input(
        &mut self,
        name: &str,
        dtype: DType,
        sizes: Option<&[DeclaredSize]>,
    ) -> Result<Var> {
        self.claim(name)?;
        self.graph.input.push(value_info(name, dtype, sizes));
        Ok(Var(name.to_string()))
    }

    fn add_output(
        &mut self,
        name: &str,
        var: &Var,
        dtype: DType,
        sizes: Option<&[DeclaredSize]>,
    ) -> Result<()> {
        self.claim(name)?;
        // Two outputs may be one tensor, and that may be an input: another name is another node.
        self.graph.node.push(NodeProto {
            input: vec![var.0.clone()],
            output: vec![name.to_string()],
            name: format!("output {name}"),
            op_type: "Identity".to_string(),
            ..NodeProto::default()
        });
        self.graph.output.push(value_info(name, dtype, sizes));
        Ok(())
    }

    fn claim(&mut self, name: &str) -> Result<()> {
        if name.is_empty() {
            return Err(Error::argument("an input or output needs a name"));
        }
        match self.names.insert(name.to_string()) {
            true => Ok(()),
            false => Err(Error::argument(format!(
                "two tensors would be called `{name}`"
            ))),
        }
    }

    /// A name that nothing has yet.
    fn fresh_name(&mut self, what: &str) -> String {
        let before = match self.caller.as_str() {
            "" => String::new(),
            caller => format!("{caller}/"),
        };
        let mut number = self.names.len();
        loop {
            let name = format!("{before}{what}_{number}");
            if self.names.insert(name.clone()) {
                return name;
            }
            number += 1;
        }
    }
}

/// The names of inputs; those left out at the end are not written at all.
fn listed(inputs: &[Option<&Var>]) -> Vec<String> {
    let given = inputs
        .iter()
        .rposition(Option::is_some)
        .map_or(0, |last| last + 1);
    let name = |var: &Option<&Var>| var.map_or(String::new(), |var| var.0.clone());
    inputs[..given].iter().map(name).collect()
}

fn value_info(name: &str, dtype: DType, sizes: Option<&[DeclaredSize]>) -> ValueInfoProto {
    ValueInfoProto {
        name: name.to_string(),
        r#type: Some(tensor_type(dtype, sizes)),
        ..ValueInfoProto::default()
    }
}
