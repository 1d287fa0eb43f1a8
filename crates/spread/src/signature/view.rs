//! Which splits survive a view: its axis map says where the rows of each part go.

use std::ops::Range;

use stridewise_core::axis::Axis;
use stridewise_core::smallvec::SmallVec;

use super::{Problem, Shift, Signature};
use crate::mesh::part;
use crate::sbp::Sbp;

impl Problem {
    /// A view of a tensor whose axis `of` is split.
    pub(super) fn view(
        &self,
        axes: &[Axis<usize>],
        split: usize,
        parts: usize,
    ) -> Option<Signature> {
        let shape = &self.inputs[0];
        if self.frozen.contains(&split) {
            return None;
        }
        let size = shape[split];
        let ours = |axis: &Axis<usize>| run_of_one(axis).is_some_and(|run| run.contains(&split));
        let out = leading(axes, split, size).or_else(|| axes.iter().position(ours))?;
        let mut signature = Signature::free(Sbp::Split(out));
        let cuts = |size: usize, scale: usize| -> SmallVec<[Range<usize>; 4]> {
            let scaled = |at| {
                let rows = part(size, parts, at);
                rows.start * scale..rows.end * scale
            };
            (0..parts).map(scaled).collect()
        };
        match &axes[out] {
            Axis::Of(_) => {}
            Axis::Split { len, inner, .. } => {
                if len.checked_mul(*inner) != Some(size) {
                    return None;
                }
                let shift = Shift::new(split, cuts(size, 1), cuts(*len, *inner));
                signature.before.extend(shift.map(|shift| (0, shift)));
            }
            Axis::Merge(run) => {
                let all: usize = shape[run.clone()].iter().product();
                let outer = &shape[run.start..split];
                if all > 0 && outer.iter().any(|size| *size != 1) {
                    return None;
                }
                let inner = shape[split + 1..run.end].iter().product();
                if all > 0 {
                    signature.after = Shift::new(out, cuts(size, inner), cuts(all, 1));
                }
            }
            &Axis::Slice {
                start, len, step, ..
            } => {
                // Which of its rows a part has depends on where it lies: ranks would not agree on who exchanges some.
                if self.touched.contains(&split) {
                    return None;
                }
                let (slice, flip) = Ascending::new(start, len, step);
                let from = (0..parts).map(|at| slice.seen(&part(size, parts, at)));
                let to = cuts(len, 1).into_iter().map(|rows| match flip {
                    true => len - rows.end..len - rows.start,
                    false => rows,
                });
                signature.after = Shift::new(out, from.collect(), to.collect());
                if let Some(shift) = &mut signature.after {
                    shift.flip = flip;
                }
            }
            // A map with these is settled first; a new axis is no part of what is split.
            Axis::Fresh(_) | Axis::Stretch { .. } | Axis::Range { .. } => return None,
        }
        let exchanged = !signature.before.is_empty() || signature.after.is_some();
        if exchanged && run_of(axes, split).any(|axis| self.touched.contains(&axis)) {
            return None;
        }
        Some(signature)
    }
}

/// Which of the factors of an axis is the outermost that has more than one index.
fn leading(axes: &[Axis<usize>], split: usize, size: usize) -> Option<usize> {
    let mut first = None;
    for (out, axis) in axes.iter().enumerate() {
        if let Axis::Split { of, len, inner } = axis
            && *of == split
        {
            first = first.or(Some(out));
            if *len != 1 && len.checked_mul(*inner) == Some(size) {
                return Some(out);
            }
        }
    }
    first
}

/// The input axes that an output axis is made of.
fn run_of_one(axis: &Axis<usize>) -> Option<Range<usize>> {
    match axis {
        Axis::Of(of)
        | Axis::Slice { of, .. }
        | Axis::Split { of, .. }
        | Axis::Stretch { of, .. }
        | Axis::Range { of, .. } => Some(*of..*of + 1),
        Axis::Merge(run) => Some(run.clone()),
        Axis::Fresh(_) => None,
    }
}

/// The input axes whose rows run together with those of one: itself, or the run it is merged in.
pub(super) fn run_of(axes: &[Axis<usize>], split: usize) -> Range<usize> {
    let runs = axes.iter().filter_map(run_of_one);
    runs.into_iter()
        .find(|run| run.contains(&split))
        .unwrap_or(split..split + 1)
}

/// The map of one rank's part, for the output axis that the split became.
pub(super) fn narrow(
    axis: &mut Axis<usize>,
    shape: &[usize],
    split: usize,
    signature: &Signature,
    parts: usize,
    at: usize,
) {
    if let Axis::Slice {
        start, len, step, ..
    } = axis
    {
        let (slice, flip) = Ascending::new(*start, *len, *step);
        let rows = part(shape[split], parts, at);
        let seen = slice.seen(&rows);
        let row = |at: usize| slice.start + at * slice.step - rows.start;
        // Each rank turns its own rows; what is left is their way to the other end.
        (*start, *len, *step) = match (seen.is_empty(), flip) {
            (true, _) => (0, 0, 1),
            (_, false) => (row(seen.start), seen.len(), slice.step as isize),
            (_, true) => (row(seen.end - 1), seen.len(), -(slice.step as isize)),
        };
        debug_assert!(signature.after.is_some() || seen.len() == *len);
    }
}

/// A slice read forwards, and whether it was written backwards.
struct Ascending {
    start: usize,
    len: usize,
    step: usize,
}

impl Ascending {
    fn new(start: usize, len: usize, step: isize) -> (Ascending, bool) {
        let size = step.unsigned_abs().max(1);
        let forwards = match step < 0 && len > 0 {
            // The last row read is the lowest.
            true => start - (len - 1).saturating_mul(size).min(start),
            false => start,
        };
        let slice = Ascending {
            start: forwards,
            len,
            step: if len > 1 { size } else { 1 },
        };
        (slice, step < 0 && len > 1)
    }

    /// Which of the slice's indices lie in these rows.
    fn seen(&self, rows: &Range<usize>) -> Range<usize> {
        let before = |row: usize| {
            row.saturating_sub(self.start)
                .div_ceil(self.step)
                .min(self.len)
        };
        before(rows.start)..before(rows.end).max(before(rows.start))
    }
}
