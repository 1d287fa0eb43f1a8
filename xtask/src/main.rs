//! Every chore of the repository, as `cargo xtask NAME`.

mod bench;
mod docs;
mod environment;
mod gpu;
mod mpi;
mod packages;
mod python;
mod steps;
mod stubs;

use std::process::ExitCode;

use steps::{Failure, Step, cargo, run_all};

const USAGE: &str = "\
cargo xtask NAME

  test     format, lint, test, document and run everything; what CI does. With names, such as
           `test python wheel`, only the steps that begin so
  docs     write what comes from the operator table: tables of the documentation, type stubs
  wheel    build the Python package into target/wheels
  bench    Rust and Python beside other libraries, as far as they are installed, and beside the machine's own speed;
           ranks beside bare MPI, a GPU beside its own copy, graphs. With names, such as `bench python`, only the
           steps that begin so; `bench python` writes docs/performance.md
           --peers            install the libraries that Python is timed beside first
           --check            instead count the instructions of small calls, by Valgrind, and fail where one is not
                              within 10 % of its figure in bench/instructions.toml; `--check rust` counts Rust's only
           --check --update   make the counts of now the figures";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        ["test", only @ ..] => some(test(), only).and_then(|steps| run_all(&steps)),
        ["docs"] => docs::write(),
        ["wheel"] => python::wheel(),
        ["bench", args @ ..] => bench::bench(args),
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

/// The steps that were asked for, or all of them.
fn some(mut steps: Vec<Step>, only: &[&str]) -> Result<Vec<Step>, Failure> {
    for name in only {
        if !steps.iter().any(|step| step.name().starts_with(name)) {
            let there: Vec<&str> = steps.iter().map(Step::name).collect();
            return Err(format!(
                "no step is called {name}: there are {}",
                there.join(", ")
            ));
        }
    }
    steps.retain(|step| only.is_empty() || only.iter().any(|name| step.name().starts_with(name)));
    Ok(steps)
}

fn test() -> Vec<Step> {
    vec![
        Step::command("format", cargo(["fmt", "--all", "--check"])),
        Step::check("docs", docs::check),
        Step::check("system", provide),
        // With all features at once, so that nothing is compiled twice; the last two steps and `python build` are without any.
        Step::command(
            "lint",
            cargo([
                "clippy",
                "--workspace",
                "--all-features",
                "--all-targets",
                "--locked",
                "--",
                "-D",
                "warnings",
            ]),
        ),
        Step::command(
            "test",
            // Without it drivers of GPUs complain that they cannot look for a display.
            cargo(["test", "--workspace", "--all-features", "--locked"])
                .with_env("XDG_RUNTIME_DIR", "/tmp"),
        ),
        Step::command(
            "document",
            cargo([
                "doc",
                "--workspace",
                "--all-features",
                "--no-deps",
                "--locked",
            ])
            .with_env("RUSTDOCFLAGS", "-D warnings"),
        ),
        Step::check("python build", python::build),
        Step::check("python lint", python::check),
        Step::check("python test", python::test),
        Step::check("onnx", python::onnx),
        Step::check("wheel", python::test_wheel),
        Step::check("python features", python::test_all_features),
        Step::command(
            "tour",
            cargo(["run", "--release", "--locked", "--", "tour"]).quiet(),
        ),
        Step::command(
            "no features",
            cargo([
                "test",
                "--release",
                "--locked",
                "--package",
                "stridewise-cli",
                "--test",
                "commands",
            ]),
        ),
    ]
}

/// Sees to it that the system has what features are built with and tested on.
fn provide() -> Result<(), Failure> {
    mpi::provide()?;
    gpu::provide()
}
