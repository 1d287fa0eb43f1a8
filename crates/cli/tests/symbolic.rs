//! Plans of programs whose sizes are symbols.
#![allow(clippy::unwrap_used)]

mod binary;

use binary::{prints, run};
use insta::assert_snapshot;

#[test]
fn a_plan_with_symbols_tells_shapes_and_guards() {
    assert_snapshot!(prints(&[
        "plan",
        "unflatten(1, [2, -1]).reshape(B, 12).enforce_shape([B, n])",
        "--shape",
        "B,?,4",
        "--dtype",
        "f16",
    ]));
}

#[test]
fn a_plan_needs_no_rank() {
    assert_snapshot!(prints(&[
        "plan",
        "enforce_shape([B, ..., 3]).flatten().take([0, 7])",
        "-s",
        "...",
        "-s",
        "B",
    ]));
}

#[test]
fn a_plan_with_symbols_is_written_as_json() {
    assert_snapshot!(prints(&[
        "plan",
        "concat($2, axis=1).enforce_shape([n, 2, N]).unstack(1)",
        "-s",
        "B,1,N",
        "-s",
        "C,1,*rest",
        "--json",
    ]));
}

#[test]
fn nothing_is_left_to_check_where_all_is_proved() {
    let plan = prints(&["plan", "reshape(\"B*2\", \"N*2\").flip()", "-s", "B,N,4"]);
    let last = "total: 1 view, 1 view or copy\nno guards: no size is left for a run to check\n";
    assert!(plan.ends_with(last), "{plan}");
}

/// The shape that each step of a plan has.
fn shapes(program: &str, inputs: &[&str]) -> Vec<String> {
    let mut args = vec!["plan", program];
    args.extend(inputs.iter().flat_map(|shape| ["-s", shape]));
    let plan = prints(&args);
    let rows = plan
        .lines()
        .skip(1)
        .take_while(|line| !line.starts_with('─'));
    rows.filter_map(|line| Some(line[line.rfind(" [")? + 1..=line.rfind(']')?].to_string()))
        .collect()
}

#[test]
fn words_among_sizes_are_the_symbols_of_the_inputs() {
    for (program, last) in [
        ("reshape(B, 12)", "[B, 12]"),
        ("reshape([12, B])", "[12, B]"),
        ("reshape(shape=[N, \"B*2\", -1])", "[N, B*2, 2]"),
        ("zeros([N])", "[N]"),
        ("repeat(1, B, 2)", "[B, B*N, 8]"),
        ("unflatten(1, [N, 1])", "[B, N, 1, 4]"),
        // Patterns have symbols of their own beside those of the inputs.
        ("enforce_shape([B, m, None])", "[B, N, 4]"),
        // A word that is no size stays a word.
        ("cast(f64)", "[B, N, 4]"),
        ("take([0], axis=0, mode=clip)", "[1, N, 4]"),
    ] {
        assert_eq!(
            shapes(program, &["B,N,4"]).last().unwrap(),
            last,
            "{program}"
        );
    }
    let tuple = shapes("reshape(rest, 1)", &["*rest"]);
    assert_eq!(tuple, ["[*rest]", "[*rest, 1]"]);
}

/// The shape of every result in a plan for machines.
fn results(program: &str, unused: &str) -> Vec<String> {
    let plan = prints(&["plan", program, "-s", "2,5,4", "-s", unused, "--json"]);
    let steps = &plan[plan.find("\"steps\"").unwrap()..];
    let shapes = steps.split("\"shape\": ").skip(1);
    shapes
        .map(|rest| rest[..=rest.find(']').unwrap()].to_string())
        .collect()
}

#[test]
fn a_plan_on_a_graph_gives_the_shapes_of_one_with_numbers() {
    for program in [
        "unflatten(2, [2, -1]).permute(3, 0, 1, 2)",
        "flatten(0, 1).unsqueeze(0).expand(3, -1, -1)",
        "repeat(2, 1, 3)[1:, ::2, None]",
        "sum(1, keepdims=True).squeeze(1)",
        "take([[0, 1]], axis=1).moveaxis(0, -1)",
        "concat($1, axis=0).unstack(1).stack(axis=1)",
        "tile(3, 1, 1, 1).repeat_interleave(2, axis=1).shape_of()",
    ] {
        // A symbol in any shape, even of an input that is not used, makes a graph of it.
        let (numbers, symbols) = (results(program, "3"), results(program, "B"));
        assert!(!numbers.is_empty());
        assert_eq!(numbers, symbols, "{program}");
    }
}

#[test]
fn mistakes_with_symbols_point_at_their_place() {
    let mistake = |program: &str| {
        let ran = run(&["plan", program, "-s", "B,?,4"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{program}");
        ran.stderr
    };
    assert_snapshot!(
        "a_symbol_is_in_no_shape",
        mistake("flip().reshape(B, C, 4)")
    );
    assert_snapshot!(
        "a_symbolic_size_cannot_fit",
        mistake("enforce_shape([B, None, 5])")
    );
    assert_snapshot!("a_product_is_not_quoted", mistake("reshape(B*2, -1)"));
    assert_snapshot!("a_count_is_not_known", mistake("unstack(1)"));
}

#[test]
fn shapes_that_are_none_are_refused() {
    for shape in ["B,...,...", "_0,?", "B-", "4B", "*4", "'%1'", "a))", "((a)"] {
        let ran = run(&["plan", "flip()", "--shape", shape]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{shape}");
    }
    let drawn = run(&["explain", "flip()", "--shape", "B,4"]);
    assert_eq!(drawn.code, Some(2));
    assert!(
        drawn.stderr.contains("every size is a number"),
        "{}",
        drawn.stderr
    );
}
