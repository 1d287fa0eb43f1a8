//! Ranks under `mpirun`. Called by itself, this program starts itself once for each case, with a watchdog beside it;
//! called with the name of a case, it is a rank of that.
#![allow(
    unsafe_code,
    reason = "ranks are killed and stopped, which is a matter of the system"
)]
#![allow(clippy::unwrap_used)]

mod collectives;
mod disagreements;
mod faults;
mod launch;
mod operators;

#[allow(
    dead_code,
    reason = "shared with the tests on threads, which use more of it"
)]
#[path = "../global/calls/mod.rs"]
mod calls;
#[path = "../global/counting.rs"]
mod counting;
#[allow(
    dead_code,
    reason = "shared with the tests on threads, which use more of it"
)]
#[path = "../global/held.rs"]
mod held;
#[allow(
    dead_code,
    reason = "shared with the tests on threads, which use more of it"
)]
#[path = "../global/jobs.rs"]
mod jobs;
#[path = "../global/one_rank.rs"]
mod one_rank;
#[path = "../global/perform.rs"]
mod perform;

use std::process::{ExitCode, Termination};
use std::time::Instant;

use launch::{Job, launch};

/// A program for ranks, and what must come of it.
pub(crate) struct Case {
    name: &'static str,
    ranks: &'static [usize],
    run: fn() -> stridewise_core::error::Result<()>,
    outcome: Outcome,
}

pub(crate) enum Outcome {
    /// Status 0.
    Fine,
    /// A status that is not 0, soon, and all of these on standard error.
    Ends(&'static [&'static str]),
}

fn main() -> ExitCode {
    let cases: Vec<Case> = collectives::CASES
        .into_iter()
        .chain(operators::CASES)
        .chain(faults::CASES)
        .chain(disagreements::CASES)
        .collect();
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, name] = args.as_slice()
        && flag == "--rank-of"
    {
        let case = cases.iter().find(|case| case.name == name);
        return (case.expect("a case").run)().report();
    }
    // As with other tests: words that names must hold.
    let words: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    let mut failed = 0;
    let mut run = 0;
    for case in cases {
        if !words.is_empty() && !words.iter().any(|word| case.name.contains(*word)) {
            continue;
        }
        for &ranks in case.ranks {
            let begun = Instant::now();
            let job = launch(case.name, ranks, matches!(case.outcome, Outcome::Fine));
            let verdict = judge(&case.outcome, &job);
            let spent = begun.elapsed().as_secs_f64();
            run += 1;
            match verdict {
                Ok(()) => println!("{} on {ranks} ranks ... ok ({spent:.1} s)", case.name),
                Err(why) => {
                    failed += 1;
                    println!(
                        "{} on {ranks} ranks ... FAILED ({spent:.1} s): {why}",
                        case.name
                    );
                    println!("{}", job.said);
                }
            }
        }
    }
    println!("{run} jobs, {failed} failed");
    ExitCode::from(u8::from(failed > 0))
}

fn judge(outcome: &Outcome, job: &Job) -> Result<(), String> {
    let Some(status) = job.status else {
        return Err("it hung, and the watchdog ended it".to_string());
    };
    match outcome {
        Outcome::Fine if status == 0 => Ok(()),
        Outcome::Fine => Err(format!("status {status}")),
        Outcome::Ends(_) if status == 0 => Err("status 0".to_string()),
        Outcome::Ends(words) => match words.iter().find(|word| !job.said.contains(**word)) {
            None => Ok(()),
            Some(word) => Err(format!("nothing says `{word}`")),
        },
    }
}
