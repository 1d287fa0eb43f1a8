//! From the messages of a file to a model: names become slots, nodes become calls, and whatever is wrong or not
//! supported is said before anything runs.

use std::collections::{BTreeMap, HashMap, HashSet};

use stridewise_core::{DType, Error, Result};

use crate::import::attributes::{Attributes, holds_graph};
use crate::import::declared::DeclaredInput;
use crate::import::given::{Input, Takes, input_name};
use crate::import::operators::Call;
use crate::import::{Constant, Label, Model, Step};
use crate::proto::{GraphProto, ModelProto, NodeProto};
use crate::tensor::{Data, quoted};

/// Operators that are done with once a model is loaded: they give no calls.
pub(super) const RESOLVED: [&str; 2] = ["Constant", "Identity"];

pub(super) fn load(model: &ModelProto) -> Result<Model> {
    let graph = model
        .graph
        .as_ref()
        .ok_or_else(|| Error::file("the model has no graph").help("is it an ONNX model?"))?;
    let opset = opset(model)?;
    require_supported(model, graph)?;
    let mut loading = Loading::default();
    loading.inputs(graph)?;
    for (at, node) in graph.node.iter().enumerate() {
        let label = label(node, at);
        loading
            .node(graph, node, &label, at, opset)
            .map_err(|error| label.blame(error))?;
    }
    loading.finish(graph)
}

/// The version of ONNX's own operators that the model is written in.
fn opset(model: &ModelProto) -> Result<i64> {
    let own = |domain: &str| domain.is_empty() || domain == "ai.onnx";
    let versions: Vec<i64> = model
        .opset_import
        .iter()
        .filter(|set| own(&set.domain))
        .map(|set| set.version)
        .collect();
    match versions.as_slice() {
        [version] if (Model::OLDEST_OPSET..=Model::NEWEST_OPSET).contains(version) => Ok(*version),
        [version] => Err(Error::file(format!(
            "the model is written in opset {version}, but {} to {} are supported",
            Model::OLDEST_OPSET,
            Model::NEWEST_OPSET
        ))
        .help("`onnx.version_converter` rewrites a model; 18 is a good choice")),
        [] => Err(Error::file(
            "the model does not say which opset it is written in",
        )),
        _ => Err(Error::file(
            "the model names more than one opset of ONNX's own operators",
        )),
    }
}

/// That there is nothing in the model that no code here reads.
fn require_supported(model: &ModelProto, graph: &GraphProto) -> Result<()> {
    if !graph.sparse_initializer.is_empty() {
        return Err(Error::file(
            "the model has sparse tensors, which are not supported",
        ));
    }
    let defined: HashSet<(&str, &str)> = model
        .functions
        .iter()
        .map(|function| (function.domain.as_str(), function.name.as_str()))
        .collect();
    let supported = |node: &NodeProto| {
        let operator = node.op_type.as_str();
        (node.domain.is_empty() || node.domain == "ai.onnx")
            && !defined.contains(&(node.domain.as_str(), operator))
            && (RESOLVED.contains(&operator) || Call::NAMES.contains(&operator))
    };
    let mut others: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut first = None;
    for (at, node) in graph.node.iter().enumerate() {
        if !supported(node) {
            first.get_or_insert((at, node));
            *others.entry((&node.domain, &node.op_type)).or_default() += 1;
        }
    }
    let Some((at, node)) = first else {
        return Ok(());
    };
    let function = match defined.contains(&(node.domain.as_str(), node.op_type.as_str())) {
        true => ", which the model defines as a function,",
        false => "",
    };
    let message = format!(
        "operator {} of domain {}{function} is not supported",
        node.op_type,
        domain(&node.domain)
    );
    let all = others.iter().map(|((theirs, operator), count)| {
        let times = if *count == 1 { "once" } else { "times" };
        let count = if *count == 1 {
            String::new()
        } else {
            format!("{count} ")
        };
        format!("{operator} of {} ({count}{times})", domain(theirs))
    });
    let name = quoted(&node.name);
    let mut error = Error::file(message)
        .note("node", format!("{name}, number {at} of the graph"))
        .note("not supported", all.collect::<Vec<_>>().join(", "));
    let graphs: Vec<&str> = node
        .attribute
        .iter()
        .filter(|attribute| holds_graph(attribute))
        .map(|attribute| attribute.name.as_str())
        .collect();
    if !graphs.is_empty() {
        error = error.note("its subgraphs", graphs.join(", "));
    }
    Err(error.note("supported", Model::supported_operators().join(", ")))
}

