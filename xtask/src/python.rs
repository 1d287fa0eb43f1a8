//! The Python package: a virtual environment of the repository's own, the package built into it, its tests.

use std::path::PathBuf;
use std::process::Command;

use crate::steps::{Failure, root};

fn environment() -> PathBuf {
    root().join(".venv")
}

fn program(name: &str) -> PathBuf {
    let folder = if cfg!(windows) { "Scripts" } else { "bin" };
    environment().join(folder).join(name)
}

fn run(command: &mut Command) -> Result<(), Failure> {
    let text = format!("{command:?}");
    match command.current_dir(root()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("{text} failed")),
        Err(error) => Err(format!("{text} cannot be run: {error}")),
    }
}

/// Builds the package into the environment and runs its tests and the examples in its documentation.
pub(crate) fn test() -> Result<(), Failure> {
    if !program("python").exists() {
        run(Command::new("python3")
            .args(["-m", "venv"])
            .arg(environment()))?;
    }
    let pip = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ];
    run(Command::new(program("python"))
        .args(pip)
        .args(["-r", "python/requirements-test.txt"]))?;
    run(Command::new(program("maturin"))
        .args(["develop", "--quiet", "--locked"])
        .env("VIRTUAL_ENV", environment()))?;
    let tests = [
        "-m",
        "pytest",
        "--quiet",
        "--doctest-modules",
        "python/stridewise",
        "python/tests",
    ];
    run(Command::new(program("python")).args(tests))
}
