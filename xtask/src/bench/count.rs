//! Counts the instructions of small calls under Valgrind. A count does not care how busy the machine is, so it can be
//! held to a figure where a timing cannot; it is the same from run to run to a fraction of a percent.
//!
//! Two drivers make the calls, `crates/stridewise/benches/instructions.rs` and `bench/instructions.py`, and say how.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::figures::{Counts, Figures};
use crate::environment::{Environment, Scratch};
use crate::packages::install;
use crate::python;
use crate::steps::{Failure, root};

/// How often a driver makes each call in its first part.
const CALLS: u64 = 200;

/// The function that drivers call between parts.
const MARK: &str = "getppid";

/// Each case is preceded by its name, then has three marks: before the first part, between the two, and after.
const MARKS: usize = 3;

struct Driver {
    name: &'static str,
    /// Counts into a file and returns the names of cases.
    run: fn(&Path) -> Result<String, Failure>,
    made_with: fn() -> Result<String, Failure>,
}

const DRIVERS: [Driver; 2] = [
    Driver {
        name: "rust",
        run: run_rust,
        made_with: tools,
    },
    Driver {
        name: "python",
        run: run_python,
        made_with: tools_and_python,
    },
];

/// Fails if any count is not within its figure.
pub(crate) fn check(names: &[&str]) -> Result<(), Failure> {
    let figures = Figures::read()?;
    let mut failed = 0;
    for driver in chosen(names)? {
        let (made_with, counts) = driver.count()?;
        failed += figures.compare(driver.name, &made_with, &counts);
    }
    if failed == 0 {
        return Ok(());
    }
    let names: String = names.iter().map(|name| format!(" {name}")).collect();
    Err(format!(
        "{failed} counts are not within 10 % of their figures. What is worse is to be made better, unless the change is \
         meant; then, and for what is better or has no figure, run `cargo xtask bench --check --update{names}` and \
         commit bench/instructions.toml"
    ))
}

/// Makes the counts of now the figures, and shows what changed.
pub(crate) fn update(names: &[&str]) -> Result<(), Failure> {
    let mut figures = Figures::read()?;
    for driver in chosen(names)? {
        let (made_with, counts) = driver.count()?;
        figures.compare(driver.name, &made_with, &counts);
        figures.replace(driver.name, made_with, counts);
    }
    figures.write()
}

fn chosen(names: &[&str]) -> Result<Vec<&'static Driver>, Failure> {
    let there = |name: &&&str| DRIVERS.iter().all(|driver| driver.name != **name);
    if let Some(name) = names.iter().find(there) {
        return Err(format!(
            "`bench --check` counts rust and python, not {name}"
        ));
    }
    let wanted = |driver: &&Driver| names.is_empty() || names.contains(&driver.name);
    Ok(DRIVERS.iter().filter(wanted).collect())
}

impl Driver {
    /// What the count was made with, and the instructions of a call in each case.
    fn count(&self) -> Result<(String, Counts), Failure> {
        provide()?;
        let scratch = Scratch::new("stridewise-count")?;
        let file = scratch.path().join(self.name);
        let cases = (self.run)(&file)?;
        let dumps =
            fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let cases: Vec<&str> = cases.lines().collect();
        Ok(((self.made_with)()?, counts(&cases, &dumps)?))
    }
}

/// Instructions of a call in each case, from Valgrind's dumps.
fn counts(cases: &[&str], dumps: &str) -> Result<Counts, Failure> {
    let totals = dumps
        .lines()
        .filter_map(|line| line.strip_prefix("totals: "));
    let totals: Vec<u64> = totals.filter_map(|total| total.parse().ok()).collect();
    // Before the first mark there is a dump, and another when the program ends.
    if totals.len() != cases.len() * MARKS + 1 {
        return Err(format!(
            "{} cases were counted in {} parts: the driver and the guard do not agree",
            cases.len(),
            totals.len()
        ));
    }
    let of_case = |(case, parts): (&&str, &[u64])| {
        let more = parts[2].saturating_sub(parts[1]);
        (case.to_string(), (more + CALLS / 2) / CALLS)
    };
    Ok(cases
        .iter()
        .zip(totals.chunks_exact(MARKS))
        .map(of_case)
        .collect())
}

