//! Plans where sizes are symbols: the program is recorded by a graph, which tells the shape of every step as far as
//! it can be known, and what is left for every run to check.

mod json;
mod table;
mod words;

use std::io::Write;

use stridewise::{Graph, Symbolic};
use stridewise_core::dim::{Dim, Outline};
use stridewise_core::dtype::DType;
use stridewise_core::operators::{Dim as Found, Dims};
use stridewise_core::size::tuple;
use stridewise_graph::{Guard, as_spread};

use crate::failure::Failure;
use crate::how::How;
use crate::program::{Program, start, step_with};
use crate::terminal::Paint;
use words::Words;

/// A plan with symbols.
pub(crate) struct Plan {
    /// What is planned: `program` or `model`, and its text or file.
    pub(crate) of: (&'static str, String),
    /// The inputs, then the steps, then what a model calls its outputs.
    pub(crate) rows: Vec<Row>,
    /// What every run checks.
    pub(crate) guards: Vec<Guard>,
    /// What a plan cannot know.
    pub(crate) note: Option<&'static str>,
}

/// One line of a plan: an input, a step, or an output of a model.
pub(crate) struct Row {
    /// The number by which guards tell where they come from; none for an input or output.
    pub(crate) number: Option<usize>,
    /// The call, or the name.
    pub(crate) text: String,
    /// The dtype and shape of each tensor it gives.
    pub(crate) tensors: Vec<(DType, Outline)>,
    /// How it gives it.
    pub(crate) how: How,
    /// What `enforce_shape` found.
    pub(crate) dims: Option<String>,
}

impl Row {
    /// An input or output.
    pub(crate) fn named(name: impl Into<String>, x: &Symbolic, how: How) -> Row {
        Row {
            number: None,
            text: name.into(),
            tensors: vec![known(x)],
            how,
            dims: None,
        }
    }
}

/// What is known of a tensor.
pub(crate) fn known(x: &Symbolic) -> (DType, Outline) {
    (x.dtype(), x.shape().clone())
}

/// The sizes that `enforce_shape` found, with tuple symbols as shapes have them.
fn dims_text(dims: &Dims<Dim>) -> String {
    let size = |dim: &Dim| match as_spread(dim) {
        Some(tuple) => format!("*{tuple}"),
        None => dim.to_string(),
    };
    let entries: Vec<String> = dims
        .iter()
        .map(|entry| match entry {
            Found::Size(dim) => size(dim),
            Found::Rest(axes, count) => {
                let axes: Vec<String> = axes.iter().map(size).collect();
                format!("({}, {count})", tuple(&axes))
            }
        })
        .collect();
    format!("[{}]", entries.join(", "))
}

impl Plan {
    /// Writes a table, or JSON.
    pub(crate) fn write(&self, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
        match json {
            true => json::write(self, out),
            false => table::write(self, Paint::stdout(), out),
        }
    }
}

/// The plan of a program on inputs of a graph.
pub(crate) fn plan(
    program: &Program,
    graph: &Graph,
    inputs: &[Symbolic],
    note: Option<&'static str>,
) -> Result<Plan, Failure> {
    let wrong = Failure::within(&program.source);
    let named = inputs.iter().enumerate();
    let mut rows: Vec<Row> = named
        .map(|(at, x)| Row::named(format!("${}", at + 1), x, How::Input))
        .collect();
    let words = Words::of(inputs);
    let mut flow = start(program, inputs).map_err(&wrong)?;
    for (at, one) in program.steps.iter().enumerate() {
        graph.at(Some(format!("step {}", at + 1)), None);
        let read = |word: &str, span: &_| words.size(word, span);
        let done = step_with(graph, one, flow.as_ref(), inputs, &read).map_err(&wrong)?;
        rows.push(Row {
            number: Some(at + 1),
            text: program.text(one),
            tensors: done.flow.tensors().iter().map(known).collect(),
            how: How::from(one.entry.kind),
            dims: done.dims.as_ref().map(dims_text),
        });
        flow = Some(done.flow);
    }
    let guards = graph.finish(&[])?;
    Ok(Plan {
        of: ("program", program.source.clone()),
        rows,
        guards: guards.guards().to_vec(),
        note,
    })
}
