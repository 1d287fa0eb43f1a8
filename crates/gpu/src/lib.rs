//! The GPU engine: tensors whose elements lie on a device, and a kernel for each primitive.
//!
//! Nothing waits for the device but a read: commands gather in a batch that is sent when a result is wanted. What
//! comes out is bit for bit what the CPU engine gives.
//!
//! ```no_run
//! use stridewise_core::operators::Methods;
//! use stridewise_gpu::Gpu;
//!
//! let gpu = Gpu::open()?;
//! println!("{}", gpu.info());
//! let x = gpu.upload(&stridewise_cpu::Tensor::from_vec(vec![1, 2, 3], &[3])?)?;
//! assert_eq!(x.repeat([2])?.download()?.to_vec::<i32>()?, [1, 2, 3, 1, 2, 3]);
//! # Ok::<(), stridewise_core::Error>(())
//! ```

mod device;
mod engine;
mod faults;
pub mod kernels;
mod storage;
mod tensor;

pub use device::{Counts, Device, Info};
pub use engine::Gpu;
pub use storage::Storage;
pub use tensor::Tensor;
