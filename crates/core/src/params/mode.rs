//! What a gather does with an index outside its source.

use std::fmt;

use crate::error::{Error, Result};
use crate::params::Scalar;

/// The treatment of indices outside `0 .. n`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Mode {
    /// `-n ..= -1` counts from the end; anything further out is an error.
    #[default]
    Raise,
    /// Floor-modulo `n`, any distance both ways.
    Wrap,
    /// Into `0 ..= n-1`; negatives become 0.
    Clip,
    /// `-n ..= -1` counts from the end; anything further out reads this value.
    Fill(Scalar),
}

impl Mode {
    /// The mode of that name; `fill` reads `fill_value`, 0 if there is none.
    pub fn named(word: &str, fill_value: Option<Scalar>) -> Result<Mode> {
        let mode = match word {
            "raise" => Mode::Raise,
            "wrap" => Mode::Wrap,
            "clip" => Mode::Clip,
            "fill" => return Ok(Mode::Fill(fill_value.unwrap_or(Scalar::Int(0)))),
            _ => {
                return Err(Error::argument(format!("there is no mode \"{word}\""))
                    .at_argument("mode")
                    .sizes("raise, wrap, clip or fill", word)
                    .help("use \"raise\", \"wrap\", \"clip\" or \"fill\""));
            }
        };
        match fill_value {
            None => Ok(mode),
            Some(_) => Err(Error::argument(format!(
                "fill_value has no meaning in mode \"{mode}\""
            ))
            .at_argument("fill_value")
            .help("use mode=\"fill\"")),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Raise => "raise",
            Mode::Wrap => "wrap",
            Mode::Clip => "clip",
            Mode::Fill(_) => "fill",
        })
    }
}
