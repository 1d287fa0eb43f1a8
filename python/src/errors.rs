//! Errors as exceptions: the classes live in `stridewise/_errors.py`, the text and the fields are Rust's.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use stridewise::Error;
use stridewise::error::Report;

static CLASSES: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// The exception for an error.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    raise(py, error).unwrap_or_else(|failure| failure)
}

fn raise(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let class = match error {
        // What NumPy calls an IndexError: too many items, two ellipses, arrays that do not broadcast.
        Error::Shape(report) if is_index(report) => "IndexShapeError",
        Error::Argument(report) if is_index(report) && report.message().contains("`...`") => {
            "IndexShapeError"
        }
        Error::Shape(_) => "ShapeError",
        Error::Axis(_) => "AxisError",
        Error::Index(_) => "IndexOutOfRange",
        Error::DType(_) => "DTypeError",
        Error::Type(_) => "ArgumentTypeError",
        Error::Argument(_) => "ArgumentError",
        Error::Overflow(_) => "TooLarge",
        Error::Memory(_) => "OutOfMemory",
        Error::File(_) => "FileError",
        Error::TooEarly(_) => "TooEarly",
        Error::Gradient(_) => "GradientError",
        Error::World(_) => "WorldError",
        Error::Device(_) => "DeviceError",
        _ => "StridewiseError",
    };
    let classes =
        CLASSES.get_or_try_init(py, || py.import("stridewise._errors").map(Bound::unbind))?;
    let value = classes
        .bind(py)
        .getattr(class)?
        .call1((error.to_string(),))?;
    let report = error.report();
    let operator = Some(report.operator()).filter(|operator| !operator.is_empty());
    value.setattr("operator", operator)?;
    value.setattr("argument", report.argument())?;
    value.setattr("item", report.item())?;
    value.setattr("axis", report.axis())?;
    value.setattr("expected", report.expected())?;
    value.setattr("actual", report.actual())?;
    value.setattr("help", report.fix())?;
    Ok(PyErr::from_value(value))
}

/// An exception that was raised while an argument was read, with the operator where it is one of ours and has none.
pub(crate) fn named(
    py: Python<'_>,
    error: PyErr,
    operator: &'static str,
    node: Option<String>,
) -> PyErr {
    let name = || -> PyResult<()> {
        let value = error.value(py);
        let Some(there) = value.getattr_opt("operator")? else {
            return Ok(());
        };
        if there.is_truthy()? {
            return Ok(());
        }
        let call = match node {
            Some(node) => format!("{operator} `{node}`"),
            None => operator.to_string(),
        };
        let text = format!("{call}: {}", value.str()?);
        value.setattr("operator", operator)?;
        value.setattr("args", (text,))
    };
    match name() {
        Ok(()) => error,
        Err(failure) => failure,
    }
}

/// Whether an error is about what stands between the brackets of an index, and not about the tensor.
fn is_index(report: &Report) -> bool {
    match report.operator() {
        "slice" | "index" => true,
        // Without an index, `item` has only the tensor to blame.
        "item" => report.argument() != Some("x"),
        _ => false,
    }
}

/// A result whose error becomes an exception.
pub(crate) trait OrRaise<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for stridewise::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, &error))
    }
}
