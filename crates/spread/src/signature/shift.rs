//! Rows that go from one rank to another, because cut points do not coincide.

use std::ops::Range;

use stridewise_core::size::Shape;
use stridewise_core::smallvec::SmallVec;

/// The rows of an axis that each rank of a line has, and those it is to have.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shift {
    pub(crate) axis: usize,
    pub(crate) from: SmallVec<[Range<usize>; 4]>,
    pub(crate) to: SmallVec<[Range<usize>; 4]>,
    /// Whether each rank has its rows backwards, and is to have those of all ranks backwards.
    pub(crate) flip: bool,
}

impl Shift {
    /// A shift, unless each rank has what it is to have.
    pub(crate) fn new(
        axis: usize,
        from: SmallVec<[Range<usize>; 4]>,
        to: SmallVec<[Range<usize>; 4]>,
    ) -> Option<Shift> {
        let same =
            |(a, b): (&Range<usize>, &Range<usize>)| a == b || (a.is_empty() && b.is_empty());
        let moves = !from.iter().zip(&to).all(same);
        moves.then_some(Shift {
            axis,
            from,
            to,
            flip: false,
        })
    }

    /// Rows that rank `at` sends to each, and receives from each.
    pub(crate) fn counts(&self, at: usize) -> (Shape, Shape) {
        let send = self.to.iter().map(|to| common(&self.from[at], to));
        let recv = self.from.iter().map(|from| common(from, &self.to[at]));
        (send.collect(), recv.collect())
    }

    /// Rows that come from another rank, over all ranks.
    pub(crate) fn moved(&self) -> usize {
        let pairs = self.from.iter().zip(&self.to);
        pairs.map(|(from, to)| to.len() - common(from, to)).sum()
    }
}

/// How many rows two ranges share.
fn common(a: &Range<usize>, b: &Range<usize>) -> usize {
    a.end.min(b.end).saturating_sub(a.start.max(b.start))
}
