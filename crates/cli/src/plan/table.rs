//! A plan as a table: columns aligned, a total below.

use std::io::Write;

use stridewise_core::size::tuple;

use crate::failure::Failure;
use crate::how::How;
use crate::plan::Row;
use crate::plan::grid::Grid;
use crate::terminal::{Paint, bytes, cut};

/// The widest a call may be before it is cut.
pub(super) const CALL: usize = 36;
/// The widest the shapes or strides of several results may be.
pub(super) const LIST: usize = 48;

/// Writes the table.
pub(crate) fn write(
    rows: &[Row],
    note: Option<&str>,
    paint: Paint,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let cells: Vec<[String; 6]> = rows.iter().map(cells).collect();
    let grid = Grid::new(
        ["step", "dtype", "shape", "strides", "how", "moved"],
        &cells,
    );
    writeln!(out, "{}", grid.head(paint))?;
    for (row, cells) in rows.iter().zip(&cells) {
        let [call, dtype, shape, strides, _, moved] = grid.line(cells);
        let call = match row.how {
            How::Input => paint.bold(&call),
            _ => paint.cyan(&call),
        };
        let how = row.how.shown(paint, grid.width(4));
        let text = [call, dtype, shape, strides, how, moved].join("  ");
        writeln!(out, "{}", text.trim_end())?;
        if let Some(dims) = &row.dims {
            writeln!(out, "{}", paint.dim(&format!("  dims {dims}")))?;
        }
    }
    writeln!(out, "{}", grid.rule(paint))?;
    writeln!(out, "{}", total(rows))?;
    if let Some(note) = note {
        writeln!(out, "{}", paint.dim(&format!("note: {note}")))?;
    }
    Ok(())
}

fn cells(row: &Row) -> [String; 6] {
    let runs = row.runs();
    let mut dtypes: Vec<&str> = runs.iter().map(|(_, x)| x.dtype().short_name()).collect();
    dtypes.dedup();
    let strides: Vec<String> = runs.iter().map(|(_, x)| tuple(x.strides())).collect();
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
    [
        cut(&row.text, CALL),
        dtypes.join(", "),
        cut(&row.shapes(), LIST),
        cut(&strides.join(", "), LIST),
        how,
        moved,
    ]
}

fn total(rows: &[Row]) -> String {
    let sum = |bytes: fn(&Row) -> usize| {
        rows.iter()
            .fold(0, |s: usize, row| s.saturating_add(bytes(row)))
    };
    let (read, written) = (sum(Row::read), sum(Row::written));
    format!(
        "total: {}; {} moved ({} read, {} written)",
        How::counted(rows.iter().map(|row| row.how)),
        bytes(read.saturating_add(written)),
        bytes(read),
        bytes(written)
    )
}
