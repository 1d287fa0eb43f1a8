//! The CPU engine: pooled storage, the tensor, and a kernel for each primitive.

mod bytes;
pub mod compare;
pub mod element;
mod engine;
mod format;
pub mod kernels;
pub mod pool;
pub mod primitives;
mod rows;
mod scalar;
pub mod storage;
mod tensor;
mod window;

pub use element::Element;
pub use engine::Cpu;
pub use kernels::reduce::{Reduction, reduce, reduce_all};
pub use kernels::threads::limit_threads;
pub use rows::{Rows, RowsMut};
pub use tensor::Tensor;
