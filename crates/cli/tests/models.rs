//! ONNX models in place of programs.
#![allow(clippy::unwrap_used)]

mod binary;

use std::path::Path;

use binary::{Ran, run_in};
use insta::assert_snapshot;
use stridewise_core::DType;
use stridewise_onnx::proto::{self, NodeProto};
use stridewise_onnx::{DeclaredSize, Writer};
use tempfile::TempDir;

/// `y`, the transposed rows of `x` that `index` picks, in rows of 6; and `n`, the shape of `x`.
fn rows(directory: &Path) {
    let mut graph = Writer::new("rows");
    let batch = || DeclaredSize::from("batch");
    let x = [batch(), 2.into(), DeclaredSize::Any];
    let x = graph.input("x", DType::F32, x).unwrap();
    let index = [DeclaredSize::from("k")];
    let index = graph.input("index", DType::I64, index).unwrap();
    let picked = graph.gather(&x, &index, 0);
    let turned = graph.transpose(&picked, &[0, 2, 1]);
    let six = graph.integers(&[-1, 6]);
    let y = graph.reshape(&turned, &six);
    let n = graph.shape(&x);
    let y_shape = [DeclaredSize::Any, 6.into()];
    graph.output("y", &y, DType::F32, y_shape).unwrap();
    graph.output("n", &n, DType::I64, [3.into()]).unwrap();
    std::fs::write(directory.join("rows.onnx"), graph.to_bytes()).unwrap();
}

/// A model that turns its only input.
fn turn(directory: &Path) {
    let mut graph = Writer::new("turn");
    let any = || DeclaredSize::Any;
    let x = graph.input("x", DType::I64, [any(), any()]).unwrap();
    let y = graph.transpose(&x, &[1, 0]);
    graph.output("y", &y, DType::I64, [any(), any()]).unwrap();
    std::fs::write(directory.join("turn.onnx"), graph.to_bytes()).unwrap();
}

