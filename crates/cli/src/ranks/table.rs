//! A plan on a mesh as a table: below each step the changes of layout that it needs. Where the columns would be too
//! wide, calls stand on lines of their own, above their figures.

use std::io::Write;

use stridewise::spread::sbp;
use stridewise_core::size::tuple;

use crate::failure::Failure;
use crate::plan::grid::Grid;
use crate::ranks::plan::{Plan, Row};
use crate::ranks::{amount, counted, is_collective, words};
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
    let indent = if stacked { "    " } else { "  " };
    let changes = plan.rows.iter().flat_map(|row| &row.changes);
    let longest = changes.map(|change| words(change).chars().count() + indent.len());
    let part = with_room(&cells, stacked, longest.max().unwrap_or(0), paint.width());
    let mut head = head(stacked);
    head[RECEIVED - 1] = &part;
    let grid = Grid::new(head, &cells);
    let column = column(&grid);
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
            let text = cut(&format!("{indent}{}", words(change)), column - 2);
            let line = match is_collective(change) {
                true => paint.yellow(&format!("{text:<column$}{}", amount(change.bytes))),
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
        false => amount(row.received),
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

/// The names of the columns; a call that stands above its figures needs none.
fn head<'a>(stacked: bool) -> [&'a str; 7] {
    HEAD.map(|name| if stacked && name == "step" { "" } else { name })
}

/// Where the bytes of a change stand.
fn column(grid: &Grid<7>) -> usize {
    (0..RECEIVED).map(|at| grid.width(at) + 2).sum()
}

fn width_of(grid: &Grid<7>) -> usize {
    (0..HEAD.len()).map(|at| grid.width(at) + 2).sum::<usize>() - 2
}

/// The name of the column before the bytes, made as wide as the text of the longest change needs, where there is room.
fn with_room(cells: &[[String; 7]], stacked: bool, longest: usize, width: usize) -> String {
    let grid = Grid::new(head(stacked), cells);
    let wanted = (longest + 2).saturating_sub(column(&grid));
    let room = width.saturating_sub(width_of(&grid));
    let width = grid.width(RECEIVED - 1) + wanted.min(room);
    format!("{:<width$}", HEAD[RECEIVED - 1])
}

/// Makes rows fit: calls go to lines of their own, and then cells are cut. Whether that was needed.
fn fit(cells: &mut [[String; 7]], width: usize) -> bool {
    if width_of(&Grid::new(HEAD, cells)) <= width {
        return false;
    }
    for row in cells.iter_mut() {
        row[0] = String::new();
    }
    for (column, least) in CUT {
        let grid = Grid::new(head(true), cells);
        let over = width_of(&grid).saturating_sub(width);
        let room = grid.width(column).saturating_sub(over).max(least);
        for row in cells.iter_mut() {
            row[column] = cut(&row[column], room);
        }
    }
    true
}

fn total(plan: &Plan) -> String {
    let changes = plan.rows.iter().flat_map(|row| &row.changes);
    let collectives = changes.filter(|change| is_collective(change)).count();
    format!(
        "total on a rank: {}, {} received, {} of memory at most",
        counted(collectives),
        amount(plan.received),
        bytes(plan.peak)
    )
}
