//! How one mesh axis holds a tensor: each rank a part, each rank all of it, or each rank a summand.

use std::fmt;
use std::str::FromStr;

use stridewise_core::error::{Error, Result};
use stridewise_core::smallvec::SmallVec;

pub use stridewise_cpu::Reduction;

/// How the ranks along one mesh axis hold a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sbp {
    /// Each has a part of an axis, in order; the parts are balanced ([`crate::mesh::part`]).
    Split(usize),
    /// Each has all of it.
    Broadcast,
    /// Each has a tensor of the whole shape; all of them, reduced, are the tensor.
    Partial(Reduction),
}

/// One [`Sbp`] for each mesh axis. The first mesh axis cuts the tensor, the next one cuts its parts, and so on.
pub type NdSbp = SmallVec<[Sbp; 3]>;

impl Sbp {
    /// The axis that is split, if one is.
    pub fn axis(self) -> Option<usize> {
        match self {
            Sbp::Split(axis) => Some(axis),
            _ => None,
        }
    }
}

/// `S(0)`, `B`, `P` (a sum), `P(max)`, `P(min)`.
impl fmt::Display for Sbp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sbp::Split(axis) => write!(f, "S({axis})"),
            Sbp::Broadcast => f.write_str("B"),
            Sbp::Partial(Reduction::Sum) => f.write_str("P"),
            Sbp::Partial(by) => write!(f, "P({})", by.name()),
        }
    }
}

impl FromStr for Sbp {
    type Err = Error;

    fn from_str(text: &str) -> Result<Sbp> {
        let inside = |name: &str| {
            let rest = text.strip_prefix(name)?;
            rest.strip_prefix('(')?.strip_suffix(')').map(str::trim)
        };
        if let Some(Ok(axis)) = inside("S").map(str::parse) {
            return Ok(Sbp::Split(axis));
        }
        match (text, inside("P")) {
            ("B", _) => Ok(Sbp::Broadcast),
            ("P", _) | (_, Some("sum")) => Ok(Sbp::Partial(Reduction::Sum)),
            (_, Some("max")) => Ok(Sbp::Partial(Reduction::Max)),
            (_, Some("min")) => Ok(Sbp::Partial(Reduction::Min)),
            _ => Err(Error::argument(format!("`{text}` is no way to lie on a mesh axis"))
                .at_argument("sbp")
                .help("write S(0) for a split of axis 0, B for broadcast, P, P(max) or P(min) for partial")),
        }
    }
}

/// Reads one [`Sbp`] for each mesh axis, separated by commas: `S(0),B`.
pub fn parse(text: &str) -> Result<NdSbp> {
    text.split(',').map(|part| part.trim().parse()).collect()
}

/// All of them as text: `S(0), B`.
pub fn text(sbp: &[Sbp]) -> String {
    let all: Vec<String> = sbp.iter().map(Sbp::to_string).collect();
    all.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_back() {
        for written in ["S(0), B", "P, P(max), P(min)", "S(3)"] {
            let read = parse(written).expect(written);
            assert_eq!(text(&read), written);
        }
        for wrong in ["", "S", "S()", "S(-1)", "S(x)", "Q", "P(mean)", "B,", "b"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
