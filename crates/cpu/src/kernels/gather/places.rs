//! Where the cells of several axes lie that do not follow each other evenly, such as those of a transposed
//! source: a division for each axis, without dividing.

use smallvec::SmallVec;

use crate::kernels::loops::Loops;

/// Finds cells by their number.
pub(super) struct Places {
    /// Innermost first; the outermost is not divided by.
    axes: SmallVec<[Axis; 4]>,
    last: isize,
    /// Whether every number fits 32 bits, for which the reciprocals are exact.
    short: bool,
}

struct Axis {
    size: u64,
    /// 2⁶⁴ / size, rounded up.
    reciprocal: u64,
    stride: isize,
}

impl Places {
    /// Strides are times `width`.
    pub(super) fn new(cells: &Loops<1>, width: isize) -> Places {
        let mut axes: SmallVec<[Axis; 4]> = cells
            .axes()
            .rev()
            .map(|(size, [stride])| Axis {
                size: size as u64,
                // A size of 1 is never divided by: there is such an axis only alone.
                reciprocal: (u64::MAX / size.max(1) as u64).wrapping_add(1),
                stride: stride * width,
            })
            .collect();
        let last = axes.pop().map_or(0, |axis| axis.stride);
        Places {
            axes,
            last,
            short: cells.len() <= 1 << 32,
        }
    }

    /// Where a cell lies, in bytes from the first.
    #[inline(always)]
    pub(super) fn offset(&self, cell: usize) -> isize {
        let (mut rest, mut offset) = (cell as u64, 0);
        for axis in &self.axes {
            let quotient = match self.short {
                true => ((u128::from(rest) * u128::from(axis.reciprocal)) >> 64) as u64,
                false => rest / axis.size,
            };
            offset += (rest - quotient * axis.size) as isize * axis.stride;
            rest = quotient;
        }
        offset + rest as isize * self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_where_loops_say_however_many_cells_there_are() {
        let sizes: [&[usize]; 5] = [
            &[4096, 4096],
            &[3, 5, 7],
            &[65537, 65535],
            &[2, (1 << 31) - 1],
            &[3, 1 << 31, 3],
        ];
        for sizes in sizes {
            let strides: Vec<isize> = (0..sizes.len()).map(|i| 3 - 5 * i as isize).collect();
            let loops = Loops::over(sizes, [&strides]);
            let places = Places::new(&loops, 4);
            let len = loops.len();
            let edges = (1..200).flat_map(|i| {
                let middle = len / 200 * i;
                let edge = middle - middle % sizes[sizes.len() - 1];
                [
                    i - 1,
                    len - i.min(len),
                    middle,
                    edge,
                    edge.saturating_sub(1),
                ]
            });
            for cell in edges.map(|cell| cell.min(len - 1)) {
                assert_eq!(
                    places.offset(cell),
                    loops.offsets(cell)[0] * 4,
                    "{cell} of {sizes:?}"
                );
            }
        }
    }
}