/// Valgrind with what it is to do, before the program. Nothing of the caller's environment comes along, since it may
/// say how memory is allocated.
fn valgrind(file: &Path) -> Vec<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let words = [
        "env".to_string(),
        "-i".to_string(),
        format!("PATH={path}"),
        "PYTHONHASHSEED=0".to_string(),
        "RAYON_NUM_THREADS=1".to_string(),
        "valgrind".to_string(),
        "--quiet".to_string(),
        "--tool=callgrind".to_string(),
        format!("--dump-before={MARK}"),
        "--combine-dumps=yes".to_string(),
        format!("--callgrind-out-file={}", file.display()),
    ];
    words.into()
}

fn run_rust(file: &Path) -> Result<String, Failure> {
    let words: Vec<String> = valgrind(file)
        .iter()
        .map(|word| format!("{word:?}"))
        .collect();
    let runner = format!("target.'cfg(all())'.runner = [{}]", words.join(", "));
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.args(["bench", "--quiet", "--locked", "--package", "stridewise"]);
    cargo.args(["--bench", "instructions", "--config", &runner, "--"]);
    said(cargo.arg(CALLS.to_string()).current_dir(root()))
}

fn run_python(file: &Path) -> Result<String, Failure> {
    let environment = python::build_release()?;
    let words = valgrind(file);
    let mut python = Command::new(&words[0]);
    python.args(&words[1..]).arg(environment.program("python"));
    python.args(["bench/instructions.py", &CALLS.to_string()]);
    said(python.current_dir(root()))
}

/// What a command prints; what it complains of is shown.
fn said(command: &mut Command) -> Result<String, Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stderr(std::process::Stdio::inherit()).output();
    let output = output.map_err(|error| format!("`{program}` cannot be run: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("`{program}` failed: {}", output.status)),
    }
}

/// What counts depend on beside the code.
fn tools() -> Result<String, Failure> {
    let rustc = said(Command::new("rustc").arg("--version").current_dir(root()))?;
    let valgrind = said(Command::new("valgrind").arg("--version"))?;
    let words = rustc.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let cpu = format!("{}{}", std::env::consts::ARCH, features());
    Ok(format!("{words}, {}, {cpu}", valgrind.trim()))
}

fn tools_and_python() -> Result<String, Failure> {
    let environment = Environment::of_the_repository()?;
    let python = said(environment.command("python").arg("--version"))?;
    Ok(format!("{}, {}", tools()?, python.trim()))
}

/// By what kernels and the system's library choose among their loops. Valgrind hides what is newer.
fn features() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        return " with AVX2";
    }
    ""
}

/// Sees to it that there is Valgrind.
fn provide() -> Result<(), Failure> {
    let found = Command::new("valgrind").arg("--version").output();
    if found.is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    install(
        "Valgrind is missing, by which instructions are counted",
        &["valgrind"],
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_what_the_second_part_has_more() {
        // Start-up and warming up, 200 calls of 30 after 1000, 400 calls, the next case; then the end.
        let dumps = "part: 1\ntotals: 99999\n\ntotals: 7000\ntotals: 13000\n\
                     totals: 5\ntotals: 1000\ntotals: 1250\ntotals: 77\n";
        let counted = counts(&["expand", "clone"], dumps).unwrap();
        assert_eq!(
            counted,
            [("expand".to_string(), 30), ("clone".to_string(), 1)]
        );
    }

    #[test]
    fn a_mark_too_few_or_too_many_is_noticed() {
        assert!(counts(&["expand"], "totals: 1\ntotals: 2\ntotals: 3\n").is_err());
        let five = "totals: 1\n".repeat(5);
        assert!(counts(&["expand"], &five).is_err());
        assert!(counts(&[], "").is_err());
    }
}
