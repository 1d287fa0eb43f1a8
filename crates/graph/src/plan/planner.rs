//! The engine that plans: it knows every size and every layout, and of most tensors no element. What depends on
//! nothing but sizes is worked out at once.

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use stridewise_core::axis::Axis;
use stridewise_core::dtype::DType;
use stridewise_core::engine::{Along, Engine, Value};
use stridewise_core::error::{Error, Result};
use stridewise_core::layout::Layout;
use stridewise_core::params::{Extent, Mode, Scalar};
use stridewise_core::rules::{concat_shape, gather_shape, sum_shape};
use stridewise_core::size::Truth;
use stridewise_cpu::{Cpu, Tensor};

use super::step::{Operand, Place, Step, Work};

/// The engine. Clones plan the same run.
#[derive(Clone)]
pub(crate) struct Planner(Rc<RefCell<State>>);

struct State {
    steps: Vec<Step>,
    buffers: usize,
    node: usize,
    /// Whether sizes are read from tensors, so that whatever can be worked out at once must be.
    reads: bool,
}

/// A tensor of a plan.
#[derive(Clone)]
pub(crate) struct Planned {
    planner: Planner,
    pub(crate) dtype: DType,
    pub(crate) layout: Layout,
    pub(crate) place: Place,
}

impl fmt::Debug for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?} {:?}", self.dtype, self.layout, self.place)
    }
}

impl Value for Planned {
    type Engine = Planner;

    fn engine(&self) -> Planner {
        self.planner.clone()
    }
}

/// Larger tensors are made anew in each run, even if they are always the same.
const SMALL: usize = 1 << 12;

impl Planner {
    pub(crate) fn new(reads: bool) -> Planner {
        Planner(Rc::new(RefCell::new(State {
            steps: Vec::new(),
            buffers: 0,
            node: 0,
            reads,
        })))
    }

    /// The number of another buffer.
    pub(crate) fn buffer(&self) -> usize {
        let mut state = self.0.borrow_mut();
        state.buffers += 1;
        state.buffers - 1
    }

    /// Says which node is being planned.
    pub(crate) fn at(&self, node: usize) {
        self.0.borrow_mut().node = node;
    }

    pub(crate) fn planned(&self, dtype: DType, layout: Layout, place: Place) -> Planned {
        Planned {
            planner: self.clone(),
            dtype,
            layout,
            place,
        }
    }

    pub(crate) fn constant(&self, tensor: &Tensor) -> Planned {
        let place = Place::Constant(tensor.clone());
        self.planned(tensor.dtype(), tensor.layout().clone(), place)
    }

    /// The steps so far, and how many buffers there are.
    pub(crate) fn finish(&self) -> (Vec<Step>, usize) {
        let mut state = self.0.borrow_mut();
        (std::mem::take(&mut state.steps), state.buffers)
    }

    /// Plans a step, or does it at once where its operands are known and its result is small.
    fn step(
        &self,
        work: Work,
        operands: &[&Planned],
        dtype: DType,
        dims: &[usize],
    ) -> Result<Planned> {
        let layout = Layout::packed(dtype.width(), dims)?;
        let small = layout.count() <= SMALL || self.0.borrow().reads;
        let known = operands
            .iter()
            .all(|x| matches!(x.place, Place::Constant(_)));
        let mut state = self.0.borrow_mut();
        let out = state.buffers;
        let step = Step {
            work,
            operands: operands
                .iter()
                .map(|x| Operand::from((*x).clone()))
                .collect(),
            out,
            dtype,
            dims: dims.into(),
            slot: None,
            last_uses: Vec::new(),
            node: state.node,
        };
        if known && small {
            drop(state);
            if let Some(tensor) = step.run(&[], &[], None)? {
                return Ok(self.constant(&tensor));
            }
            return Err(Error::argument("a step made nothing"));
        }
        state.buffers += 1;
        state.steps.push(step);
        drop(state);
        Ok(self.planned(dtype, layout, Place::Buffer(out)))
    }

    fn seen(&self, x: &Planned, layout: Layout) -> Result<Planned> {
        let place = match &x.place {
            Place::Buffer(buffer) => Place::Buffer(*buffer),
            Place::Constant(tensor) => Place::Constant(tensor.with_layout(layout.clone())?),
        };
        Ok(self.planned(x.dtype, layout, place))
    }
}

