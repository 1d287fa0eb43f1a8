//! Models and inputs that cannot be: each is refused with a text that says where and why.
#![allow(clippy::unwrap_used)]

use insta::assert_snapshot;
use stridewise_core::DType;
use stridewise_cpu::{Cpu, Tensor};
use stridewise_onnx::export::attributes;
use stridewise_onnx::proto::{
    self, AttributeProto, FunctionProto, ModelProto, NodeProto, StringStringEntryProto,
    TensorProto, attribute_type,
};
use stridewise_onnx::{DeclaredSize, Model, Var, Writer};

/// A model of the nodes that `write` adds to an input `x` of shape (n, 3) and an input `i` of shape (n).
fn written(write: impl FnOnce(&mut Writer, &Var, &Var) -> Var) -> ModelProto {
    let mut graph = Writer::new("graph");
    let n = || DeclaredSize::from("n");
    let x = graph.input("x", DType::F32, [n(), 3.into()]).unwrap();
    let i = graph.input("i", DType::I64, [n()]).unwrap();
    let y = write(&mut graph, &x, &i);
    graph.output_of_any_rank("y", &y, DType::F32).unwrap();
    graph.to_proto()
}

/// The same with its nodes changed.
fn changed(change: impl FnOnce(&mut Vec<NodeProto>)) -> ModelProto {
    let mut model = written(|graph, x, i| graph.reshape(x, i));
    change(&mut model.graph.as_mut().unwrap().node);
    model
}

fn refused(model: &ModelProto) -> String {
    Model::from_proto(model).unwrap_err().to_string()
}

fn floats(shape: &[usize]) -> Tensor {
    Tensor::from_vec(vec![0f32; shape.iter().product()], shape).unwrap()
}

fn integers(numbers: &[i64]) -> Tensor {
    Tensor::from_vec(numbers.to_vec(), &[numbers.len()]).unwrap()
}

/// What a run with an `x` of shape (2, 3) and an `i` fails with.
fn failed(model: &ModelProto, i: [i64; 2]) -> String {
    let inputs = [("x", floats(&[2, 3])), ("i", integers(&i))];
    let model = Model::from_proto(model).unwrap();
    let outputs = model.run(&Cpu, Tensor::from_bytes, inputs);
    outputs.unwrap_err().to_string()
}

#[test]
fn an_operator_is_not_supported() {
    let model = written(|graph, x, i| {
        let a = graph.add(x, i);
        let b = graph.add(&a, i);
        graph.clip(&b, None, None)
    });
    assert_snapshot!(refused(&model));
}

#[test]
fn a_domain_is_someone_elses() {
    let model = changed(|nodes| nodes[0].domain = "com.microsoft".to_string());
    assert_snapshot!(refused(&model));
}

#[test]
fn a_model_defines_an_operator_itself() {
    let mut model = changed(|_| {});
    model.functions.push(FunctionProto {
        name: "Reshape".to_string(),
        ..FunctionProto::default()
    });
    assert!(
        refused(&model)
            .contains("Reshape of domain ai.onnx, which the model defines as a function")
    );
}

#[test]
fn an_attribute_is_a_graph() {
    let graph = |name: &str| AttributeProto {
        name: name.to_string(),
        r#type: attribute_type::GRAPH,
        g: Some(Vec::new()),
        ..AttributeProto::default()
    };
    let supported = changed(|nodes| nodes[0].attribute.push(graph("body")));
    assert_snapshot!(refused(&supported));
    let other = changed(|nodes| {
        nodes[0].op_type = "If".to_string();
        nodes[0].attribute = vec![graph("then_branch"), graph("else_branch")];
    });
    assert!(refused(&other).contains("its subgraphs: then_branch, else_branch"));
}