/// The models, and tensors for them.
fn directory() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    rows(directory.path());
    turn(directory.path());
    for (program, file) in [
        ("arange(12).reshape(2, 2, 3).cast(f32)", "x.npy"),
        ("arange(1, -1, -1)", "index.npy"),
        ("arange(6).reshape(2, 3)", "m.npy"),
    ] {
        let ran = run_in(directory.path(), &["run", program, "-o", file]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
    directory
}

fn fails(directory: &TempDir, args: &[&str], code: i32) -> String {
    let ran = run_in(directory.path(), args);
    let what = (ran.code, ran.stdout.as_str());
    assert_eq!(what, (Some(code), ""), "{args:?}: {}", ran.stderr);
    ran.stderr
}

fn prints(directory: &TempDir, args: &[&str]) -> String {
    let Ran {
        stdout,
        stderr,
        code,
    } = run_in(directory.path(), args);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{args:?}");
    stdout
}

#[test]
fn a_model_runs_on_files_in_order_or_by_name() {
    let directory = directory();
    let in_order = prints(&directory, &["run", "rows.onnx", "x.npy", "index.npy"]);
    assert_snapshot!(in_order);
    for files in [
        ["index=index.npy", "x=x.npy"],
        ["index=index.npy", "x.npy"],
        ["x.npy", "index=index.npy"],
    ] {
        let named = prints(&directory, &["run", "rows.onnx", files[0], files[1]]);
        assert_eq!(named, in_order, "{files:?}");
    }
}

#[test]
fn one_output_is_printed_as_a_program_s_is() {
    let directory = directory();
    let of_model = prints(&directory, &["run", "turn.onnx", "m.npy"]);
    let of_program = prints(&directory, &["run", "transpose()", "m.npy"]);
    assert_eq!(of_model, of_program);
    prints(&directory, &["run", "turn.onnx", "m.npy", "-o", "t.npy"]);
    assert_eq!(prints(&directory, &["run", "", "t.npy"]), of_program);
}

#[test]
fn several_outputs_go_to_one_file_by_name() {
    let directory = directory();
    let run = ["run", "rows.onnx", "x.npy", "index.npy", "-o"];
    let to = |file: &'static str| [&run[..], &[file]].concat();
    assert_eq!(prints(&directory, &to("out.safetensors")), "");
    let n = prints(&directory, &["run", "", "out.safetensors:n"]);
    assert_eq!(n, "int64 (3,)\n[2, 2, 3]\n");
    assert_snapshot!(fails(&directory, &to("out.npy"), 1));
    assert!(!directory.path().join("out.npy").exists());
    fails(&directory, &to("out.txt"), 1);
}

#[test]
fn files_that_are_no_inputs_are_refused() {
    let directory = directory();
    let model = |files: &[&str]| fails(&directory, &[&["run", "rows.onnx"], files].concat(), 2);
    assert_snapshot!("an_input_of_a_model_is_not_given", model(&["x.npy"]));
    assert!(model(&["x.npy", "index.npy", "m.npy"]).contains("3 files without a name"));
    assert!(model(&["z=x.npy", "index.npy"]).contains("no input `z`"));
    assert!(model(&["x=x.npy", "x=m.npy"]).contains("`x` is given twice"));
    assert_snapshot!(
        "an_input_of_a_model_has_another_dtype",
        model(&["m.npy", "index.npy"])
    );
    let missing = ["run", "rows.onnx", "x.npy", "none.npy"];
    assert!(fails(&directory, &missing, 1).contains("none.npy"));
}

#[test]
fn a_node_that_fails_is_named() {
    let directory = directory();
    prints(&directory, &["run", "full([2], 5)", "-o", "far.npy"]);
    let far = ["run", "rows.onnx", "x.npy", "far.npy"];
    assert_snapshot!(fails(&directory, &far, 2));
}

#[test]
fn models_that_cannot_run_say_why() {
    let directory = directory();
    let bytes = std::fs::read(directory.path().join("turn.onnx")).unwrap();
    let mut model = proto::decode_model(&bytes).unwrap();
    let graph = model.graph.as_mut().unwrap();
    graph.node.push(NodeProto {
        input: vec!["y".to_string()],
        output: vec!["z".to_string()],
        op_type: "Relu".to_string(),
        name: "relu".to_string(),
        ..NodeProto::default()
    });
    std::fs::write(directory.path().join("relu.onnx"), proto::encode(&model)).unwrap();
    assert_snapshot!(
        "an_operator_of_a_model_is_not_supported",
        fails(&directory, &["run", "relu.onnx", "m.npy"], 1)
    );
    fails(&directory, &["plan", "relu.onnx"], 1);
    // It can still be looked at.
    let info = prints(&directory, &["info", "relu.onnx"]);
    assert_snapshot!("info_of_a_model_that_cannot_run", info);
    std::fs::write(directory.path().join("broken.onnx"), b"nonsense").unwrap();
    for command in ["run", "plan", "info"] {
        fails(&directory, &[command, "broken.onnx"], 1);
        fails(&directory, &[command, "none.onnx"], 1);
    }
}

#[test]
fn info_describes_a_model() {
    let directory = directory();
    assert_snapshot!(prints(&directory, &["info", "rows.onnx"]));
}

#[test]
fn a_plan_of_a_model_tells_its_nodes_and_guards() {
    let directory = directory();
    assert_snapshot!(prints(&directory, &["plan", "rows.onnx"]));
    assert_snapshot!(
        "a_plan_of_a_model_is_written_as_json",
        prints(&directory, &["plan", "rows.onnx", "--json"])
    );
}

#[test]
fn shapes_and_files_take_the_place_of_what_a_model_declares() {
    let directory = directory();
    let given = ["plan", "rows.onnx", "-s", "4,2,6", "-s", "?"];
    assert_snapshot!(prints(&directory, &given));
    let files = prints(&directory, &["plan", "rows.onnx", "x.npy", "index.npy"]);
    assert!(files.contains("[2, 6]"), "{files}");
    let unlike = fails(&directory, &["plan", "rows.onnx", "-s", "4,3,6"], 2);
    assert!(unlike.contains("the model declares 2"), "{unlike}");
    fails(
        &directory,
        &["plan", "rows.onnx", "-s", "2,2,2", "-s", "2", "-s", "2"],
        2,
    );
    fails(
        &directory,
        &["plan", "rows.onnx", "-s", "2,2,2", "-d", "f32"],
        2,
    );
}
