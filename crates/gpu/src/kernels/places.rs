//! How operands lie, as kernels read it: a block of words for the prelude's `locate`.

use smallvec::{SmallVec, smallvec};
use stridewise_core::Layout;

/// The places of an operand's elements in row-major order, with as few axes as can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    offset: usize,
    /// Sizes and strides, the last axis first.
    axes: SmallVec<[(usize, isize); 8]>,
}

impl Places {
    /// Those of a tensor.
    pub fn of(layout: &Layout) -> Places {
        Places::along(layout.offset(), layout.dims(), layout.strides())
    }

    /// Those of axes from the first to the last.
    pub fn along(offset: usize, sizes: &[usize], strides: &[isize]) -> Places {
        let mut places = Places {
            offset,
            axes: SmallVec::new(),
        };
        for (&size, &stride) in sizes.iter().zip(strides).rev() {
            places.push(size, stride);
        }
        places
    }

    /// Adds an axis outside of all others.
    fn push(&mut self, size: usize, stride: isize) {
        if size == 1 {
            return;
        }
        match self.axes.last_mut() {
            // Steps on from where the axis within ends; wrapping, since an empty tensor may have any stride.
            Some((inner, step)) if step.wrapping_mul(*inner as isize) == stride => {
                *inner = inner.saturating_mul(size);
            }
            _ => self.axes.push((size, stride)),
        }
    }

    /// The words for `locate`. All numbers fit where the elements can be counted with 32 bits.
    pub fn words(&self) -> SmallVec<[u32; 20]> {
        let mut words: SmallVec<[u32; 20]> =
            smallvec![self.axes.len().max(1) as u32, self.offset as u32];
        for &(size, stride) in &self.axes {
            words.extend([size as u32, stride as u32]);
        }
        if self.axes.is_empty() {
            words.extend([1, 0]);
        }
        words
    }

    /// How many elements lie side by side from the first on, and from every further one that many later.
    pub(crate) fn run_len(&self) -> usize {
        match self.axes.first() {
            Some((size, 1)) => *size,
            _ => 1,
        }
    }

    /// How many axes kernels see: at least one.
    pub(crate) fn rank(&self) -> usize {
        self.axes.len().max(1)
    }

    /// The place of an element, from its row-major number.
    pub(crate) fn place(&self, number: usize) -> usize {
        let (mut rest, mut place) = (number, self.offset);
        for (at, &(size, stride)) in self.axes.iter().enumerate() {
            let (next, index) = match at + 1 == self.axes.len() {
                true => (0, rest),
                false => (rest / size, rest % size),
            };
            place = place.wrapping_add_signed(stride.wrapping_mul(index as isize));
            rest = next;
        }
        place
    }

    /// The greatest power of two, up to `most`, that divides everything but the steps of an innermost run, and that
    /// run: as many elements can be moved as one. 1 where the innermost axis is no run.
    pub(crate) fn grain(&self, most: usize) -> usize {
        match self.axes.split_first() {
            Some((&(size, 1), outer)) => {
                let steps = outer.iter().map(|(_, stride)| stride.unsigned_abs());
                grain(steps.chain([size, self.offset]), most)
            }
            _ => 1,
        }
    }

    /// The greatest power of two, up to `most`, that divides offset and strides.
    pub(crate) fn step_grain(&self, most: usize) -> usize {
        let steps = self.axes.iter().map(|(_, stride)| stride.unsigned_abs());
        grain(steps.chain([self.offset]), most)
    }

    /// The same places, counted in elements `grain` times as large, which divides them: the innermost run is shorter.
    #[must_use]
    pub(crate) fn coarse(self, grain: usize) -> Places {
        if grain == 1 {
            return self;
        }
        let mut places = self.coarse_steps(grain);
        if let Some((size, stride)) = places.axes.first_mut() {
            (*size, *stride) = (*size / grain, 1);
        }
        places
    }

    /// The same places, counted in elements `grain` times as large, which divides all steps.
    #[must_use]
    pub(crate) fn coarse_steps(mut self, grain: usize) -> Places {
        self.offset /= grain;
        for (_, stride) in &mut self.axes {
            *stride /= grain as isize;
        }
        self
    }
}

/// The greatest power of two, up to `most`, that divides all.
fn grain(numbers: impl Iterator<Item = usize>, most: usize) -> usize {
    let bits = numbers.fold(most, |bits, number| bits | number);
    1 << bits.trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_that_step_on_are_one() {
        let packed = Places::along(7, &[2, 1, 3, 4], &[12, 99, 4, 1]);
        assert_eq!(packed.words().as_slice(), [1, 7, 24, 1]);
        assert_eq!((packed.run_len(), packed.place(5)), (24, 12));
        let turned = Places::along(0, &[4, 2, 3], &[1, 12, 4]);
        assert_eq!(turned.words().as_slice(), [2, 0, 6, 4, 4, 1]);
        assert_eq!((turned.run_len(), turned.place(8)), (1, 9));
        let back = Places::along(5, &[2, 3], &[-3, -1]);
        assert_eq!(back.words().as_slice(), [1, 5, 6, u32::MAX]);
        assert_eq!(Places::along(3, &[], &[]).words().as_slice(), [1, 3, 1, 0]);
        let spread = Places::along(0, &[5, 6], &[0, 0]);
        assert_eq!(spread.words().as_slice(), [1, 0, 30, 0]);
    }

    #[test]
    fn runs_are_counted_in_larger_elements_where_everything_divides() {
        let rows = Places::along(8, &[3, 4, 4], &[64, 16, 1]);
        assert_eq!(rows.grain(16), 4);
        assert_eq!(rows.grain(2), 2);
        let words = rows.coarse(4).words();
        assert_eq!(words.as_slice(), [2, 2, 1, 1, 12, 4]);
        assert_eq!(Places::along(0, &[3, 5], &[8, 1]).grain(8), 1);
        assert_eq!(Places::along(2, &[4], &[1]).grain(8), 2);
        assert_eq!(Places::along(0, &[4], &[-1]).grain(8), 1);
        assert_eq!(Places::along(0, &[], &[]).grain(8), 1);
    }
}
