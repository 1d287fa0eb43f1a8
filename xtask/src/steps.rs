//! Running commands one after another, saying what each is and how long it took.

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Instant;

/// Why a chore failed.
pub(crate) type Failure = String;

/// A named part of a chore.
pub(crate) struct Step {
    name: &'static str,
    work: Work,
}

enum Work {
    Command(Cargo),
    Check(fn() -> Result<(), Failure>),
}

/// A call of cargo.
pub(crate) struct Cargo {
    args: Vec<&'static str>,
    env: Vec<(&'static str, &'static str)>,
    quiet: bool,
}

/// Cargo with these arguments.
pub(crate) fn cargo<const N: usize>(args: [&'static str; N]) -> Cargo {
    Cargo {
        args: args.into(),
        env: Vec::new(),
        quiet: false,
    }
}

impl Cargo {
    pub(crate) fn with_env(mut self, name: &'static str, value: &'static str) -> Cargo {
        self.env.push((name, value));
        self
    }

    /// Shows its output only if it fails.
    pub(crate) fn quiet(mut self) -> Cargo {
        self.quiet = true;
        self
    }

    pub(crate) fn run(&self) -> Result<(), Failure> {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        command
            .args(&self.args)
            .envs(self.env.iter().copied())
            .current_dir(root());
        match self.quiet {
            true => quietly(&mut command),
            false => run(&mut command),
        }
    }
}

/// In CI everything is built once, in a fresh clone: what would make the next build quicker is not kept.
fn prepared(command: &mut Command) -> &mut Command {
    if std::env::var_os("CI").is_some() {
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// Runs a command and shows what it says.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let status = prepared(command).status();
    done(command, status.map(|status| (status, String::new())))
}

/// Runs a command and shows what it says only if it fails.
pub(crate) fn quietly(command: &mut Command) -> Result<(), Failure> {
    let output = prepared(command).output().map(|output| {
        let said = [output.stdout, output.stderr].concat();
        (output.status, String::from_utf8_lossy(&said).into_owned())
    });
    done(command, output)
}

fn done(command: &Command, result: io::Result<(ExitStatus, String)>) -> Result<(), Failure> {
    let words: Vec<_> = [command.get_program()]
        .into_iter()
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect();
    // A program given as text is known by its first line.
    let words = words.join(" ");
    let line = words.lines().next().unwrap_or_default();
    match result {
        Ok((status, _)) if status.success() => Ok(()),
        Ok((status, said)) => {
            eprint!("{said}");
            Err(format!("`{line}` failed: {status}"))
        }
        Err(error) => Err(format!("`{line}` cannot be run: {error}")),
    }
}

impl Step {
    pub(crate) fn command(name: &'static str, command: Cargo) -> Step {
        Step {
            name,
            work: Work::Command(command),
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.name
    }

    pub(crate) fn check(name: &'static str, check: fn() -> Result<(), Failure>) -> Step {
        Step {
            name,
            work: Work::Check(check),
        }
    }
}

/// Runs steps in order and stops at the first that fails.
pub(crate) fn run_all(steps: &[Step]) -> Result<(), Failure> {
    let start = Instant::now();
    for step in steps {
        let begun = Instant::now();
        println!("xtask: {}", step.name);
        match &step.work {
            Work::Command(command) => command.run()?,
            Work::Check(check) => check()?,
        }
        println!(
            "xtask: {} took {:.0} s",
            step.name,
            begun.elapsed().as_secs_f64()
        );
    }
    println!("xtask: all done in {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// The repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."))
}
