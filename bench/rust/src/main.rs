//! Stridewise beside ndarray and candle-core: the same work, checked to be the same, then timed in turns within
//! one run, the best of several rounds. A ratio says how many times faster Stridewise is. Timings never make
//! it fail; a result that differs does.
//!
//! Ranks are dynamic everywhere, as ours are, unless a column says otherwise. A peer's work is given in the
//! spellings one would try, and the fastest counts. `enforce_shape` is not here: no peer has it.

use std::io;
use std::process::ExitCode;

use bench::Bench;
use report::Report;
use seen::Outcome;

mod bench;
mod large;
mod page;
mod report;
mod seen;
mod small;
mod three;
mod views;

const HELP: &str = "\
Times Stridewise beside ndarray and candle-core.

  --only NAME   only rows whose names contain NAME; may be given several times
  --rounds N    rounds for the large rows, four times as many for calls (7)
  --json FILE   writes the numbers as JSON, too
  --write       writes the tables of docs/performance.md
";

fn main() -> ExitCode {
    match all() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A reader that has seen enough, as `head` has, is no failure.
            let pipe = error.downcast_ref::<io::Error>();
            if pipe.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
                return ExitCode::SUCCESS;
            }
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn all() -> Outcome {
    let (mut only, mut rounds, mut file, mut write) = (Vec::new(), 7, None, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        if matches!(flag.as_str(), "-h" | "--help") {
            io::Write::write_all(&mut io::stdout(), HELP.as_bytes())?;
            return Ok(());
        }
        if flag == "--write" {
            write = true;
            continue;
        }
        let mut value = || arguments.next().ok_or(format!("{flag} needs a value"));
        match flag.as_str() {
            "--only" => only.push(value()?),
            "--rounds" => {
                let given = value()?;
                let count = given.parse().ok().filter(|&count: &usize| count > 0);
                rounds = count.ok_or(format!("--rounds {given}: not a number above 0"))?;
            }
            "--json" => file = Some(value()?),
            _ => return Err(format!("{flag} is not known here; see --help").into()),
        }
    }
    let mut bench = Bench::new(only, rounds, Report::default());
    views::rows(&mut bench)?;
    small::rows(&mut bench)?;
    large::rows(&mut bench)?;
    bench.report.summary()?;
    if write {
        page::write(&bench.report.lines)?;
    }
    match file {
        Some(file) => Ok(std::fs::write(file, bench.report.json())?),
        None => Ok(()),
    }
}
