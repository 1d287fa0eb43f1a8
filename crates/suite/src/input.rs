//! The tensors that go into a call, as data: storage, and how a shape lies in it. Views, gaps, negative and
//! zero strides, offsets, empty tensors and rank 0 are ordinary inputs.

use std::fmt;

use stridewise_core::dtype::DType;
use stridewise_core::size::tuple;

use crate::number::{Cell, Number};
use crate::reference::{Reference, indices};

/// A tensor to be made.
#[derive(Clone, PartialEq)]
pub struct Input {
    /// The element type.
    pub dtype: DType,
    /// The size of each axis.
    pub shape: Vec<usize>,
    /// The stride of each axis, in elements.
    pub strides: Vec<isize>,
    /// Where index zero lies, in elements from the start of the storage.
    pub offset: usize,
    /// The bytes of the storage, in the machine's order.
    pub storage: Vec<u8>,
}

impl Input {
    /// A packed tensor of these values.
    pub fn of<N: Into<Number>>(
        dtype: DType,
        shape: &[usize],
        values: impl IntoIterator<Item = N>,
    ) -> Input {
        let storage: Vec<u8> = values
            .into_iter()
            .flat_map(|n| {
                n.into()
                    .cast(dtype)
                    .encode(dtype)
                    .into_iter()
                    .take(dtype.width())
            })
            .collect();
        let count: usize = shape.iter().product();
        assert_eq!(storage.len(), count * dtype.width(), "values for {shape:?}");
        Input {
            dtype,
            shape: shape.to_vec(),
            strides: packed_strides(shape),
            offset: 0,
            storage,
        }
    }

    /// A packed tensor of 0, 1, 2, …, which wrap where the dtype is small.
    pub fn counting(dtype: DType, shape: &[usize]) -> Input {
        let count: usize = shape.iter().product();
        Input::of(dtype, shape, (0..count as i64).map(Number::from))
    }

    /// A packed `float32` tensor of 0, 1, 2, ….
    pub fn f32(shape: &[usize]) -> Input {
        Input::counting(DType::F32, shape)
    }

    /// A packed `int64` tensor of these values.
    pub fn i64(shape: &[usize], values: &[i64]) -> Input {
        Input::of(DType::I64, shape, values.iter().copied())
    }

    /// Other strides and another offset over the same storage.
    pub fn lying(mut self, shape: &[usize], strides: &[isize], offset: usize) -> Input {
        self.shape = shape.to_vec();
        self.strides = strides.to_vec();
        self.offset = offset;
        self
    }

    /// Where each element lies in the storage, row-major.
    pub fn addresses(&self) -> Vec<isize> {
        let steps = |index: &Vec<usize>| -> isize {
            let parts = index.iter().zip(&self.strides);
            parts.map(|(&i, &stride)| i as isize * stride).sum()
        };
        indices(&self.shape)
            .map(|index| self.offset as isize + steps(&index))
            .collect()
    }

    /// The elements, read one by one.
    pub fn reference(&self) -> Reference {
        let width = self.dtype.width();
        let read = |at: isize| {
            let start = at as usize * width;
            let mut cell: Cell = [0; 16];
            cell[..width].copy_from_slice(&self.storage[start..start + width]);
            cell
        };
        Reference {
            dtype: self.dtype,
            shape: self.shape.clone(),
            elements: self.addresses().into_iter().map(read).collect(),
        }
    }
}

/// The strides of a packed tensor; an empty axis counts as if it had size 1.
pub fn packed_strides(shape: &[usize]) -> Vec<isize> {
    let behind = |axis: usize| shape[axis + 1..].iter().map(|&n| n.max(1) as isize);
    (0..shape.len())
        .map(|axis| behind(axis).product())
        .collect()
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.dtype, tuple(&self.shape))?;
        if self.strides != packed_strides(&self.shape) || self.offset != 0 {
            write!(
                f,
                " strides {} offset {}",
                tuple(&self.strides),
                self.offset
            )?;
        }
        let count = self
            .shape
            .iter()
            .try_fold(1usize, |n, &size| n.checked_mul(size));
        // What indices and sizes hold matters; of other tensors it only matters where they lie.
        if self.dtype.is_integer() && count.is_some_and(|n| (1..=8).contains(&n)) {
            let values = self.reference().numbers();
            let values: Vec<String> = values.iter().map(Number::to_string).collect();
            write!(f, " [{}]", values.join(", "))?;
        }
        Ok(())
    }
}
