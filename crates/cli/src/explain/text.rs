//! The picture as text: memory as a strip of numbered cells, the result as rows of cell numbers.

use std::io::Write;

use stridewise_core::size::tuple;

use crate::explain::elide::shown;
use crate::explain::ramp::colour;
use crate::explain::trace::{Picture, Reads};
use crate::failure::Failure;
use crate::terminal::{Paint, count, lines};

/// Lines of cells of one memory.
const STRIPS: usize = 3;
/// Rows of a block.
const ROWS: usize = 12;
/// Blocks of a result.
const BLOCKS: usize = 5;
/// Results.
const RESULTS: usize = 4;

/// Writes the picture.
pub(crate) fn write(picture: &Picture, paint: Paint, out: &mut dyn Write) -> Result<(), Failure> {
    let pen = Pen {
        paint,
        total: picture.cells(),
        width: picture.cells().saturating_sub(1).to_string().len().max(2),
    };
    memories(picture, pen, out)?;
    if !picture.steps.is_empty() {
        writeln!(out)?;
    }
    for step in &picture.steps {
        let how = step.how.shown(paint, 0);
        writeln!(out, "{}  →  {}  {how}", paint.cyan(&step.text), step.shape)?;
    }
    for reads in picture.results.iter().take(RESULTS) {
        writeln!(out)?;
        result(picture, reads, pen, out)?;
    }
    if picture.results.len() > RESULTS {
        let more = picture.results.len() - RESULTS;
        writeln!(out, "\n… and {}", count(more, "more result"))?;
    }
    if let Some(end) = &picture.end {
        writeln!(out)?;
        for line in lines(end, paint.width()) {
            writeln!(out, "{}", paint.yellow(&line))?;
        }
    }
    Ok(())
}

/// How cells are written.
#[derive(Clone, Copy)]
struct Pen {
    paint: Paint,
    total: usize,
    width: usize,
}

impl Pen {
    fn cell(self, cell: Option<usize>, again: bool) -> String {
        let width = self.width;
        let mark = if again { '*' } else { ' ' };
        match cell {
            Some(cell) => self
                .paint
                .on_colour(colour(cell, self.total), &format!("{cell:>width$}{mark}")),
            None => self.paint.dim(&format!("{:>width$} ", "–")),
        }
    }
}

fn memories(picture: &Picture, pen: Pen, out: &mut dyn Write) -> Result<(), Failure> {
    let reads = picture.reads();
    // A cell is as wide as its number, or as what is said of it below.
    let most = reads.iter().max().copied().unwrap_or(0);
    let pen = Pen {
        width: pen.width.max(format!("{most}×").chars().count()),
        ..pen
    };
    for memory in &picture.memories {
        let name = pen.paint.bold(&memory.name);
        writeln!(
            out,
            "memory of {name}, {}: {}",
            memory.about,
            count(memory.count, "cell")
        )?;
        let per_line = (pen.paint.width() - 8) / (pen.width + 1);
        let cells: Vec<Option<usize>> = shown(memory.count, per_line * STRIPS);
        for line in cells.chunks(per_line) {
            let cell = |at: &Option<usize>| match at {
                Some(at) => pen.cell(Some(memory.first + at), false),
                None => format!("{:>width$} ", "…", width = pen.width),
            };
            let times = |at: &Option<usize>| {
                let n = at.and_then(|at| reads.get(memory.first + at));
                let text = n.map_or(String::new(), |n| format!("{n}×"));
                format!("{text:>width$} ", width = pen.width)
            };
            writeln!(
                out,
                "  cell  {}",
                line.iter().map(cell).collect::<String>().trim_end()
            )?;
            let times: String = line.iter().map(times).collect();
            writeln!(
                out,
                "  {}",
                pen.paint.dim(format!("read  {times}").trim_end())
            )?;
        }
    }
    Ok(())
}

