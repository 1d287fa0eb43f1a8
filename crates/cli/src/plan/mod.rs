//! `stridewise plan`: what each step of a program would do, told without data.

pub(crate) mod grid;
pub(crate) mod json;
pub(crate) mod symbolic;
mod table;

use std::io::Write;

use clap::Args;
use stridewise::Graph;
use stridewise_core::size::tuple;
use stridewise_dry::{Dry, Move, Sketch};

use crate::failure::Failure;
use crate::how::How;
use crate::inputs::Shapes;
use crate::model;
use crate::program::{Flow, Program, Step, start, step};
use crate::ranks::{self, Ranks};
use crate::terminal::Paint;

/// Show what each step of a program would do, without data.
///
/// For each step: the result's dtype, shape and strides, whether it is a view, a copy or new, and the bytes
/// that would move. The inputs are files, of which only dtype, shape and strides are looked at, or shapes.
///
/// A shape may hold symbols. Then each step has a symbolic shape, and below stands what every run must check.
/// The symbols are sizes in the program as well. An ONNX model in place of a program is planned like that, for
/// the shapes it declares or those given.
///
/// With --mesh or --ranks the tensors lie on many ranks, as --sbp says, and each step has its layout, the part that a
/// rank has, the changes of layout it needs, the bytes a rank receives for them, and the memory a rank needs. Any mesh
/// will do; no rank has to exist. Parts may differ in size where a split is uneven, so each figure is that of the rank
/// where it is largest: the bytes of one change, of a step and of the program may be those of three ranks. Up to 1024
/// ranks, all are looked at. Of a larger mesh it is 64 at most, the first and the last along each mesh axis among them:
/// those have the largest and the smallest parts, but rows that move between ranks can be more on one that was not
/// looked at; --every-rank leaves none out.
///
/// Memory is the most that is in use at one time: the rank's parts of the inputs, which stay to the end, results that a
/// later step needs, the result that is being made, what the operators need on the way, and what collectives send from
/// and receive into. Views share memory.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  stridewise plan 'flatten(1).repeat(2, 1)' x.npy
  stridewise plan 'unflatten(1, [2, -1]).expand(5, -1, -1, -1, -1).contiguous()' \\
      --shape 4,6,16 --dtype f32
  stridewise plan 'reshape(B, 12).enforce_shape([B, ..., 12])' --shape 'B,?,4'
  stridewise plan 'unsqueeze(0).repeat(\"B*2\", 1, 1)' --shape 'B,N'
  stridewise plan model.onnx --shape 'batch,3,224,224'
  stridewise plan 'reshape(-1, 96).sum(1)' --shape 4096,4096 --mesh 64x8 --sbp 'S(0),B'
  stridewise plan 'take($2, axis=0)' --shape 50000,512 --shape 8,128 --dtype f32 --dtype i64 \\
      --ranks 8 --sbp 'S(0)' --sbp B")]
pub(crate) struct Options {
    /// The chain of operators, or an .onnx file.
    program: String,

    #[command(flatten)]
    shapes: Shapes,

    #[command(flatten)]
    ranks: Ranks,

    /// Look at every rank, also of a mesh of more than 1024; that takes longer.
    #[arg(long)]
    every_rank: bool,

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

    /// The tensors in runs of the same dtype, shape and strides, and how many there are in each.
    pub(crate) fn runs(&self) -> Vec<(usize, &Sketch)> {
        let mut runs: Vec<(usize, &Sketch)> = Vec::new();
        for x in &self.tensors {
            let like = |y: &Sketch| {
                (x.dtype(), x.shape(), x.strides()) == (y.dtype(), y.shape(), y.strides())
            };
            match runs.last_mut().filter(|(_, y)| like(y)) {
                Some((n, _)) => *n += 1,
                None => runs.push((1, x)),
            }
        }
        runs
    }

    /// The shapes in words: `(2, 3)`, `8 × (4, 16)`, or `(1,), (2, 3)`.
    pub(crate) fn shapes(&self) -> String {
        let shape = |(n, x): &(usize, &Sketch)| match n {
            1 => tuple(x.shape()),
            n => format!("{n} × {}", tuple(x.shape())),
        };
        let shapes: Vec<String> = self.runs().iter().map(shape).collect();
        match shapes.is_empty() {
            true => "no tensors".to_string(),
            false => shapes.join(", "),
        }
    }
}

/// Prints the plan of a program.
pub(crate) fn plan(options: &Options, out: &mut dyn Write) -> Result<(), Failure> {
    let mesh = options.ranks.mesh()?;
    if mesh.is_none() && options.every_rank {
        return Err(Failure::Usage(
            "--every-rank is of use where there are ranks\n  help: give --ranks 4 or --mesh 2x2 as well"
                .to_string(),
        ));
    }
    if let (Some(mesh), Some(what)) = (mesh, not_for_ranks(options)) {
        return Err(Failure::Usage(format!(
            "{what} cannot be planned for {mesh} ranks\n  help: give a program of operators and shapes of numbers"
        )));
    }
    if let Some(path) = model::path(&options.program) {
        let plan = model::plan(path, &options.shapes)?;
        return plan.write(options.json, out);
    }
    let program = Program::parse(&options.program).map_err(Failure::within(&options.program))?;
    if options.shapes.are_open() {
        let graph = Graph::new();
        let inputs = options.shapes.symbolic(&graph)?;
        let plan = symbolic::plan(&program, &graph, &inputs, note(&program))?;
        return plan.write(options.json, out);
    }
    let dry = Dry::new();
    let inputs = options.shapes.sketches(&dry)?;
    if let Some(mesh) = mesh {
        let given = options.ranks.given(mesh, inputs.len())?;
        let plan = ranks::plan::plan(
            &program,
            &given,
            &inputs,
            options.every_rank,
            note(&program),
        )?;
        return plan.write(options.json, out);
    }
    let rows = rows(&program, &dry, &inputs)?;
    match options.json {
        true => json::write(&program, &rows, note(&program), out),
        false => table::write(&rows, note(&program), Paint::stdout(), out),
    }
}

/// What has no plan on a mesh.
fn not_for_ranks(options: &Options) -> Option<&'static str> {
    match model::path(&options.program) {
        Some(_) => Some("an ONNX model"),
        None => options.shapes.are_open().then_some("a shape with symbols"),
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
        let flowing = flow.iter().flat_map(Flow::tensors);
        let before: Vec<&Sketch> = flowing.chain(inputs).collect();
        let how = How::of(done.flow.tensors(), &before, flow.is_none());
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

/// What a plan cannot know.
fn note(program: &Program) -> Option<&'static str> {
    let unchecked = program.steps.iter().any(Step::has_unchecked_index);
    unchecked.then_some("indices are not checked without data")
}
