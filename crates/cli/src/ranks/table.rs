//! A plan on a mesh as a table: below each step the changes of layout that it needs. Where the columns would be too
//! wide, calls stand on lines of their own, above their figures.

use std::io::Write;

use stridewise::spread::{Moved, sbp};
use stridewise_core::size::tuple;

use crate::failure::Failure;
use crate::plan::grid::Grid;
use crate::ranks::plan::{Plan, Row};
use crate::ranks::{is_collective, way};
use crate::terminal::{Paint, bytes, count, cut};

/// The columns.
const HEAD: [&str; 7] = [
    "step",
    "dtype",
    "shape",
    "layout",
    "on a rank",
    "received",
    "memory",
];
/// The columns that are cut where there is still no room, and what is left of them at least.
const CUT: [(usize, usize); 4] = [(4, 14), (2, 14), (3, 8), (1, 5)];
const RECEIVED: usize = 5;
/// The widest a call may be beside its figures.
const CALL: usize = 36;

/// Writes the table.
pub(super) fn write(plan: &Plan, paint: Paint, out: &mut dyn Write) -> Result<(), Failure> {
    let mut cells: Vec<[String; 7]> = plan.rows.iter().map(cells).collect();
    let stacked = fit(&mut cells, paint.width());
    let head = match stacked {
        true => HEAD.map(|name| if name == "step" { "" } else { name }),
        false => HEAD,
    };
    let grid = Grid::new(head, &cells);
    // Where the bytes of a change stand.
    let column: usize = (0..RECEIVED).map(|at| grid.width(at) + 2).sum();
    let indent = if stacked { "    " } else { "  " };
    writeln!(out, "{}", paint.bold(&title(plan)))?;
    writeln!(out, "{}", grid.head(paint))?;
    for (row, cells) in plan.rows.iter().zip(&cells) {
        let coloured = |text: &str| match row.is_input {
            true => paint.bold(text),
            false => paint.cyan(text),
        };
        let mut line = grid.line(cells);
        match stacked {
            true => writeln!(out, "{}", coloured(&cut(&row.text, paint.width())))?,
            false => line[0] = coloured(&line[0]),
        }
        writeln!(out, "{}", line.join("  ").trim_end())?;
        for change in &row.changes {
            let text = cut(&format!("{indent}{}", change_text(change)), column - 2);
            let line = match is_collective(change) {
                true => paint.yellow(&format!("{text:<column$}{}", bytes_of(change.bytes))),
                false => paint.dim(&text),
            };
            writeln!(out, "{line}")?;
        }
        if let Some(dims) = &row.dims {
            let dims = cut(&format!("{indent}dims {dims}"), paint.width());
            writeln!(out, "{}", paint.dim(&dims))?;
        }
    }
    writeln!(out, "{}", grid.rule(paint))?;
    writeln!(out, "{}", total(plan))?;
    if let Some(note) = plan.note {
        writeln!(out, "{}", paint.dim(&format!("note: {note}")))?;
    }
    Ok(())
}

fn title(plan: &Plan) -> String {
    let (mesh, ranks) = (&plan.mesh, plan.mesh.ranks());
    let ranks = match mesh.rank() {
        1 => count(ranks, "rank"),
        _ => format!("{mesh} ranks"),
    };
    match plan.looked_at == plan.mesh.ranks() {
        true => format!("{ranks}; figures of the one that has most"),
        false => format!(
            "{ranks}; figures of the one that has most, of {} looked at",
            plan.looked_at
        ),
    }
}

fn cells(row: &Row) -> [String; 7] {
    let received = match row.is_input {
        true => String::new(),
        false => bytes_of(row.received),
    };
    [
        cut(&row.text, CALL),
        row.listed(|x| x.dtype.short_name().to_string()),
        row.shapes(),
        row.listed(|x| sbp::text(&x.sbp)),
        row.listed(|x| tuple(&x.largest)),
        received,
        bytes(row.peak),
    ]
}

/// Makes rows fit: calls go to lines of their own, and then cells are cut. Whether that was needed.
fn fit(cells: &mut [[String; 7]], width: usize) -> bool {
    let too_much = |cells: &[[String; 7]], head: [&str; 7]| {
        let grid = Grid::new(head, cells);
        let now = (0..HEAD.len()).map(|at| grid.width(at) + 2).sum::<usize>() - 2;
        (now.saturating_sub(width), grid)
    };
    if too_much(cells, HEAD).0 == 0 {
        return false;
    }
    for row in cells.iter_mut() {
        row[0] = String::new();
    }
    let head = HEAD.map(|name| if name == "step" { "" } else { name });
    for (column, least) in CUT {
        let (over, grid) = too_much(cells, head);
        let room = grid.width(column).saturating_sub(over).max(least);
        for row in cells.iter_mut() {
            row[column] = cut(&row[column], room);
        }
    }
    true
}

fn change_text(change: &Moved) -> String {
    format!(
        "{} {}, mesh axis {}, of {}",
        change.what.name(),
        way(change),
        change.mesh_axis,
        tuple(&change.shape)
    )
}

fn bytes_of(n: u64) -> String {
    bytes(usize::try_from(n).unwrap_or(usize::MAX))
}

fn total(plan: &Plan) -> String {
    let changes = plan.rows.iter().flat_map(|row| &row.changes);
    let collectives = changes.filter(|change| is_collective(change)).count();
    let collectives = match collectives {
        0 => "no collectives".to_string(),
        n => count(n, "collective"),
    };
    format!(
        "total on a rank: {collectives}, {} received, {} of memory at most",
        bytes_of(plan.received),
        bytes(plan.peak)
    )
}
