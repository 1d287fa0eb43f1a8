//! Programs over many ranks: the options that say which mesh there is and how the inputs lie on it, a plan of it
//! without data, and a run on threads.

mod json;
mod look;
mod options;
pub(crate) mod plan;
pub(crate) mod run;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use options::{Given, Ranks};

use stridewise::spread::{Moved, What};
use stridewise_core::size::tuple;

use crate::terminal::{bytes, count};

/// Whether ranks talk to each other for it; a slice of what a rank has already is none.
pub(crate) fn is_collective(moved: &Moved) -> bool {
    match moved.what {
        What::Rows(_) => true,
        What::Change(from, _) => from != stridewise::Sbp::Broadcast,
    }
}

/// What a change of layout is from and to, in words.
pub(crate) fn way(moved: &Moved) -> String {
    match moved.what {
        What::Change(from, to) => format!("{from} -> {to}"),
        What::Rows(axis) => format!("rows of S({axis})"),
    }
}

/// A change of layout in words.
fn words(moved: &Moved) -> String {
    let (what, shape) = (moved.what.name(), tuple(&moved.shape));
    let axis = moved.mesh_axis;
    format!("{what} {}, mesh axis {axis}, of {shape}", way(moved))
}

/// A number of bytes received.
pub(crate) fn amount(n: u64) -> String {
    bytes(usize::try_from(n).unwrap_or(usize::MAX))
}

/// How many collectives there are, in words.
fn counted(collectives: usize) -> String {
    match collectives {
        0 => "no collectives".to_string(),
        n => count(n, "collective"),
    }
}

/// Puts together what ranks noted of the same changes: of each, the most bytes that one received. A rank whose parts
/// are empty may have skipped some.
fn together(mut all: Vec<Moved>, other: &[Moved]) -> Vec<Moved> {
    let same = |a: &Moved, b: &Moved| {
        let of = |m: &Moved| (m.operator, m.what, m.mesh_axis, m.dtype);
        of(a) == of(b) && a.shape == b.shape
    };
    let mut next = 0;
    for moved in other {
        match all[next..].iter().position(|known| same(known, moved)) {
            Some(at) => {
                let known = &mut all[next + at];
                known.bytes = known.bytes.max(moved.bytes);
                next += at + 1;
            }
            None => {
                all.insert(next, moved.clone());
                next += 1;
            }
        }
    }
    all
}

/// The bytes of some changes.
fn received(moved: &[Moved]) -> u64 {
    moved
        .iter()
        .fold(0, |sum, one| sum.saturating_add(one.bytes))
}
