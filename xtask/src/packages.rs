//! Packages of the system: installed where that is possible without asking anybody, and named where it is not.

use std::process::Command;

use crate::steps::{Failure, quietly};

/// Installs packages of Debian and its kin if this is root; otherwise fails with `missing`, which says what is missing
/// and what it is for.
pub(crate) fn install(missing: &str, packages: &[&str]) -> Result<(), Failure> {
    let user = Command::new("id").arg("-u").output();
    let is_root = user.is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    if !is_root || Command::new("apt-get").arg("--version").output().is_err() {
        let names = packages.join(" ");
        return Err(format!(
            "{missing} (on Debian and Ubuntu `apt-get install {names}`)"
        ));
    }
    quietly(Command::new("apt-get").args(["update", "--quiet"]))?;
    quietly(
        Command::new("apt-get")
            .args(["install", "--yes", "--quiet", "--no-install-recommends"])
            .args(packages)
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )
}
