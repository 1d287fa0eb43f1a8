//! Ranks under MPI: the library is of the system, and so is what its bindings are made with.

use std::process::Command;

use crate::packages::install;
use crate::steps::{Failure, cargo};

/// What the world costs beside MPI's own calls.
pub(crate) fn bench() -> Result<(), Failure> {
    provide()?;
    cargo([
        "bench",
        "--package",
        "stridewise-spread",
        "--features",
        "mpi",
        "--bench",
        "mpi",
    ])
    .run()
}

/// Sees to it that there is an MPI to build against, and libclang, by which the bindings read its headers.
pub(crate) fn provide() -> Result<(), Failure> {
    let says = |program: &str, arg: &str, word: &str| {
        let output = Command::new(program).arg(arg).output();
        output.is_ok_and(|output| {
            output.status.success() && String::from_utf8_lossy(&output.stdout).contains(word)
        })
    };
    let libclang =
        std::env::var_os("LIBCLANG_PATH").is_some() || says("ldconfig", "-p", "libclang-");
    if says("mpicc", "-show", "") && says("mpirun", "--version", "") && libclang {
        return Ok(());
    }
    install(
        "MPI is missing, or libclang, which its bindings are made with",
        &["libopenmpi-dev", "openmpi-bin", "libclang-dev"],
    )
}
