//! Each command, as a user calls it.

mod binary;

use std::io::Read;
use std::process::Stdio;

use binary::{command, prints, run, run_in};
use insta::assert_snapshot;

const VIEWS: &str =
    r#"unflatten(1, [2, -1]).expand(5, -1, -1, -1, -1).take([0, 3], axis=0, mode="wrap")"#;

#[test]
fn plan_tells_each_step() {
    assert_snapshot!(prints(&[
        "plan", VIEWS, "--shape", "4,6,16", "--dtype", "f32"
    ]));
}

#[test]
fn plan_takes_several_inputs_and_tells_dims() {
    let program = r#"concat($2, axis=1).enforce_shape(["n", ..., 16]).unstack(1)"#;
    assert_snapshot!(prints(&[
        "plan", program, "-s", "4,6,16", "-s", "4,2,16", "-d", "f16", "-d", "f16"
    ]));
}

#[test]
fn plan_writes_json() {
    assert_snapshot!(prints(&["plan", VIEWS, "--shape", "4,6,16", "--json"]));
}

#[test]
fn plan_begins_from_nothing() {
    assert_snapshot!(prints(&[
        "plan",
        "arange(12).reshape(3, 4)[:, ::-1].contiguous()"
    ]));
}

#[test]
fn a_shape_that_is_none_is_refused() {
    let ran = run(&["plan", "flip()", "--shape", "4,-1"]);
    assert_eq!(ran.code, Some(2));
    assert_snapshot!(ran.stderr);
    assert_eq!(
        run(&["plan", "flip()", "--shape", "4", "--dtype", "f99"]).code,
        Some(2)
    );
    assert_eq!(
        run(&["plan", "flip()", "--shape", "9999999999,9999999999"]).code,
        Some(2)
    );
    assert_eq!(run(&["plan", "flip()"]).code, Some(2));
}

#[test]
fn explain_draws_expand() {
    assert_snapshot!(prints(&["explain", "expand(-1, 4)", "--shape", "3,1"]));
}

#[test]
fn explain_draws_repeat() {
    assert_snapshot!(prints(&["explain", "repeat(2, 2)", "--shape", "2,3"]));
}

#[test]
fn explain_draws_chains_of_views() {
    assert_snapshot!(prints(&[
        "explain",
        "unflatten(1, [2, -1]).permute(2, 0, 1)[::-1]",
        "--shape",
        "2,6"
    ]));
}

#[test]
fn explain_leaves_out_what_does_not_fit() {
    assert_snapshot!(prints(&[
        "explain",
        "expand(9, -1, -1)",
        "--shape",
        "30,40"
    ]));
}

#[test]
fn explain_stops_where_elements_are_computed() {
    assert_snapshot!(prints(&[
        "explain",
        "flip(0).sum(1).flip()",
        "--shape",
        "3,4"
    ]));
}

#[test]
fn explain_says_what_it_draws_when_the_first_step_computes() {
    assert_snapshot!(prints(&["explain", "sum(1)", "--shape", "2,3"]));
}

#[test]
fn explain_shows_values_that_are_in_no_cell() {
    assert_snapshot!(prints(&[
        "explain",
        "take([0, 7, -1], mode=fill, fill_value=1.5)",
        "--shape",
        "3,2"
    ]));
}

#[test]
fn explain_has_no_values_for_an_index() {
    let ran = run(&[
        "explain", "take($2)", "-s", "3", "-s", "2", "-d", "f32", "-d", "i64",
    ]);
    assert_eq!(ran.code, Some(2));
    assert_snapshot!(ran.stderr);
    let large = run(&["explain", "flip()", "--shape", "10000,10000"]);
    assert_eq!(large.code, Some(2));
}

#[test]
fn explain_draws_a_picture() {
    let directory = tempfile::tempdir().unwrap();
    let args = [
        "explain",
        "expand(-1, 4)",
        "--shape",
        "3,1",
        "--svg",
        "expand.svg",
    ];
    assert_eq!(run_in(directory.path(), &args).code, Some(0));
    let other = ["explain", "flip()", "--shape", "3", "--svg", "a.png"];
    let other = run_in(directory.path(), &other);
    assert_eq!(other.code, Some(2));
    let why = "the picture is an SVG: give a name ending in .svg";
    assert!(other.stderr.contains(why), "{}", other.stderr);
    let picture = std::fs::read_to_string(directory.path().join("expand.svg")).unwrap();
    assert_snapshot!(picture);
}

