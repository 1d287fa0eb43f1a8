//! Programs on many ranks: planned on meshes of any size, run on threads.

mod binary;

use std::path::Path;

use binary::{prints, run, run_in};
use insta::assert_snapshot;

/// A plan, which fits eighty columns.
fn planned(args: &[&str]) -> String {
    let plan = prints(&[&["plan"], args].concat());
    for line in plan.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    plan
}

#[test]
fn a_plan_on_a_large_mesh_tells_layouts_parts_and_bytes() {
    let args = ["--shape", "4096,1024", "--mesh", "64x8"];
    let plan =
        |program: &str, sbp: &str| planned(&[&[program], &args[..], &["--sbp", sbp]].concat());
    assert_snapshot!(
        "even",
        plan(
            "unflatten(1, [8, -1]).sum(0).expand(5, -1, -1)",
            "S(0),S(1)"
        )
    );
    assert_snapshot!("gathered", plan("transpose().flatten().sum()", "S(0),B"));
}

#[test]
fn a_plan_of_uneven_parts_gives_the_largest() {
    assert_snapshot!(
        "uneven",
        planned(&[
            "reshape(6, 8).expand(3, -1, -1).take($2, axis=1).cast(f64)",
            "--shape",
            "8,6",
            "--shape",
            "5",
            "--dtype",
            "f32",
            "--dtype",
            "i64",
            "--ranks",
            "4",
            "--sbp",
            "S(0)",
        ])
    );
    let short = [
        "[1:].enforce_shape([\"n\", ...])",
        "-s",
        "3,5",
        "--mesh",
        "5",
        "--sbp",
        "S(0)",
    ];
    assert_snapshot!("short", planned(&short));
}

#[test]
fn calls_stand_above_their_figures_where_columns_would_be_too_wide() {
    let program = "reshape(12, -1, 7).flip(0).permute(2, 0, 1).take($2, axis=1).sum(0).repeat(2, 3, 1).reshape(-1)[3:]";
    assert_snapshot!(
        "stacked",
        planned(&[
            program,
            "-s",
            "84,33,10,4",
            "-s",
            "5,5",
            "-d",
            "f32",
            "-d",
            "i64",
            "--mesh",
            "64x8",
            "--sbp",
            "S(0),S(1)",
            "--sbp",
            "S(0),B",
        ])
    );
    let long = [
        "flip(0).unstack(0)",
        "-s",
        "3,1000000,20,30,400,50,2,2,2,3",
        "--mesh",
        "2x2x2x2",
        "--sbp",
        "S(0),S(1),S(2),S(3)",
    ];
    planned(&long);
}

#[test]
fn the_plan_in_the_readme_is_what_is_printed() {
    let plan = planned(&[
        "reshape(6, 8).take($2, axis=0).cast(f64)",
        "--shape",
        "8,6",
        "--shape",
        "5",
        "-d",
        "f32",
        "-d",
        "i64",
        "--ranks",
        "4",
        "--sbp",
        "S(0)",
    ]);
    let readme = include_str!("../../../README.md");
    assert!(readme.contains(&plan), "{plan}");
}

#[test]
fn a_plan_on_ranks_is_written_as_json() {
    assert_snapshot!(
        "json",
        prints(&[
            "plan",
            "reshape(6, 8).sum(0)",
            "-s",
            "8,6",
            "--ranks",
            "4",
            "--sbp",
            "S(0)",
            "--json"
        ])
    );
}

#[test]
fn a_mesh_larger_than_any_machine_is_looked_at_in_part() {
    let args = [
        "flip()", "-s", "5000", "--mesh", "100x30", "--sbp", "S(0),B",
    ];
    let some = planned(&args);
    assert!(
        some.starts_with("100 × 30 ranks; figures of the one that has most, of 64 looked at\n"),
        "{some}"
    );
    let every = planned(&[&args[..], &["--every-rank"]].concat());
    assert!(
        every.starts_with("100 × 30 ranks; figures of the one that has most\n"),
        "{every}"
    );
}

/// The bytes of a total, as both commands print them.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("{text}"));
    rest.split_once(after).unwrap_or_else(|| panic!("{text}")).0
}

