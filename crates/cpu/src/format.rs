//! Tensors as text, laid out as NumPy lays out arrays: columns aligned, long ones cut in the middle.

use std::fmt;

use stridewise_core::dtype::Family;
use stridewise_core::params::Scalar;
use stridewise_core::size::tuple;
use stridewise_core::{Axis, DType, Engine, Error};

use crate::engine::Cpu;
use crate::scalar::numbers;
use crate::tensor::Tensor;

/// Past this many elements only the ends of each axis are shown.
const WHOLE: usize = 1000;
/// How many of each end.
const END: usize = 3;
/// Digits behind the point, at most.
const DIGITS: usize = 8;
/// Lines are broken before this column.
const WIDTH: usize = 75;

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(self, "").unwrap_or_else(|error| format!("<{error}>")))
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body = text(self, "       ").unwrap_or_else(|error| format!("<{error}>"));
        write!(f, "tensor({body}")?;
        if self.layout().is_empty() && self.shape() != [0] {
            write!(f, ", shape={}", tuple(self.shape()))?;
        }
        let plain = matches!(
            self.dtype(),
            DType::Bool | DType::I64 | DType::F64 | DType::C128
        );
        if plain && !self.layout().is_empty() {
            f.write_str(")")
        } else {
            write!(f, ", dtype={})", self.dtype())
        }
    }
}

/// The elements in brackets; lines after the first start with `indent`.
fn text(x: &Tensor, indent: &str) -> Result<String, Error> {
    if x.layout().is_empty() {
        return Ok("[]".to_string());
    }
    let cut = x.count() > WHOLE;
    let mut shown = x.clone();
    if cut {
        // The cells that are shown, so that a large tensor costs no more than a small one.
        for axis in 0..x.rank() {
            let size = x.shape()[axis];
            if size > 2 * END {
                let end = |start: usize| {
                    let part = Axis::Slice {
                        of: axis,
                        start,
                        len: END,
                        step: 1,
                    };
                    Cpu.view(&shown, x.rank(), |out| {
                        if out == axis {
                            part.clone()
                        } else {
                            Axis::Of(out)
                        }
                    })
                };
                let (near, far) = (end(0)?, end(size - END)?);
                shown = Cpu.concat(&[&near, &far], axis)?;
            }
        }
    }
    let words = words(x.dtype(), &numbers(&shown)?);
    let width = words.iter().map(String::len).max().unwrap_or(0);
    let words: Vec<String> = words
        .into_iter()
        .map(|word| format!("{word:>width$}"))
        .collect();
    let mut out = String::new();
    let page = Page {
        shape: x.shape(),
        shown: shown.shape(),
        cut,
        indent,
    };
    page.write(&words, 0, &mut out);
    Ok(out)
}

struct Page<'a> {
    shape: &'a [usize],
    shown: &'a [usize],
    cut: bool,
    indent: &'a str,
}

impl Page<'_> {
    fn write(&self, words: &[String], axis: usize, out: &mut String) {
        let Some(&size) = self.shown.get(axis) else {
            out.push_str(words[0].trim_start());
            return;
        };
        let inner = words.len() / size;
        let last = axis + 1 == self.shown.len();
        let lines = if last { 0 } else { self.shown.len() - axis - 1 };
        let start = format!("{}{}", self.indent, " ".repeat(axis + 1));
        out.push('[');
        let mut column = start.len();
        for at in 0..size {
            let gap = self.cut && size < self.shape[axis] && at == END;
            if at > 0 && !last {
                out.push_str(&format!("{}{}{start}", ",", "\n".repeat(lines)));
            } else if at > 0 {
                out.push_str(", ");
            }
            if gap && last {
                out.push_str("..., ");
                column += 5;
            } else if gap {
                out.push_str(&format!("...,{}{start}", "\n".repeat(lines)));
            }
            if last {
                let word = &words[at];
                if column + word.len() > WIDTH && at > 0 {
                    out.truncate(out.trim_end().len());
                    out.push_str(&format!("\n{start}"));
                    column = start.len();
                }
                out.push_str(word);
                column += word.len() + 2;
            } else {
                self.write(&words[at * inner..(at + 1) * inner], axis + 1, out);
            }
        }
        out.push(']');
    }
}

