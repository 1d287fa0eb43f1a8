//! Tensors from numbers and nested arrays, as they are written in a program.

use half::{bf16, f16};
use num_complex::Complex;
use stridewise_core::Result;
use stridewise_cpu::{Element, Tensor};

/// A number, or arrays of them to any depth: `3.0`, `[1, 2]`, `[[1, 2], [3, 4]]`.
pub trait Nested {
    /// The type of the numbers.
    type Item: Element;

    /// Appends the shape, outermost axis first.
    fn shape(shape: &mut Vec<usize>);

    /// Appends the numbers, row-major.
    fn flatten(self, into: &mut Vec<Self::Item>);
}

/// A tensor from a number or nested arrays, of the numbers' own type.
///
/// ```
/// use stridewise::{DType, tensor};
/// let x = tensor([[1, 2, 3], [4, 5, 6]])?;
/// assert_eq!((x.shape(), x.dtype()), (&[2, 3][..], DType::I32));
/// assert_eq!(tensor(2.5)?.dtype(), DType::F64);
/// # Ok::<(), stridewise::Error>(())
/// ```
pub fn tensor<N: Nested>(values: N) -> Result<Tensor> {
    let mut shape = Vec::new();
    N::shape(&mut shape);
    let mut flat = Vec::new();
    values.flatten(&mut flat);
    Tensor::from_vec(flat, &shape)
}

impl<N: Nested, const M: usize> Nested for [N; M] {
    type Item = N::Item;

    fn shape(shape: &mut Vec<usize>) {
        shape.push(M);
        N::shape(shape);
    }

    fn flatten(self, into: &mut Vec<N::Item>) {
        for part in self {
            part.flatten(into);
        }
    }
}

macro_rules! numbers {
    ($($t:ty)*) => {$(
        impl Nested for $t {
            type Item = $t;

            fn shape(_: &mut Vec<usize>) {}

            fn flatten(self, into: &mut Vec<$t>) {
                into.push(self);
            }
        }
    )*};
}

numbers! { bool u8 u16 u32 u64 i8 i16 i32 i64 f16 bf16 f32 f64 Complex<f32> Complex<f64> }
