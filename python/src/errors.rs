//! Errors as exceptions: the classes live in `stridewise/_errors.py`, the text and the fields are Rust's.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use stridewise::Error;

static CLASSES: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// The exception for an error.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    raise(py, error).unwrap_or_else(|failure| failure)
}

fn raise(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let class = match error {
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
        _ => "StridewiseError",
    };
    of_class(py, error, class)
}

fn of_class(py: Python<'_>, error: &Error, class: &str) -> PyResult<PyErr> {
    let classes =
        CLASSES.get_or_try_init(py, || py.import("stridewise._errors").map(Bound::unbind))?;
    let value = classes
        .bind(py)
        .getattr(class)?
        .call1((error.to_string(),))?;
    let report = error.report();
    value.setattr("operator", report.operator())?;
    value.setattr("argument", report.argument())?;
    value.setattr("item", report.item())?;
    value.setattr("axis", report.axis())?;
    value.setattr("expected", report.expected())?;
    value.setattr("actual", report.actual())?;
    value.setattr("help", report.fix())?;
    Ok(PyErr::from_value(value))
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

/// A result of `x[...]`, where a wrong count or shape is an `IndexError` too, as in NumPy.
pub(crate) trait IndexedWrongly<T> {
    fn or_raise_index(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> IndexedWrongly<T> for stridewise::Result<T> {
    fn or_raise_index(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| {
            let ellipses = matches!(&error, Error::Argument(r) if r.message().contains("`...`"));
            match ellipses || matches!(error, Error::Shape(_)) {
                true => of_class(py, &error, "IndexShapeError").unwrap_or_else(|failure| failure),
                false => exception(py, &error),
            }
        })
    }
}
