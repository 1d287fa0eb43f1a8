//! `stridewise info` on a model, also on one that cannot run here.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use stridewise_core::size::tuple;
use stridewise_onnx::Model;
use stridewise_onnx::proto::{GraphProto, ModelProto, ValueInfoProto, open_model};

use crate::failure::Failure;
use crate::terminal::{Paint, count, lines};

/// The columns in front of a fact.
const MARGIN: usize = 13;

/// Describes a model.
pub(crate) fn info(path: &Path, paint: Paint, out: &mut dyn Write) -> Result<(), Failure> {
    let model = open_model(path)?;
    let nothing = GraphProto::default();
    let graph = model.graph.as_ref().unwrap_or(&nothing);
    let file = path.file_name().unwrap_or(path.as_os_str());
    let head = format!("{}: ONNX model", file.to_string_lossy());
    writeln!(out, "{}", paint.bold(&head))?;
    let mut facts: Vec<(&str, Vec<String>)> = Vec::new();
    let one = |text: &str| lines(text, paint.width() - MARGIN);
    if !graph.name.is_empty() {
        facts.push(("graph", one(&graph.name)));
    }
    if !model.producer_name.is_empty() {
        let made = format!("{} {}", model.producer_name, model.producer_version);
        facts.push(("made by", one(&made)));
    }
    facts.push(("opset", one(&opsets(&model))));
    let has_default = |name: &str| graph.initializer.iter().any(|tensor| tensor.name == name);
    facts.push(("inputs", tensors(&graph.input, has_default)));
    facts.push(("outputs", tensors(&graph.output, |_| false)));
    let weights = graph.initializer.len();
    if weights > 0 {
        facts.push(("constants", vec![count(weights, "tensor")]));
    }
    facts.push(("operators", one(&operators(graph))));
    let runs = match Model::from_proto(&model) {
        Ok(_) => vec!["yes".to_string()],
        Err(error) => one(&format!("no: {}", error.report().message())),
    };
    facts.push(("runs here", runs));
    for (label, texts) in facts {
        for (at, text) in texts.iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            writeln!(out, "  {} {text}", paint.dim(&format!("{label:<10}")))?;
        }
    }
    Ok(())
}

fn opsets(model: &ModelProto) -> String {
    let set = |domain: &str, version: i64| match domain {
        "" | "ai.onnx" => version.to_string(),
        domain => format!("{version} of {domain}"),
    };
    let sets = model.opset_import.iter();
    let sets: Vec<String> = sets.map(|s| set(&s.domain, s.version)).collect();
    match sets.is_empty() {
        true => "not said".to_string(),
        false => sets.join(", "),
    }
}

/// A line for each tensor, in columns.
fn tensors(infos: &[ValueInfoProto], has_default: impl Fn(&str) -> bool) -> Vec<String> {
    if infos.is_empty() {
        return vec!["none".to_string()];
    }
    let cells: Vec<[String; 3]> = infos
        .iter()
        .map(|info| {
            let default = match has_default(&info.name) {
                true => ", has a default",
                false => "",
            };
            let (dtype, shape) = match info.declared() {
                Ok((dtype, Some(sizes))) => (dtype.to_string(), tuple(&sizes)),
                Ok((dtype, None)) => (dtype.to_string(), "any shape".to_string()),
                Err(error) => ("?".to_string(), error.report().message().to_string()),
            };
            [info.name.clone(), dtype, format!("{shape}{default}")]
        })
        .collect();
    let width = |at: usize| cells.iter().map(|c| c[at].chars().count()).max();
    let (names, dtypes) = (width(0).unwrap_or(0), width(1).unwrap_or(0));
    cells
        .iter()
        .map(|[name, dtype, shape]| format!("{name:<names$}  {dtype:<dtypes$}  {shape}"))
        .collect()
}

/// How many nodes there are of each operator, the most frequent first.
fn operators(graph: &GraphProto) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for node in &graph.node {
        let name = match node.domain.as_str() {
            "" | "ai.onnx" => node.op_type.clone(),
            domain => format!("{domain}.{}", node.op_type),
        };
        *counts.entry(name).or_default() += 1;
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let parts: Vec<String> = counts
        .iter()
        .map(|(name, n)| format!("{n} {name}"))
        .collect();
    match parts.is_empty() {
        true => "none".to_string(),
        false => parts.join(", "),
    }
}
