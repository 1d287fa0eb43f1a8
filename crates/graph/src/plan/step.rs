//! The steps of a plan: primitives with everything known but the elements.

use std::fmt;

use stridewise_core::dtype::DType;
use stridewise_core::engine::{Along, Engine};
use stridewise_core::error::Result;
use stridewise_core::layout::Layout;
use stridewise_core::params::{Mode, Scalar};
use stridewise_core::size::{Shape, tuple};
use stridewise_core::smallvec::SmallVec;
use stridewise_cpu::primitives::{Primitives, Spare};
use stridewise_cpu::storage::{Arc, Storage};
use stridewise_cpu::{Cpu, Tensor};

use super::planner::Planned;

/// Where the elements of a tensor are.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// In this buffer: an input, or what a step has made.
    Buffer(usize),
    /// In the plan itself.
    Constant(Tensor),
}

/// What a step reads, and how it lies in its buffer.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub(crate) place: Place,
    pub(crate) layout: Layout,
    pub(crate) dtype: DType,
}

impl From<Planned> for Operand {
    fn from(planned: Planned) -> Operand {
        Operand {
            place: planned.place,
            layout: planned.layout,
            dtype: planned.dtype,
        }
    }
}

impl Operand {
    /// The buffer it is in.
    pub(crate) fn buffer(&self) -> Option<usize> {
        match &self.place {
            Place::Buffer(buffer) => Some(*buffer),
            Place::Constant(_) => None,
        }
    }

    /// The tensor itself, in a run.
    pub(crate) fn tensor(&self, inputs: &[Tensor], made: &[Option<Tensor>]) -> Result<Tensor> {
        let buffer = match &self.place {
            Place::Constant(tensor) => return Ok(tensor.clone()),
            Place::Buffer(buffer) => *buffer,
        };
        if let Some(input) = inputs.get(buffer) {
            // Planned as if the lowest cell were the first; an empty tensor has none.
            let first = input.layout().reach().start;
            if first == 0 || self.layout.is_empty() {
                return input.with_layout(self.layout.clone());
            }
            let (dims, strides) = (self.layout.dims(), self.layout.strides());
            let offset = self.layout.offset() + first;
            return input.with_layout(Layout::new(self.dtype.width(), dims, strides, offset)?);
        }
        match made.get(buffer - inputs.len()) {
            Some(Some(tensor)) => tensor.with_layout(self.layout.clone()),
            _ => Err(stridewise_core::Error::argument(
                "a step reads what nobody has made",
            )),
        }
    }
}

/// A step of a plan.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) work: Work,
    pub(crate) operands: Vec<Operand>,
    /// The buffer it makes.
    pub(crate) out: usize,
    pub(crate) dtype: DType,
    pub(crate) dims: Shape,
    /// The memory of the plan's own that it makes it in; none for a result.
    pub(crate) slot: Option<usize>,
    /// Buffers that nobody reads afterwards, and the slots they are in.
    pub(crate) last_uses: Vec<(usize, usize)>,
    /// The node it is part of.
    pub(crate) node: usize,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Work {
    Full(Scalar),
    Range {
        start: Scalar,
        step: Scalar,
    },
    Copy,
    Gather {
        along: Along,
        mode: Mode,
    },
    ScatterAdd {
        along: Along,
        mode: Mode,
    },
    Sum {
        axes: Vec<usize>,
    },
    Concat {
        axis: usize,
    },
    Cast,
    Add,
    /// The indices of a gather or scatter whose result nobody wants are still checked.
    Check {
        along: Along,
        source: Shape,
    },
}

impl Step {
    /// Does it, in memory that is there already where it is enough; gives what it makes.
    pub(crate) fn run(
        &self,
        inputs: &[Tensor],
        made: &[Option<Tensor>],
        spare: Option<Arc<Storage>>,
    ) -> Result<Option<Tensor>> {
        let spare = Spare::new(spare);
        let make = Primitives(&spare);
        let read = |at: usize| self.operands[at].tensor(inputs, made);
        let result = match &self.work {
            Work::Full(value) => make.full(self.dtype, *value, &self.dims)?,
            Work::Range { start, step } => Cpu.range(self.dtype, *start, *step, self.dims[0])?,
            Work::Copy => make.copy(&read(0)?)?,
            Work::Gather { along, mode } => make.gather(&read(0)?, &read(1)?, along, *mode)?,
            Work::ScatterAdd { along, mode } => {
                make.scatter_add(&read(0)?, &read(1)?, &read(2)?, along, *mode)?
            }
            Work::Sum { axes } => make.sum(&read(0)?, axes, self.dtype)?,
            Work::Concat { axis } => {
                let all = (0..self.operands.len()).map(read);
                let all = all.collect::<Result<SmallVec<[Tensor; 4]>>>()?;
                make.concat(&all.iter().collect::<SmallVec<[&Tensor; 4]>>(), *axis)?
            }
            Work::Cast => make.cast(&read(0)?, self.dtype)?,
            Work::Add => make.add(&read(0)?, &read(1)?)?,
            Work::Check { along, source } => {
                Cpu.check_indices(&read(0)?, along, source)?;
                return Ok(None);
            }
        };
        Ok(Some(result))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match &self.work {
            Work::Full(_) => "full",
            Work::Range { .. } => "range",
            Work::Copy => "copy",
            Work::Gather { .. } => "gather",
            Work::ScatterAdd { .. } => "scatter_add",
            Work::Sum { .. } => "sum",
            Work::Concat { .. } => "concat",
            Work::Cast => "cast",
            Work::Add => "add",
            Work::Check { .. } => "check",
        };
        write!(f, "{name}")?;
        for (at, operand) in self.operands.iter().enumerate() {
            let place = match &operand.place {
                Place::Buffer(buffer) => format!("#{buffer}"),
                Place::Constant(_) => "constant".to_string(),
            };
            let (dims, strides) = (operand.layout.dims(), operand.layout.strides());
            let between = if at == 0 { " " } else { ", " };
            write!(
                f,
                "{between}{place} {} strides {}",
                tuple(dims),
                tuple(strides)
            )?;
        }
        match &self.work {
            Work::Check { .. } => Ok(()),
            _ => write!(f, " -> #{} {} {}", self.out, self.dtype, tuple(&self.dims)),
        }
    }
}
