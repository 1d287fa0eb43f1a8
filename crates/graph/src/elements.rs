//! The elements of small integer tensors, as far as they are sizes: `shape_of(x)[1]` is a size before any run.

use std::sync::Arc;

use stridewise_core::axis::Axis;
use stridewise_core::dim::{Dim, Outline};
use stridewise_core::engine::{Along, Engine};
use stridewise_core::layout::Layout;
use stridewise_core::params::Extent;
use stridewise_core::size::Size;
use stridewise_cpu::{Cpu, Tensor};

use crate::symbols::spread;

/// What stands in a tensor of sizes.
#[derive(Clone, Debug)]
pub(crate) enum Elements {
    /// These, seen through a layout.
    Listed {
        table: Arc<[Extent<Dim>]>,
        layout: Layout,
    },
    /// The shape of a tensor of unknown rank.
    Shape(Outline),
}

/// Longer lists are no shapes.
const LONGEST: usize = 256;

fn dim(extent: &Extent<usize>) -> Extent<Dim> {
    match extent {
        Extent::Is(size) => Extent::Is(Dim::from(*size)),
        Extent::Infer => Extent::Infer,
        Extent::Negative(n) => Extent::Negative(*n),
    }
}

/// As an `int64` tensor would be laid out.
const WIDTH: usize = 8;

impl Elements {
    /// Those of a tensor of this shape, row-major.
    pub(crate) fn listed(table: Vec<Extent<Dim>>, dims: &[usize]) -> Option<Elements> {
        let layout = Layout::packed(WIDTH, dims).ok()?;
        Some(Elements::Listed {
            table: table.into(),
            layout,
        })
    }

    /// Those of a small tensor of integers.
    pub(crate) fn of(tensor: &Tensor) -> Option<Elements> {
        if !tensor.dtype().is_integer() || tensor.rank() > 1 || tensor.count() > LONGEST {
            return None;
        }
        Elements::listed(
            Cpu.read_sizes(tensor).ok()?.iter().map(dim).collect(),
            tensor.shape(),
        )
    }

    /// The elements in order; one of them may stand for many.
    pub(crate) fn read(&self) -> Vec<Extent<Dim>> {
        match self {
            Elements::Listed { table, layout } => {
                cells(layout).map(|at| table[at].clone()).collect()
            }
            Elements::Shape(outline) => sizes(outline).into_iter().map(Extent::Is).collect(),
        }
    }

    /// Those of a view.
    pub(crate) fn view(&self, axes: &[Axis<Dim>]) -> Option<Elements> {
        let Elements::Listed { table, layout } = self else {
            return None;
        };
        let known = |axis: &Axis<Dim>| axis.try_map(|size| size.known().ok_or(())).ok();
        let axes: Vec<Axis<usize>> = axes.iter().map(known).collect::<Option<_>>()?;
        let layout = layout
            .view(WIDTH, axes.len(), |out| Ok(axes[out].clone()))
            .ok()??;
        // One element may be seen any number of times.
        if layout.count() > LONGEST {
            return None;
        }
        Some(Elements::Listed {
            table: Arc::clone(table),
            layout,
        })
    }

    /// Those at an index along the only axis.
    pub(crate) fn gather(&self, index: &Elements, along: &Along) -> Option<Elements> {
        let (Elements::Listed { layout, .. }, Elements::Listed { layout: shape, .. }) =
            (self, index)
        else {
            return None;
        };
        if layout.rank() != 1 || *along != Along::Run(0..1) {
            return None;
        }
        let all = self.read();
        let one = |at: &Extent<Dim>| match at {
            Extent::Is(at) => all.get(at.known()?).cloned(),
            Extent::Infer => all.last().cloned(),
            Extent::Negative(n) => {
                let from_end = all.len().checked_sub(n.unsigned_abs())?;
                all.get(from_end).cloned()
            }
        };
        let picked: Vec<Extent<Dim>> = index.read().iter().map(one).collect::<Option<_>>()?;
        Elements::listed(picked, shape.dims())
    }

    /// Those of lists one after another.
    pub(crate) fn concat(parts: &[Option<Elements>]) -> Option<Elements> {
        let mut all = Vec::new();
        for part in parts {
            match part.as_ref()? {
                part @ Elements::Listed { layout, .. } if layout.rank() == 1 => {
                    all.extend(part.read());
                }
                _ => return None,
            }
        }
        let len = all.len();
        Elements::listed(all, &[len])
    }

    /// The sums of two lists, element by element.
    pub(crate) fn add(&self, other: &Elements) -> Option<Elements> {
        let (Elements::Listed { layout, .. }, Elements::Listed { .. }) = (self, other) else {
            return None;
        };
        let sum = |(a, b): (Extent<Dim>, Extent<Dim>)| match (a, b) {
            (Extent::Is(a), Extent::Is(b)) => a.plus(&b).map(Extent::Is),
            _ => None,
        };
        let (all, others) = (self.read(), other.read());
        if all.len() != others.len() {
            return None;
        }
        let sums = all.into_iter().zip(others).map(sum);
        Elements::listed(sums.collect::<Option<_>>()?, layout.dims())
    }

    /// The sum of all. Sizes of unknown number have none that could be written down.
    pub(crate) fn sum(&self) -> Option<Elements> {
        let Elements::Listed { .. } = self else {
            return None;
        };
        let mut total = Dim::from(0);
        for extent in self.read() {
            match extent {
                Extent::Is(size) => total = total.plus(&size)?,
                _ => return None,
            }
        }
        Elements::listed(vec![Extent::Is(total)], &[])
    }
}

/// The sizes of a shape, those of unknown number as one that stands for them.
pub(crate) fn sizes(outline: &Outline) -> Vec<Dim> {
    let rest = outline.rest().map(spread);
    let front = outline.front().iter().cloned();
    front
        .chain(rest)
        .chain(outline.back().iter().cloned())
        .collect()
}

fn cells(layout: &Layout) -> impl Iterator<Item = usize> {
    (0..layout.count()).map(move |flat| {
        let (mut rest, mut at) = (flat, layout.offset() as isize);
        for (&dim, &stride) in layout.dims().iter().zip(layout.strides()).rev() {
            at += (rest % dim) as isize * stride;
            rest /= dim;
        }
        at as usize
    })
}
