//! The plainest tensor there is, in which the oracle computes: a dtype, a shape, and the elements one after
//! another.

use stridewise_core::dtype::DType;

use crate::number::{Cell, Number};

/// A tensor without layout, storage or engine.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The element type.
    pub dtype: DType,
    /// The size of each axis.
    pub shape: Vec<usize>,
    /// The elements, row-major.
    pub elements: Vec<Cell>,
}

impl Reference {
    /// The tensor whose element at each index is what `element` says.
    pub fn build(
        dtype: DType,
        shape: &[usize],
        element: impl FnMut(&[usize]) -> Cell,
    ) -> Reference {
        let mut element = element;
        Reference {
            dtype,
            shape: shape.to_vec(),
            elements: indices(shape).map(|index| element(&index)).collect(),
        }
    }

    /// The element at an index.
    pub fn at(&self, index: &[usize]) -> Cell {
        assert_eq!(index.len(), self.shape.len());
        let mut flat = 0;
        for (&i, &size) in index.iter().zip(&self.shape) {
            assert!(i < size, "index {index:?} of shape {:?}", self.shape);
            flat = flat * size + i;
        }
        self.elements[flat]
    }

    /// The value at an index.
    pub fn number(&self, index: &[usize]) -> Number {
        Number::decode(self.dtype, &self.at(index))
    }

    /// All values, row-major.
    pub fn numbers(&self) -> Vec<Number> {
        let decode = |cell| Number::decode(self.dtype, cell);
        self.elements.iter().map(decode).collect()
    }

    /// The same elements under another shape of the same count.
    pub fn shaped(mut self, shape: &[usize]) -> Reference {
        assert_eq!(shape.iter().product::<usize>(), self.elements.len());
        self.shape = shape.to_vec();
        self
    }

    /// The elements as row-major bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let width = self.dtype.width();
        self.elements
            .iter()
            .flat_map(|cell| cell[..width].to_vec())
            .collect()
    }
}

/// Every index within a shape, the last axis fastest.
pub fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + use<> {
    let shape = shape.to_vec();
    let count: usize = shape.iter().product();
    (0..count).map(move |flat| {
        let mut rest = flat;
        let mut index = vec![0; shape.len()];
        for axis in (0..shape.len()).rev() {
            index[axis] = rest % shape[axis];
            rest /= shape[axis];
        }
        index
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_run_with_the_last_axis_fastest() {
        let all: Vec<Vec<usize>> = indices(&[2, 3]).collect();
        assert_eq!(all[..4], [vec![0, 0], vec![0, 1], vec![0, 2], vec![1, 0]]);
        assert_eq!(indices(&[]).count(), 1);
        assert_eq!(indices(&[2, 0]).count(), 0);
    }
}
