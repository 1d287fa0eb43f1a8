//! Where every element comes from, found by running a program on cell numbers.

use stridewise::{Cpu, Tensor};
use stridewise_core::call::parameter_at;
use stridewise_core::dtype::DType;
use stridewise_core::engine::Engine;
use stridewise_core::error::Error;
use stridewise_core::operators::make;
use stridewise_core::size::tuple;
use stridewise_dry::{Dry, Sketch};

use crate::failure::Failure;
use crate::how::How;
use crate::plan::{Row, rows};
use crate::program::{Done, Flow, Kind, Literal, Mistake, Program, Step, start, step};
use crate::terminal::{count, cut};

/// More elements than this make no picture anyone could read.
const MOST: usize = 1 << 20;
/// The number of cell 0; what lies below was never in memory, as what `mode="fill"` puts in.
const BASE: i64 = 1 << 40;
/// The widest a call in a heading may be.
const CALL: usize = 30;

/// What there is to draw.
pub(crate) struct Picture {
    /// The program's text, on one line.
    pub(crate) title: String,
    /// The memories that are read.
    pub(crate) memories: Vec<Memory>,
    /// The steps that are drawn.
    pub(crate) steps: Vec<Line>,
    /// The results; several where `unstack` made them.
    pub(crate) results: Vec<Reads>,
    /// What the results are: `result`, or before which step.
    pub(crate) heading: String,
    /// Why the picture ends early.
    pub(crate) end: Option<String>,
}

/// A row of cells.
pub(crate) struct Memory {
    /// `$1`, or the call that made it.
    pub(crate) name: String,
    /// Dtype and shape.
    pub(crate) about: String,
    /// The number of its first cell.
    pub(crate) first: usize,
    /// How many cells.
    pub(crate) count: usize,
}

/// One step, in words.
pub(crate) struct Line {
    /// The call.
    pub(crate) text: String,
    /// What it gives.
    pub(crate) shape: String,
    /// How it gives it.
    pub(crate) how: How,
}

/// A result: for each element the cell it reads.
pub(crate) struct Reads {
    /// The sizes.
    pub(crate) shape: Vec<usize>,
    /// The strides.
    pub(crate) strides: Vec<isize>,
    /// For a view of an input, the number of the cell at index zero.
    pub(crate) start: Option<usize>,
    /// The cell of each element, row-major; none for what was never in memory.
    pub(crate) cells: Vec<Option<usize>>,
    /// Whether an earlier element reads the same cell.
    pub(crate) again: Vec<bool>,
}

impl Picture {
    /// How many cells there are.
    pub(crate) fn cells(&self) -> usize {
        self.memories.iter().map(|memory| memory.count).sum()
    }

    /// How often each cell is read.
    pub(crate) fn reads(&self) -> Vec<usize> {
        let mut reads = vec![0; self.cells()];
        for cell in self.results.iter().flat_map(|r| r.cells.iter().flatten()) {
            if let Some(n) = reads.get_mut(*cell) {
                *n += 1;
            }
        }
        reads
    }

    /// Whether the results are seen in the inputs' own memory.
    pub(crate) fn is_view(&self) -> bool {
        self.results.iter().all(|reads| reads.start.is_some())
    }
}

/// Runs a program on cell numbers, as far as it only moves data.
pub(crate) fn trace(program: &Program, dry: &Dry, inputs: &[Sketch]) -> Result<Picture, Failure> {
    let rows = rows(program, dry, inputs)?;
    let plans: Vec<&Row> = rows.iter().filter(|row| row.how != How::Input).collect();
    let wrong = Failure::within(&program.source);
    let drawn = program
        .steps
        .iter()
        .zip(&plans)
        .position(|(one, row)| row.how != How::New && computes(one, row))
        .unwrap_or(program.steps.len());
    let large = |x: &&Sketch| x.layout().count() > MOST;
    let planned = rows
        .iter()
        .filter(|row| row.how == How::Input)
        .chain(plans.iter().take(drawn).copied());
    if let Some(x) = planned.flat_map(|row| &row.tensors).find(large) {
        return Err(Failure::Usage(format!(
            "a tensor of shape {} is too large to draw\n  help: a smaller --shape shows the same pattern",
            tuple(x.shape())
        )));
    }

    let mut memories = Vec::new();
    let mut next = 0;
    let mut numbered = |name: String, x: &Sketch| -> Result<Tensor, Error> {
        let count = x.layout().count();
        let start = BASE + next as i64;
        let cells = make::arange(
            &Cpu,
            start,
            Some((start + count as i64).into()),
            1,
            DType::I64,
        )?;
        memories.push(Memory {
            name,
            about: format!("{} {}", x.dtype(), tuple(x.shape())),
            first: next,
            count,
        });
        next += count;
        // A tensor from a file may lie in memory in another order than its axes are in.
        cells.with_layout(x.layout().clone())
    };
    let mut cells = Vec::new();
    for (at, input) in inputs.iter().enumerate() {
        cells.push(numbered(format!("${}", at + 1), input)?);
    }
    let mut flow = start(program, &cells).map_err(&wrong)?;
    let mut sources = cells.clone();
    let mut steps = Vec::new();
    for (one, row) in program.steps.iter().zip(&plans).take(drawn) {
        let text = program.text(one);
        let made = row.tensors.first().filter(|_| row.how == How::New);
        flow = Some(match (made, &flow) {
            (Some(made), _) => {
                sources.push(numbered(text.clone(), made)?);
                Flow::One(sources[sources.len() - 1].clone())
            }
            (None, before) => moved(one, before.as_ref(), &cells).map_err(&wrong)?.flow,
        });
        steps.push(Line {
            text,
            shape: row.shapes(),
            how: row.how,
        });
    }
    let tensors = flow.as_ref().map_or(&[][..], Flow::tensors);
    let results = tensors
        .iter()
        .map(|x| reads(x, &sources, &memories))
        .collect::<Result<_, _>>()?;
    let heading = match program.steps.get(drawn) {
        Some(one) => format!("before `{}`:", cut(&program.text(one), CALL)),
        None => "result".to_string(),
    };
    let end = program.steps.get(drawn).map(|one| {
        let left = program.steps.len() - drawn;
        let what = match left {
            1 => "this step is".to_string(),
            n => format!("this step and {} after it are", count(n - 1, "step")),
        };
        format!(
            "`{}` computes its elements, so they read no single cell; {what} not drawn",
            one.entry.name
        )
    });
    Ok(Picture {
        title: program
            .source
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" "),
        memories,
        steps,
        results,
        heading,
        end,
    })
}