fn result(picture: &Picture, reads: &Reads, pen: Pen, out: &mut dyn Write) -> Result<(), Failure> {
    let paint = pen.paint;
    let place = match (reads.start, picture.is_view()) {
        (Some(_), _) => "in the memory above",
        _ => "in memory of its own",
    };
    writeln!(
        out,
        "{} {}, strides {}, {place}",
        picture.heading,
        tuple(&reads.shape),
        tuple(&reads.strides)
    )?;
    for line in lines(&formula(reads), paint.width() - 2) {
        writeln!(out, "  {}", paint.bold(&line))?;
    }
    for (axis, (size, stride)) in reads.shape.iter().zip(&reads.strides).enumerate() {
        if *stride == 0 && *size > 1 {
            let text = format!("i{axis} has stride 0: its {size} indices read the same cells");
            writeln!(out, "  {}", paint.dim(&text))?;
        }
    }
    writeln!(out)?;
    let left_out = blocks(reads, pen, out)?;
    let mut notes = Vec::new();
    if reads.again.contains(&true) {
        notes.push("* a cell that is read again");
    }
    if reads.cells.contains(&None) {
        notes.push("– a value that is in no cell");
    }
    if left_out {
        notes.push("… left out: it does not fit");
    }
    if !notes.is_empty() {
        writeln!(out, "\n  {}", paint.dim(&notes.join("   ")))?;
    }
    Ok(())
}

/// How an element finds its cell.
pub(crate) fn formula(reads: &Reads) -> String {
    match reads.start {
        Some(start) => {
            let terms: Vec<String> = reads
                .strides
                .iter()
                .enumerate()
                .map(|(axis, stride)| match stride {
                    ..0 => format!(" - i{axis}*{}", stride.unsigned_abs()),
                    _ => format!(" + i{axis}*{stride}"),
                })
                .collect();
            format!("cell = {start}{}", terms.concat())
        }
        None => "each element is a copy of the cell shown".to_string(),
    }
}

/// The result, two axes at a time. Tells whether something was left out.
fn blocks(reads: &Reads, pen: Pen, out: &mut dyn Write) -> Result<bool, Failure> {
    if reads.cells.is_empty() {
        writeln!(out, "  no elements")?;
        return Ok(false);
    }
    let rank = reads.shape.len();
    let outer = &reads.shape[..rank.saturating_sub(2)];
    let columns = reads.shape.last().copied().unwrap_or(1);
    let rows = if rank > 1 { reads.shape[rank - 2] } else { 1 };
    let margin = match rank {
        0 => 2,
        1 => 7,
        _ => 4 + (rows - 1).to_string().len() + format!("i{}", rank - 2).len(),
    };
    let most_rows = if outer.is_empty() { ROWS } else { ROWS / 2 };
    let fit = (pen.paint.width() - margin - 1) / (pen.width + 1);
    let (shown_rows, shown_columns) = (shown(rows, most_rows), shown(columns, fit));
    let shown_blocks = shown(outer.iter().product(), BLOCKS);
    for (at, block) in shown_blocks.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        let Some(block) = block else {
            writeln!(out, "  …")?;
            continue;
        };
        if !outer.is_empty() {
            writeln!(out, "  {}", pen.paint.bold(&block_name(*block, outer)))?;
        }
        if rank > 0 {
            let index = |column: &Option<usize>| match column {
                Some(column) => format!("{column:>width$} ", width = pen.width),
                None => format!("{:>width$} ", "…", width = pen.width),
            };
            let head: String = shown_columns.iter().map(index).collect();
            let name = format!("{:<margin$}", format!("  i{} →", rank - 1));
            let head = format!("{name}{head}");
            writeln!(out, "{}", pen.paint.dim(head.trim_end()))?;
        }
        for row in &shown_rows {
            let label = match (rank, row) {
                (0 | 1, _) => String::new(),
                (_, Some(row)) => format!("i{}={row}", rank - 2),
                (_, None) => "…".to_string(),
            };
            let label = pen
                .paint
                .dim(&format!("  {label:<width$}", width = margin - 2));
            let cell = |column: &Option<usize>| match (row, column) {
                (Some(row), Some(column)) => {
                    let at = (block * rows + row) * columns + column;
                    pen.cell(reads.cells[at], reads.again[at])
                }
                _ => format!("{:>width$} ", "…", width = pen.width),
            };
            let cells: String = shown_columns.iter().map(cell).collect();
            writeln!(out, "{}", format!("{label}{cells}").trim_end())?;
        }
    }
    let gap = |shown: &[Option<usize>]| shown.contains(&None);
    Ok(gap(&shown_rows) || gap(&shown_columns) || gap(&shown_blocks))
}

/// `i0=1, i1=0` for a block of the leading axes.
pub(crate) fn block_name(block: usize, outer: &[usize]) -> String {
    let mut rest = block;
    let mut parts = Vec::new();
    for (axis, size) in outer.iter().enumerate().rev() {
        parts.push(format!("i{axis}={}", rest % size));
        rest /= size;
    }
    parts.reverse();
    parts.join(", ")
}
