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

/// How many cases are tried of each operator on each mesh: all where it is set by `SPREAD_EXHAUSTIVE`.
pub(crate) fn most(sample: usize) -> usize {
    match std::env::var_os("SPREAD_EXHAUSTIVE") {
        Some(_) => usize::MAX,
        None => sample,
    }
}

/// The calls of an operator on a mesh of so many axes, with at most so many layouts of inputs in all. Those left out are
/// spread evenly over all there are.
pub(crate) fn jobs(operator: &str, mesh_axes: usize, most: usize) -> Vec<Job> {
    let calls = calls(operator).unwrap_or_else(|| panic!("{operator} has no calls here"));
    assert!(!calls.is_empty(), "{operator} has no calls here");
    let choices: Vec<Vec<Vec<Vec<Sbp>>>> = calls
        .iter()
        .map(|call| {
            let inputs = call.inputs().into_iter();
            let held = inputs.map(|input| layouts(input.shape.len(), input.dtype, mesh_axes));
            held.collect()
        })
        .collect();
    let ways = |choices: &Vec<Vec<Vec<Sbp>>>| choices.iter().map(Vec::len).product::<usize>();
    let total: usize = choices.iter().map(ways).sum();
    let mut picked = picked(total, most).peekable();
    let mut before = 0;
    let mut jobs = Vec::new();
    for (call, choices) in calls.into_iter().zip(&choices) {
        let count = ways(choices);
        let mut held = Vec::new();
        while let Some(way) = picked.next_if(|way| *way < before + count) {
            held.push(nth(choices, way - before));
        }
        before += count;
        if !held.is_empty() {
            let inputs = call.inputs().into_iter();
            let wholes: Vec<Reference> = inputs.map(|input| input.reference()).collect();
            jobs.push(Job {
                expected: expected(&call, &wholes),
                call,
                wholes,
                held,
            });
        }
    }
    jobs
}

/// Numbers below `total`, ascending, at most so many: one out of each run of equal length.
fn picked(total: usize, most: usize) -> impl Iterator<Item = usize> {
    let count = total.min(most);
    (0..count).map(move |at| {
        let start = (at as u128 * total as u128 / count as u128) as usize;
        let end = ((at as u128 + 1) * total as u128 / count as u128) as usize;
        start + (mixed(at as u64) % (end - start) as u64) as usize
    })
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
