//! How a command fails: with a message on standard error and an exit code, 2 where the call is wrong and 1
//! where the machine or a file is.

use std::io::{self, Write, stderr};
use std::process::ExitCode;

use stridewise_core::error::Error;

use crate::program::Mistake;
use crate::terminal::Paint;

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A mistake in the program, and its text.
    Program(Mistake, String),
    /// Options that do not go together.
    Usage(String),
    /// A file or the machine.
    Other(String),
    /// Standard output cannot be written.
    Output(io::Error),
}

impl Failure {
    /// The mistake of a program, for `map_err`.
    pub(crate) fn within(source: &str) -> impl Fn(Mistake) -> Failure {
        move |mistake| Failure::Program(mistake, source.to_string())
    }

    /// Says what went wrong and with which code to end.
    pub(crate) fn report(&self) -> ExitCode {
        let paint = Paint::stderr();
        let (text, code) = match self {
            Failure::Program(mistake, source) => (
                mistake.show(source, paint),
                if mistake.details.machine { 1 } else { 2 },
            ),
            Failure::Usage(text) => (format!("{} {text}", paint.red("Error:")), 2),
            Failure::Other(text) => (format!("{} {text}", paint.red("Error:")), 1),
            // Whoever read the output has seen enough.
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                return ExitCode::SUCCESS;
            }
            Failure::Output(error) => (format!("{} {error}", paint.red("Error:")), 1),
        };
        // Nothing is left to tell if standard error is gone as well.
        let _ = writeln!(stderr(), "{text}");
        ExitCode::from(code)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Output(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Other(error.to_string())
    }
}
