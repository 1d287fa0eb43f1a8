//! Tensors as text, on the page as NumPy lays out arrays: `Display` is its `str`, but with commas, and `Debug`
//! its `repr`. Here are lines, brackets and what is left out; [`numbers`] turns elements into words of equal
//! width, and [`digits`] finds the digits of floats.

mod digits;
mod numbers;

use std::fmt;

use stridewise_core::size::tuple;
use stridewise_core::{Axis, DType, Engine, Result};

use crate::engine::Cpu;
use crate::scalar;
use crate::tensor::Tensor;

/// Past this many elements only the ends of each axis are shown.
const WHOLE: usize = 1000;
/// How many of each end.
const END: usize = 3;
/// No line is longer, unless a single word is.
const WIDTH: usize = 75;
/// The highest rank NumPy has. A tensor of more axes is only described: each takes a column of every line, and
/// a call on the stack.
const RANK: usize = 64;
/// A tensor that shows more elements even with its axes cut is only described: ends multiply, and 2⁴⁰ of them
/// are possible where no axis is longer than two.
const SHOWN: usize = 100_000;
/// What `Debug` starts with.
const NAME: &str = "tensor(";

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(description) = described(self) {
            return f.write_str(&description);
        }
        let text = match self.rank() {
            0 => scalar::numbers(self).map(|values| numbers::scalar(self.dtype(), values[0])),
            _ => body(self, 0, WIDTH),
        };
        f.write_str(&text.unwrap_or_else(|error| format!("<{error}>")))
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(description) = described(self) {
            return f.write_str(&description);
        }
        // The closing parenthesis takes a column.
        let body = body(self, NAME.len(), WIDTH - 1).unwrap_or_else(|error| format!("<{error}>"));
        write!(f, "{NAME}{body}")?;
        let empty = self.layout().is_empty();
        let mut extras = Vec::new();
        if empty && self.shape() != [0] || self.count() > WHOLE {
            extras.push(format!("shape={}", tuple(self.shape())));
        }
        let implied = matches!(
            self.dtype(),
            DType::Bool | DType::I64 | DType::F64 | DType::C128
        );
        if !implied || empty {
            extras.push(format!("dtype={}", self.dtype()));
        }
        if extras.is_empty() {
            return f.write_str(")");
        }
        let extras = extras.join(", ");
        let last = match body.rfind('\n') {
            Some(end) => body.len() - end - 1,
            None => NAME.len() + body.len(),
        };
        // Beside the extras the line holds a comma, a space and the closing parenthesis.
        if last + extras.len() + 3 > WIDTH {
            write!(f, ",\n{:1$}{extras})", "", NAME.len())
        } else {
            write!(f, ", {extras})")
        }
    }
}

/// What stands for a tensor whose elements would fill no page that anybody reads.
fn described(x: &Tensor) -> Option<String> {
    let dtype = x.dtype();
    if x.rank() > RANK {
        return Some(format!("<tensor of rank {}, dtype {dtype}>", x.rank()));
    }
    let shown = x.shape().iter().fold(1, |shown: usize, &size| {
        shown.saturating_mul(size.min(2 * END))
    });
    (x.count() > WHOLE && shown > SHOWN)
        .then(|| format!("<tensor of shape {}, dtype {dtype}>", tuple(x.shape())))
}

/// The elements in brackets, lines after the first indented.
fn body(x: &Tensor, indent: usize, width: usize) -> Result<String> {
    if x.layout().is_empty() {
        return Ok("[]".to_string());
    }
    let cut = x.count() > WHOLE;
    let shown = if cut { ends(x, 0)? } else { x.clone() };
    let page = Page {
        shape: x.shape(),
        shown: shown.shape(),
        indent,
        width,
    };
    let words = numbers::words(x.dtype(), &scalar::numbers(&shown)?, x.rank());
    let mut out = String::new();
    page.write(&words, 0, &mut out);
    Ok(out)
}

/// The ends of every axis from `axis` on that is longer than both. Views go all the way down before anything
/// is joined, so only elements that are shown are ever copied.
fn ends(x: &Tensor, axis: usize) -> Result<Tensor> {
    let Some(axis) = (axis..x.rank()).find(|&axis| x.shape()[axis] > 2 * END) else {
        return Ok(x.clone());
    };
    let end = |start: usize| {
        let part = Cpu.view(x, x.rank(), |out| match out == axis {
            true => Axis::Slice {
                of: axis,
                start,
                len: END,
                step: 1,
            },
            false => Axis::Of(out),
        })?;
        ends(&part, axis + 1)
    };
    Cpu.concat(&[&end(0)?, &end(x.shape()[axis] - END)?], axis)
}

/// Where brackets, commas and line breaks go.
struct Page<'a> {
    shape: &'a [usize],
    /// The same shape, cut axes shorter.
    shown: &'a [usize],
    indent: usize,
    width: usize,
}

impl Page<'_> {
    fn write(&self, words: &[String], axis: usize, out: &mut String) {
        let Some(&size) = self.shown.get(axis) else {
            out.extend(words.iter().map(String::as_str));
            return;
        };
        out.push('[');
        if axis + 1 == self.shown.len() {
            self.write_row(words, axis, out);
        } else {
            let line_break = "\n".repeat(self.shown.len() - axis - 1);
            let start = self.indent + axis + 1;
            for (at, part) in words.chunks(words.len() / size).enumerate() {
                if at > 0 {
                    out.push_str(&format!(",{line_break}{:start$}", ""));
                }
                if self.has_gap(axis, at) {
                    out.push_str(&format!("...,{line_break}{:start$}", ""));
                }
                self.write(part, axis + 1, out);
            }
        }
        out.push(']');
    }

    fn write_row(&self, words: &[String], axis: usize, out: &mut String) {
        let start = self.indent + axis + 1;
        // As many brackets as there are axes may close behind a word; NumPy keeps room for them on every line.
        let end = self.width - axis - 1;
        let mut column = start;
        let mut put = |word: &str| {
            if column > start {
                // The space behind the comma counts even where the line breaks instead.
                column += 2;
                if column + word.len() > end {
                    out.push_str(&format!(",\n{:start$}", ""));
                    column = start;
                } else {
                    out.push_str(", ");
                }
            }
            out.push_str(word);
            column += word.len();
        };
        for (at, word) in words.iter().enumerate() {
            if self.has_gap(axis, at) {
                put("...");
            }
            put(word);
        }
    }

    /// Whether something is left out in front of a shown index.
    fn has_gap(&self, axis: usize, at: usize) -> bool {
        at == END && self.shown[axis] < self.shape[axis]
    }
}
