//! `stridewise run`: a program applied to files.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use stridewise::{Cpu, Tensor, files};
use stridewise_core::size::tuple;

use crate::failure::Failure;
use crate::inputs::load;
use crate::program::{Flow, Program, start, step};
use crate::terminal::Paint;

/// Apply a program to files.
///
/// The chain starts from the first file; all files are $1, $2, … in it. Files are .npy or .safetensors, by
/// their extension, and are mapped, not read; one tensor of several is weights.safetensors:NAME. Without
/// --output the result is printed.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  stridewise run 'unflatten(1, [2, -1])[..., ::-1].repeat(2, 1, 1)' x.npy -o y.npy
  stridewise run 'take($2, axis=0, mode=\"clip\")' table.npy index.npy
  stridewise run '' x.npy -o x.safetensors
  stridewise run 'arange(12).reshape(3, 4)' -o x.npy")]
pub(crate) struct Options {
    /// The chain of operators; '' copies or converts.
    program: String,

    /// The inputs: the first is what the chain starts from.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Where the result goes; .npy or .safetensors.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Runs a program.
pub(crate) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Failure> {
    let wrong = Failure::within(&options.program);
    let program = Program::parse(&options.program).map_err(&wrong)?;
    if let Some(output) = &options.output {
        files::require_ending(output)?;
    }
    let inputs = load(&options.files)?;
    if program.steps.is_empty() && inputs.is_empty() {
        return Err(Failure::Usage(
            "there is neither a file nor a program that makes something".to_string(),
        ));
    }
    let progress = Progress::new(program.steps.len());
    let mut flow = start(&program, &inputs).map_err(&wrong)?;
    for one in &program.steps {
        progress.begin(&program.text(one));
        let done = step(&Cpu, one, flow.as_ref(), &inputs).map_err(&wrong)?;
        if let Some(dims) = &done.dims {
            progress.pause(|| writeln!(out, "dims {dims}"))?;
        }
        flow = Some(done.flow);
        progress.advance();
    }
    let Some(flow) = flow else {
        return Ok(());
    };
    match &options.output {
        Some(path) => {
            progress.begin("writing");
            save(path, &flow)
        }
        None => {
            drop(progress);
            print(&flow, out)
        }
    }
}

fn save(path: &Path, flow: &Flow<Tensor>) -> Result<(), Failure> {
    match flow {
        Flow::One(x) => files::save(path, x)?,
        Flow::Many(xs) => {
            let named: Vec<(String, Tensor)> = xs
                .iter()
                .enumerate()
                .map(|(at, x)| (at.to_string(), x.clone()))
                .collect();
            files::save_all(path, &named)?;
        }
    }
    Ok(())
}

fn print(flow: &Flow<Tensor>, out: &mut dyn Write) -> Result<(), Failure> {
    let paint = Paint::stdout();
    for (at, x) in flow.tensors().iter().enumerate() {
        let name = match flow {
            Flow::One(_) => String::new(),
            Flow::Many(_) => format!("{at}  "),
        };
        let head = format!("{name}{} {}", x.dtype(), tuple(x.shape()));
        writeln!(out, "{}", paint.dim(&head))?;
        writeln!(out, "{x}")?;
    }
    Ok(())
}

/// A bar with a tick for each step. It shows itself only on a terminal, and only once the work has taken
/// long enough for someone to wonder.
struct Progress {
    bar: ProgressBar,
    /// Dropped to tell the thread that waits that nothing is left to show.
    done: Option<Sender<()>>,
    waiting: Option<thread::JoinHandle<()>>,
}

/// How long work may take before there is a bar.
const PATIENCE: Duration = Duration::from_millis(300);

impl Progress {
    fn new(steps: usize) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{spinner} [{bar:24}] {pos}/{len} {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let (done, stop) = channel::<()>();
        let late = bar.clone();
        let waiting = thread::spawn(move || {
            if stop.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                // On a pipe this target draws nothing.
                late.set_draw_target(ProgressDrawTarget::stderr());
                late.enable_steady_tick(Duration::from_millis(100));
            }
        });
        Progress {
            bar,
            done: Some(done),
            waiting: Some(waiting),
        }
    }

    fn begin(&self, what: &str) {
        self.bar.set_message(what.to_string());
    }

    fn advance(&self) {
        self.bar.inc(1);
    }

    fn pause<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(waiting) = self.waiting.take() {
            // The thread only draws; if it panicked there is nothing to mend.
            let _ = waiting.join();
        }
        self.bar.finish_and_clear();
    }
}
