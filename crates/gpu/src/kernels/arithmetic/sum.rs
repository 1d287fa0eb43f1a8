//! Sums over axes, by the tree that is the contract of every engine (it is told in the CPU's kernel): blocks of 128 terms
//! first, then their sums, sixteen at a time, until there is one for each output.

use smallvec::SmallVec;
use stridewise_core::rules::sum_shape;
use stridewise_core::{DType, Engine, Result};
use stridewise_cpu::Cpu;

use super::convert::{Wide, flags};
use super::job::{By, Job};
use super::number::Number;
use super::{Params, counted};
use crate::device::Device;
use crate::engine::Gpu;
use crate::kernels::places::Places;
use crate::storage::Storage;
use crate::tensor::Tensor;

const BLOCK: usize = 128;
const LANES: usize = 8;
/// How many sums a thread combines.
const GROUP: usize = 16;
/// For more blocks there may be no eight threads each.
const MANY: usize = 1 << 28;
/// With fewer terms one thread takes them all, however they lie.
const FEW: usize = 32;

/// The sum of `x` over `axes`, its elements converted first.
pub(crate) fn sum(gpu: &Gpu, x: &Tensor, axes: &[usize], dtype: DType) -> Result<Tensor> {
    let device = gpu.device();
    let made = Tensor::made(device, dtype, &sum_shape(x.shape(), axes))?;
    let (kept, reduced) = (Axes::of(x, axes, false), Axes::of(x, axes, true));
    let (outputs, terms) = (made.count(), reduced.count());
    if outputs > 0 && terms > u32::MAX as usize {
        // More terms than kernels count are few that are seen often.
        return gpu.upload(&Cpu.sum(&x.download_as_it_lies()?, axes, dtype)?);
    }
    let to = Number::of(dtype);
    let native = to.adds_singles() && device.adds_itself();
    let from = (x.dtype() != dtype).then(|| Wide::of(x.dtype()));
    let blocks = terms.div_ceil(BLOCK).max(1);
    let threads = outputs.saturating_mul(blocks);
    let by = if blocks == 1 && to.lanes() > 1 {
        By::Words
    } else if terms < FEW || kept.is_nearer_than(&reduced) || threads > MANY {
        By::Columns
    } else {
        By::Rows
    };
    let params = Params::new([
        counted(threads)?,
        outputs as u32,
        terms as u32,
        flags(x.dtype(), dtype),
        0,
        0,
    ])
    .block(4, &reduced.places(0).words())
    .block(5, &kept.places(x.layout().offset()).words());
    let job = Job::Blocks {
        by,
        from,
        to,
        native,
    };
    let threads = match by {
        By::Words => outputs.div_ceil(to.lanes() as usize),
        By::Columns => threads,
        By::Rows => threads.saturating_mul(LANES),
    };
    let launch =
        |out: &Storage| device.launch(job.kernel(), &params.words, out, &[x.storage()], threads);
    if blocks == 1 {
        launch(made.storage())?;
        return Ok(made);
    }
    let tree = Tree {
        device,
        number: to,
        native,
        outputs,
    };
    let sums = tree.room(blocks)?;
    launch(&sums)?;
    tree.combine(sums, blocks, made.storage())?;
    Ok(made)
}

/// Some of a tensor's axes: sizes and strides.
struct Axes(SmallVec<[(usize, isize); 8]>);

impl Axes {
    /// Those in `axes`, or those that are not.
    fn of(x: &Tensor, axes: &[usize], wanted: bool) -> Axes {
        let all = x.shape().iter().zip(x.strides()).enumerate();
        Axes(
            all.filter(|(axis, _)| axes.contains(axis) == wanted)
                .map(|(_, (&size, &stride))| (size, stride))
                .collect(),
        )
    }

    fn count(&self) -> usize {
        let sizes = self.0.iter().map(|(size, _)| *size);
        match sizes.clone().any(|size| size == 0) {
            true => 0,
            false => sizes.fold(1, usize::saturating_mul),
        }
    }

    fn places(&self, offset: usize) -> Places {
        let (sizes, strides): (SmallVec<[usize; 8]>, SmallVec<[isize; 8]>) =
            self.0.iter().copied().unzip();
        Places::along(offset, &sizes, &strides)
    }

    /// How far apart neighbours are.
    fn step(&self) -> usize {
        let inner = self.0.iter().rfind(|(size, _)| *size > 1);
        inner.map_or(0, |(_, stride)| stride.unsigned_abs())
    }

    /// Whether neighbours are nearer in memory than those of other axes.
    fn is_nearer_than(&self, other: &Axes) -> bool {
        self.step() != 0 && self.step() < other.step()
    }
}

/// The upper part of the tree: sums of blocks into sums of all terms.
struct Tree<'d> {
    device: &'d Device,
    number: Number,
    native: bool,
    outputs: usize,
}

impl Tree<'_> {
    /// Room for so many sums for each output.
    fn room(&self, sums: usize) -> Result<Storage> {
        let width = self.number.sum_width() as usize;
        let bytes = self.outputs.saturating_mul(sums).saturating_mul(width);
        self.device.storage(bytes)
    }

    /// Neighbours are combined, and one that is left over goes up as it is: that is the tree of the contract, whose
    /// left parts are as large as a power of two can be.
    fn combine(&self, mut sums: Storage, mut count: usize, out: &Storage) -> Result<()> {
        while count > GROUP {
            let groups = count.div_ceil(GROUP);
            let next = self.room(groups)?;
            let threads = groups * self.outputs;
            self.launch(&sums, count, &next, threads, threads, false)?;
            (sums, count) = (next, groups);
        }
        // What does not fill a word is stored a word at a time.
        let lanes = self.number.lanes() as usize;
        let words = self.outputs.div_ceil(lanes);
        self.launch(&sums, count, out, self.outputs, words, lanes > 1)
    }

    fn launch(
        &self,
        sums: &Storage,
        count: usize,
        out: &Storage,
        results: usize,
        threads: usize,
        last: bool,
    ) -> Result<()> {
        let job = Job::Pairs {
            number: self.number,
            native: self.native,
            last,
        };
        let params = [counted(results)?, self.outputs as u32, count as u32];
        self.device
            .launch(job.kernel(), &params, out, &[sums], threads)
    }
}
