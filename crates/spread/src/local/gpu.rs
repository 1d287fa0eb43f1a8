//! Parts on a GPU: brought to main memory, carried by a world as those of the CPU are, and put back.

use stridewise_core::error::Result;
use stridewise_cpu::Cpu;
use stridewise_gpu::{Gpu, Tensor};

use super::{Link, Local, Lookup, Relocated};
use crate::sbp::Reduction;
use crate::world::World;

impl Local for Gpu {
    type World = World;

    fn all_gather(
        &self,
        to: &Link<'_, Gpu>,
        x: &Tensor,
        axis: usize,
        sizes: &[usize],
    ) -> Result<Tensor> {
        let x = x.download()?;
        self.upload(&Cpu.all_gather(&from_memory(to), &x, axis, sizes)?)
    }

    fn all_to_all(
        &self,
        to: &Link<'_, Gpu>,
        x: &Tensor,
        cut: (usize, &[usize]),
        join: (usize, &[usize]),
    ) -> Result<Tensor> {
        let x = x.download()?;
        self.upload(&Cpu.all_to_all(&from_memory(to), &x, cut, join)?)
    }

    fn reduce_scatter(
        &self,
        to: &Link<'_, Gpu>,
        x: &Tensor,
        axis: usize,
        sizes: &[usize],
        by: Reduction,
    ) -> Result<Tensor> {
        let x = x.download()?;
        self.upload(&Cpu.reduce_scatter(&from_memory(to), &x, axis, sizes, by)?)
    }

    fn all_reduce(&self, to: &Link<'_, Gpu>, x: &Tensor, by: Reduction) -> Result<Tensor> {
        let x = x.download()?;
        self.upload(&Cpu.all_reduce(&from_memory(to), &x, by)?)
    }

    fn relocate(&self, index: &Tensor, seen: &Lookup<'_>) -> Result<Relocated<Tensor>> {
        let Relocated { index, outside } = Cpu.relocate(&index.download()?, seen)?;
        Ok(Relocated {
            index: self.upload(&index)?,
            outside: self.upload(&outside)?,
        })
    }
}

/// The same link for tensors in main memory.
fn from_memory<'a>(to: &Link<'a, Gpu>) -> Link<'a, Cpu> {
    Link {
        world: to.world,
        line: to.line,
        operator: to.operator,
    }
}
