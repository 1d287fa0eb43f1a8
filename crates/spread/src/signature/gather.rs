//! Reading and adding at indices, where the cells or the indices are split.

use std::ops::Range;

use stridewise_core::engine::Along;
use stridewise_core::size::Shape;
use stridewise_core::smallvec::{SmallVec, smallvec};

use super::{Kind, PARTIAL_SUM, Problem, Signature};
use crate::mesh::part;
use crate::sbp::Sbp;

/// The cells that a rank has of those an index can address.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Window {
    /// Those it has.
    pub(crate) cells: Range<usize>,
    /// How many there are on all ranks.
    pub(crate) of: usize,
    /// Whether it answers for indices that nobody has.
    pub(crate) keeper: bool,
}

use Sbp::{Broadcast as B, Split as S};

impl Problem {
    /// What is read of a source by an index.
    pub(super) fn gather(
        &self,
        along: &Along,
        fill: bool,
        (source, index): (Sbp, Sbp),
        parts: usize,
    ) -> Option<Signature> {
        let output = match (source, index, along) {
            (B, S(at), Along::Run(run)) => S(run.start + at),
            (B, S(at), Along::Aligned(axis)) if at == *axis => S(at),
            (S(at), S(other), Along::Aligned(axis)) if at == other && at != *axis => S(at),
            (S(at), B, Along::Run(run)) if !run.contains(&at) => S(self.across(run, at)),
            (S(at), B, _) if self.leads(along, at) => return Some(masked(PARTIAL_SUM, parts)),
            // An index outside stands for a value, not for a summand.
            (Sbp::Partial(_), B, _) if !fill => source,
            _ => return None,
        };
        Some(Signature::free(output))
    }

    /// Updates added to a base by an index.
    pub(super) fn scatter_add(
        &self,
        along: &Along,
        (base, index, updates): (Sbp, Sbp, Sbp),
        parts: usize,
    ) -> Option<Signature> {
        match (base, index, updates, along) {
            (S(at), S(i), S(u), Along::Aligned(axis)) if at != *axis && at == i && at == u => {}
            (S(at), B, S(u), Along::Run(run))
                if !run.contains(&at) && u == self.across(run, at) => {}
            (S(at), B, B, _) if self.leads(along, at) => return Some(masked(base, parts)),
            (PARTIAL_SUM, S(i), S(u), Along::Run(run)) if u == run.start + i => {}
            (PARTIAL_SUM, S(i), S(u), Along::Aligned(axis)) if i == u && i == *axis => {}
            (PARTIAL_SUM, B, PARTIAL_SUM, _) => {}
            _ => return None,
        }
        Some(Signature::free(base))
    }

    /// Where an axis of the source outside the run is in the result.
    fn across(&self, run: &Range<usize>, at: usize) -> usize {
        match at < run.start {
            true => at,
            false => at - run.len() + self.inputs[1].len(),
        }
    }

    /// Whether the parts of an axis are runs of the cells that an index addresses.
    fn leads(&self, along: &Along, at: usize) -> bool {
        match along {
            Along::Aligned(axis) => *axis == at,
            Along::Run(run) => {
                let shape = &self.inputs[0];
                run.contains(&at) && shape[run.start..at].iter().all(|size| *size == 1)
            }
        }
    }

    /// Narrows the window to the part of rank `at`; `self` has its sizes already.
    pub(super) fn look_at(&mut self, whole: &Problem, source: Sbp, parts: usize, at: usize) {
        let (Kind::Gather { along, window, .. } | Kind::ScatterAdd { along, window }) =
            &mut self.kind
        else {
            return;
        };
        let Sbp::Split(axis) = source else { return };
        let shape = &whole.inputs[0];
        let inner = match along {
            Along::Aligned(_) => 1,
            Along::Run(run) => shape[axis + 1..run.end].iter().product(),
        };
        let cells = along.cells(shape);
        let before = window.take().unwrap_or(Window {
            cells: 0..cells,
            of: cells,
            keeper: true,
        });
        let rows = part(shape[axis], parts, at);
        let start = before.cells.start + rows.start * inner;
        *window = Some(Window {
            cells: start..start + rows.len() * inner,
            of: before.of,
            keeper: before.keeper && at == 0,
        });
    }
}

/// Cells are looked up in a part, unless there is only one.
fn masked(output: Sbp, parts: usize) -> Signature {
    Signature {
        masked: parts > 1,
        ..Signature::free(output)
    }
}

/// How sources and indices may lie.
pub(super) fn read_from(
    along: &Along,
    inputs: &[Shape],
    source: Sbp,
) -> impl Iterator<Item = SmallVec<[Sbp; 3]>> {
    let aligned = matches!(along, Along::Aligned(_));
    let sources = (0..inputs[0].len()).map(|at| smallvec![S(at), B]);
    let indices = (0..inputs[1].len()).map(|at| smallvec![B, S(at)]);
    let both = (0..inputs[0].len())
        .filter(move |_| aligned)
        .map(|at| smallvec![S(at), S(at)]);
    let partial = matches!(source, Sbp::Partial(_)).then(|| smallvec![source, B]);
    sources.chain(indices).chain(both).chain(partial)
}

/// How bases, indices and updates may lie.
pub(super) fn added_to(
    along: &Along,
    inputs: &[Shape],
) -> impl Iterator<Item = SmallVec<[Sbp; 3]>> {
    let (base, index) = (inputs[0].len(), inputs[1].len());
    let mut found: Vec<SmallVec<[Sbp; 3]>> = vec![smallvec![PARTIAL_SUM, B, PARTIAL_SUM]];
    found.extend((0..base).map(|at| smallvec![S(at), B, B]));
    match along {
        Along::Aligned(axis) => {
            found.extend((0..base).map(|at| smallvec![S(at), S(at), S(at)]));
            found.push(smallvec![PARTIAL_SUM, S(*axis), S(*axis)]);
        }
        Along::Run(run) => {
            let across = |at: usize| {
                if at < run.start {
                    at
                } else {
                    at - run.len() + index
                }
            };
            let outside = (0..base).filter(|at| !run.contains(at));
            found.extend(outside.map(|at| smallvec![S(at), B, S(across(at))]));
            found.extend((0..index).map(|at| smallvec![PARTIAL_SUM, S(at), S(run.start + at)]));
        }
    }
    found.into_iter()
}
