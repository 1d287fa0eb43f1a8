//! How operands lie, as kernels read it: a block of words for the prelude's `locate`.

use smallvec::{SmallVec, smallvec};
use stridewise_core::Layout;

/// The places of an operand's elements in row-major order, with as few axes as can be: sizes and strides, the last
/// axis first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    offset: usize,
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

    /// The run of memory they are, if they are one: where it begins.
    pub fn run(&self) -> Option<usize> {
        let one = matches!(self.axes.as_slice(), [] | [(_, 1)]);
        one.then_some(self.offset)
    }
}
