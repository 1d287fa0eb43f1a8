//! `bench`: what things cost. Timings are shown and fail nothing; instructions are counted, and held to committed
//! figures by `bench --check`.

mod count;
mod figures;

use std::ffi::OsStr;

use crate::environment::Environment;
use crate::steps::{Failure, Step, cargo, run, run_all};
use crate::{gpu, mpi, python, some};

/// What the command line asks for; `Err` is what it got wrong.
pub(crate) fn bench(args: &[&str]) -> Result<(), Failure> {
    let (options, names): (Vec<&str>, Vec<&str>) =
        args.iter().partition(|word| word.starts_with("--"));
    match options.as_slice() {
        [] => some(steps(), &names).and_then(|steps| run_all(&steps)),
        ["--peers"] => {
            let chosen = some(steps(), &names)?;
            install_peers()?;
            run_all(&chosen)
        }
        ["--check"] => count::check(&names),
        ["--check", "--update"] | ["--update", "--check"] => count::update(&names),
        _ => Err(format!(
            "bench takes `--peers`, `--check` or `--check --update`, and not `{}`",
            options.join(" ")
        )),
    }
}

fn steps() -> Vec<Step> {
    vec![
        Step::command(
            "rust peers",
            cargo([
                "run",
                "--release",
                "--locked",
                "--manifest-path",
                "bench/rust/Cargo.toml",
                "--",
                "--write",
            ]),
        ),
        Step::check("mpi", mpi::bench),
        Step::check("gpu", gpu::bench),
        Step::check("python peers", python_peers),
        Step::check("python graphs", python_graphs),
    ]
}

/// Installs what Python is timed beside.
fn install_peers() -> Result<(), Failure> {
    let environment = Environment::of_the_repository()?;
    environment.install(&["-r", "bench/requirements.txt"].map(OsStr::new))
}

/// Calls, copies and gradients beside other libraries, where they are installed, and the machine's own speed: numbers,
/// docs/performance.md and its pictures are written.
fn python_peers() -> Result<(), Failure> {
    cargo([
        "build",
        "--release",
        "--locked",
        "--package",
        "stridewise-machine",
    ])
    .run()?;
    script(&["bench/speed.py", "--write"])
}

/// Runs of graphs beside the same calls made at once.
fn python_graphs() -> Result<(), Failure> {
    script(&["bench/graphs.py"])
}

fn script(words: &[&str]) -> Result<(), Failure> {
    let environment = python::build_release()?;
    run(environment.command("python").args(words))
}
