//! What nobody reads is not made, but what it would have checked is checked.

use stridewise_core::params::Mode;
use stridewise_core::size::Shape;

use super::step::{Operand, Step, Work};

/// Takes out steps whose results nobody wants, and notes where each buffer is read last.
pub(crate) fn prune(steps: &mut Vec<Step>, outputs: &[Operand], inputs: usize) {
    let highest = steps.iter().map(|step| step.out + 1).max().unwrap_or(0);
    let mut live = vec![false; highest.max(inputs)];
    let kept: Vec<bool> = outputs.iter().filter_map(Operand::buffer).fold(
        vec![false; live.len()],
        |mut kept, buffer| {
            kept[buffer] = true;
            kept
        },
    );
    for (buffer, is_output) in kept.iter().enumerate() {
        live[buffer] |= is_output;
    }
    for step in steps.iter_mut().rev() {
        if !live[step.out] {
            let Some(check) = check(step) else {
                step.operands.clear();
                continue;
            };
            step.operands = vec![step.operands[1].clone()];
            step.work = check;
        }
        for buffer in step.operands.iter().filter_map(Operand::buffer) {
            if !live[buffer] {
                live[buffer] = true;
                if buffer >= inputs && !kept[buffer] {
                    step.last_uses.push(buffer);
                }
            }
        }
    }
    steps.retain(|step| live[step.out] || matches!(step.work, Work::Check { .. }));
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
