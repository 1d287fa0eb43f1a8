//! Every chore of the repository, as `cargo xtask NAME`.

mod docs;
mod python;
mod steps;

use std::process::ExitCode;

use steps::{Step, cargo, run_all};

const USAGE: &str = "\
cargo xtask NAME

  test     format, lint, test, document and run everything; what CI does
  docs     write the tables that come from the operator table
  bench    what views cost, and operators that move data against a warm fill";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        ["test"] => run_all(&test()),
        ["docs"] => docs::write(),
        ["bench"] => run_all(&bench()),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn test() -> Vec<Step> {
    vec![
        Step::command("format", cargo(["fmt", "--all", "--check"])),
        Step::check("docs", docs::check),
        Step::command(
            "lint",
            cargo([
                "clippy",
                "--workspace",
                "--all-targets",
                "--locked",
                "--",
                "-D",
                "warnings",
            ]),
        ),
        Step::command("test", cargo(["test", "--workspace", "--locked"])),
        Step::check("python", python::test),
        Step::command(
            "document",
            cargo(["doc", "--workspace", "--no-deps", "--locked"])
                .with_env("RUSTDOCFLAGS", "-D warnings"),
        ),
        Step::command(
            "tour",
            cargo(["run", "--release", "--locked", "--", "tour"]).quiet(),
        ),
    ]
}

fn bench() -> Vec<Step> {
    vec![
        Step::command(
            "views",
            cargo(["bench", "--package", "stridewise", "--bench", "views"]),
        ),
        Step::command(
            "memory",
            cargo(["bench", "--package", "stridewise", "--bench", "memory"]),
        ),
    ]
}
