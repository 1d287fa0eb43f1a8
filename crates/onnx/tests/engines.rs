//! One model on several engines: run, differentiated, recorded, and looked at without data.
#![allow(clippy::unwrap_used)]

use stridewise_core::DType;
use stridewise_cpu::{Cpu, Tensor};
use stridewise_dry::Dry;
use stridewise_graph::Graph;
use stridewise_onnx::{DeclaredSize, Model, Writer};
use stridewise_tape::Tape;

/// `x` of shape (n, 3), its last two columns, four times over in one row.
fn model() -> Model {
    let mut graph = Writer::new("row");
    let sizes = [DeclaredSize::from("n"), 3.into()];
    let x = graph.input("x", DType::F64, sizes).unwrap();
    let (one, far) = (graph.integers(&[1]), graph.integers(&[i64::MAX]));
    let cut = graph.slice(&x, &one, &far, Some(&one), None);
    let four = graph.integers(&[4, 1, 1]);
    let wide = graph.expand(&cut, &four);
    let flat = graph.integers(&[-1]);
    let y = graph.reshape(&wide, &flat);
    graph
        .output("y", &y, DType::F64, [DeclaredSize::Any])
        .unwrap();
    Model::from_bytes(&graph.to_bytes()).unwrap()
}

#[test]
fn a_model_runs_node_by_node() {
    let model = model();
    let nodes: Vec<_> = model.nodes().collect();
    let operators: Vec<&str> = nodes.iter().map(|node| node.operator).collect();
    assert_eq!(operators, ["Slice", "Expand", "Reshape"]);
    assert_eq!(nodes[1].inputs[0], nodes[0].output);
    let x = Tensor::from_vec((0..6).map(f64::from).collect(), &[2, 3]).unwrap();
    let placed = model.place(&Cpu, Tensor::from_bytes).unwrap();
    let mut running = placed.start([("x", x.clone())]).unwrap();
    // An output is there once its node has run, and not before.
    assert!(running.outputs().is_err());
    let mut shapes = Vec::new();
    while let Some(made) = running.step().unwrap() {
        shapes.push(made.shape().to_vec());
    }
    assert_eq!(shapes, [vec![2, 2], vec![4, 2, 2], vec![16]]);
    let stepped = running.outputs().unwrap();
    let whole = placed.run([("x", x)]).unwrap();
    assert_eq!(stepped[0].0, whole[0].0);
    assert_eq!(
        stepped[0].1.to_vec::<f64>().unwrap(),
        whole[0].1.to_vec::<f64>().unwrap()
    );
}

#[test]
fn a_model_has_gradients() {
    let (model, tape) = (model(), Tape::<Cpu>::new());
    let x = Tensor::from_vec((0..6).map(f64::from).collect(), &[2, 3]).unwrap();
    let x = tape.watch(&x).unwrap();
    let constant = |dtype: DType, shape: &[usize], bytes: &[u8]| {
        Tensor::from_bytes(dtype, shape, bytes).map(|value| tape.constant(value))
    };
    let outputs = model.run(&tape, constant, [("x", x.clone())]).unwrap();
    let y = &outputs[0].1;
    let seed = Tensor::from_vec((0..16).map(f64::from).collect(), &[16]).unwrap();
    let dx = tape.gradient(y, &[&x], Some(&seed)).unwrap();
    // Each element is read at i, i + 4, i + 8 and i + 12.
    let wanted = [0., 24., 28., 0., 32., 36.];
    assert_eq!(dx[0].to_vec::<f64>().unwrap(), wanted);
}

#[test]
fn a_model_tells_its_shapes_without_data() {
    let (model, dry) = (model(), Dry::new());
    let x = dry.tensor(DType::F64, &[1 << 20, 3]).unwrap();
    // All constants are sizes and places, so none is ever made.
    let constant = |_: DType, _: &[usize], _: &[u8]| unreachable!();
    let outputs = model.run(&dry, constant, [("x", x)]).unwrap();
    assert_eq!(outputs[0].1.shape(), [8 << 20]);
}