#[test]
fn an_attribute_is_unknown_missing_or_of_another_type() {
    let unknown = changed(|nodes| nodes[0].attribute.push(attributes::int("order", 1)));
    assert_snapshot!(refused(&unknown));
    let missing = changed(|nodes| {
        nodes[0].op_type = "Concat".to_string();
        nodes[0].attribute.clear();
    });
    assert!(refused(&missing).contains("attribute `axis` is missing"));
    let other = changed(|nodes| nodes[0].attribute = vec![attributes::text("allowzero", "1")]);
    assert!(refused(&other).contains("attribute `allowzero` is not a whole number"));
    let twice = changed(|nodes| {
        let first = nodes[0].attribute[0].clone();
        nodes[0].attribute.push(first);
    });
    assert!(refused(&twice).contains("attribute `allowzero` is given twice"));
    let mut older = changed(|_| {});
    older.opset_import[0].version = 13;
    assert!(refused(&older).contains("`allowzero` is not one of this operator in opset 13"));
}

#[test]
fn nodes_are_not_in_order() {
    assert_snapshot!(refused(&changed(|nodes| nodes.reverse())));
    let itself = changed(|nodes| nodes[0].input[0] = nodes[0].output[0].clone());
    assert!(refused(&itself).contains("reads its own output"));
    let nothing = changed(|nodes| nodes[0].input[0] = "z".to_string());
    assert!(refused(&nothing).contains("`z`, which is no input, no initializer"));
}

#[test]
fn names_and_inputs_do_not_fit() {
    let twice = changed(|nodes| nodes[0].output[0] = "x".to_string());
    assert!(refused(&twice).contains("two tensors are called `x`"));
    let missing = changed(|nodes| nodes[0].input[1] = String::new());
    assert!(refused(&missing).contains("input `shape` is missing"));
    let many = changed(|nodes| nodes[0].input.push("i".to_string()));
    assert!(refused(&many).contains("3 inputs, but at most 2 are taken"));
    let outputs = changed(|nodes| nodes[0].output.push("z".to_string()));
    assert!(refused(&outputs).contains("2 outputs instead of one"));
    let unmade = changed(|nodes| nodes.truncate(1));
    assert!(refused(&unmade).contains("no node makes the output `y`"));
}

#[test]
fn an_opset_is_too_old_too_new_or_not_there() {
    let mut model = changed(|_| {});
    for version in [i64::MIN, 12, Model::NEWEST_OPSET + 1] {
        model.opset_import[0].version = version;
        assert!(refused(&model).contains("13 to 28 are supported"));
    }
    model.opset_import.clear();
    assert!(refused(&model).contains("does not say which opset"));
    model.graph = None;
    assert!(refused(&model).contains("has no graph"));
}

#[test]
fn a_tensor_is_malformed() {
    let mut model = written(|graph, x, _| {
        let shape = graph.integers(&[-1]);
        graph.reshape(x, &shape)
    });
    let mut with = |change: &dyn Fn(&mut TensorProto)| {
        let tensor = &mut model.graph.as_mut().unwrap().initializer[0];
        let before = tensor.clone();
        change(tensor);
        let error = refused(&model);
        model.graph.as_mut().unwrap().initializer[0] = before;
        error
    };
    let external = with(&|tensor| {
        tensor.raw_data = None;
        tensor.data_location = 1;
        tensor.external_data = vec![StringStringEntryProto {
            key: "location".to_string(),
            value: "weights.bin".to_string(),
        }];
    });
    assert_snapshot!(external);
    let short = with(&|tensor| tensor.dims = vec![i64::MAX / 8]);
    assert!(
        short.contains("there are 8 bytes, but int64 of shape"),
        "{short}"
    );
    let huge = with(&|tensor| tensor.dims = vec![i64::MAX, 2]);
    assert!(huge.contains("more than any machine"), "{huge}");
    let negative = with(&|tensor| tensor.dims = vec![-1]);
    assert!(negative.contains("a size is -1"), "{negative}");
    let strings = with(&|tensor| tensor.data_type = 8);
    assert!(strings.contains("element type 8 (STRING)"), "{strings}");
    let both = with(&|tensor| tensor.int64_data = vec![1]);
    assert!(both.contains("two fields"), "{both}");
    let wide = with(&|tensor| {
        tensor.raw_data = None;
        tensor.data_type = 2;
        tensor.int32_data = vec![256];
    });
    assert!(
        wide.contains("an element is 256, which is not a uint8"),
        "{wide}"
    );
}

