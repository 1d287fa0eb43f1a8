//! The node tests of the ONNX project: a directory for each, with a model and what it gives for some inputs.
//!
//! The argument is the directory that holds them; `tests/write_node_tests.py` writes one from the `onnx` package. Every test whose nodes are all supported operators must give the very bytes, but for
//! sums of floats, which are added in another order there. `write_random_models.py` writes others of the same kind,
//! with what ONNX Runtime gives for them, and a file `refused` where it gives nothing. Those that can be graphs of
//! unknown sizes must give the same by that way.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use stridewise_core::DType;
use stridewise_core::dim::Dim;
use stridewise_cpu::compare::{Tolerance, allclose, array_equal};
use stridewise_cpu::{Cpu, Tensor};
use stridewise_graph::Graph;
use stridewise_onnx::proto::{ModelProto, decode_model, decode_tensor};
use stridewise_onnx::{Data, Model};

enum Outcome {
    Passed,
    Skipped(String),
}

fn main() {
    let roots: Vec<_> = std::env::args_os().skip(1).collect();
    assert!(!roots.is_empty(), "name the directories of the tests");
    for root in roots {
        check(Path::new(&root));
    }
}

fn check(root: &Path) {
    let (mut passed, mut skipped, mut failed) = (0, BTreeMap::<String, usize>::new(), Vec::new());
    let mut graphs = 0;
    let mut by_operator = BTreeMap::<String, usize>::new();
    let listed = fs::read_dir(root).unwrap_or_else(|error| panic!("{}: {error}", root.display()));
    let mut directories: Vec<_> = listed.map(|entry| entry.unwrap().path()).collect();
    directories.sort();
    for directory in directories
        .iter()
        .filter(|path| path.join("model.onnx").is_file())
    {
        let model = decode_model(&fs::read(directory.join("model.onnx")).unwrap()).unwrap();
        match run(directory, &model, &mut graphs) {
            Ok(Outcome::Passed) => {
                passed += 1;
                for operator in operators(&model) {
                    *by_operator.entry(operator).or_default() += 1;
                }
            }
            Ok(Outcome::Skipped(why)) => *skipped.entry(why).or_default() += 1,
            Err(why) => failed.push(format!("{}: {why}", directory.display())),
        }
    }
    let unsupported: usize = skipped.values().sum();
    println!(
        "{passed} passed, {} failed, {unsupported} skipped",
        failed.len()
    );
    println!("{graphs} of those that passed were graphs of unknown sizes too");
    println!("passed, by operator: {by_operator:?}");
    for (why, count) in &skipped {
        println!("skipped {count}: {why}");
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(graphs > 0, "no model became a graph in {}", root.display());
    assert!(passed > 0, "no test ran in {}", root.display());
}

fn operators(model: &ModelProto) -> Vec<String> {
    let nodes = model.graph.iter().flat_map(|graph| &graph.node);
    let mut names: Vec<String> = nodes
        .map(|node| match node.domain.as_str() {
            "" => node.op_type.clone(),
            domain => format!("{domain}.{}", node.op_type),
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Whether a sum is what is wanted up to the rounding of its additions.
fn differ_by_rounding(got: &Tensor, wanted: &Data) -> bool {
    let relative = match wanted.dtype {
        DType::F32 => 1e-6,
        DType::F64 => 1e-14,
        _ => return false,
    };
    let within = Tolerance {
        relative,
        absolute: relative,
        equal_nan: true,
    };
    let wanted = Tensor::from_bytes(wanted.dtype, &wanted.shape, &wanted.bytes);
    wanted.is_ok_and(|wanted| {
        got.shape() == wanted.shape()
            && got.dtype() == wanted.dtype()
            && allclose(got, &wanted, within).unwrap_or(false)
    })
}

/// The outputs by way of a graph that knows the length of lists of numbers, which may be sizes, and no other size.
/// Models whose sizes, axes or places are inputs cannot all be graphs.
fn in_a_graph(model: &Model, inputs: &[(&str, Tensor)]) -> stridewise_core::Result<Vec<Tensor>> {
    let graph = Graph::new();
    let mut symbolic = Vec::new();
    for (name, x) in inputs {
        let list = x.rank() == 1 && x.dtype().is_integer();
        let size = |size: &usize| match list {
            true => Dim::from(*size),
            false => graph.unknown(),
        };
        let shape: Vec<Dim> = x.shape().iter().map(size).collect();
        let input = graph.input(name, x.dtype(), shape.as_slice().into())?;
        symbolic.push((*name, input));
    }
    let constant = |dtype: DType, shape: &[usize], bytes: &[u8]| {
        Tensor::from_bytes(dtype, shape, bytes).map(|x| graph.constant(&x))
    };
    let outputs = model.run(&graph, constant, symbolic)?;
    let outputs: Vec<_> = outputs.iter().map(|(_, y)| y).collect();
    let inputs: Vec<Tensor> = inputs.iter().map(|(_, x)| x.clone()).collect();
    graph.finish(&outputs)?.run(&inputs)
}

/// Runs a test. A model that only names what is not supported is skipped, and says why.
fn run(directory: &Path, proto: &ModelProto, graphs: &mut usize) -> Result<Outcome, String> {
    let supported = Model::supported_operators();
    let others: Vec<String> = operators(proto)
        .into_iter()
        .filter(|operator| !supported.contains(&operator.as_str()))
        .collect();
    if !others.is_empty() {
        return Ok(Outcome::Skipped("other operators".to_string()));
    }
    // Supported for sizes, while ONNX's tests are of elements.
    if operators(proto)
        .iter()
        .any(|name| ["Add", "Mul", "Div"].contains(&name.as_str()))
    {
        return Ok(Outcome::Skipped("arithmetic on elements".to_string()));
    }
    let model = match Model::from_proto(proto) {
        Ok(model) => model,
        Err(error) => {
            let message = error.report().message().to_string();
            let known = ["element type", "not a tensor", "is written in opset"];
            return match known.iter().any(|words| message.contains(words)) {
                true => Ok(Outcome::Skipped(message)),
                false => Err(error.to_string()),
            };
        }
    };
    let graph = proto.graph.as_ref().ok_or("no graph")?;
    let refused = directory.join("refused").is_file();
    let mut sets = 0;
    for set in (0..).map(|n| directory.join(format!("test_data_set_{n}"))) {
        if !set.is_dir() {
            break;
        }
        let tensor = |kind: &str, at: usize| -> Result<Data, String> {
            let bytes = fs::read(set.join(format!("{kind}_{at}.pb"))).map_err(|e| e.to_string())?;
            let proto = decode_tensor(&bytes).map_err(|e| e.to_string())?;
            Data::from_proto(&proto).map_err(|e| e.to_string())
        };
        let mut inputs = Vec::new();
        for (at, input) in graph.input.iter().enumerate() {
            let data = tensor("input", at)?;
            let x = Tensor::from_bytes(data.dtype, &data.shape, &data.bytes)
                .map_err(|e| e.to_string())?;
            inputs.push((input.name.as_str(), x));
        }
        let given = inputs.clone();
        let outputs = match (model.run(&Cpu, Tensor::from_bytes, inputs), refused) {
            (Ok(outputs), false) => outputs,
            (Err(_), true) => return Ok(Outcome::Passed),
            (Ok(_), true) => return Err("it runs, but ought to be refused".to_string()),
            (Err(error), false) => return Err(error.to_string()),
        };
        if let Ok(later) = in_a_graph(&model, &given) {
            for ((name, y), later) in outputs.iter().zip(&later) {
                if !array_equal(y, later, true) || y.dtype() != later.dtype() {
                    return Err(format!("output {name} is {y}, but {later} in a graph"));
                }
            }
            *graphs += 1;
        }
        for (at, (name, y)) in outputs.iter().enumerate() {
            let wanted = tensor("output", at)?;
            let got = Data {
                dtype: y.dtype(),
                shape: y.shape().to_vec(),
                bytes: y.to_bytes().map_err(|e| e.to_string())?,
            };
            let summed = graph.node.iter().any(|node| node.op_type == "ReduceSum");
            if got != wanted && !(summed && differ_by_rounding(y, &wanted)) {
                return Err(format!(
                    "output {name} is {} {:?} {:?}, wanted {} {:?} {:?}",
                    got.dtype, got.shape, got.bytes, wanted.dtype, wanted.shape, wanted.bytes
                ));
            }
        }
        sets += 1;
    }
    match sets {
        0 => Err("there are no data".to_string()),
        _ => Ok(Outcome::Passed),
    }
}
