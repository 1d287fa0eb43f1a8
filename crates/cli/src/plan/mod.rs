//! `stridewise plan`: what each step of a program would do, told without data.

mod json;
mod table;

use std::io::Write;

use clap::Args;
use stridewise_core::dtype::DType;
use stridewise_dry::{Dry, Move, Sketch};

use crate::failure::Failure;
use crate::inputs::Shapes;
use crate::program::{Flow, Program, start, step};
use crate::terminal::Paint;

/// Show what each step of a program would do, without data.
///
/// For each step: the result's dtype, shape and strides, whether it is a view or a copy, and the bytes that
/// would move.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  stridewise plan 'unflatten(1, [2, -1]).expand(5, -1, -1, -1, -1).contiguous()' \\
      --shape 4,6,16 --dtype f32")]
pub(crate) struct Options {
    /// The chain of operators.
    program: String,

    #[command(flatten)]
    shapes: Shapes,

    /// Write JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// One line of a plan: an input, or a step.
pub(crate) struct Row {
    /// The call, or the name of the input.
    pub(crate) text: String,
    /// What it gives.
    pub(crate) tensors: Vec<Sketch>,
    /// How it gives it.
    pub(crate) how: How,
    /// What is moved.
    pub(crate) moves: Vec<Move>,
    /// What `enforce_shape` found.
    pub(crate) dims: Option<String>,
}

/// How a result comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// It is given.
    Input,
    /// It shares its storage with what was before.
    View,
    /// It has storage of its own.
    Copy,
    /// It is made from nothing.
    Make,
}

impl How {
    /// One word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            How::Input => "input",
            How::View => "view",
            How::Copy => "copy",
            How::Make => "make",
        }
    }
}

impl Row {
    /// Bytes read by this step.
    pub(crate) fn read(&self) -> usize {
        self.moves
            .iter()
            .fold(0, |sum, m| m.read.saturating_add(sum))
    }

    /// Bytes written by this step.
    pub(crate) fn written(&self) -> usize {
        self.moves
            .iter()
            .fold(0, |sum, m| m.written.saturating_add(sum))
    }

    /// The dtype of the tensors.
    pub(crate) fn dtype(&self) -> Option<DType> {
        self.tensors.first().map(Sketch::dtype)
    }
}

/// Prints the plan of a program.
pub(crate) fn plan(options: &Options, out: &mut dyn Write) -> Result<(), Failure> {
    let program = Program::parse(&options.program).map_err(Failure::within(&options.program))?;
    let dry = Dry::new();
    let inputs = options.shapes.sketches(&dry)?;
    let rows = rows(&program, &dry, &inputs)?;
    match options.json {
        true => json::write(&program, &rows, out),
        false => table::write(&rows, Paint::stdout(), out),
    }
}

/// The plan as rows: the inputs, then the steps.
pub(crate) fn rows(program: &Program, dry: &Dry, inputs: &[Sketch]) -> Result<Vec<Row>, Failure> {
    let wrong = Failure::within(&program.source);
    let mut rows: Vec<Row> = inputs
        .iter()
        .enumerate()
        .map(|(at, input)| Row {
            text: format!("${}", at + 1),
            tensors: vec![input.clone()],
            how: How::Input,
            moves: Vec::new(),
            dims: None,
        })
        .collect();
    let mut flow = start(program, inputs).map_err(&wrong)?;
    for one in &program.steps {
        let done = step(dry, one, flow.as_ref(), inputs).map_err(&wrong)?;
        let how = match &flow {
            None => How::Make,
            Some(before) if shares(before, &done.flow) => How::View,
            Some(_) => How::Copy,
        };
        rows.push(Row {
            text: program.text(one),
            tensors: done.flow.tensors().to_vec(),
            how,
            moves: dry.take_moves(),
            dims: done.dims.map(|dims| dims.to_string()),
        });
        flow = Some(done.flow);
    }
    Ok(rows)
}

fn shares(before: &Flow<Sketch>, after: &Flow<Sketch>) -> bool {
    after
        .tensors()
        .iter()
        .all(|x| before.tensors().iter().any(|y| x.shares_storage_with(y)))
}
