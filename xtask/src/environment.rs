//! Virtual environments: made when missing, made again when broken, and removed when they were for one test.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::packages::install;
use crate::steps::{Failure, quietly, root, run};

/// The oldest Python the package is for.
const OLDEST: &str = "(3, 11)";

/// A virtual environment.
pub(crate) struct Environment(PathBuf);

impl Environment {
    /// The repository's own, `.venv`. One that no longer works, as after an update of Python, is made again.
    pub(crate) fn of_the_repository() -> Result<Environment, Failure> {
        let environment = Environment(root().join(".venv"));
        let works = format!("import pip, sys; sys.exit(sys.version_info < {OLDEST})");
        let mut probe = Command::new(environment.program("python"));
        let probed = probe.args(["-c", &works]).output();
        if !probed.is_ok_and(|output| output.status.success()) {
            environment.make()?;
        }
        Ok(environment)
    }

    /// An empty one at a path where there is nothing yet.
    pub(crate) fn empty(path: &Path) -> Result<Environment, Failure> {
        let environment = Environment(path.to_path_buf());
        environment.make()?;
        Ok(environment)
    }

    /// A program of the environment.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.0
            .join(if cfg!(windows) { "Scripts" } else { "bin" })
            .join(name)
    }

    /// A call of a program, for which this is the active environment.
    pub(crate) fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.program(name));
        command.env("VIRTUAL_ENV", &self.0).current_dir(root());
        command
    }

    /// Runs a module of Python's, such as pytest, and shows what it says.
    pub(crate) fn module(&self, name: &str, args: &[&str]) -> Result<(), Failure> {
        run(self.command("python").args(["-m", name]).args(args))
    }

    /// The folder its packages are in.
    pub(crate) fn packages(&self) -> Result<PathBuf, Failure> {
        let said = "import sysconfig; print(sysconfig.get_path('platlib'), end='')";
        let output = self.command("python").args(["-c", said]).output();
        let output = output.map_err(|error| format!("{}: {error}", self.0.display()))?;
        Ok(PathBuf::from(
            String::from_utf8_lossy(&output.stdout).into_owned(),
        ))
    }

    /// Installs what pip's arguments say.
    pub(crate) fn install(&self, args: &[&OsStr]) -> Result<(), Failure> {
        let pip = ["-m", "pip", "install", "--disable-pip-version-check"];
        quietly(self.command("python").args(pip).args(args))
    }

    fn make(&self) -> Result<(), Failure> {
        let python = std::env::var_os("PYTHON").unwrap_or("python3".into());
        let new_enough = format!("import sys; sys.exit(sys.version_info < {OLDEST})");
        quietly(Command::new(&python).args(["-c", &new_enough])).map_err(|_| {
            format!("Python {OLDEST} or newer is needed: name it in the variable PYTHON")
        })?;
        let complete = Command::new(&python)
            .args(["-c", "import ensurepip, venv"])
            .output();
        if !complete.is_ok_and(|output| output.status.success()) {
            // Debian and its kin keep it in a package of its own.
            install(
                "Python cannot make virtual environments: install its venv module",
                &["python3-venv"],
            )?;
        }
        if self.0.exists() {
            fs::remove_dir_all(&self.0)
                .map_err(|error| format!("{} cannot be removed: {error}", self.0.display()))?;
        }
        quietly(Command::new(&python).args(["-m", "venv"]).arg(&self.0))
    }
}

/// A folder of its own that goes when this does.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Result<Scratch, Failure> {
        let path = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Scratch(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left behind is in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
