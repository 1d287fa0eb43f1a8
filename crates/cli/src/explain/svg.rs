//! The picture as SVG: memory at the top, every cell in a colour of its own, and below it the result, each
//! element in the colour of the cell it reads. It follows the viewer's light or dark setting.

use std::fmt::Write;

use stridewise_core::size::tuple;

use crate::explain::elide::shown;
use crate::explain::ramp::{colour, hex};
use crate::explain::text::{block_name, formula};
use crate::explain::trace::{Picture, Reads};
use crate::terminal::{count, cut};

const STYLE: &str = "\
.back{fill:#fbfbfa}\
.title{font:600 17px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1c1c1a}\
.text{font:14px system-ui,'Segoe UI',Helvetica,'DejaVu Sans',sans-serif;fill:#33332f}\
.soft{font:12px system-ui,'Segoe UI',Helvetica,'DejaVu Sans',sans-serif;fill:#74746c}\
.code{font:14px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1c1c1a}\
.tick{font:11px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#8a8a82;text-anchor:middle}\
.number{font:600 14px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#16202b;text-anchor:middle}\
.again{font-weight:400;fill:#3d4a57}\
.first{stroke:#16202b;stroke-opacity:.75;stroke-width:1.5}\
.repeat{stroke:#16202b;stroke-opacity:.35;stroke-width:1;stroke-dasharray:2.5 2.5}\
.unread{fill:none;stroke:#b9b9b2;stroke-width:1}\
.unread-number{fill:#a2a29a;font-weight:400}\
.rule{stroke:#e3e3de}\
@media (prefers-color-scheme:dark){\
.back{fill:#17181a}.title,.code{fill:#f0f0ec}.text{fill:#d6d6d0}.soft{fill:#97978f}.tick{fill:#85857d}\
.first{stroke:#f4f4f0;stroke-opacity:.9}.repeat{stroke:#f4f4f0;stroke-opacity:.45}\
.unread{stroke:#55565a}.unread-number{fill:#77787c}.rule{stroke:#333538}}";

/// The height of a cell, and the space between two.
const HEIGHT: f64 = 32.0;
const GAP: f64 = 4.0;
/// The space around everything.
const EDGE: f64 = 28.0;
/// What pictures should not be wider than.
const WIDE: f64 = 920.0;
/// Stands for the right edge until that is known.
const RIGHT: &str = "@";
/// The space for row numbers beside a block.
const SIDE: f64 = 34.0;
/// The space for column numbers over a block.
const OVER: f64 = 32.0;
/// The space under a line of blocks.
const UNDER: f64 = 14.0;
/// Lines of memory cells, rows and columns of a block, blocks, results.
const STRIPS: usize = 3;
const ROWS: usize = 16;
const COLUMNS: usize = 24;
const BLOCKS: usize = 12;
const RESULTS: usize = 4;

/// Draws the picture.
pub(crate) fn draw(picture: &Picture) -> String {
    let digits = picture.cells().saturating_sub(1).to_string().len();
    let mut canvas = Canvas {
        body: String::new(),
        y: EDGE,
        right: 420.0,
        total: picture.cells(),
        cell: (9.0 * digits as f64 + 18.0).max(36.0),
    };
    let title = match picture.title.is_empty() {
        true => "(nothing is done)",
        false => &picture.title,
    };
    canvas.line("title", &cut(title, 84), 17.0, 10.3);
    canvas.y += 12.0;
    if picture.steps.len() > 1 {
        for step in picture.steps.iter() {
            let text = format!(
                "{}  →  {}  {}",
                cut(&step.text, 60),
                step.shape,
                step.how.word()
            );
            canvas.line("soft", &text, 12.0, 6.6);
            canvas.y += 5.0;
        }
        canvas.y += 6.0;
    }
    canvas.memories(picture);
    for reads in picture.results.iter().take(RESULTS) {
        canvas.rule();
        canvas.result(&picture.heading.replace('`', ""), reads);
    }
    let mut notes = Vec::new();
    if picture.results.len() > RESULTS {
        let more = picture.results.len() - RESULTS;
        notes.push(format!("… and {}", count(more, "more result")));
    }
    notes.extend(picture.end.iter().map(|end| end.replace('`', "")));
    for note in notes {
        canvas.y += 8.0;
        canvas.line("soft", &note, 12.0, 6.6);
    }
    canvas.finish(&picture.title)
}

struct Canvas {
    body: String,
    /// The top of what comes next.
    y: f64,
    /// The right edge of what was drawn.
    right: f64,
    total: usize,
    /// The width of a cell.
    cell: f64,
}

impl Canvas {
    /// A line of text of that height; `letter` is about the width of one.
    fn line(&mut self, class: &str, text: &str, height: f64, letter: f64) {
        self.y += height;
        self.text(class, EDGE, self.y, text);
        self.right = self.right.max(EDGE + letter * text.chars().count() as f64);
    }

    fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.body,
            r#"<text class="{class}" x="{x:.1}" y="{y:.1}" xml:space="preserve">{}</text>"#,
            escaped(text)
        );
    }

    fn rule(&mut self) {
        self.y += 18.0;
        let _ = writeln!(
            self.body,
            r#"<line class="rule" x1="{EDGE}" x2="{RIGHT}" y1="{0:.1}" y2="{0:.1}"/>"#,
            self.y
        );
        self.y += 12.0;
    }

    /// One cell with its number and what hovering over it says.
    fn cell(&mut self, x: f64, y: f64, look: Look, title: &str) {
        let (fill, rect, number, text) = match look {
            Look::Cell(cell, again) => (
                format!(r#" fill="{}""#, hex(colour(cell, self.total))),
                if again { "repeat" } else { "first" },
                if again { "number again" } else { "number" },
                cell.to_string(),
            ),
            Look::Unread(cell) => (
                String::new(),
                "unread",
                "number unread-number",
                cell.to_string(),
            ),
            Look::Nowhere => (
                String::new(),
                "unread",
                "number unread-number",
                "–".to_string(),
            ),
        };
        let _ = writeln!(
            self.body,
            r#"<g><title>{}</title><rect class="{rect}" x="{x:.1}" y="{y:.1}" width="{:.1}" height="{HEIGHT}" rx="5"{fill}/><text class="{number}" x="{:.1}" y="{:.1}">{text}</text></g>"#,
            escaped(title),
            self.cell,
            x + self.cell / 2.0,
            y + HEIGHT / 2.0 + 5.0,
        );
        self.right = self.right.max(x + self.cell);
    }

    fn tick(&mut self, x: f64, y: f64, text: &str) {
        self.text("tick", x, y, text);
    }

    fn memories(&mut self, picture: &Picture) {
        let reads = picture.reads();
        for memory in &picture.memories {
            let text = format!(
                "memory of {}:  {}, {}",
                memory.name,
                memory.about,
                count(memory.count, "cell")
            );
            self.line("text", &text, 16.0, 7.6);
            self.y += 8.0;
            let step = self.cell + GAP;
            let per_line = (((WIDE - 2.0 * EDGE) / step) as usize).max(4);
            let lines = memory.count.div_ceil(per_line).clamp(1, STRIPS);
            let per_line = per_line.min(memory.count.div_ceil(lines).max(1));
            for line in shown(memory.count, per_line * lines).chunks(per_line) {
                for (at, index) in line.iter().enumerate() {
                    let x = EDGE + at as f64 * step;
                    let middle = x + self.cell / 2.0;
                    let Some(index) = index else {
                        self.tick(middle, self.y + HEIGHT / 2.0 + 4.0, "…");
                        continue;
                    };
                    let cell = memory.first + index;
                    let times = reads.get(cell).copied().unwrap_or(0);
                    let look = match times {
                        0 => Look::Unread(cell),
                        _ => Look::Cell(cell, false),
                    };
                    let title = match times {
                        0 => format!("cell {cell}: not read"),
                        1 => format!("cell {cell}: read once"),
                        n => format!("cell {cell}: read {n} times"),
                    };
                    self.cell(x, self.y, look, &title);
                    if times > 0 {
                        self.tick(middle, self.y + HEIGHT + 13.0, &format!("×{times}"));
                    }
                }
                self.y += HEIGHT + 22.0;
            }
        }
        self.y -= 8.0;
    }

    fn result(&mut self, heading: &str, reads: &Reads) {
        let how = match reads.start {
            Some(_) => "a view: nothing is copied",
            None => "a copy, in memory of its own",
        };
        let text = format!("{heading} {}, {how}", tuple(&reads.shape));
        self.line("text", &text, 16.0, 7.6);
        self.y += 7.0;
        if reads.start.is_some() {
            self.line("code", &cut(&formula(reads), 100), 14.0, 8.5);
            self.y += 6.0;
        }
        self.legend(reads);
        self.y += 12.0;
        if reads.cells.is_empty() {
            self.line("soft", "no elements", 12.0, 6.6);
            return;
        }
        let left_out = self.blocks(reads);
        let mut notes = Vec::new();
        if reads.again.contains(&true) {
            notes.push("solid: first read of a cell    dashed: read again");
        }
        if reads.cells.contains(&None) {
            notes.push("–: a value that is in no cell");
        }
        if left_out {
            notes.push("…: left out");
        }
        if !notes.is_empty() {
            self.y += UNDER + 2.0 * GAP;
            self.line("soft", &notes.join("    "), 12.0, 6.6);
        }
    }

    /// What a step along each axis does.
    fn legend(&mut self, reads: &Reads) {
        let rank = reads.shape.len();
        for (axis, (size, stride)) in reads.shape.iter().zip(&reads.strides).enumerate() {
            let direction = match rank - axis {
                1 => "→",
                2 => "↓",
                _ => "▦",
            };
            let step = match (reads.start, stride.unsigned_abs()) {
                (None, _) => String::new(),
                (_, 0) => ": every index reads the same cells".to_string(),
                (_, n) if *stride < 0 => format!(": one step moves back {}", count(n, "cell")),
                (_, n) => format!(": one step moves {}", count(n, "cell")),
            };
            let text = format!("i{axis} {direction}  size {size}, stride {stride}{step}");
            self.line("soft", &text, 13.0, 6.6);
            self.y += 4.0;
        }
        if rank > 2 {
            let text = "→ along a row    ↓ down a column    ▦ from block to block";
            self.line("soft", text, 13.0, 6.6);
            self.y += 4.0;
        }
    }

    /// The result two axes at a time, blocks side by side. Tells whether something was left out.
    fn blocks(&mut self, reads: &Reads) -> bool {
        let rank = reads.shape.len();
        let outer = &reads.shape[..rank.saturating_sub(2)];
        let columns = reads.shape.last().copied().unwrap_or(1);
        let rows = if rank > 1 { reads.shape[rank - 2] } else { 1 };
        let step = self.cell + GAP;
        let fit = (((WIDE - 2.0 * EDGE - SIDE) / step) as usize).clamp(4, COLUMNS);
        let most_rows = if outer.is_empty() { ROWS } else { ROWS / 2 };
        let (shown_rows, shown_columns) = (shown(rows, most_rows), shown(columns, fit));
        let side = if rank > 1 { SIDE } else { 0.0 };
        let width = side + shown_columns.len() as f64 * step + 22.0;
        let head = if outer.is_empty() { 0.0 } else { 20.0 };
        let over = if rank > 0 { OVER } else { 0.0 };
        let height = head + over + shown_rows.len() as f64 * (HEIGHT + GAP) + UNDER;
        // A row of blocks ends where a run of the axis before the last two does, or at the edge.
        let per_line = (((WIDE - 2.0 * EDGE) / width) as usize).max(1);
        let run = outer.last().copied().unwrap_or(1).clamp(1, per_line);
        let per_line = per_line / run * run;
        let shown_blocks = shown(outer.iter().product(), BLOCKS);
        for line in shown_blocks.chunks(per_line) {
            let mut tall = 24.0;
            for (at, block) in line.iter().enumerate() {
                let x = EDGE + at as f64 * width;
                let Some(block) = block else {
                    self.text("text", x, self.y + 20.0, "…");
                    continue;
                };
                tall = height;
                if !outer.is_empty() {
                    self.text("soft", x + side, self.y + 12.0, &block_name(*block, outer));
                }
                let top = self.y + head + over;
                if rank > 0 {
                    let middle = x + side + self.cell / 2.0;
                    self.tick(middle, top - 20.0, &format!("i{} →", rank - 1));
                }
                if rank > 1 {
                    self.tick(x + 12.0, top - 5.0, &format!("i{} ↓", rank - 2));
                }
                for (c, column) in shown_columns.iter().enumerate() {
                    let middle = x + side + c as f64 * step + self.cell / 2.0;
                    let name = column.filter(|_| rank > 0).map(|column| column.to_string());
                    self.tick(middle, top - 5.0, &name.unwrap_or_default());
                }
                for (r, row) in shown_rows.iter().enumerate() {
                    let y = top + r as f64 * (HEIGHT + GAP);
                    if rank > 1 {
                        let name = row.map_or("…".to_string(), |row| row.to_string());
                        self.tick(x + 12.0, y + HEIGHT / 2.0 + 4.0, &name);
                    }
                    for (c, column) in shown_columns.iter().enumerate() {
                        let left = x + side + c as f64 * step;
                        let (Some(row), Some(column)) = (row, column) else {
                            self.tick(left + self.cell / 2.0, y + HEIGHT / 2.0 + 4.0, "…");
                            continue;
                        };
                        let index = (block * rows + row) * columns + column;
                        let (look, what) = match reads.cells[index] {
                            Some(cell) => (
                                Look::Cell(cell, reads.again[index]),
                                format!("reads cell {cell}"),
                            ),
                            None => (Look::Nowhere, "is in no cell".to_string()),
                        };
                        let place = block_name(index, &reads.shape);
                        self.cell(left, y, look, &format!("[{place}] {what}"));
                    }
                }
            }
            self.y += tall;
        }
        self.y -= UNDER + GAP;
        [shown_rows, shown_columns, shown_blocks]
            .iter()
            .any(|shown| shown.contains(&None))
    }

    fn finish(self, name: &str) -> String {
        let (width, height) = (self.right + EDGE, self.y + EDGE);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\">\n\
             <title>{}</title>\n<style>{STYLE}</style>\n\
             <rect class=\"back\" width=\"100%\" height=\"100%\" rx=\"8\"/>\n{}</svg>\n",
            escaped(name),
            self.body.replace(
                &format!("x2=\"{RIGHT}\""),
                &format!("x2=\"{:.1}\"", self.right)
            )
        )
    }
}

/// How a cell looks.
#[derive(Clone, Copy)]
enum Look {
    /// In the colour of a memory cell; whether it has been read before.
    Cell(usize, bool),
    /// A memory cell that nothing reads.
    Unread(usize),
    /// A value that is in no cell.
    Nowhere,
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // XML has no place for other control characters.
            c if c < ' ' => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
