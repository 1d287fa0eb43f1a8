//! Programs over many ranks: the options that say which mesh there is and how the inputs lie on it, a plan of it
//! without data, and a run on threads.

mod json;
mod look;
mod options;
pub(crate) mod plan;
pub(crate) mod run;
mod table;

pub(crate) use options::{Given, Ranks};

use stridewise::spread::{Moved, What};

/// Whether ranks talk to each other for it; a slice of what a rank has already is none.
fn is_collective(moved: &Moved) -> bool {
    match moved.what {
        What::Rows(_) => true,
        What::Change(from, _) => from != stridewise::Sbp::Broadcast,
    }
}

/// What a change of layout is from and to, in words.
fn way(moved: &Moved) -> String {
    match moved.what {
        What::Change(from, to) => format!("{from} -> {to}"),
        What::Rows(axis) => format!("rows of S({axis})"),
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

#[cfg(test)]
mod tests {
    use super::*;
    use stridewise::Sbp;
    use stridewise_core::dtype::DType;

    #[test]
    fn changes_of_ranks_are_put_together_though_one_skips_some() {
        let moved = |mesh_axis: usize, bytes: u64| Moved {
            operator: "reshape",
            what: What::Change(Sbp::Split(0), Sbp::Broadcast),
            shape: [2, 3].into(),
            dtype: DType::F32,
            mesh_axis,
            bytes,
        };
        let all = together(Vec::new(), &[moved(1, 4)]);
        let all = together(all, &[moved(0, 1), moved(1, 3), moved(0, 7)]);
        assert_eq!(all, [moved(0, 1), moved(1, 4), moved(0, 7)]);
        assert_eq!(together(all.clone(), &[]), all);
        assert_eq!(received(&all), 12);
    }
}
