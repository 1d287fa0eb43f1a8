//! Devices, and tensors on their way from one to another.
//!
//! A tensor in main memory and one on a GPU are of different types, so that mixing them is refused by the compiler; two
//! tensors on different GPUs in one call are an error that names both. Every operator works on both, and gives the
//! same bits.
//!
//! ```
//! use stridewise::prelude::*;
//! use stridewise::{Device, To};
//!
//! # fn main() -> stridewise::Result<()> {
//! let gpu = Device::gpu()?;
//! let x = tensor([[1.0f32, 2.0], [3.0, 4.0]])?.to(&gpu)?;
//! let y = x.repeat([2, 1])?.sum(0, false, None)?;   // runs there; nothing is read yet
//! let y = y.to(&Device::cpu())?;
//! assert_eq!(y.to_vec::<f32>()?, [8.0, 12.0]);
//! # Ok(())
//! # }
//! ```

use std::fmt;
use std::ops::Deref;

use stridewise_core::{Engine, Result};
use stridewise_cpu::{Cpu, Tensor};
use stridewise_gpu::Gpu;

/// A device: where an engine's tensors lie.
///
/// It stands for its engine, so `full` and the like can be called on it, and a graph can be run on it.
///
/// ```
/// # fn main() -> stridewise::Result<()> {
/// use stridewise::{DType, Device, To, operators::make};
///
/// let gpu = Device::gpu()?;
/// println!("{gpu}");                     // which adapter it is
/// let zeros = make::zeros(&*gpu, [2, 3], DType::F16)?;
/// assert_eq!(zeros.to(&Device::cpu())?.shape(), [2, 3]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Device<E>(E);

impl Device<Cpu> {
    /// Main memory.
    pub fn cpu() -> Device<Cpu> {
        Device(Cpu)
    }
}

impl Device<Gpu> {
    /// The GPU of this machine, a discrete one before an integrated one before a software one. It is opened once in a
    /// process.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) where there is none; it says why, and what to install.
    pub fn gpu() -> Result<Device<Gpu>> {
        Gpu::open().map(Device)
    }
}

impl<E> Device<E> {
    /// The engine.
    pub fn engine(&self) -> &E {
        &self.0
    }
}

impl<E> Deref for Device<E> {
    type Target = E;

    fn deref(&self) -> &E {
        &self.0
    }
}

impl fmt::Display for Device<Cpu> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cpu")
    }
}

impl fmt::Display for Device<Gpu> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.info().fmt(f)
    }
}

/// A tensor that can be brought to a device.
///
/// ```compile_fail
/// use stridewise::prelude::*;
/// use stridewise::{Device, To};
///
/// # fn main() -> stridewise::Result<()> {
/// let table = tensor([1, 2, 3])?.to(&Device::gpu()?)?;
/// let index = tensor([0, 2])?;           // in main memory
/// table.take(&index, 0, Mode::Raise)?;
/// # Ok(())
/// # }
/// ```
pub trait To<E: Engine> {
    /// The tensor there; itself where it is there already.
    fn to(&self, device: &Device<E>) -> Result<E::Value>;
}

impl To<Cpu> for Tensor {
    fn to(&self, _: &Device<Cpu>) -> Result<Tensor> {
        Ok(self.clone())
    }
}

impl To<Gpu> for Tensor {
    fn to(&self, device: &Device<Gpu>) -> Result<stridewise_gpu::Tensor> {
        device.upload(self)
    }
}

impl To<Cpu> for stridewise_gpu::Tensor {
    fn to(&self, _: &Device<Cpu>) -> Result<Tensor> {
        self.download()
    }
}

impl To<Gpu> for stridewise_gpu::Tensor {
    fn to(&self, device: &Device<Gpu>) -> Result<stridewise_gpu::Tensor> {
        match self.device().is(device.device()) {
            true => Ok(self.clone()),
            false => device.upload(&self.download()?),
        }
    }
}
