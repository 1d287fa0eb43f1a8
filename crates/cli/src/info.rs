//! `stridewise info`: what is in a file.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use stridewise::{Tensor, files};
use stridewise_core::dtype::{DType, Family};
use stridewise_core::error::Error;
use stridewise_core::operators::Methods;
use stridewise_core::params::{Item, Items};
use stridewise_core::size::tuple;

use crate::failure::Failure;
use crate::model;
use crate::terminal::{Paint, bytes, count, cut};

/// Describe the tensors in a file, or an ONNX model.
///
/// For each tensor: dtype, shape, strides, order, bytes, whether it is mapped from the file or had to be
/// copied, the range of its values and the first of them. For a model: what it is given and gives, which
/// operators it is made of, and whether it can be run here.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  stridewise info weights.safetensors
  stridewise info model.onnx")]
pub(crate) struct Options {
    /// A .npy, .safetensors or .onnx file.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

/// Past this many elements the range of the values is not looked for.
const CHEAP: usize = 1 << 24;
/// How many values are shown.
const FIRST: isize = 6;
/// The columns in front of a fact.
const MARGIN: usize = 11;

/// Describes files.
pub(crate) fn info(options: &Options, out: &mut dyn Write) -> Result<(), Failure> {
    let paint = Paint::stdout();
    for (at, path) in options.files.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        if model::is_model(path) {
            model::info(path, paint, out)?;
            continue;
        }
        let tensors = files::load_all(path)?;
        if options.files.len() > 1 || tensors.len() != 1 {
            let name = path.file_name().unwrap_or(path.as_os_str());
            let head = format!(
                "{}: {}",
                name.to_string_lossy(),
                count(tensors.len(), "tensor")
            );
            writeln!(out, "{}", paint.bold(&head))?;
        }
        for (name, x) in &tensors {
            if !name.is_empty() {
                writeln!(out, "{}", paint.cyan(name))?;
            }
            for (label, text) in facts(x, paint.width() - MARGIN)? {
                writeln!(out, "  {} {text}", paint.dim(&format!("{label:<8}")))?;
            }
        }
    }
    Ok(())
}

fn facts(x: &Tensor, width: usize) -> Result<Vec<(&'static str, String)>, Error> {
    let mut facts = vec![
        ("dtype", x.dtype().to_string()),
        ("shape", tuple(x.shape())),
        ("strides", tuple(x.strides())),
        ("order", order(x).to_string()),
        (
            "size",
            format!("{}, {}", count(x.count(), "element"), bytes(x.nbytes())),
        ),
        (
            "memory",
            match x.storage().is_foreign() {
                true => "mapped from the file".to_string(),
                false => "copied from the file".to_string(),
            },
        ),
    ];
    if let Some(range) = range(x)? {
        facts.push(("values", range));
    }
    if x.count() > 0 {
        facts.push(("first", cut(&first(x)?, width)));
    }
    Ok(facts)
}

fn order(x: &Tensor) -> &'static str {
    let column = |x: &Tensor| x.transpose(..).is_ok_and(|t| t.layout().is_packed());
    match (x.layout().is_packed(), column(x)) {
        (true, true) => "row-major and column-major",
        (true, false) => "row-major",
        (false, true) => "column-major",
        (false, false) => "neither row-major nor column-major",
    }
}

/// The lowest and highest value, where they are cheap to find and the elements have an order.
fn range(x: &Tensor) -> Result<Option<String>, Error> {
    if x.count() == 0 || x.dtype().family() == Family::Complex {
        return Ok(None);
    }
    if x.count() > CHEAP {
        return Ok(Some("not computed (too large)".to_string()));
    }
    Ok(match x.dtype().family() {
        Family::Bool => {
            let set = x.cast(DType::I64)?.sum(.., false, None)?.item::<i64>()?;
            Some(format!("{set} of {} are True", x.count()))
        }
        Family::Signed => ends(x.cast(DType::I64)?.to_vec::<i64>()?),
        Family::Unsigned => ends(x.cast(DType::U64)?.to_vec::<u64>()?),
        Family::Float => {
            let values = x.cast(DType::F64)?.to_vec::<f64>()?;
            let nan = values.iter().filter(|v| v.is_nan()).count();
            let numbers: Vec<f64> = values.into_iter().filter(|v| !v.is_nan()).collect();
            let low = numbers.iter().copied().reduce(f64::min);
            let high = numbers.iter().copied().reduce(f64::max);
            let ends = match (low, high) {
                (Some(low), Some(high)) => {
                    let (low, high) = (shown(x.dtype(), low)?, shown(x.dtype(), high)?);
                    format!("{low} to {high}")
                }
                _ => "no numbers".to_string(),
            };
            Some(match nan {
                0 => ends,
                n => format!("{ends}, and {n} NaN"),
            })
        }
        Family::Complex => None,
    })
}

fn ends<T: Ord + ToString>(values: Vec<T>) -> Option<String> {
    let (low, high) = (values.iter().min()?, values.iter().max()?);
    Some(format!("{} to {}", low.to_string(), high.to_string()))
}

/// A float with the digits its type has.
fn shown(dtype: DType, value: f64) -> Result<String, Error> {
    Ok(Tensor::scalar(value)?.cast(dtype)?.to_string())
}

fn first(x: &Tensor) -> Result<String, Error> {
    if x.rank() == 0 {
        return Ok(x.to_string());
    }
    // Only the cells that are shown are read.
    let mut items = vec![Item::At(0); x.rank() - 1];
    items.push(Item::from(..FIRST));
    let row = x.slice(Items::from(items))?;
    let more = if x.count() > row.count() { " …" } else { "" };
    // Long values are printed over several lines.
    let row = row.to_string();
    let row: Vec<&str> = row.split_whitespace().collect();
    Ok(format!("{}{more}", row.join(" ")))
}
