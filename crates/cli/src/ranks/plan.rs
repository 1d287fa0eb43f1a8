//! What each step of a program would do on every rank of a mesh, told without data.

use std::io::Write;

use stridewise::spread::{Imagined, Moved, NdSbp};
use stridewise::{Global, Mesh, Spread};
use stridewise_core::dtype::DType;
use stridewise_core::error::Error;
use stridewise_core::size::{Shape, tuple};
use stridewise_dry::{Dry, Sketch};

use crate::failure::Failure;
use crate::program::{Flow, Program, start, step};
use crate::progress::Progress;
use crate::ranks::look::{FEW, looked_at};
use crate::ranks::{Given, json, received, table, together};
use crate::terminal::Paint;

/// A plan on a mesh. Figures are those of the rank where they are largest.
pub(crate) struct Plan {
    pub(super) program: String,
    pub(super) mesh: Mesh,
    /// How many ranks were looked at.
    pub(super) looked_at: usize,
    /// The inputs, then the steps.
    pub(crate) rows: Vec<Row>,
    pub(super) received: u64,
    pub(super) peak: usize,
    pub(super) note: Option<&'static str>,
}

/// An input, or a step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// The call, or the name of the input.
    pub(crate) text: String,
    pub(crate) is_input: bool,
    /// What it gives.
    pub(crate) tensors: Vec<Part>,
    /// How layouts were changed for it.
    pub(crate) changes: Vec<Moved>,
    /// Bytes that a rank received for it.
    pub(crate) received: u64,
    /// The most bytes a rank had in memory meanwhile.
    pub(crate) peak: usize,
    /// What `enforce_shape` found.
    pub(crate) dims: Option<String>,
}

/// A tensor on a mesh.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) dtype: DType,
    pub(crate) shape: Shape,
    pub(crate) sbp: NdSbp,
    /// The largest and the smallest part that a rank has.
    pub(crate) largest: Shape,
    pub(crate) smallest: Shape,
}

/// The plan of a program whose inputs are as these.
pub(crate) fn plan(
    program: &Program,
    given: &Given,
    inputs: &[Sketch],
    every_rank: bool,
    note: Option<&'static str>,
) -> Result<Plan, Failure> {
    let ranks = looked_at(&given.mesh, every_rank);
    let mut plan = Plan {
        program: program.source.clone(),
        mesh: given.mesh.clone(),
        looked_at: ranks.len(),
        rows: Vec::new(),
        received: 0,
        peak: 0,
        note,
    };
    let progress = (ranks.len() > FEW).then(|| Progress::new(ranks.len()));
    for rank in ranks {
        if let Some(progress) = &progress {
            progress.begin(&format!("rank {rank}"));
            progress.advance();
        }
        let rows = on_rank(program, given, inputs, rank)?;
        let all = rows.iter().map(|row| row.received);
        plan.received = plan.received.max(all.fold(0, u64::saturating_add));
        plan.rows = match plan.rows.is_empty() {
            true => rows,
            false => plan
                .rows
                .into_iter()
                .zip(rows)
                .map(|(a, b)| a.or(b))
                .collect(),
        };
    }
    plan.peak = plan.rows.iter().map(|row| row.peak).max().unwrap_or(0);
    Ok(plan)
}

/// What one rank would do.
pub(crate) fn on_rank(
    program: &Program,
    given: &Given,
    inputs: &[Sketch],
    rank: usize,
) -> Result<Vec<Row>, Failure> {
    let wrong = Failure::within(&program.source);
    let dry = Dry::new();
    let world = Imagined::new(rank, given.mesh.ranks());
    let spread = Spread::new(dry.clone(), world, given.mesh.clone())?;
    let row = |text: String, is_input: bool, flow: &Flow<Global<Dry>>, dims: Option<String>| {
        let changes = spread.take_moved();
        Row {
            text,
            is_input,
            tensors: flow.tensors().iter().map(part).collect(),
            received: received(&changes),
            changes,
            peak: dry.take_peak(),
            dims,
        }
    };
    let mut rows = Vec::new();
    let mut held = Vec::new();
    for (at, (x, sbp)) in inputs.iter().zip(&given.sbp).enumerate() {
        let at = at + 1;
        let mine = spread
            .part_of(x.shape(), x.dtype(), sbp)
            .and_then(|mine| dry.tensor(x.dtype(), &mine))
            .and_then(|mine| spread.assemble(mine, x.shape(), sbp))
            .map_err(|error| misplaced(at, &error))?;
        rows.push(row(format!("${at}"), true, &Flow::One(mine.clone()), None));
        held.push(mine);
    }
    let mut flow = start(program, &held).map_err(&wrong)?;
    for one in &program.steps {
        let done = step(&spread, one, flow.as_ref(), &held).map_err(&wrong)?;
        let dims = done.dims.map(|dims| dims.to_string());
        rows.push(row(program.text(one), false, &done.flow, dims));
        flow = Some(done.flow);
    }
    Ok(rows)
}

/// An input that cannot lie as it should.
pub(crate) fn misplaced(at: usize, error: &Error) -> Failure {
    Failure::Usage(format!("input ${at}: {error}"))
}

fn part(x: &Global<Dry>) -> Part {
    let local = x.to_local();
    Part {
        dtype: x.dtype(),
        shape: x.shape().into(),
        sbp: x.sbp().into(),
        largest: local.shape().into(),
        smallest: local.shape().into(),
    }
}

impl Row {
    /// The row of two ranks.
    fn or(mut self, other: Row) -> Row {
        for (mine, its) in self.tensors.iter_mut().zip(&other.tensors) {
            for axis in 0..mine.shape.len() {
                mine.largest[axis] = mine.largest[axis].max(its.largest[axis]);
                mine.smallest[axis] = mine.smallest[axis].min(its.smallest[axis]);
            }
        }
        self.changes = together(self.changes, &other.changes);
        self.received = self.received.max(other.received);
        self.peak = self.peak.max(other.peak);
        self
    }

    /// The tensors in runs of alike ones, and how many there are in each.
    fn runs(&self) -> Vec<(usize, &Part)> {
        let mut runs: Vec<(usize, &Part)> = Vec::new();
        for x in &self.tensors {
            match runs.last_mut().filter(|(_, y)| *y == x) {
                Some((n, _)) => *n += 1,
                None => runs.push((1, x)),
            }
        }
        runs
    }

    /// One word or two for each run of tensors.
    pub(super) fn listed(&self, text: impl Fn(&Part) -> String) -> String {
        let mut all: Vec<String> = self.runs().iter().map(|(_, x)| text(x)).collect();
        all.dedup();
        all.join("; ")
    }

    /// The logical shapes: `(2, 3)`, `8 × (4, 16)`, or `(1,); (2, 3)`.
    pub(super) fn shapes(&self) -> String {
        let shape = |(n, x): &(usize, &Part)| match n {
            1 => tuple(&x.shape),
            n => format!("{n} × {}", tuple(&x.shape)),
        };
        let all: Vec<String> = self.runs().iter().map(shape).collect();
        match all.is_empty() {
            true => "no tensors".to_string(),
            false => all.join("; "),
        }
    }
}

impl Plan {
    /// Writes it, for machines or for people.
    pub(crate) fn write(&self, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
        match json {
            true => json::write(self, out),
            false => table::write(self, Paint::stdout(), out),
        }
    }
}
