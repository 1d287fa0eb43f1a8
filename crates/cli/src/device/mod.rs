//! Where a program runs: on the CPU, or on a GPU where the command was built with one. And `stridewise devices`, which
//! tells what there is.

#[cfg(not(feature = "gpu"))]
mod absent;
#[cfg(feature = "gpu")]
mod gpu;

use std::io::Write;

use clap::{Args, ValueEnum};

#[cfg(not(feature = "gpu"))]
pub(crate) use absent::{chain, describe, model};
#[cfg(feature = "gpu")]
pub(crate) use gpu::{chain, describe, model};

use crate::failure::Failure;
use crate::terminal::Paint;

/// Where a program runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Device {
    /// In main memory.
    #[default]
    Cpu,
    /// On a GPU; results are those of the CPU, bit for bit.
    Gpu,
}

/// Tell which devices a program can run on.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  stridewise devices
  stridewise run 'repeat(2, 1)' x.npy --device gpu")]
pub(crate) struct Options {}

/// Tells which devices there are, and why there is none.
pub(crate) fn devices(_: &Options, out: &mut dyn Write) -> Result<(), Failure> {
    let paint = Paint::stdout();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cpu = crate::terminal::count(cores, "thread");
    writeln!(out, "{}  {cpu}", paint.cyan("cpu"))?;
    let gpu = describe().unwrap_or_else(|error| {
        let text = error.to_string();
        // What is told over several lines stands below its beginning.
        format!("none: {}", text.replace('\n', "\n     "))
    });
    Ok(writeln!(out, "{}  {gpu}", paint.cyan("gpu"))?)
}
