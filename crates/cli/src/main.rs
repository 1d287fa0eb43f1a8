//! The `stridewise` command: shape work on files and on paper.

mod device;
mod explain;
mod failure;
mod how;
mod info;
mod inputs;
mod model;
mod plan;
mod program;
mod progress;
mod ranks;
mod run;
mod terminal;
mod tour;

use std::io::{BufWriter, Write, stdout};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A tensor library for shape work, from the command line.
#[derive(Parser)]
#[command(name = "stridewise", version, after_help = AFTER, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER: &str = "\
A PROGRAM is a chain of operators on the first input, with Python's literals:
  unflatten(1, [2, -1]).expand(-1, -1, 5, -1).take([0, 3], axis=0, mode=\"wrap\")
  [1:3, ::-1, None, ..., 0]          an index is a step as well
  concat($2, $3, axis=1)             $1, $2, … are the inputs
  arange(12).reshape(3, 4)           a program can begin from nothing
An ONNX model, model.onnx, can stand in its place, to be run or planned.";

#[derive(Subcommand)]
enum Command {
    // Each is described where its options are.
    Tour(tour::Options),
    Run(run::Options),
    Plan(plan::Options),
    Explain(explain::Options),
    Info(info::Options),
    Devices(device::Options),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = BufWriter::new(stdout().lock());
    let result = match &cli.command {
        Command::Tour(options) => tour::tour(options, &mut out),
        Command::Run(options) => run::run(options, &mut out),
        Command::Plan(options) => plan::plan(options, &mut out),
        Command::Explain(options) => explain::explain(options, &mut out),
        Command::Info(options) => info::info(options, &mut out),
        Command::Devices(options) => device::devices(options, &mut out),
    };
    let flushed = out.flush().map_err(failure::Failure::from);
    match result.and(flushed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
