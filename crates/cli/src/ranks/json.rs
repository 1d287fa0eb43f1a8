//! A plan on a mesh, for machines.

use std::io::Write;

use stridewise::spread::{Moved, What};

use crate::failure::Failure;
use crate::plan::json::{block, numbers, quoted};
use crate::ranks::plan::{Part, Plan, Row};

/// Writes the plan as one JSON object.
pub(super) fn write(plan: &Plan, out: &mut dyn Write) -> Result<(), Failure> {
    let part = |inputs: bool| {
        let rows = plan.rows.iter().filter(|row| row.is_input == inputs);
        rows.map(object).collect::<Vec<_>>()
    };
    writeln!(out, "{{")?;
    writeln!(out, "  \"program\": {},", quoted(&plan.program))?;
    writeln!(out, "  \"mesh\": {},", numbers(plan.mesh.sizes()))?;
    writeln!(out, "  \"ranks\": {},", plan.mesh.ranks())?;
    writeln!(out, "  \"ranks_looked_at\": {},", plan.looked_at)?;
    writeln!(out, "  \"inputs\": {},", block(part(true)))?;
    writeln!(out, "  \"steps\": {},", block(part(false)))?;
    writeln!(out, "  \"bytes_received\": {},", plan.received)?;
    writeln!(out, "  \"peak_bytes\": {},", plan.peak)?;
    let note = plan.note.map_or("null".to_string(), quoted);
    writeln!(out, "  \"note\": {note}")?;
    writeln!(out, "}}")?;
    Ok(())
}

fn object(row: &Row) -> String {
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    let dims = row
        .dims
        .as_ref()
        .map(|dims| format!(", \"dims\": {}", quoted(dims)));
    format!(
        "{{\"text\": {}, \"tensors\": {}, \"changes\": {}, \"bytes_received\": {}, \"peak_bytes\": {}{}}}",
        quoted(&row.text),
        list(row.tensors.iter().map(tensor).collect()),
        list(row.changes.iter().map(change).collect()),
        row.received,
        row.peak,
        dims.unwrap_or_default()
    )
}

fn tensor(x: &Part) -> String {
    let sbp: Vec<String> = x.sbp.iter().map(|held| quoted(&held.to_string())).collect();
    format!(
        "{{\"dtype\": {}, \"shape\": {}, \"sbp\": [{}], \"largest_part\": {}, \"smallest_part\": {}}}",
        quoted(x.dtype.name()),
        numbers(&x.shape),
        sbp.join(", "),
        numbers(&x.largest),
        numbers(&x.smallest)
    )
}

fn change(moved: &Moved) -> String {
    let (from, to) = match moved.what {
        What::Change(from, to) => (from.to_string(), to.to_string()),
        What::Rows(axis) => (format!("S({axis})"), format!("S({axis})")),
    };
    format!(
        "{{\"what\": {}, \"from\": {}, \"to\": {}, \"mesh_axis\": {}, \"shape\": {}, \"dtype\": {}, \"bytes_received\": {}}}",
        quoted(moved.what.name()),
        quoted(&from),
        quoted(&to),
        moved.mesh_axis,
        numbers(&moved.shape),
        quoted(moved.dtype.name()),
        moved.bytes
    )
}
