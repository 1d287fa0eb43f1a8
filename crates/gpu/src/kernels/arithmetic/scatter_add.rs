//! Updates added at an index, in the order of the CPU engine: updates of one cell from first to last, the 16-bit floats
//! rounding after each. The cells of all indices are sorted, stably, and then each element of a cell has one thread.

use stridewise_core::Result;
use stridewise_core::engine::Along;
use stridewise_core::params::Mode;
use stridewise_core::rules::{addressed, require_updates};
use stridewise_core::size::Shape;

use super::job::Job;
use super::number::Number;
use super::sort::{ENTRY, sort};
use super::{Params, counted};
use crate::engine::Gpu;
use crate::kernels::movement::{copy, index as indices};
use crate::kernels::places::Places;
use crate::storage::Storage;
use crate::tensor::Tensor;

/// The most updates that one thread adds in one launch: drivers end what runs for seconds, and Mesa's software driver
/// leaves a loop after 65535 rounds.
const WINDOW: usize = 1 << 14;
/// About as many threads a launch has at most.
const THREADS: usize = 1 << 30;
/// So many indices are sorted at a time: entries take more bytes than most indices, and must fit as well.
const SORTED: usize = 1 << 22;

/// `base` with `updates` added where a gather with the same index would read.
pub(crate) fn scatter_add(
    gpu: &Gpu,
    base: &Tensor,
    index: &Tensor,
    updates: &Tensor,
    along: &Along,
    mode: Mode,
) -> Result<Tensor> {
    let device = gpu.device();
    let mut dims = Shape::new();
    addressed(
        &mut dims,
        base.shape(),
        index.shape(),
        index.dtype(),
        along,
        mode,
    )?;
    require_updates((updates.dtype(), updates.shape()), base.dtype(), &dims)?;
    let made = copy::packed(device, base)?;
    made.storage().inherit(index.storage());
    made.storage().inherit(updates.storage());
    if mode == Mode::Raise && !index.is_empty() {
        indices::check(&made, index, base.shape(), along)?;
    }
    if made.is_empty() || updates.is_empty() {
        return Ok(made);
    }
    let target = Target::new(base, index, updates, along);
    let (count, cells) = (index.count(), counted(target.cells)?);
    counted(count)?;
    let outside = u32::from(!matches!(mode, Mode::Wrap | Mode::Clip));
    let number = Number::of(base.dtype());
    let job = Job::Scatter {
        number,
        native: number.adds_singles() && device.adds_itself(),
    };
    let each = target.outers * target.inners;
    let window = (THREADS / each).clamp(1, WINDOW);
    for first in (0..count).step_by(SORTED) {
        let len = SORTED.min(count - first);
        let entries = target.entries(index, first, len, along.cells(base.shape()), mode)?;
        let entries = sort(device, entries, len, cells - 1 + outside)?;
        for start in (0..len).step_by(window) {
            let end = len.min(start + window);
            let threads = (end - start) * each;
            let params = Params::new([
                counted(threads)?,
                start as u32,
                end as u32,
                cells,
                target.outers as u32,
                target.inners as u32,
                0,
                0,
                0,
            ])
            .block(6, &target.outer.words())
            .block(7, &target.along.words())
            .block(8, &target.inner.words());
            let inputs = [&entries, &**updates.storage()];
            device.launch(
                job.kernel(),
                &params.words,
                made.storage(),
                &inputs,
                threads,
            )?;
        }
    }
    Ok(made)
}

/// How updates meet cells. A packed result is so many outer positions of cells of inner elements; where each index has
/// outer and inner positions of its own, every element is a cell.
struct Target {
    cells: usize,
    outers: usize,
    inners: usize,
    /// How far apart cells of neighbouring indices are, in cells.
    pitch: usize,
    /// The cell that an index starts from, by its number.
    beside: Places,
    /// The updates, by outer position, by index and by inner position.
    outer: Places,
    along: Places,
    inner: Places,
}

impl Target {
    fn new(base: &Tensor, index: &Tensor, updates: &Tensor, along: &Along) -> Target {
        let (sizes, strides) = (updates.shape(), updates.strides());
        let offset = updates.layout().offset();
        let dims = base.shape();
        match along {
            Along::Run(run) => {
                let after = run.start + index.rank();
                let part = |offset, axes: std::ops::Range<usize>| {
                    Places::along(offset, &sizes[axes.clone()], &strides[axes])
                };
                Target {
                    cells: along.cells(dims),
                    outers: dims[..run.start].iter().product(),
                    inners: dims[run.end..].iter().product(),
                    pitch: 1,
                    beside: Places::along(0, &[], &[]),
                    outer: part(offset, 0..run.start),
                    along: part(0, run.start..after),
                    inner: part(0, after..sizes.len()),
                }
            }
            Along::Aligned(axis) => {
                let pitch = |axis: usize| dims[axis + 1..].iter().product::<usize>();
                let mut beside: Vec<isize> = (0..dims.len()).map(|i| pitch(i) as isize).collect();
                beside[*axis] = 0;
                Target {
                    cells: base.count(),
                    outers: 1,
                    inners: 1,
                    pitch: pitch(*axis),
                    beside: Places::along(0, index.shape(), &beside),
                    outer: Places::along(0, &[], &[]),
                    along: Places::along(offset, sizes, strides),
                    inner: Places::along(0, &[], &[]),
                }
            }
        }
    }

    /// For `len` indices from the `first` on their cells and their numbers. What lies outside has the cell after the
    /// last, and is left out.
    fn entries(
        &self,
        index: &Tensor,
        first: usize,
        len: usize,
        addressed: usize,
        mode: Mode,
    ) -> Result<Storage> {
        let device = index.device();
        let entries = device.storage(len * ENTRY)?;
        let numbers = [len, first, self.cells, self.pitch, 0, 0];
        let params = Params::new(numbers.map(|n| n as u32))
            .block(4, &indices::words(index, addressed, mode))
            .block(5, &self.beside.words());
        let inputs = [&**index.storage()];
        device.launch(Job::Entries.kernel(), &params.words, &entries, &inputs, len)?;
        Ok(entries)
    }
}
