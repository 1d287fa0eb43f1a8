//! The CPU engine: pooled storage, the tensor, and a kernel for each primitive.

pub mod element;
pub mod kernels;
pub mod pool;
pub mod storage;