/// Whether a step makes values that were not there before. A cast does not count: each element still reads
/// one cell.
fn computes(one: &Step, row: &Row) -> bool {
    let new = |primitive| matches!(primitive, "sum" | "scatter_add" | "add" | "full" | "range");
    one.entry.name == "shape_of" || row.moves.iter().any(|m| new(m.primitive))
}

/// A step on cell numbers.
fn moved(
    one: &Step,
    before: Option<&Flow<Tensor>>,
    cells: &[Tensor],
) -> Result<Done<Cpu>, Mistake> {
    if let ("cast", Some(Flow::One(x))) = (one.entry.name, before) {
        let copied = Cpu
            .copy(x)
            .map_err(|error| Mistake::new(one.span.clone(), error.to_string()))?;
        return Ok(Done {
            flow: Flow::One(copied),
            dims: None,
        });
    }
    step(&Cpu, &without_values(one)?, before, cells)
}

/// The step with what it needs of values replaced: a fill value by one that is no cell. An index that is an
/// input has no values here.
fn without_values(one: &Step) -> Result<Step, Mistake> {
    let mut changed = one.clone();
    let mut position = 0;
    for argument in &mut changed.args {
        let name = match &argument.name {
            Some((name, _)) => Some(name.clone()),
            None => {
                position += 1;
                parameter_at(one.entry, position - 1).map(|param| param.name.to_string())
            }
        };
        match (name.as_deref(), &argument.value.kind) {
            (Some("index"), kind) if holds_input(kind) => {
                return Err(Mistake::new(
                    argument.value.span.clone(),
                    "the values of an input are not looked at here, only its shape",
                )
                .label("an index decides what is read")
                .help("write the index as a list")
                .signature(one.entry));
            }
            (
                Some("fill_value"),
                Kind::Int(_) | Kind::Float(_) | Kind::Complex(..) | Kind::Bool(_),
            ) => {
                argument.value = Literal {
                    kind: Kind::Int(0),
                    span: argument.value.span.clone(),
                };
            }
            _ => {}
        }
    }
    Ok(changed)
}

fn holds_input(kind: &Kind) -> bool {
    match kind {
        Kind::Input(_) => true,
        Kind::List(items) => items.iter().any(|item| holds_input(&item.kind)),
        _ => false,
    }
}

/// What a tensor of cell numbers reads; `sources` are the tensors that fill the memories.
fn reads(x: &Tensor, sources: &[Tensor], memories: &[Memory]) -> Result<Reads, Error> {
    let cells: Vec<Option<usize>> = x
        .to_vec::<i64>()?
        .into_iter()
        .map(|number| usize::try_from(number - BASE).ok())
        .collect();
    let total = memories.iter().map(|memory| memory.count).sum();
    let mut seen = vec![false; total];
    let mut again = Vec::with_capacity(cells.len());
    for cell in &cells {
        let seen = cell.and_then(|cell| seen.get_mut(cell));
        again.push(seen.is_some_and(|seen| std::mem::replace(seen, true)));
    }
    let start = sources
        .iter()
        .zip(memories)
        .find(|(source, _)| x.shares_storage_with(source))
        .map(|(_, memory)| memory.first + x.layout().offset());
    Ok(Reads {
        shape: x.shape().to_vec(),
        strides: x.strides().to_vec(),
        start,
        cells,
        again,
    })
}