#[test]
fn a_run_on_ranks_gives_what_a_run_gives_and_receives_what_the_plan_says() {
    let directory = tempfile::tempdir().unwrap();
    let go = |args: &[&str]| {
        let ran = run_in(directory.path(), args);
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
        (ran.stdout, ran.stderr)
    };
    go(&["run", "arange(42).reshape(7, 6).cast(f32)", "-o", "x.npy"]);
    go(&["run", "arange(-2, 3)", "-o", "i.npy"]);
    for program in [
        "",
        "reshape(6, 7)[::-1, 1:]",
        "take($2, axis=0).sum(1).repeat(3)",
        "unflatten(1, [2, -1]).permute(1, 0, 2).flatten(0, 1).unstack(0)",
        "enforce_shape([\"n\", 6]).transpose().contiguous()",
    ] {
        let alone = go(&["run", program, "x.npy", "i.npy"]).0;
        for ranks in [
            &["--ranks", "4", "--sbp", "S(0)"][..],
            &["--ranks", "3", "--sbp", "S(1)", "--sbp", "B"],
            &["--mesh", "2x2", "--sbp", "S(0),S(1)", "--sbp", "B,S(0)"],
            &["--mesh", "2x3", "--sbp", "P,S(0)", "--sbp", "S(0),S(0)"],
        ] {
            let (printed, told) = go(&[&["run", program, "x.npy", "i.npy"], ranks].concat());
            assert_eq!(printed, alone, "{program} {ranks:?}");
            let plan = go(&[&["plan", program, "x.npy", "i.npy"], ranks].concat()).0;
            let total = between(&plan, "total on a rank: ", " received, ");
            let planned = total.rsplit(", ").next().unwrap();
            let received = between(&told, "at most ", " received by one");
            assert_eq!(planned, received, "{program} {ranks:?}\n{plan}\n{told}");
        }
    }
    go(&[
        "run",
        "reshape(6, 7)",
        "x.npy",
        "--ranks",
        "4",
        "--sbp",
        "S(0)",
        "-o",
        "y.npy",
    ]);
    go(&["run", "reshape(6, 7)", "x.npy", "-o", "z.npy"]);
    let read = |name: &str| std::fs::read(directory.path().join(name)).unwrap();
    assert_eq!(read("y.npy"), read("z.npy"));
    let (_, told) = go(&[
        "run",
        "reshape(6, 7).cast(f64)",
        "x.npy",
        "--mesh",
        "2x2",
        "--sbp",
        "S(0),P",
    ]);
    assert_snapshot!("summary", told);
}

#[test]
fn a_program_on_ranks_can_begin_from_nothing() {
    let ran = run(&["run", "arange(5).flip()", "--ranks", "3"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "int64 (5,)\n[4, 3, 2, 1, 0]\n")
    );
    assert!(planned(&["arange(5).flip()", "--mesh", "3x2"]).contains("B, B"));
}

#[test]
fn an_index_that_one_rank_alone_has_is_blamed_in_the_program() {
    let directory = tempfile::tempdir().unwrap();
    let go = |args: &[&str]| run_in(directory.path(), args);
    go(&["run", "arange(12).reshape(4, 3)", "-o", "x.npy"]);
    go(&["run", "arange(8)", "-o", "i.npy"]);
    let ran = go(&[
        "run",
        "take($2, axis=1)",
        "x.npy",
        "i.npy",
        "--ranks",
        "4",
        "--sbp",
        "B",
        "--sbp",
        "S(0)",
    ]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(2), ""),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("Error: take: index"), "{}", ran.stderr);
    assert!(ran.stderr.contains("take($2, axis=1)"), "{}", ran.stderr);
}

#[test]
fn a_layout_that_no_whole_can_take_is_told_of_the_input() {
    let directory = tempfile::tempdir().unwrap();
    let go = |args: &[&str]| run_in(directory.path(), args);
    go(&["run", "arange(4)", "-o", "x.npy"]);
    let ran = go(&["run", "sum(0)", "x.npy", "--ranks", "2", "--sbp", "P(max)"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let wanted = "Error: input $1: shard: a tensor held as B cannot be held as P(max)";
    assert!(ran.stderr.contains(wanted), "{}", ran.stderr);
}

/// What is wrong with the options, all of it with code 2 and nothing on standard output.
#[test]
fn mistakes_in_layouts_and_meshes_are_answered() {
    let shape = ["--shape", "4,6"];
    let wrong = |args: &[&str]| {
        let ran = run(&[&["plan", "flip()"], &shape[..], args].concat());
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(2), ""),
            "{args:?}: {}",
            ran.stderr
        );
        ran.stderr
    };
    let told: Vec<String> = [
        &["--mesh", "4x0", "--sbp", "S(0)"][..],
        &["--mesh", "four", "--sbp", "S(0)"],
        &["--mesh", "2x2x2x2x2", "--sbp", "B"],
        &["--mesh", "2000x2000", "--sbp", "B,B"],
        &["--ranks", "0", "--sbp", "B"],
        &["--ranks", "2x2", "--sbp", "B"],
        &["--ranks", "4", "--sbp", "S0"],
        &["--ranks", "4", "--sbp", "S(2)"],
        &["--mesh", "2x2", "--sbp", "S(0)"],
        &["--ranks", "4"],
        &["--mesh", "2x2"],
        &["--sbp", "S(0)"],
        &["--every-rank"],
        &["--ranks", "4", "--sbp", "B", "--sbp", "B"],
        &["--ranks", "4", "--mesh", "2x2", "--sbp", "B"],
        &["--shape", "B,3", "--ranks", "4", "--sbp", "B"],
    ]
    .iter()
    .map(|args| format!("{}\n{}", args.join(" "), wrong(args)))
    .collect();
    assert_snapshot!("mistakes", told.join("\n"));
    let many = run(&["run", "arange(3)", "--ranks", "5000"]);
    assert_eq!(many.code, Some(2));
    assert!(
        many.stderr
            .contains("`stridewise plan` takes a mesh of any size"),
        "{}",
        many.stderr
    );
    let none = run_in(Path::new("."), &["run", "model.onnx", "--ranks", "2"]);
    assert_eq!(none.code, Some(2), "{}", none.stderr);
}
