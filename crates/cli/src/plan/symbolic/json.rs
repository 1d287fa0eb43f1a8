//! A plan with symbols for machines. A size is a number where it is known and otherwise text; `*name` in a shape
//! stands for any number of axes.

use std::io::Write;

use stridewise_core::dim::{Dim, Outline};
use stridewise_core::size::Size;
use stridewise_graph::Guard;

use crate::failure::Failure;
use crate::how::How;
use crate::plan::json::{block, quoted};
use crate::plan::symbolic::{Plan, Row};

/// Writes the plan as one JSON object.
pub(super) fn write(plan: &Plan, out: &mut dyn Write) -> Result<(), Failure> {
    let part = |wanted: fn(How) -> bool| {
        let rows = plan.rows.iter().filter(|row| wanted(row.how));
        rows.map(object).collect::<Vec<String>>()
    };
    let inputs = part(|how| how == How::Input);
    let steps = part(|how| !matches!(how, How::Input | How::Output));
    let outputs = part(|how| how == How::Output);
    let (what, text) = &plan.of;
    writeln!(out, "{{")?;
    writeln!(out, "  {}: {},", quoted(what), quoted(text))?;
    writeln!(out, "  \"inputs\": {},", block(inputs))?;
    writeln!(out, "  \"steps\": {},", block(steps))?;
    if !outputs.is_empty() {
        writeln!(out, "  \"outputs\": {},", block(outputs))?;
    }
    let guards = plan.guards.iter().map(guard).collect();
    writeln!(out, "  \"guards\": {},", block(guards))?;
    let note = plan.note.map_or("null".to_string(), quoted);
    writeln!(out, "  \"note\": {note}")?;
    writeln!(out, "}}")?;
    Ok(())
}

fn object(row: &Row) -> String {
    let number = row.number.map(|n| format!("\"number\": {n}, "));
    let tensors: Vec<String> = row
        .tensors
        .iter()
        .map(|(dtype, outline)| {
            let dtype = quoted(dtype.name());
            format!("{{\"dtype\": {dtype}, \"shape\": {}}}", shape(outline))
        })
        .collect();
    let dims = row.dims.as_ref();
    let dims = dims.map(|dims| format!(", \"dims\": {}", quoted(dims)));
    format!(
        "{{{}\"text\": {}, \"how\": {}, \"tensors\": [{}]{}}}",
        number.unwrap_or_default(),
        quoted(&row.text),
        quoted(row.how.word()),
        tensors.join(", "),
        dims.unwrap_or_default()
    )
}

fn shape(outline: &Outline) -> String {
    let size = |dim: &Dim| match dim.known() {
        Some(n) => n.to_string(),
        None => quoted(&dim.to_string()),
    };
    let rest = outline.rest();
    let rest = rest.map(|tuple| quoted(&format!("*{tuple}")));
    let front = outline.front().iter().map(size);
    let sizes: Vec<String> = front
        .chain(rest)
        .chain(outline.back().iter().map(size))
        .collect();
    format!("[{}]", sizes.join(", "))
}

fn guard(guard: &Guard) -> String {
    let at = guard.source.as_deref().map_or("null".to_string(), quoted);
    format!(
        "{{\"check\": {}, \"operator\": {}, \"at\": {at}}}",
        quoted(&guard.to_string()),
        quoted(guard.operator)
    )
}
