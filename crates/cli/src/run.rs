//! `stridewise run`: a program or a model applied to files.

use std::io::{Write, stderr};
use std::path::{Path, PathBuf};

use clap::Args;
use stridewise::{Cpu, Engine, Tensor, files};
use stridewise_core::size::tuple;

use crate::device::{self, Device};
use crate::failure::Failure;
use crate::inputs::load;
use crate::model;
use crate::program::{Flow, Program, start, step};
use crate::progress::Progress;
use crate::ranks::{self, Ranks};
use crate::terminal::Paint;

/// Apply a program, or an ONNX model, to files.
///
/// The chain starts from the first file; all files are $1, $2, … in it. Files are .npy or .safetensors, by
/// their extension, and are mapped, not read; one tensor of several is weights.safetensors:NAME. Without
/// --output the result is printed.
///
/// An .onnx file in place of the program is run on the files, which are its inputs in order or by name, as in
/// mask=m.npy. Several outputs go to one .safetensors file, each under its name.
///
/// With --ranks or --mesh the program runs on so many ranks, each a thread, the inputs lying on them as --sbp says. The
/// result is gathered, and is the same as without but for the rounding of float sums. Which collectives it took and how
/// many bytes a rank received is told on standard error.
///
/// With --device gpu it runs on the GPU, and gives what the CPU gives, bit for bit; `stridewise devices` tells which GPU
/// that is. The build must have the feature `gpu`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  stridewise run 'unflatten(1, [2, -1])[..., ::-1].repeat(2, 1, 1)' x.npy -o y.npy
  stridewise run 'take($2, axis=0, mode=\"clip\")' table.npy index.npy
  stridewise run '' x.npy -o x.safetensors
  stridewise run 'arange(12).reshape(3, 4)' -o x.npy
  stridewise run model.onnx images.npy mask=m.npy -o y.safetensors
  stridewise run 'take($2, axis=0)' table.npy index.npy --ranks 4 --sbp 'S(0)' --sbp B
  stridewise run 'repeat(2, 1).sum(0)' x.npy --device gpu")]
pub(crate) struct Options {
    /// The chain of operators, or an .onnx file; '' copies or converts.
    program: String,

    /// The inputs: the first is what the chain starts from.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Where the result goes; .npy or .safetensors.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Where it runs.
    #[arg(long, value_enum, default_value_t, value_name = "DEVICE")]
    device: Device,

    #[command(flatten)]
    ranks: Ranks,
}

/// Runs a program.
pub(crate) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Failure> {
    let mesh = options.ranks.mesh()?;
    if let Some(path) = model::path(&options.program) {
        if let Some(mesh) = mesh {
            return Err(Failure::Usage(format!(
                "an ONNX model cannot be run on {mesh} ranks\n  help: give a program of operators"
            )));
        }
        let output = options.output.as_deref();
        let results = model::run(path, &options.files, output, options.device)?;
        return match &options.output {
            Some(path) => Ok(files::save_all(path, &results)?),
            None => print(&results, results.len() == 1, out),
        };
    }
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
    if let Some(mesh) = mesh {
        if options.device != Device::Cpu {
            return Err(Failure::Usage(
                "ranks run on the CPU\n  help: leave --device away, or run on one rank".to_string(),
            ));
        }
        let given = options.ranks.given(mesh, inputs.len())?;
        let ran = ranks::run::run(&program, &given, &inputs, &progress)?;
        progress.pause(|| {
            ran.summary(&given, Paint::stderr(), &mut stderr())?;
            let mut dims = ran.dims.iter();
            dims.try_for_each(|dims| Ok::<_, Failure>(writeln!(out, "dims {dims}")?))
        })?;
        return finish(options, ran.flow, progress, out);
    }
    let flow = match options.device {
        Device::Cpu => walk(&Cpu, &program, &inputs, &progress, out)?,
        Device::Gpu => device::chain(&program, &inputs, &progress, out)?,
    };
    finish(options, flow, progress, out)
}

/// Runs a program's steps on an engine, one after another.
pub(crate) fn walk<E: Engine<Size = usize>>(
    engine: &E,
    program: &Program,
    inputs: &[E::Value],
    progress: &Progress,
    out: &mut dyn Write,
) -> Result<Option<Flow<E::Value>>, Failure> {
    let wrong = Failure::within(&program.source);
    let mut flow = start(program, inputs).map_err(&wrong)?;
    for one in &program.steps {
        progress.begin(&program.text(one));
        let done = step(engine, one, flow.as_ref(), inputs).map_err(&wrong)?;
        if let Some(dims) = &done.dims {
            progress.pause(|| writeln!(out, "dims {dims}"))?;
        }
        flow = Some(done.flow);
        progress.advance();
    }
    Ok(flow)
}

/// Saves or prints the result.
fn finish(
    options: &Options,
    flow: Option<Flow<Tensor>>,
    progress: Progress,
    out: &mut dyn Write,
) -> Result<(), Failure> {
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
            print(&numbered(&flow), matches!(flow, Flow::One(_)), out)
        }
    }
}

fn save(path: &Path, flow: &Flow<Tensor>) -> Result<(), Failure> {
    match flow {
        Flow::One(x) => files::save(path, x)?,
        Flow::Many(_) => files::save_all(path, &numbered(flow))?,
    }
    Ok(())
}

/// The tensors by number.
fn numbered(flow: &Flow<Tensor>) -> Vec<(String, Tensor)> {
    let tensors = flow.tensors().iter().enumerate();
    tensors.map(|(at, x)| (at.to_string(), x.clone())).collect()
}

/// Prints tensors, with their names unless there is no other to tell them from.
fn print(tensors: &[(String, Tensor)], single: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let paint = Paint::stdout();
    for (name, x) in tensors {
        let name = match single {
            true => String::new(),
            false => format!("{name}  "),
        };
        let head = format!("{name}{} {}", x.dtype(), tuple(x.shape()));
        writeln!(out, "{}", paint.dim(&head))?;
        writeln!(out, "{x}")?;
    }
    Ok(())
}
