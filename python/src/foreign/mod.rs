//! Arrays of other libraries: shared without a copy where that can be, and checked by their shape.

pub(crate) mod buffer;
pub(crate) mod shape;

pub(crate) use buffer::tensor;