/// Each number as a word, all in one notation.
fn words(dtype: DType, values: &[Scalar]) -> Vec<String> {
    match dtype.family() {
        Family::Float => floats(dtype, &values.iter().map(|v| v.real()).collect::<Vec<_>>()),
        Family::Complex => {
            let part = if dtype == DType::C64 {
                DType::F32
            } else {
                DType::F64
            };
            let imaginary = |v: &Scalar| {
                if let Scalar::Complex(_, im) = v {
                    *im
                } else {
                    0.0
                }
            };
            let re = floats(part, &values.iter().map(|v| v.real()).collect::<Vec<_>>());
            let im = floats(part, &values.iter().map(imaginary).collect::<Vec<_>>());
            let sign = |im: &str| if im.starts_with('-') { "" } else { "+" };
            re.iter()
                .zip(&im)
                .map(|(re, im)| format!("{re}{}{}j", sign(im.trim()), im.trim()))
                .collect()
        }
        _ => values.iter().map(Scalar::to_string).collect(),
    }
}

/// Floats with the digits they need and no more, in scientific notation where they differ too much.
fn floats(dtype: DType, values: &[f64]) -> Vec<String> {
    let finite: Vec<f64> = values
        .iter()
        .map(|x| x.abs())
        .filter(|x| x.is_finite() && *x > 0.0)
        .collect();
    let high = finite.iter().copied().fold(0.0, f64::max);
    let low = finite.iter().copied().fold(f64::INFINITY, f64::min);
    let scientific =
        !finite.is_empty() && (high >= 1e8 || low < 1e-4 || high / low > 1e3 && high >= 1e6);
    let shortest: Vec<(String, String)> = values
        .iter()
        .map(|x| digits(dtype, *x, scientific))
        .collect();
    let fraction = |word: &str| word.split_once('.').map_or(0, |(_, f)| f.len());
    let longest = shortest
        .iter()
        .map(|(word, _)| fraction(word))
        .max()
        .unwrap_or(0);
    shortest
        .into_iter()
        .map(|(word, exponent)| match word.contains('.') {
            true => {
                let pad = longest - fraction(&word);
                let fill = if scientific { "0" } else { " " };
                format!("{word}{}{exponent}", fill.repeat(pad))
            }
            false => word,
        })
        .collect()
}

/// The shortest decimal that reads back as the same element, cut at [`DIGITS`] behind the point, and its
/// exponent.
fn digits(dtype: DType, x: f64, scientific: bool) -> (String, String) {
    if !x.is_finite() {
        return (format!("{x}").to_lowercase(), String::new());
    }
    let back = |text: &str| -> f64 {
        let x: f64 = text.parse().unwrap_or(f64::NAN);
        match dtype {
            DType::F16 => half::f16::from_f64(x).to_f64(),
            DType::BF16 => half::bf16::from_f64(x).to_f64(),
            DType::F32 => f64::from(x as f32),
            _ => x,
        }
    };
    let exact = (0..17)
        .map(|n| format!("{x:.n$e}"))
        .find(|text| back(text) == x);
    let exact = exact.unwrap_or_else(|| format!("{x:e}"));
    if scientific {
        let (mantissa, exponent) = exact.split_once('e').unwrap_or((&exact, "0"));
        let mantissa = match mantissa.split_once('.') {
            Some((_, f)) if f.len() > DIGITS => {
                let cut = format!("{:.DIGITS$e}", x);
                cut.split_once('e')
                    .map_or(cut.clone(), |(m, _)| m.to_string())
            }
            Some(_) => mantissa.to_string(),
            None => format!("{mantissa}."),
        };
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let sign = if exponent < 0 { '-' } else { '+' };
        return (mantissa, format!("e{sign}{:02}", exponent.abs()));
    }
    let exact: f64 = exact.parse().unwrap_or(x);
    let plain = format!("{exact}");
    let plain = match plain.split_once('.') {
        Some((_, f)) if f.len() > DIGITS => format!("{exact:.DIGITS$}")
            .trim_end_matches('0')
            .to_string(),
        Some(_) => plain,
        None => format!("{plain}."),
    };
    (plain, String::new())
}
