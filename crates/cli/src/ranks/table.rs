//! A plan on a mesh as a table: below each step the changes of layout that it needs.

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
/// Those that are cut where there is no room, and what is left of them at least.
const CUT: [(usize, usize); 4] = [(0, 16), (4, 12), (2, 12), (3, 8)];
const RECEIVED: usize = 5;

/// Writes the table.
pub(super) fn write(plan: &Plan, paint: Paint, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "{}", paint.bold(&title(plan)))?;
    let mut cells: Vec<[String; 7]> = plan.rows.iter().map(cells).collect();
    let width = fit(&mut cells, paint.width());
    let grid = Grid::new(HEAD, &cells);
    writeln!(out, "{}", grid.head(paint))?;
    // Where the bytes of a change stand.
    let column: usize = (0..RECEIVED).map(|at| grid.width(at) + 2).sum();
    for (row, cells) in plan.rows.iter().zip(&cells) {
        let mut line = grid.line(cells);
        line[0] = match row.is_input {
            true => paint.bold(&line[0]),
            false => paint.cyan(&line[0]),
        };
        writeln!(out, "{}", line.join("  ").trim_end())?;
        for change in &row.changes {
            let text = cut(&change_text(change), column - 2);
            let figure = bytes_of(change.bytes);
            let line = match is_collective(change) {
                true => paint.yellow(&format!("{text:<column$}{figure}")),
                false => paint.dim(&text),
            };
            writeln!(out, "{line}")?;
        }
        if let Some(dims) = &row.dims {
            let dims = cut(&format!("  dims {dims}"), width);
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
        _ => format!("a mesh of {mesh}, {}", count(ranks, "rank")),
    };
    match plan.looked_at == plan.mesh.ranks() {
        true => format!("{ranks}; figures of the rank that has most"),
        false => format!(
            "{ranks}; figures of the one that has most of {} looked at",
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
        row.text.clone(),
        row.listed(|x| x.dtype.short_name().to_string()),
        row.shapes(),
        row.listed(|x| sbp::text(&x.sbp)),
        row.listed(|x| tuple(&x.largest)),
        received,
        bytes(row.peak),
    ]
}

/// Cuts cells so that rows fit, where they can; how wide they then are.
fn fit(cells: &mut [[String; 7]], width: usize) -> usize {
    for (column, least) in CUT {
        let grid = Grid::new(HEAD, cells);
        let now = (0..HEAD.len()).map(|at| grid.width(at) + 2).sum::<usize>() - 2;
        let room = grid.width(column).saturating_sub(now.saturating_sub(width));
        for row in cells.iter_mut() {
            row[column] = cut(&row[column], room.max(least));
        }
    }
    width
}

fn change_text(change: &Moved) -> String {
    format!(
        "  {} {} of {}, mesh axis {}",
        change.what.name(),
        way(change),
        tuple(&change.shape),
        change.mesh_axis
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
