//! The Python package: built into the repository's own environment, linted, type-checked and tested; and as a
//! wheel, in an environment with nothing else.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::environment::{Environment, Scratch};
use crate::steps::{Failure, quietly, root, run};

const WHEELS: &str = "target/wheels";

/// Where the type stubs may say more or less than the package, and where so only if it is built without a GPU.
const ALLOWED: &str = "python/stubtest.txt";
const ALLOWED_WITHOUT_GPU: &str = "python/stubtest_without_gpu.txt";

/// Builds the package into `.venv`, which is made first if it has to be.
pub(crate) fn build() -> Result<(), Failure> {
    develop(&[]).map(drop)
}

/// Builds a package into `.venv` that is worth timing.
pub(crate) fn build_release() -> Result<Environment, Failure> {
    develop(&["--release"])
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
        ALLOWED,
        "--allowlist",
        ALLOWED_WITHOUT_GPU,
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
    let environment = Environment::of_the_repository()?;
    let wanted = ["-r", "python/requirements-test.txt"].map(OsStr::new);
    environment.install(&wanted)?;
    let folder = root().join(WHEELS);
    // Older wheels go, so that the one that is there afterwards is the one that was built.
    for old in files(&folder) {
        fs::remove_file(&old).map_err(|error| format!("{}: {error}", old.display()))?;
    }
    let path = build_wheel(&environment, &["--release"], &folder)?;
    println!("{}", path.display());
    Ok(())
}

/// Builds a wheel into a folder that has none.
fn build_wheel(
    environment: &Environment,
    options: &[&str],
    folder: &Path,
) -> Result<PathBuf, Failure> {
    let mut maturin = environment.command("maturin");
    maturin.args(["build", "--locked"]).args(options);
    quietly(maturin.arg("--out").arg(folder))?;
    let built = files(folder).next();
    built.ok_or(format!(
        "maturin has built no wheel into {}",
        folder.display()
    ))
}

/// Builds the package with all it can have, MPI and a GPU, into an environment with nothing else; runs its examples and a
/// failing program under `mpirun`, and the tests of the GPU.
pub(crate) fn test_all_features() -> Result<(), Failure> {
    crate::provide()?;
    let scratch = Scratch::new("stridewise-features")?;
    let repository = Environment::of_the_repository()?;
    // The MPI of the system is used as it is: it is no library to be carried along.
    let options = ["--features", "mpi,gpu", "--auditwheel", "skip"];
    let wheel = build_wheel(&repository, &options, &scratch.path().join("wheels"))?;
    let environment = Environment::empty(&scratch.path().join("features"))?;
    environment.install(&[OsStr::new("--no-index"), wheel.as_os_str()])?;
    let tests = root().join("python/tests");
    let mut python = environment.command("python");
    run(python
        .arg(tests.join("under_mpi.py"))
        .current_dir(scratch.path()))?;
    // The package of this build, in front of that of the repository's environment, which has what tests are made with.
    let packages = environment.packages()?;
    let mut pytest = repository.command("python");
    pytest.args(["-m", "pytest", "--quiet"]);
    run(pytest
        .arg(tests.join("test_gpu.py"))
        .env("PYTHONPATH", &packages)
        .env("STRIDEWISE_BUILT_WITH", "gpu"))?;
    let mut stubtest = repository.command("python");
    stubtest.args(["-m", "mypy.stubtest", "stridewise", "--allowlist", ALLOWED]);
    run(stubtest
        .arg("--ignore-unused-allowlist")
        .env("PYTHONPATH", &packages))
}

/// The wheels in a folder.
fn files(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let files = fs::read_dir(folder).into_iter().flatten();
    let paths = files.flatten().map(|file| file.path());
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "whl"))
}

/// Installs the wheel into an environment with nothing else and runs the README's first Python example there.
pub(crate) fn test_wheel() -> Result<(), Failure> {
    let scratch = Scratch::new("stridewise-wheel")?;
    // Not of the release build, so that nothing is compiled again; `tour` sees to that one.
    let repository = Environment::of_the_repository()?;
    let wheel = build_wheel(&repository, &[], &scratch.path().join("wheels"))?;
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
