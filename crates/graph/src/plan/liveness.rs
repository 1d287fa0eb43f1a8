//! What nobody reads is not made, but what it would have checked is checked; and what is read for the last time
//! leaves its memory to others.

use stridewise_core::params::Mode;
use stridewise_core::size::Shape;

use super::step::{Operand, Step, Work};

/// Takes out steps whose results nobody wants, and gives memory to the others. Says how many slots there are.
pub(crate) fn prune(steps: &mut Vec<Step>, outputs: &[Operand], inputs: usize) -> usize {
    let buffers = steps.iter().map(|step| step.out + 1).max().unwrap_or(0);
    let mut kept = vec![false; buffers.max(inputs)];
    for buffer in outputs.iter().filter_map(Operand::buffer) {
        kept[buffer] = true;
    }
    let mut live = kept.clone();
    // Seen from the end, the first to read a buffer is the last in a run.
    let mut ends: Vec<Vec<usize>> = vec![Vec::new(); steps.len()];
    for (at, step) in steps.iter_mut().enumerate().rev() {
        if !live[step.out] {
            let Some(check) = check(step) else {
                continue;
            };
            step.operands = vec![step.operands[1].clone()];
            step.work = check;
        }
        for buffer in step.operands.iter().filter_map(Operand::buffer) {
            if !live[buffer] && buffer >= inputs {
                ends[at].push(buffer);
            }
            live[buffer] = true;
        }
    }
    let slots = share(steps, &live, &kept, &ends);
    steps.retain(|step| live[step.out] || matches!(step.work, Work::Check { .. }));
    slots
}

/// Gives each buffer that is no result a slot, one that is free where there is one.
fn share(steps: &mut [Step], live: &[bool], kept: &[bool], ends: &[Vec<usize>]) -> usize {
    let mut slot_of: Vec<Option<usize>> = vec![None; live.len()];
    let (mut slots, mut free): (usize, Vec<usize>) = (0, Vec::new());
    for (step, ends) in steps.iter_mut().zip(ends) {
        if live[step.out] && !kept[step.out] {
            let slot = free.pop().unwrap_or_else(|| {
                slots += 1;
                slots - 1
            });
            (step.slot, slot_of[step.out]) = (Some(slot), Some(slot));
        }
        for &buffer in ends {
            if let Some(slot) = slot_of[buffer] {
                step.last_uses.push((buffer, slot));
                free.push(slot);
            }
        }
    }
    slots
}

/// What is left to check of a step whose result nobody wants.
fn check(step: &Step) -> Option<Work> {
    let along = match &step.work {
        Work::Gather {
            along,
            mode: Mode::Raise,
        }
        | Work::ScatterAdd {
            along,
            mode: Mode::Raise,
        } => along.clone(),
        _ => return None,
    };
    let source: Shape = step.operands[0].layout.dims().into();
    Some(Work::Check { along, source })
}
