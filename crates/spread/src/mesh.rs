//! Ranks as a grid, and how an axis is cut into parts.

use std::fmt;
use std::ops::Range;

use stridewise_core::error::{Error, Result};
use stridewise_core::size::{Shape, Size, tuple};

/// Ranks as a grid of any number of axes; rank 0 is the first, the last axis runs fastest.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mesh {
    sizes: Shape,
}

/// The ranks of one line of a mesh: those that differ along one mesh axis only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Line {
    /// The lowest rank.
    pub first: usize,
    /// From one rank to the next.
    pub step: usize,
    /// How many.
    pub len: usize,
}

impl Line {
    /// All ranks below `size`.
    pub fn all(size: usize) -> Line {
        Line {
            first: 0,
            step: 1,
            len: size,
        }
    }

    /// The ranks, in order.
    pub fn ranks(self) -> impl ExactSizeIterator<Item = usize> {
        (0..self.len).map(move |at| self.first + at * self.step)
    }

    /// Where a rank of the line stands in it.
    pub fn place(self, rank: usize) -> usize {
        (rank - self.first) / self.step
    }
}

impl Mesh {
    /// A grid of these sizes, each at least 1.
    pub fn new(sizes: &[usize]) -> Result<Mesh> {
        let wrong = |message: &str| {
            Error::argument(message)
                .at_argument("mesh")
                .note("mesh", tuple(sizes))
                .help("give how many ranks there are along each mesh axis, such as (2, 2)")
        };
        if sizes.is_empty() || sizes.contains(&0) {
            return Err(wrong("a mesh has at least one axis, and a rank on each"));
        }
        match usize::product(sizes) {
            Some(_) => Ok(Mesh {
                sizes: sizes.into(),
            }),
            None => Err(wrong("no machine has so many ranks")),
        }
    }

    /// How many ranks there are along each axis.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// How many axes.
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// How many ranks in all.
    pub fn ranks(&self) -> usize {
        self.sizes.iter().product()
    }

    /// Where a rank stands.
    pub fn coordinate(&self, rank: usize) -> Shape {
        let mut at: Shape = self.sizes.clone();
        let mut rest = rank;
        for (place, size) in at.iter_mut().zip(&self.sizes).rev() {
            *place = rest % size;
            rest /= size;
        }
        at
    }

    /// The line along a mesh axis that a rank is on.
    pub fn line(&self, axis: usize, rank: usize) -> Line {
        let step: usize = self.sizes[axis + 1..].iter().product();
        let at = rank / step % self.sizes[axis];
        Line {
            first: rank - at * step,
            step,
            len: self.sizes[axis],
        }
    }
}

/// `2 × 3`.
impl fmt::Display for Mesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> = self.sizes.iter().map(usize::to_string).collect();
        f.write_str(&sizes.join(" × "))
    }
}

/// The indices of part `at` of `parts`: sizes differ by at most one, longer parts first.
#[inline]
pub fn part(size: usize, parts: usize, at: usize) -> Range<usize> {
    let (short, longer) = (size / parts, size % parts);
    let start = at * short + at.min(longer);
    start..start + short + usize::from(at < longer)
}

/// The sizes of all parts.
pub fn parts(size: usize, parts: usize) -> Shape {
    (0..parts).map(|at| part(size, parts, at).len()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_balanced_cover_the_axis_and_start_with_the_longer_ones() {
        for size in 0..30 {
            for count in 1..9 {
                let sizes = parts(size, count);
                assert_eq!(sizes.iter().sum::<usize>(), size);
                assert!(sizes.is_sorted_by(|a, b| a >= b) && sizes[0] - sizes[count - 1] <= 1);
                let mut next = 0;
                for at in 0..count {
                    assert_eq!(part(size, count, at).start, next);
                    next = part(size, count, at).end;
                }
            }
        }
    }

    #[test]
    fn lines_hold_the_ranks_that_differ_along_one_axis() {
        let mesh = Mesh::new(&[2, 3, 4]).expect("a mesh");
        for rank in 0..mesh.ranks() {
            let at = mesh.coordinate(rank);
            for axis in 0..3 {
                let line = mesh.line(axis, rank);
                assert_eq!(line.place(rank), at[axis]);
                for (place, other) in line.ranks().enumerate() {
                    let mut wanted = at.clone();
                    wanted[axis] = place;
                    assert_eq!(mesh.coordinate(other), wanted);
                }
            }
        }
    }
}
