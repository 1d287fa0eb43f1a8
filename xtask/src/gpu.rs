//! What is behind the feature `gpu`. Where there is no GPU, Mesa's software driver stands in for one.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::packages::install;
use crate::steps::{Cargo, Failure, cargo};

/// The feature, of every crate that has it.
const FEATURES: &str =
    "stridewise/gpu,stridewise-cli/gpu,stridewise-python/gpu,stridewise-spread/gpu";

/// Lints what only exists with a GPU, and tests it.
pub(crate) fn test() -> Result<(), Failure> {
    provide()?;
    cargo([
        "clippy",
        "--package",
        "stridewise-gpu",
        "--package",
        "stridewise-spread",
        "--package",
        "stridewise",
        "--package",
        "stridewise-cli",
        "--package",
        "stridewise-python",
        "--features",
        FEATURES,
        "--all-targets",
        "--locked",
        "--",
        "-D",
        "warnings",
    ])
    .run()?;
    // Without it drivers complain that they cannot look for a display.
    let quiet = |command: Cargo| command.with_env("XDG_RUNTIME_DIR", "/tmp");
    quiet(cargo(["test", "--package", "stridewise-gpu", "--locked"])).run()?;
    // The other tests of these crates run without the feature.
    quiet(cargo([
        "test",
        "--package",
        "stridewise-spread",
        "--package",
        "stridewise",
        "--package",
        "stridewise-cli",
        "--features",
        "stridewise/gpu,stridewise-cli/gpu,stridewise-spread/gpu",
        "--test",
        "gpu",
        "--locked",
    ]))
    .run()?;
    quiet(cargo([
        "test",
        "--package",
        "stridewise",
        "--features",
        "gpu",
        "--doc",
        "--locked",
        "device",
    ]))
    .run()
}

/// What operators that move data cost beside the device's own copy.
pub(crate) fn bench() -> Result<(), Failure> {
    provide()?;
    cargo([
        "bench",
        "--package",
        "stridewise-gpu",
        "--bench",
        "bandwidth",
    ])
    .run()
}

/// Sees to it that there is a driver. Other systems than Linux bring theirs.
pub(crate) fn provide() -> Result<(), Failure> {
    if !cfg!(target_os = "linux") || (has_loader() && has_driver()) {
        return Ok(());
    }
    install(
        "no Vulkan driver was found, by which a GPU is reached",
        &["mesa-vulkan-drivers", "libvulkan1"],
    )
}

/// Whether there is the library that finds drivers.
fn has_loader() -> bool {
    let listed = Command::new("ldconfig").arg("-p").output();
    listed.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("libvulkan.so.1"))
}

/// Whether a driver has said where it is.
fn has_driver() -> bool {
    if ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"]
        .iter()
        .any(|name| std::env::var_os(name).is_some())
    {
        return true;
    }
    let folders = [
        "/usr/share/vulkan/icd.d",
        "/usr/local/share/vulkan/icd.d",
        "/etc/vulkan/icd.d",
    ];
    folders.iter().any(|folder| {
        let files = fs::read_dir(Path::new(folder)).into_iter().flatten();
        files.flatten().next().is_some()
    })
}
