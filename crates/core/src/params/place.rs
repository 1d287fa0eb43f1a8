//! On which side `atleast_nd` puts new axes.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// Where new axes of size 1 go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Before the existing axes.
    Front,
    /// Behind them.
    Back,
    /// As `atleast_3d` has it: a row gets an axis on both sides, a matrix one behind.
    #[default]
    Numpy,
}

impl FromStr for Place {
    type Err = Error;

    fn from_str(word: &str) -> Result<Place> {
        match word {
            "front" => Ok(Place::Front),
            "back" => Ok(Place::Back),
            "numpy" => Ok(Place::Numpy),
            _ => Err(Error::argument(format!("there is no place \"{word}\""))
                .at_argument("place")
                .help("use \"front\", \"back\" or \"numpy\"")),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Place::Front => "front",
            Place::Back => "back",
            Place::Numpy => "numpy",
        })
    }
}
