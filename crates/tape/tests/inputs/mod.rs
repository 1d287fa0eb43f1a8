//! Inputs of the suite as tensors of the CPU.

use stridewise_core::dtype::{DType, Family};
use stridewise_core::layout::Layout;
use stridewise_cpu::Tensor;
use stridewise_suite::Input;

/// The input's layout over a storage of that dtype.
pub(crate) fn over(storage: &[u8], dtype: DType, input: &Input) -> Tensor {
    let width = dtype.width();
    let (dims, strides) = (input.shape.as_slice(), input.strides.as_slice());
    Layout::new(width, dims, strides, input.offset)
        .and_then(|layout| {
            let cells = storage.len() / width;
            Tensor::from_bytes(dtype, &[cells], storage)?.with_layout(layout)
        })
        .unwrap_or_else(|error| panic!("{input:?} cannot be made: {error}"))
}

/// Whether tensors of that dtype can be watched.
pub(crate) fn has_gradient(dtype: DType) -> bool {
    matches!(dtype.family(), Family::Float | Family::Complex)
}