#[test]
fn run_prints_its_result() {
    let directory = tempfile::tempdir().unwrap();
    let go = |args: &[&str]| run_in(directory.path(), args);
    assert_eq!(
        go(&["run", "arange(12).reshape(3, 4)", "-o", "x.npy"]).code,
        Some(0)
    );
    let ran = go(&["run", "[1:, ::-1].unstack(0)", "x.npy"]);
    assert_eq!(ran.stderr, "");
    assert_snapshot!(ran.stdout);
}

#[test]
fn run_passes_files_as_arguments_and_writes_one() {
    let directory = tempfile::tempdir().unwrap();
    let go = |args: &[&str]| {
        let ran = run_in(directory.path(), args);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
        ran.stdout
    };
    go(&["run", "arange(12).reshape(3, 4).cast(f32)", "-o", "x.npy"]);
    go(&["run", "full([2, 2], 2)", "-o", "index.npy"]);
    let dims = go(&[
        "run",
        "take($2, axis=0).enforce_shape([2, ..., \"n\"])",
        "x.npy",
        "index.npy",
        "-o",
        "y.safetensors",
    ]);
    assert_eq!(dims, "dims [2, ((2,), 2), 4]\n");
    assert_snapshot!(go(&["run", "", "y.safetensors"]));
}

#[test]
fn several_results_go_to_one_file_by_number() {
    let directory = tempfile::tempdir().unwrap();
    let go = |args: &[&str]| run_in(directory.path(), args);
    go(&["run", "arange(6).reshape(2, 3)", "-o", "x.npy"]);
    assert_eq!(
        go(&["run", "unstack()", "x.npy", "-o", "rows.safetensors"]).code,
        Some(0)
    );
    assert_snapshot!(
        "several_results_info",
        go(&["info", "rows.safetensors"]).stdout
    );
    assert_eq!(
        go(&["run", "flip()", "rows.safetensors:1"]).stdout,
        "int64 (3,)\n[5, 4, 3]\n"
    );
    let which = go(&["run", "flip()", "rows.safetensors"]);
    assert_eq!(which.code, Some(1));
    assert_snapshot!("several_results_which", which.stderr);
    let many = go(&["run", "unstack()", "x.npy", "-o", "rows.npy"]);
    assert_eq!(many.code, Some(1));
    assert!(many.stderr.contains("use .safetensors"), "{}", many.stderr);
    let ending = go(&["run", "flip()", "x.npy", "-o", "y.txt"]);
    assert_eq!(ending.code, Some(1));
    assert!(ending.stderr.contains(".npy and .safetensors"));
}

#[test]
fn plan_compares_storage_with_every_input_and_lists_shapes_that_differ() {
    assert_snapshot!(prints(&["plan", "atleast_1d($2)", "-s", "2", "-s", "2,3"]));
}

#[test]
fn plan_says_that_indices_are_not_checked() {
    let note = "note: indices are not checked without data\n";
    let planned = |program: &str| prints(&["plan", program, "-s", "2,3"]);
    for program in [
        "take([0, 9], 1)",
        "index_select(0, [7])",
        "take_along_axis([[9]], axis=1)",
        "index_add(0, index=[5], source=[[1.0, 1.0, 1.0]]).flip()",
    ] {
        let run = prints(&[
            "plan",
            &program.replace("1.0", "1"),
            "-s",
            "2,3",
            "-d",
            "i64",
        ]);
        assert!(run.ends_with(note), "{program}: {run}");
    }
    assert!(!planned("take([0, 9], 1, mode=\"clip\")").contains(note));
    assert!(!planned("flip(0)").contains(note));
}

#[test]
fn plan_and_explain_take_a_file_in_place_of_a_shape() {
    let directory = tempfile::tempdir().unwrap();
    let go = |args: &[&str]| run_in(directory.path(), args);
    go(&["run", "arange(6).reshape(2, 3)", "-o", "x.npy"]);
    let planned = go(&["plan", "transpose().flatten()", "x.npy"]);
    let typed = go(&["plan", "transpose().flatten()", "-s", "2,3", "-d", "i64"]);
    assert_eq!((planned.code, planned.stdout), (Some(0), typed.stdout));
    let drawn = go(&["explain", "transpose()", "x.npy"]);
    let typed = go(&["explain", "transpose()", "-s", "2,3", "-d", "i64"]);
    assert_eq!((drawn.code, drawn.stdout), (Some(0), typed.stdout));
    let both = go(&["plan", "flip()", "x.npy", "-s", "2"]);
    assert_eq!(both.code, Some(2));
}

