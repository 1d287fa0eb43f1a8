//! The built command, run in a directory of its own.

use std::path::Path;
use std::process::{Command, Stdio};

/// What a run of the command gave.
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

/// The command, with nothing of the surroundings that could change what it prints.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stridewise"));
    command
        .args(args)
        .stdin(Stdio::null())
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        // Without it drivers of GPUs complain that they cannot look for a display.
        .env("XDG_RUNTIME_DIR", std::env::temp_dir())
        .env("COLUMNS", "90");
    command
}

/// Runs the command in a directory.
pub(crate) fn run_in(directory: &Path, args: &[&str]) -> Ran {
    let output = command(args)
        .current_dir(directory)
        .output()
        .expect("the command runs");
    Ran {
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
        code: output.status.code(),
    }
}

/// Runs the command where no file is needed.
#[allow(dead_code)]
pub(crate) fn run(args: &[&str]) -> Ran {
    run_in(Path::new("."), args)
}

/// What a run that succeeds prints.
#[allow(dead_code)]
pub(crate) fn prints(args: &[&str]) -> String {
    let ran = run(args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(ran.stderr, "");
    ran.stdout
}