impl Engine for Planner {
    type Size = usize;
    type Value = Planned;

    fn rank(&self, x: &Planned) -> Result<usize> {
        Ok(x.layout.rank())
    }

    fn size(&self, x: &Planned, axis: usize) -> usize {
        x.layout.dims()[axis]
    }

    fn dtype(&self, x: &Planned) -> DType {
        x.dtype
    }

    fn full(&self, dtype: DType, value: Scalar, sizes: &[usize]) -> Result<Planned> {
        self.step(Work::Full(value), &[], dtype, sizes)
    }

    fn range(&self, dtype: DType, start: Scalar, step: Scalar, len: usize) -> Result<Planned> {
        self.step(Work::Range { start, step }, &[], dtype, &[len])
    }

    fn literal(&self, dtype: DType, sizes: &[usize], values: &[Scalar]) -> Result<Planned> {
        Ok(self.constant(&Cpu.literal(dtype, sizes, values)?))
    }

    fn sizes(&self, sizes: &[usize]) -> Result<Planned> {
        Ok(self.constant(&Cpu.sizes(sizes)?))
    }

    fn runs(&self, counts: &[usize]) -> Result<Planned> {
        Ok(self.constant(&Cpu.runs(counts)?))
    }

    fn read_sizes(&self, x: &Planned) -> Result<Vec<Extent<usize>>> {
        match &x.place {
            Place::Constant(tensor) => Cpu.read_sizes(tensor),
            Place::Buffer(_) => Err(Error::too_early(
                "sizes are read from a tensor that is not known when the run is planned",
            )),
        }
    }

    fn try_view(
        &self,
        x: &Planned,
        rank: usize,
        axes: impl Fn(usize) -> Result<Axis<usize>>,
    ) -> Result<Planned> {
        if let Some(layout) = x.layout.view(x.dtype.width(), rank, &axes)? {
            return self.seen(x, layout);
        }
        let packed = self.copy(x)?;
        match packed.layout.view(x.dtype.width(), rank, &axes)? {
            Some(layout) => self.seen(&packed, layout),
            None => Err(Error::shape("a packed tensor must merge")),
        }
    }

    fn merges(&self, x: &Planned, run: Range<usize>) -> Truth {
        x.layout.merged_stride(run).is_some().into()
    }

    fn is_packed(&self, x: &Planned) -> Truth {
        x.layout.is_packed().into()
    }

    fn copy(&self, x: &Planned) -> Result<Planned> {
        self.step(Work::Copy, &[x], x.dtype, x.layout.dims())
    }

    fn gather(
        &self,
        source: &Planned,
        index: &Planned,
        along: &Along,
        mode: Mode,
    ) -> Result<Planned> {
        let dims = gather_shape(source.layout.dims(), index.layout.dims(), along)?;
        let work = Work::Gather {
            along: along.clone(),
            mode,
        };
        self.step(work, &[source, index], source.dtype, &dims)
    }

    fn scatter_add(
        &self,
        base: &Planned,
        index: &Planned,
        updates: &Planned,
        along: &Along,
        mode: Mode,
    ) -> Result<Planned> {
        let work = Work::ScatterAdd {
            along: along.clone(),
            mode,
        };
        self.step(
            work,
            &[base, index, updates],
            base.dtype,
            base.layout.dims(),
        )
    }

    fn sum(&self, x: &Planned, axes: &[usize], dtype: DType) -> Result<Planned> {
        let dims = sum_shape(x.layout.dims(), axes);
        let axes = axes.to_vec();
        self.step(Work::Sum { axes }, &[x], dtype, &dims)
    }

    fn concat(&self, xs: &[&Planned], axis: usize) -> Result<Planned> {
        let dims = concat_shape(xs.iter().map(|x| x.layout.dims()), axis)?;
        self.step(Work::Concat { axis }, xs, xs[0].dtype, &dims)
    }

    fn cast(&self, x: &Planned, dtype: DType) -> Result<Planned> {
        self.step(Work::Cast, &[x], dtype, x.layout.dims())
    }

    fn add(&self, a: &Planned, b: &Planned) -> Result<Planned> {
        self.step(Work::Add, &[a, b], a.dtype, a.layout.dims())
    }
}
