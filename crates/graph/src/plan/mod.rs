//! A plan: what a program does for inputs of certain layouts. All sizes are known, so every check of sizes has
//! been made; views have become layouts; what is left are the steps that move data.

mod key;
mod liveness;
mod planner;
mod step;

use std::sync::Mutex;

use stridewise_core::error::Result;
use stridewise_core::layout::Layout;
use stridewise_cpu::Tensor;
use stridewise_cpu::storage::{Arc, Storage};

use crate::program::Program;
use crate::replay::{Host, blame};
pub(crate) use key::Key;
use planner::Planner;
use step::{Operand, Place, Step};

/// What a run does.
#[derive(Debug)]
pub(crate) struct Plan {
    inputs: usize,
    buffers: usize,
    slots: usize,
    steps: Vec<Step>,
    outputs: Vec<Operand>,
    /// What a run has left for the next one.
    workspace: Mutex<Option<Workspace>>,
}

/// The memory of a run that is no result's.
#[derive(Debug, Default)]
struct Workspace {
    made: Vec<Option<Tensor>>,
    slots: Vec<Option<Arc<Storage>>>,
}

impl Plan {
    /// Plans a run with inputs such as these. Of most inputs only the layout is looked at.
    pub(crate) fn new(program: &Program, inputs: &[Tensor]) -> Result<Plan> {
        let read = program.read_inputs();
        let planner = Planner::new(!read.is_empty());
        let mut given = Vec::with_capacity(inputs.len());
        for (at, x) in inputs.iter().enumerate() {
            let buffer = planner.buffer();
            given.push(match read.contains(&at) {
                true => planner.constant(x),
                false => planner.planned(x.dtype(), based(x)?, Place::Buffer(buffer)),
            });
        }
        let host = Host {
            constant: &|_, tensor| Ok(planner.constant(tensor)),
            begin: &|node| planner.at(node),
        };
        let outputs = program.results(&planner, host, &given)?;
        let outputs: Vec<Operand> = outputs.into_iter().map(Operand::from).collect();
        let (mut steps, buffers) = planner.finish();
        let slots = liveness::prune(&mut steps, &outputs, inputs.len());
        Ok(Plan {
            inputs: inputs.len(),
            buffers,
            slots,
            steps,
            outputs,
            workspace: Mutex::default(),
        })
    }

    /// Carries it out.
    pub(crate) fn run(&self, program: &Program, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        // Another run may be under way in another thread; it has memory of its own.
        let left = self
            .workspace
            .try_lock()
            .ok()
            .and_then(|mut left| left.take());
        let Workspace {
            mut made,
            mut slots,
        } = left.unwrap_or_default();
        made.resize_with(self.buffers - self.inputs, || None);
        slots.resize(self.slots, None);
        for step in &self.steps {
            let spare = step.slot.and_then(|slot| slots[slot].take());
            let result = step.run(inputs, &made, spare).map_err(|error| {
                match program.nodes.get(step.node) {
                    Some(node) => blame(error, node),
                    None => error.within("gradient"),
                }
            })?;
            made[step.out - self.inputs] = result;
            for (done, slot) in &step.last_uses {
                let done = made[done - self.inputs].take();
                slots[*slot] = done.map(|tensor| Arc::clone(tensor.storage()));
            }
        }
        let outputs = self.outputs.iter();
        let outputs = outputs
            .map(|operand| operand.tensor(inputs, &made))
            .collect();
        made.clear();
        if let Ok(mut left) = self.workspace.try_lock() {
            *left = Some(Workspace { made, slots });
        }
        outputs
    }

    /// The steps, for people.
    pub(crate) fn describe(&self) -> Vec<String> {
        self.steps.iter().map(Step::to_string).collect()
    }
}

/// The layout of an input as if its lowest cell were the first of its storage: the same for all slices that lie
/// alike.
fn based(x: &Tensor) -> Result<Layout> {
    let layout = x.layout();
    let offset = layout.offset() - layout.reach().start;
    Layout::new(x.dtype().width(), layout.dims(), layout.strides(), offset)
}