#[test]
fn a_model_becomes_a_graph_of_any_size() {
    let (model, graph) = (model(), Graph::new());
    let x = graph
        .input("x", DType::F64, "[*any]".parse().unwrap())
        .unwrap();
    let constant = |_: DType, _: &[usize], _: &[u8]| unreachable!();
    let outputs = model.run(&graph, constant, [("x", x)]).unwrap();
    let program = graph.finish(&[&outputs[0].1]).unwrap();
    for n in [0, 1, 5] {
        let values = (0..3 * n).map(|n| n as f64).collect();
        let x = Tensor::from_vec(values, &[n, 3]).unwrap();
        let now = model
            .run(&Cpu, Tensor::from_bytes, [("x", x.clone())])
            .unwrap();
        let later = program.run(&[x]).unwrap();
        assert_eq!(
            later[0].to_vec::<f64>().unwrap(),
            now[0].1.to_vec::<f64>().unwrap()
        );
    }
    // What the model declares, the graph requires in every run.
    for shape in [&[2, 4][..], &[6]] {
        let x = Tensor::from_vec(vec![0.0; shape.iter().product()], shape).unwrap();
        let error = program.run(&[x]).unwrap_err();
        assert_eq!(error.report().operator(), "enforce_shape", "{error}");
    }
}

#[test]
fn names_of_sizes_are_required_to_agree_in_every_run_of_a_graph() {
    let mut writer = Writer::new("agree");
    let n = || DeclaredSize::from("n");
    let a = writer.input("a", DType::F64, [n()]).unwrap();
    let b = writer.input("b", DType::F64, [n()]).unwrap();
    let y = writer.concat(&[&a, &b], 0);
    writer
        .output("y", &y, DType::F64, [DeclaredSize::Any])
        .unwrap();
    let model = Model::from_bytes(&writer.to_bytes()).unwrap();
    let graph = Graph::new();
    let input = |name: &str, shape: &str| {
        let shape = shape.parse().unwrap();
        (
            name.to_string(),
            graph.input(name, DType::F64, shape).unwrap(),
        )
    };
    let inputs = [input("a", "[p]"), input("b", "[q]")];
    let constant = |_: DType, _: &[usize], _: &[u8]| unreachable!();
    let outputs = model.run(&graph, constant, inputs).unwrap();
    let program = graph.finish(&[&outputs[0].1]).unwrap();
    let zeros = |n: usize| Tensor::from_vec(vec![0.0; n], &[n]).unwrap();
    assert_eq!(program.run(&[zeros(2), zeros(2)]).unwrap()[0].shape(), [4]);
    assert!(program.run(&[zeros(2), zeros(3)]).is_err());
}

#[test]
fn a_step_past_the_axis_is_never_taken() {
    for step in [i64::MIN, -(1 << 62), 1 << 62, i64::MAX] {
        let mut graph = Writer::new("step");
        let x = graph.input("x", DType::F64, [3.into()]).unwrap();
        let (start, end) = match step < 0 {
            true => (graph.integers(&[-1]), graph.integers(&[i64::MIN])),
            false => (graph.integers(&[0]), graph.integers(&[i64::MAX])),
        };
        let step = graph.integers(&[step]);
        let one = graph.slice(&x, &start, &end, None, Some(&step));
        let zero = graph.integers(&[0]);
        let y = graph.gather_elements(&one, &zero, 0);
        graph.output("y", &y, DType::F64, [1.into()]).unwrap();
        let model = Model::from_bytes(&graph.to_bytes()).unwrap();
        let x = Tensor::from_vec(vec![7., 8., 7.], &[3]).unwrap();
        let outputs = model.run(&Cpu, Tensor::from_bytes, [("x", x)]).unwrap();
        assert_eq!(outputs[0].1.to_vec::<f64>().unwrap(), [7.]);
    }
}
