//! A plan as a table: columns aligned, a total below.

use std::io::Write;

use stridewise_core::size::tuple;

use crate::failure::Failure;
use crate::plan::{How, Row};
use crate::terminal::{Paint, bytes, count, cut};

/// The widest a call may be before it is cut.
const CALL: usize = 36;

/// Writes the table.
pub(crate) fn write(rows: &[Row], paint: Paint, out: &mut dyn Write) -> Result<(), Failure> {
    let head = ["step", "dtype", "shape", "strides", "how", "moved"].map(str::to_string);
    let cells: Vec<[String; 6]> = rows.iter().map(cells).collect();
    let width = |column: usize| {
        std::iter::once(&head)
            .chain(&cells)
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: [usize; 6] = std::array::from_fn(width);
    let line = |row: &[String; 6]| -> [String; 6] {
        std::array::from_fn(|at| format!("{:<width$}", row[at], width = widths[at]))
    };
    writeln!(out, "{}", paint.dim(line(&head).join("  ").trim_end()))?;
    for (row, cells) in rows.iter().zip(&cells) {
        let [call, dtype, shape, strides, how, moved] = line(cells);
        let call = match row.how {
            How::Input => paint.bold(&call),
            _ => paint.cyan(&call),
        };
        let how = paint.how(&how);
        let text = [call, dtype, shape, strides, how, moved].join("  ");
        writeln!(out, "{}", text.trim_end())?;
        if let Some(dims) = &row.dims {
            writeln!(out, "{}", paint.dim(&format!("  dims {dims}")))?;
        }
    }
    let rule: usize = widths.iter().sum::<usize>() + 2 * (widths.len() - 1);
    writeln!(out, "{}", paint.dim(&"─".repeat(rule)))?;
    writeln!(out, "{}", total(rows))?;
    Ok(())
}

fn cells(row: &Row) -> [String; 6] {
    let dtype = row
        .dtype()
        .map_or(String::new(), |d| d.short_name().to_string());
    let (shape, strides) = match row.tensors.as_slice() {
        [] => ("no tensors".to_string(), String::new()),
        [one] => (tuple(one.shape()), tuple(one.strides())),
        [first, ..] => (
            format!("{} × {}", row.tensors.len(), tuple(first.shape())),
            tuple(first.strides()),
        ),
    };
    let moved = match row.how {
        How::Input => String::new(),
        _ => {
            let mut by: Vec<&str> = row.moves.iter().map(|m| m.primitive).collect();
            by.dedup();
            let moved = bytes(row.read().saturating_add(row.written()));
            match by.is_empty() {
                true => moved,
                false => format!("{moved} by {}", by.join(", ")),
            }
        }
    };
    let how = row.how.word().to_string();
    [cut(&row.text, CALL), dtype, shape, strides, how, moved]
}

fn total(rows: &[Row]) -> String {
    let of = |how: How| rows.iter().filter(|row| row.how == how).count();
    let mut parts = Vec::new();
    for (how, word) in [
        (How::Make, "tensor"),
        (How::View, "view"),
        (How::Copy, "copy"),
    ] {
        match (of(how), how) {
            (0, _) => {}
            (n, How::Make) => parts.push(format!("{} made", count(n, word))),
            (n, _) => parts.push(count(n, word)),
        }
    }
    if parts.is_empty() {
        parts.push("no steps".to_string());
    }
    let sum = |bytes: fn(&Row) -> usize| {
        rows.iter()
            .fold(0, |s: usize, row| s.saturating_add(bytes(row)))
    };
    let (read, written) = (sum(Row::read), sum(Row::written));
    format!(
        "total: {}; {} moved ({} read, {} written)",
        parts.join(", "),
        bytes(read.saturating_add(written)),
        bytes(read),
        bytes(written)
    )
}
