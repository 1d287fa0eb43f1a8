//! A plan with symbols as a table, with a line below it for everything that a run must check.

use std::io::Write;

use crate::failure::Failure;
use crate::how::How;
use crate::plan::grid::Grid;
use crate::plan::symbolic::{Plan, Row};
use crate::plan::table::{CALL, LIST};
use crate::terminal::{Paint, count, cut};

/// Writes the table.
pub(super) fn write(plan: &Plan, paint: Paint, out: &mut dyn Write) -> Result<(), Failure> {
    let numbers = plan.rows.iter().filter_map(|row| row.number);
    let digits = numbers.max().unwrap_or(0).to_string().len();
    let cells: Vec<[String; 5]> = plan.rows.iter().map(|row| cells(row, digits)).collect();
    let grid = Grid::new(["", "step", "dtype", "shape", "how"], &cells);
    writeln!(out, "{}", grid.head(paint))?;
    for (row, cells) in plan.rows.iter().zip(&cells) {
        let [number, call, dtype, shape, _] = grid.line(cells);
        let call = match row.how {
            How::Input | How::Output => paint.bold(&call),
            _ => paint.cyan(&call),
        };
        let how = row.how.shown(paint, 0);
        let text = [paint.dim(&number), call, dtype, shape, how].join("  ");
        writeln!(out, "{}", text.trim_end())?;
        if let Some(dims) = &row.dims {
            let indent = " ".repeat(digits + 4);
            writeln!(out, "{}", paint.dim(&format!("{indent}dims {dims}")))?;
        }
    }
    writeln!(out, "{}", grid.rule(paint))?;
    let steps = plan.rows.iter().map(|row| row.how);
    writeln!(out, "total: {}", How::counted(steps))?;
    match plan.guards.len() {
        0 => writeln!(out, "no guards: no size is left for a run to check")?,
        n => writeln!(out, "{}, checked in every run:", count(n, "guard"))?,
    }
    for guard in &plan.guards {
        let text = guard.to_string();
        // Who asks for it stands behind the last of these signs.
        let line = match text.rsplit_once("  # ") {
            Some((check, who)) => format!("{check}{}", paint.dim(&format!("  # {who}"))),
            None => text,
        };
        writeln!(out, "  {line}")?;
    }
    if let Some(note) = plan.note {
        writeln!(out, "{}", paint.dim(&format!("note: {note}")))?;
    }
    Ok(())
}

fn cells(row: &Row, digits: usize) -> [String; 5] {
    let mut runs: Vec<(usize, String, String)> = Vec::new();
    for (dtype, shape) in &row.tensors {
        let (dtype, shape) = (dtype.short_name().to_string(), shape.to_string());
        match runs.last_mut() {
            Some((n, d, s)) if (&*d, &*s) == (&dtype, &shape) => *n += 1,
            _ => runs.push((1, dtype, shape)),
        }
    }
    let shapes: Vec<String> = runs
        .iter()
        .map(|(n, _, shape)| match n {
            1 => shape.clone(),
            n => format!("{n} × {shape}"),
        })
        .collect();
    let shapes = match shapes.is_empty() {
        true => "no tensors".to_string(),
        false => shapes.join(", "),
    };
    let mut dtypes: Vec<&str> = runs.iter().map(|(_, dtype, _)| dtype.as_str()).collect();
    dtypes.dedup();
    let number = row.number.map(|n| n.to_string()).unwrap_or_default();
    [
        format!("{number:>digits$}"),
        cut(&row.text, CALL),
        dtypes.join(", "),
        cut(&shapes, LIST),
        row.how.word().to_string(),
    ]
}
