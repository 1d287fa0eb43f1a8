//! One model on several engines: run, differentiated, and looked at without data.

use stridewise_core::DType;
use stridewise_cpu::{Cpu, Tensor};
use stridewise_dry::Dry;
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