fn domain(name: &str) -> &str {
    if name.is_empty() { "ai.onnx" } else { name }
}

fn label(node: &NodeProto, number: usize) -> Label {
    let names = RESOLVED.into_iter().chain(Call::NAMES);
    Label {
        operator: names
            .into_iter()
            .find(|name| *name == node.op_type)
            .unwrap_or_default(),
        name: node.name.clone(),
        number,
    }
}

/// A model while it is read.
#[derive(Default)]
struct Loading<'a> {
    /// The slot of each name seen so far.
    slot_of: HashMap<&'a str, usize>,
    slots: Vec<String>,
    inputs: Vec<DeclaredInput>,
    constants: Vec<Constant>,
    steps: Vec<Step>,
    /// Which constant is in a slot.
    constant_in: HashMap<usize, usize>,
}

impl<'a> Loading<'a> {
    fn inputs(&mut self, graph: &'a GraphProto) -> Result<()> {
        for info in &graph.input {
            let slot = self.slot(&info.name)?;
            self.inputs.push(DeclaredInput::read(info, slot)?);
        }
        for tensor in &graph.initializer {
            let data = Data::from_proto(tensor)?;
            // One that is also an input is what that input is when it is not given.
            let input = self.inputs.iter_mut().find(|i| i.name == tensor.name);
            let slot = match input {
                Some(input) if input.has_default => return Err(twice(&tensor.name)),
                Some(input) => {
                    input.has_default = true;
                    input.slot
                }
                None => self.slot(&tensor.name)?,
            };
            self.constant(slot, data);
        }
        Ok(())
    }

    fn node(
        &mut self,
        graph: &GraphProto,
        node: &'a NodeProto,
        label: &Label,
        at: usize,
        opset: i64,
    ) -> Result<()> {
        let mut attributes = Attributes::new(&node.attribute, opset)?;
        let output = match node.output.as_slice() {
            [one] => one,
            many => {
                let message = format!("the node has {} outputs instead of one", many.len());
                return Err(Error::file(message).sizes(1, many.len()));
            }
        };
        if label.operator == "Constant" {
            require_inputs(node, &[])?;
            let data = constant(&mut attributes)?;
            attributes.finish()?;
            let slot = self.result(output)?;
            self.constant(slot, data);
            return Ok(());
        }
        let read = |name: &'a String| self.find(graph, name, at);
        let inputs: Vec<Option<usize>> = node.input.iter().map(read).collect::<Result<_>>()?;
        if label.operator == "Identity" {
            attributes.finish()?;
            require_inputs(node, &[("input", Takes::Tensor)])?;
            // Both names are of one tensor.
            if let Some(Some(slot)) = inputs.first()
                && !output.is_empty()
                && self.slot_of.insert(output, *slot).is_some()
            {
                return Err(twice(output));
            }
            return Ok(());
        }
        let call = Call::read(label.operator, &mut attributes)?;
        attributes.finish()?;
        let takes = call.inputs();
        require_inputs(node, takes)?;
        for (place, slot) in inputs.iter().enumerate() {
            let takes = takes.get(place).or(takes.last()).map(|(_, takes)| *takes);
            let as_tensor = matches!(takes, Some(Takes::Tensor | Takes::Tensors));
            if let Some(&constant) = slot.and_then(|slot| self.constant_in.get(&slot)) {
                let constant = &mut self.constants[constant];
                constant.needed |= as_tensor || constant.numbers.is_none();
            }
        }
        let output = self.result(output)?;
        self.steps.push(Step {
            call,
            label: label.clone(),
            inputs,
            output,
            done_with: Vec::new(),
        });
        Ok(())
    }

    /// The slot of a tensor that a node reads.
    fn find(&self, graph: &GraphProto, name: &str, at: usize) -> Result<Option<usize>> {
        if name.is_empty() {
            return Ok(None);
        }
        if let Some(slot) = self.slot_of.get(name) {
            return Ok(Some(*slot));
        }
        let later = |node: &NodeProto| node.output.iter().any(|output| output == name);
        Err(match graph.node.iter().skip(at).position(later) {
            Some(0) => Error::file(format!("the node reads its own output `{name}`")),
            Some(later) => Error::file(format!(
                "the node reads `{name}`, which only node number {} makes",
                at + later
            ))
            .help("nodes must stand behind those whose outputs they read"),
            None => Error::file(format!(
                "the node reads `{name}`, which is no input, no initializer and no node's output"
            )),
        })
    }

