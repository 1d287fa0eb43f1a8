//! ONNX models: a file of them stands where a program may, and its inputs and outputs have names.

mod given;
mod info;
mod plan;
mod run;

use std::path::Path;

use stridewise_core::error::Error;

use crate::failure::Failure;

pub(crate) use info::info;
pub(crate) use plan::plan;
pub(crate) use run::run;
#[cfg(feature = "gpu")]
pub(crate) use run::walked;

/// The model's file, where the text is one and no program.
pub(crate) fn path(text: &str) -> Option<&Path> {
    Some(Path::new(text)).filter(|path| is_model(path))
}

/// Whether a file is a model, by its ending.
pub(crate) fn is_model(path: &Path) -> bool {
    let ending = path.extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("onnx"))
}

/// The error of a run: code 1 where a file or the machine is to blame, otherwise what was given does not fit.
pub(crate) fn failed(error: Error) -> Failure {
    match error {
        Error::File(_) | Error::Memory(_) => Failure::Other(error.to_string()),
        _ => Failure::Usage(error.to_string()),
    }
}