#[test]
fn files_in_column_major_order_are_drawn_as_they_lie() {
    let directory = tempfile::tempdir().unwrap();
    let header = "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }";
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let padded = format!("{header:<117}\n");
    bytes.extend((padded.len() as u16).to_le_bytes());
    bytes.extend(padded.as_bytes());
    bytes.extend((0..6i32).flat_map(i32::to_le_bytes));
    std::fs::write(directory.path().join("x.npy"), bytes).unwrap();
    assert_snapshot!(run_in(directory.path(), &["explain", "[::-1]", "x.npy"]).stdout);
}

#[test]
fn info_describes_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let go = |args: &[&str]| run_in(directory.path(), args);
    go(&[
        "run",
        "arange(0, 6, 0.5).reshape(3, 4).cast(f16)",
        "-o",
        "x.npy",
    ]);
    assert_snapshot!(go(&["info", "x.npy"]).stdout);
    let facts = |program: &str| {
        go(&["run", program, "-o", "y.npy"]);
        go(&["info", "y.npy"]).stdout
    };
    // Values that are wide are cut to one line, and those of a short type have few digits.
    let wide = facts("full([7], 1.12345678901+2.123456789012j)");
    assert!(wide.lines().all(|line| line.starts_with("  ")), "{wide}");
    assert!(
        wide.lines().all(|line| line.chars().count() <= 80),
        "{wide}"
    );
    let short = facts("full([2], 0.1, f16)");
    assert!(short.contains("  values   0.1 to 0.1\n"), "{short}");
    let large = facts("zeros([20000000], u8)");
    assert!(large.contains("  values   not computed (too large)\n"));
}

#[test]
fn a_file_that_is_not_there_ends_with_code_1() {
    let directory = tempfile::tempdir().unwrap();
    let ran = run_in(directory.path(), &["run", "flip()", "none.npy"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert_snapshot!(ran.stderr);
    assert_eq!(
        run_in(directory.path(), &["info", "none.txt"]).code,
        Some(1)
    );
}

#[test]
fn a_mistake_on_data_points_at_its_argument() {
    let directory = tempfile::tempdir().unwrap();
    let ran = run_in(
        directory.path(),
        &["run", "arange(6).reshape(2, 3).take([0, 7], axis=1)"],
    );
    assert_eq!(ran.code, Some(2));
    assert_snapshot!(ran.stderr);
}

// With a GPU it has a chapter more, about whichever there is.
#[test]
#[cfg(not(feature = "gpu"))]
fn the_tour_reads_as_a_walk() {
    let tour = prints(&["tour"]);
    assert!(tour.lines().all(|line| line.chars().count() <= 80));
    assert!(!tour.contains('\x1b'));
    assert_snapshot!(tour);
}

#[test]
fn the_tour_can_be_cut_to_a_chapter() {
    let take = prints(&["tour", "take_along_axis"]);
    assert!(take.starts_with("5. take"));
    assert!(!take.contains("repeat_interleave"));
    assert_eq!(run(&["tour", "nothing"]).code, Some(2));
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let mut child = command(&["tour"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 16];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn every_command_has_help_with_an_example() {
    assert_snapshot!("help", prints(&["--help"]));
    for name in ["tour", "run", "plan", "explain", "info", "devices"] {
        let help = prints(&[name, "--help"]);
        assert!(
            help.contains("Example") && help.contains(&format!("stridewise {name}")),
            "{help}"
        );
    }
}

#[test]
#[cfg(not(feature = "gpu"))]
fn a_build_without_a_gpu_says_how_to_get_one() {
    let ran = run(&["run", "arange(3)", "--device", "gpu"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert_snapshot!(ran.stderr);
    let devices = prints(&["devices"]);
    assert!(devices.starts_with("cpu  "), "{devices}");
    assert!(
        devices.contains("\ngpu  none: this build of stridewise has no GPU engine\n"),
        "{devices}"
    );
}

#[test]
fn a_device_that_is_none_is_refused_and_ranks_run_on_the_cpu() {
    let ran = run(&["run", "arange(3)", "--device", "tpu"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("[possible values: cpu, gpu]"),
        "{}",
        ran.stderr
    );
    let ran = run(&["run", "arange(3)", "--device", "gpu", "--ranks", "2"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("ranks run on the CPU"),
        "{}",
        ran.stderr
    );
    let cpu = prints(&["run", "arange(3)", "--device", "cpu"]);
    assert_eq!(cpu, prints(&["run", "arange(3)"]));
}