#[test]
fn inputs_are_not_what_the_model_declares() {
    let model = Model::from_proto(&written(|graph, x, i| graph.gather(x, i, 0))).unwrap();
    let run = |inputs: Vec<(&str, Tensor)>| {
        let outputs = model.run(&Cpu, Tensor::from_bytes, inputs);
        outputs.unwrap_err().to_string()
    };
    let (x, i) = (floats(&[2, 3]), integers(&[0, 1]));
    let apart = run(vec![("x", x.clone()), ("i", integers(&[0, 1, 1]))]);
    assert_snapshot!(apart);
    let size = run(vec![("x", floats(&[2, 4])), ("i", i.clone())]);
    assert!(size.contains("axis 1 of input `x` has size 4, but the model declares 3"));
    let rank = run(vec![("x", floats(&[2])), ("i", i.clone())]);
    assert!(rank.contains("has rank 1, but the model declares rank 2"));
    let dtype = run(vec![("x", i.clone()), ("i", i.clone())]);
    assert!(dtype.contains("input `x` is int64, but the model declares float32"));
    let missing = run(vec![("x", x.clone())]);
    assert!(missing.contains("input `i` is not given"));
    let unknown = run(vec![("z", x.clone())]);
    assert!(unknown.contains("has no input `z`\n  its inputs: x, i"));
    let twice = run(vec![("x", x.clone()), ("x", x), ("i", i)]);
    assert!(twice.contains("input `x` is given twice"));
}

#[test]
fn a_node_fails_while_running() {
    let gather = written(|graph, x, i| {
        graph.on_behalf_of("embed");
        graph.gather(x, i, 0)
    });
    assert_snapshot!(failed(&gather, [0, 7]));
    let reshape = written(|graph, x, _| {
        let shape = graph.integers(&[4, -1]);
        graph.reshape(x, &shape)
    });
    assert_snapshot!(failed(&reshape, [0, 0]));
    let copied = written(|graph, x, _| {
        let shape = graph.integers(&[0, 0, 0]);
        graph.reshape_copying(x, &shape)
    });
    assert!(failed(&copied, [0, 0]).contains("shape[2] is 0, which copies axis 2"));
}

#[test]
fn numbers_are_not_numbers() {
    let floats = written(|graph, x, _| graph.expand(x, x));
    let error = failed(&floats, [0, 0]);
    assert!(
        error.contains("input `shape` is float32, but it must be whole numbers"),
        "{error}"
    );
    let square = written(|graph, x, i| {
        let axes = graph.integers(&[0]);
        let square = graph.unsqueeze(i, &axes);
        graph.tile(x, &square)
    });
    let error = failed(&square, [1, 1]);
    assert!(error.contains("input `repeats` has rank 2"), "{error}");
}

#[test]
fn a_file_is_not_a_model() {
    let error = Model::from_bytes(b"PK\x03\x04 not a model").unwrap_err();
    assert!(
        error.to_string().contains("this is not an ONNX model"),
        "{error}"
    );
    let place = tempfile::tempdir().unwrap();
    let error = Model::open(place.path().join("none.onnx")).unwrap_err();
    assert!(
        error.to_string().contains("the file cannot be read"),
        "{error}"
    );
    let large = place.path().join("large.onnx");
    let hole = std::fs::File::create(&large).unwrap();
    hole.set_len(1 << 31).unwrap();
    let error = Model::open(&large).unwrap_err();
    assert!(error.to_string().contains("2 GiB"), "{error}");
    let file = place.path().join("model.onnx");
    let model = written(|graph, x, i| graph.gather(x, i, 0));
    std::fs::write(&file, proto::encode(&model)).unwrap();
    assert_eq!(Model::open(&file).unwrap().inputs().len(), 2);
}