    /// A new slot under a name.
    fn slot(&mut self, name: &'a str) -> Result<usize> {
        if name.is_empty() {
            return Err(Error::file("an input or initializer has no name"));
        }
        self.result(name)
    }

    /// A new slot for what a node gives; without a name nothing can read it.
    fn result(&mut self, name: &'a str) -> Result<usize> {
        let slot = self.slots.len();
        if !name.is_empty() && self.slot_of.insert(name, slot).is_some() {
            return Err(twice(name));
        }
        self.slots.push(name.to_string());
        Ok(slot)
    }

    fn constant(&mut self, slot: usize, data: Data) {
        self.constant_in.insert(slot, self.constants.len());
        let numbers = match data.shape.len() {
            0 | 1 => data.to_integers(),
            _ => None,
        };
        self.constants.push(Constant {
            slot,
            numbers,
            data,
            needed: false,
        });
    }

    fn finish(mut self, graph: &GraphProto) -> Result<Model> {
        let mut outputs = Vec::new();
        for info in &graph.output {
            let slot = *self
                .slot_of
                .get(info.name.as_str())
                .ok_or_else(|| Error::file(format!("no node makes the output `{}`", info.name)))?;
            if let Some(&constant) = self.constant_in.get(&slot) {
                self.constants[constant].needed = true;
            }
            outputs.push((info.name.clone(), slot));
        }
        // Each tensor is let go after the last step that reads it, results that nothing reads at once.
        let mut kept: HashSet<usize> = outputs.iter().map(|(_, slot)| *slot).collect();
        for step in self.steps.iter_mut().rev() {
            let slots = step.inputs.iter().flatten().chain([&step.output]);
            let done = slots.copied().filter(|slot| kept.insert(*slot));
            step.done_with = done.collect();
        }
        Ok(Model {
            inputs: self.inputs,
            outputs,
            constants: self.constants,
            steps: self.steps,
            slots: self.slots,
        })
    }
}

fn twice(name: &str) -> Error {
    Error::file(format!("two tensors are called `{name}`"))
}

/// The tensor of a Constant node.
fn constant(attributes: &mut Attributes<'_>) -> Result<Data> {
    let mut found = Vec::new();
    found.extend(attributes.tensor("value")?);
    found.extend(attributes.int("value_int")?.map(|n| Data {
        shape: Vec::new(),
        ..Data::integers(&[n])
    }));
    found.extend(attributes.ints("value_ints")?.map(Data::integers));
    let floats = |numbers: &[f32], shape: Vec<usize>| Data {
        dtype: DType::F32,
        shape,
        bytes: numbers.iter().flat_map(|x| x.to_le_bytes()).collect(),
    };
    let one = attributes.float("value_float")?;
    found.extend(one.map(|x| floats(&[x], Vec::new())));
    let list = attributes.floats("value_floats")?;
    found.extend(list.map(|list| floats(list, vec![list.len()])));
    match (found.pop(), found.is_empty()) {
        (Some(data), true) => Ok(data),
        (None, _) => Err(
            Error::file("none of the attributes that hold a value is there")
                .help("value, value_int, value_ints, value_float and value_floats are supported"),
        ),
        _ => Err(Error::file("more than one attribute holds a value")),
    }
}

/// That a node has the inputs its operator takes.
fn require_inputs(node: &NodeProto, takes: &'static [Input]) -> Result<()> {
    let many = matches!(takes.last(), Some((_, Takes::Tensors)));
    if !many && node.input.len() > takes.len() {
        let message = format!(
            "the node has {} inputs, but at most {} are taken",
            node.input.len(),
            takes.len()
        );
        return Err(Error::file(message).sizes(takes.len(), node.input.len()));
    }
    for at in 0..takes.len().max(node.input.len()) {
        let takes_at = takes.get(at).or(takes.last()).map(|(_, takes)| *takes);
        let given = node.input.get(at).is_some_and(|name| !name.is_empty());
        if !given && takes_at != Some(Takes::OptionalNumbers) {
            let name = input_name(takes, at);
            return Err(Error::file(format!("input `{name}` is missing")).at_argument(name));
        }
    }
    Ok(())
}
