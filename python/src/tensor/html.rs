//! What notebooks show for a tensor: its facts, a picture of which memory cell each element reads, and the
//! values. Self-contained, and drawn so that it is legible on light and dark pages alike.

use std::collections::BTreeSet;
use std::fmt::Write;

use stridewise::Tensor;
use stridewise::size::tuple;

/// The most cells of memory, rows, columns and blocks that are drawn, where they are not too wide.
const CELLS: usize = 24;
const ROWS: usize = 8;
const COLUMNS: usize = 12;
const BLOCKS: usize = 4;
/// Up to this many elements it is found out which cells between the first and the last are read.
const LOOKED_AT: usize = 4096;
/// The sizes of things, in pixels.
const WIDE: usize = 760;
const HEIGHT: usize = 22;
const GAP: usize = 3;
const LABEL: usize = 16;

/// The whole of it.
pub(crate) fn page(x: &Tensor) -> String {
    let layout = if x.is_contiguous() {
        "contiguous"
    } else {
        "not contiguous"
    };
    let stored = x.storage().len();
    let reached = x.layout().reach().len() * x.dtype().width();
    let view = match reached == stored {
        true => String::new(),
        false => format!(" · view into {}", bytes(stored)),
    };
    let taken = match reached < x.nbytes() {
        true => format!("{} seen in {}", bytes(x.nbytes()), bytes(reached)),
        false => bytes(x.nbytes()),
    };
    let shared = match x.layout().overlaps_itself() {
        true => " · elements share cells",
        false => "",
    };
    let mut page = String::from(r#"<div style="margin:2px 0;line-height:1.45">"#);
    let _ = write!(
        page,
        "<div><b>Tensor</b> {} {}</div>\
         <div style=\"opacity:.75;font-size:90%\">strides {} · {layout}{shared} · {taken}{view}</div>",
        x.dtype(),
        tuple(x.shape()),
        tuple(x.strides()),
    );
    page += &picture(x);
    let _ = write!(
        page,
        "<pre style=\"margin:4px 0 0;background:none;color:inherit\">{}</pre></div>",
        escaped(&x.to_string())
    );
    page
}

fn bytes(n: usize) -> String {
    match n {
        1 => "1 byte".to_string(),
        0..10_000 => format!("{n} bytes"),
        10_000..10_000_000 => format!("{:.1} kB", n as f64 / 1e3),
        10_000_000..10_000_000_000 => format!("{:.1} MB", n as f64 / 1e6),
        _ => format!("{:.1} GB", n as f64 / 1e9),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// The picture: the memory that is reached, and below it every element in the colour of its cell.
fn picture(x: &Tensor) -> String {
    if x.is_empty() {
        return "<div style=\"opacity:.75;font-size:90%\">no elements</div>".to_string();
    }
    let reach = x.layout().reach();
    let digits = (reach.end - 1).to_string().len();
    let mut drawing = Drawing {
        body: String::new(),
        first: reach.start,
        count: reach.len(),
        width: 8 * digits.max(2) + 8,
        right: 0,
    };
    let step = drawing.width + GAP;
    let mut y = LABEL;
    drawing.label(0, y - 5, "memory");
    let read = cells_read(x);
    let fitting = CELLS.min(WIDE / step).max(4);
    for (at, index) in shown(reach.len(), fitting).into_iter().enumerate() {
        let cell = index.map(|index| reach.start + index);
        let look = match (cell, &read) {
            (Some(cell), Some(read)) if !read.contains(&cell) => Look::Unread,
            _ => Look::Memory,
        };
        drawing.cell(at * step, y, cell, look);
    }
    y += HEIGHT + 8;
    let (outer, rows, columns) = match x.shape() {
        [] => (&[][..], 1, 1),
        [n] => (&[][..], 1, *n),
        [outer @ .., rows, columns] => (outer, *rows, *columns),
    };
    let blocks: usize = outer.iter().product();
    let mut left = 0;
    let (rows, columns) = (shown(rows, ROWS), shown(columns, COLUMNS.min(WIDE / step)));
    for block in shown(blocks, BLOCKS) {
        let Some(block) = block else {
            drawing.text(left + 4, y + LABEL + HEIGHT / 2 + 4, "start", "…");
            left += 24;
            continue;
        };
        let index = unravel(outer, block);
        let label = match x.rank() {
            0 | 1 => "elements".to_string(),
            2 => "[:, :]".to_string(),
            _ => {
                let index: Vec<String> = index.iter().map(usize::to_string).collect();
                format!("[{}, :, :]", index.join(", "))
            }
        };
        drawing.label(left, y + LABEL - 5, &label);
        for (down, row) in rows.iter().enumerate() {
            for (across, column) in columns.iter().enumerate() {
                let cell = row.zip(*column).map(|(row, column)| {
                    let own = match x.rank() {
                        0 => vec![],
                        1 => vec![column],
                        _ => vec![row, column],
                    };
                    cell_of(x, index.iter().copied().chain(own))
                });
                let top = y + LABEL + down * (HEIGHT + GAP);
                drawing.cell(left + across * step, top, cell, Look::Element);
            }
        }
        left += (columns.len() * step).max(7 * label.len()) + 12;
    }
    y += LABEL + rows.len() * (HEIGHT + GAP);
    drawing.finish(y)
}

/// The cell an index reads.
fn cell_of(x: &Tensor, index: impl Iterator<Item = usize>) -> usize {
    let steps = index
        .zip(x.strides())
        .map(|(i, stride)| (i as isize).wrapping_mul(*stride));
    steps.fold(x.layout().offset(), usize::wrapping_add_signed)
}

/// The cells that elements read; `None` where there are too many elements to ask.
fn cells_read(x: &Tensor) -> Option<BTreeSet<usize>> {
    let read = (0..x.count()).map(|flat| cell_of(x, unravel(x.shape(), flat).into_iter()));
    (x.count() <= LOOKED_AT).then(|| read.collect())
}

/// The index along axes of these sizes that a flat position stands for.
fn unravel(sizes: &[usize], mut flat: usize) -> Vec<usize> {
    let mut index: Vec<usize> = sizes
        .iter()
        .rev()
        .map(|&size| {
            let at = flat % size.max(1);
            flat /= size.max(1);
            at
        })
        .collect();
    index.reverse();
    index
}

/// The positions to draw: all, or the first and last ones with a gap between them.
fn shown(count: usize, most: usize) -> Vec<Option<usize>> {
    if count <= most {
        return (0..count).map(Some).collect();
    }
    let last = (most - 1) / 3;
    let first = most - 1 - last;
    (0..first)
        .map(Some)
        .chain([None])
        .chain((count - last..count).map(Some))
        .collect()
}

/// What a cell of the picture stands for.
#[derive(Clone, Copy, PartialEq)]
enum Look {
    Memory,
    /// Memory between the first and the last element that no element reads.
    Unread,
    Element,
}

struct Drawing {
    body: String,
    /// The first cell that is reached, and how many there are up to the last.
    first: usize,
    count: usize,
    /// The width of a cell.
    width: usize,
    /// The right edge of what was drawn.
    right: usize,
}

impl Drawing {
    /// One cell with its number; `None` stands for those left out.
    fn cell(&mut self, x: usize, y: usize, cell: Option<usize>, look: Look) {
        let (width, middle) = (self.width, x + self.width / 2);
        let baseline = y + HEIGHT / 2 + 4;
        let Some(cell) = cell else {
            self.text(middle, baseline, "middle", "…");
            return;
        };
        // Hues from red to violet say where in memory a cell lies; they are mid-tones with dark numbers, so
        // that they stand out from white and black alike.
        let place = (cell - self.first) as f64 / (self.count.max(2) - 1) as f64;
        let (fill, ink) = match look {
            Look::Unread => (
                "none\" stroke=\"currentColor\" stroke-opacity=\".3".to_string(),
                "currentColor\" opacity=\".5",
            ),
            _ => (format!("hsl({:.0},60%,72%)", 280.0 * place), "#1b1f24"),
        };
        let round = if look == Look::Element { 4 } else { 0 };
        let _ = write!(
            self.body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{HEIGHT}\" rx=\"{round}\" \
             fill=\"{fill}\"/><text x=\"{middle}\" y=\"{baseline}\" \
             text-anchor=\"middle\" fill=\"{ink}\">{cell}</text>"
        );
        self.right = self.right.max(x + width);
    }

    fn label(&mut self, x: usize, y: usize, text: &str) {
        self.text(x, y, "start", text);
        self.right = self.right.max(x + 7 * text.len());
    }

    fn text(&mut self, x: usize, y: usize, anchor: &str, text: &str) {
        let _ = write!(
            self.body,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" fill=\"currentColor\" \
             opacity=\".75\">{text}</text>"
        );
        self.right = self.right.max(x + 10);
    }

    fn finish(self, height: usize) -> String {
        let width = self.right + 2;
        format!(
            "<svg role=\"img\" aria-label=\"which memory cell each element reads\" width=\"{width}\" \
             height=\"{height}\" viewBox=\"0 0 {width} {height}\" style=\"max-width:100%;height:auto;display:block;\
             margin:4px 0\" font-family=\"ui-monospace,Menlo,Consolas,monospace\" font-size=\"11\">{}</svg>",
            self.body
        )
    }
}
