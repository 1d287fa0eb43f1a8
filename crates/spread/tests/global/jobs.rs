//! Calls with the layouts of their inputs: all of them, or a sample that is the same in every run.

use stridewise_core::operators::TABLE;
use stridewise_spread::Sbp;
use stridewise_suite::Call;
use stridewise_suite::reference::Reference;

use crate::calls::calls;
use crate::held::{layouts, mixed};
use crate::perform::{Expected, expected};

/// The meshes that everything is tried on.
pub(crate) const MESHES: [&[usize]; 8] = [
    &[1],
    &[2],
    &[3],
    &[4],
    &[2, 2],
    &[2, 3],
    &[3, 2],
    &[2, 2, 2],
];

/// The operators of the table, and `x[...]`.
pub(crate) fn operators() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|entry| entry.name).chain(["index"])
}

/// A call, what one machine gives for it, and the layouts of its inputs that are to be tried.
pub(crate) struct Job {
    pub(crate) call: Call,
    pub(crate) wholes: Vec<Reference>,
    pub(crate) expected: Expected,
    /// Each has a layout for each input.
    pub(crate) held: Vec<Vec<Vec<Sbp>>>,
}

/// Layouts that are tried of a call of several tensors, where it has more.
const MOST: usize = 64;

/// Whether all there is is to be tried, not a sample.
pub(crate) fn everything() -> bool {
    std::env::var_os("SPREAD_EXHAUSTIVE").is_some()
}

/// The calls of an operator on a mesh of so many axes, with all layouts of their inputs, or with so many in all: then
/// calls in turn, each with layouts drawn by a fixed seed.
pub(crate) fn jobs(operator: &str, mesh_axes: usize, sample: Option<usize>) -> Vec<Job> {
    let calls = calls(operator).unwrap_or_else(|| panic!("{operator} has no calls here"));
    assert!(!calls.is_empty(), "{operator} has no calls here");
    let count = calls.len();
    let job = |(at, call): (usize, Call)| {
        let inputs = call.inputs();
        let choices: Vec<Vec<Vec<Sbp>>> = inputs
            .iter()
            .map(|input| layouts(input.shape.len(), input.dtype, mesh_axes))
            .collect();
        let ways: usize = choices.iter().map(Vec::len).product();
        let share = match sample {
            // So many of them fall to this call.
            Some(sample) => ((at + 1) * sample).div_ceil(count) - (at * sample).div_ceil(count),
            None if inputs.len() > 1 => MOST,
            None => ways,
        };
        let held: Vec<Vec<Vec<Sbp>>> = match share < ways {
            true => {
                let seed = mixed(at as u64);
                let drawn = (0..share).map(|turn| mixed(seed.wrapping_add(turn as u64)));
                let way = |drawn: u64| nth(&choices, (drawn % ways as u64) as usize);
                drawn.map(way).collect()
            }
            false => (0..ways).map(|way| nth(&choices, way)).collect(),
        };
        if held.is_empty() {
            return None;
        }
        let wholes: Vec<Reference> = inputs.iter().map(|input| input.reference()).collect();
        Some(Job {
            expected: expected(&call, &wholes),
            call,
            wholes,
            held,
        })
    };
    calls.into_iter().enumerate().filter_map(job).collect()
}

/// One choice of each, by its number among all.
fn nth(choices: &[Vec<Vec<Sbp>>], number: usize) -> Vec<Vec<Sbp>> {
    let mut rest = number;
    choices
        .iter()
        .map(|choices| {
            let chosen = choices[rest % choices.len()].clone();
            rest /= choices.len();
            chosen
        })
        .collect()
}
