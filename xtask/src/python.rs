//! The Python package: built into the repository's own environment, linted, type-checked and tested; and as a
//! wheel, in an environment with nothing else.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::environment::{Environment, Scratch};
use crate::mpi;
use crate::steps::{Failure, quietly, root, run};

const WHEELS: &str = "target/wheels";

/// Builds the package into `.venv`, which is made first if it has to be.
pub(crate) fn build() -> Result<(), Failure> {
    develop(&[]).map(drop)
}

fn develop(profile: &[&str]) -> Result<Environment, Failure> {
    let environment = Environment::of_the_repository()?;
    let wanted = ["-r", "python/requirements-test.txt"].map(OsStr::new);
    environment.install(&wanted)?;
    let mut maturin = environment.command("maturin");
    quietly(maturin.args(["develop", "--locked"]).args(profile))?;
    Ok(environment)
}

/// Format, lint and types.
pub(crate) fn check() -> Result<(), Failure> {
    let environment = Environment::of_the_repository()?;
    let mut folders = vec!["python", "examples"];
    folders.extend(root().join("bench").exists().then_some("bench"));
    environment.module(
        "ruff",
        &[&["format", "--check", "--quiet"][..], &folders].concat(),
    )?;
    environment.module("ruff", &[&["check", "--quiet"][..], &folders].concat())?;
    environment.module(
        "mypy",
        &[
            "--strict",
            "python/stridewise",
            "python/tests/typing_sample.py",
        ],
    )?;
    let allowed = [
        "--allowlist",
        "python/stubtest.txt",
        "--ignore-unused-allowlist",
    ];
    environment.module("mypy.stubtest", &[&["stridewise"][..], &allowed].concat())
}

/// The tests, examples in docstrings among them.
pub(crate) fn test() -> Result<(), Failure> {
    Environment::of_the_repository()?.module("pytest", &["--quiet"])
}

/// ONNX's own tests of its operators, random models beside ONNX Runtime, and ONNX's checker on every node we write.
pub(crate) fn onnx() -> Result<(), Failure> {
    let environment = Environment::of_the_repository()?;
    let scratch = Scratch::new("stridewise-onnx")?;
    let (nodes, random) = (scratch.path().join("nodes"), scratch.path().join("random"));
    let model = scratch.path().join("every.onnx");
    let tests = root().join("crates/onnx/tests");
    let python = |script: &str, arguments: &[&OsStr]| {
        let mut python = environment.command("python");
        quietly(python.arg(tests.join(script)).args(arguments))
    };
    let example = |name: &str, arguments: &[&OsStr]| {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.args([
            "run",
            "--quiet",
            "--locked",
            "--package",
            "stridewise-onnx",
            "--example",
            name,
            "--",
        ]);
        run(cargo.args(arguments).current_dir(root()))
    };
    python("write_node_tests.py", &[nodes.as_os_str()])?;
    let (seed, count) = (OsStr::new("1"), OsStr::new("500"));
    python("write_random_models.py", &[random.as_os_str(), seed, count])?;
    example("node_tests", &[nodes.as_os_str(), random.as_os_str()])?;
    example("every_node", &[model.as_os_str()])?;
    python("check_every_node.py", &[model.as_os_str()])
}

/// Builds a wheel into `target/wheels` and says where it is.
pub(crate) fn wheel() -> Result<(), Failure> {
    let path = build_wheel()?;
    println!("{}", path.display());
    Ok(())
}

/// Builds the package with MPI into an environment with nothing else, and runs its examples and a failing program under
/// `mpirun`.
pub(crate) fn test_mpi() -> Result<(), Failure> {
    mpi::provide()?;
    let scratch = Scratch::new("stridewise-mpi")?;
    let environment = Environment::empty(&scratch.path().join("mpi"))?;
    let wheels = scratch.path().join("wheels");
    let mut maturin = Environment::of_the_repository()?.command("maturin");
    // The MPI of the system is used as it is: it is no library to be carried along.
    let build = [
        "build",
        "--locked",
        "--features",
        "mpi",
        "--auditwheel",
        "skip",
        "--out",
    ];
    quietly(maturin.args(build).arg(&wheels))?;
    let built = files(&wheels).next();
    let wheel = built.ok_or("maturin has built no wheel with MPI")?;
    environment.install(&[OsStr::new("--no-index"), wheel.as_os_str()])?;
    let tests = root().join("python/tests/under_mpi.py");
    let mut python = environment.command("python");
    run(python.arg(tests).current_dir(scratch.path()))
}

fn build_wheel() -> Result<PathBuf, Failure> {
    let environment = Environment::of_the_repository()?;
    let wanted = ["-r", "python/requirements-test.txt"].map(OsStr::new);
    environment.install(&wanted)?;
    // Older wheels go, so that the one that is there afterwards is the one that was built.
    for old in wheels() {
        fs::remove_file(&old).map_err(|error| format!("{}: {error}", old.display()))?;
    }
    let build = ["build", "--release", "--locked", "--out", WHEELS];
    quietly(environment.command("maturin").args(build))?;
    let built = wheels().next();
    built.ok_or(format!("maturin has built no wheel into {WHEELS}"))
}

fn wheels() -> impl Iterator<Item = PathBuf> {
    files(&root().join(WHEELS))
}

/// The wheels in a folder.
fn files(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let files = fs::read_dir(folder).into_iter().flatten();
    let paths = files.flatten().map(|file| file.path());
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "whl"))
}

/// Installs the wheel into an environment with nothing else and runs the README's first Python example there.
pub(crate) fn test_wheel() -> Result<(), Failure> {
    let wheel = build_wheel()?;
    let scratch = Scratch::new("stridewise-wheel")?;
    let environment = Environment::empty(&scratch.path().join("empty"))?;
    let only = [OsStr::new("--no-index"), wheel.as_os_str()];
    environment.install(&only)?;
    // Away from the repository, so that the package can only come from the wheel.
    let mut python = environment.command("python");
    run(python.args(["-c", &example()?]).current_dir(scratch.path()))
}

/// The first Python example of the README, the one that needs no other package.
fn example() -> Result<String, Failure> {
    let readme = fs::read_to_string(root().join("README.md"))
        .map_err(|error| format!("README.md: {error}"))?;
    let code = readme
        .split_once("```python\n")
        .and_then(|(_, rest)| rest.split_once("```"));
    match code {
        Some((code, _)) => Ok(code.to_string()),
        None => Err("README.md has no Python example".to_string()),
    }
}

/// Time per call beside other libraries, where they are installed.
pub(crate) fn bench() -> Result<(), Failure> {
    let environment = develop(&["--release"])?;
    for script in ["calls", "gradients", "graphs"] {
        println!("\n{script}");
        run(environment
            .command("python")
            .arg(format!("bench/{script}.py")))?;
    }
    Ok(())
}
