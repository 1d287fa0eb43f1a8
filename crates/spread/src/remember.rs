//! Choices of layouts that were made before. Weighing all of them takes far longer than working on small parts, and
//! a program asks the same again in every round; a plan asks it for every rank of a mesh, and all ranks choose alike.

use std::cell::RefCell;
use std::collections::VecDeque;

use stridewise_core::size::Shape;
use stridewise_core::smallvec::SmallVec;

use crate::choose::{Changes, Given, Wanted};
use crate::mesh::Mesh;
use crate::sbp::NdSbp;
use crate::signature::Problem;

/// So many are remembered by a thread; the oldest are forgotten first.
const REMEMBERED: usize = 128;

thread_local! {
    static KNOWN: RefCell<VecDeque<Known>> = const { RefCell::new(VecDeque::new()) };
}

/// What was chosen: how inputs are to be held, and the way there.
#[derive(Clone)]
pub(crate) struct Choice {
    pub(crate) wanted: Wanted,
    pub(crate) changes: Changes,
}

/// Everything that a choice depends on, and the choice.
struct Known {
    problem: Problem,
    mesh: Mesh,
    inputs: SmallVec<[Input; 3]>,
    choice: Choice,
}

/// A [`Given`] that can be kept.
struct Input {
    shape: Shape,
    width: usize,
    sbp: NdSbp,
    uniform: bool,
}

impl Input {
    fn is(&self, given: &Given<'_>) -> bool {
        (self.width, self.uniform) == (given.width, given.uniform)
            && self.shape[..] == *given.shape
            && self.sbp[..] == *given.sbp
    }
}

/// The choice that was made when the same was asked.
pub(crate) fn recall(mesh: &Mesh, problem: &Problem, given: &[Given<'_>]) -> Option<Choice> {
    let asked = |known: &&Known| {
        let mut inputs = known.inputs.iter().zip(given);
        known.inputs.len() == given.len()
            && inputs.all(|(input, given)| input.is(given))
            && known.problem == *problem
            && known.mesh == *mesh
    };
    KNOWN.with_borrow(|all| all.iter().find(asked).map(|known| known.choice.clone()))
}

/// Keeps a choice.
pub(crate) fn keep(mesh: &Mesh, problem: Problem, given: &[Given<'_>], choice: Choice) {
    let inputs = given.iter().map(|x| Input {
        shape: x.shape.into(),
        width: x.width,
        sbp: x.sbp.into(),
        uniform: x.uniform,
    });
    let known = Known {
        problem,
        mesh: mesh.clone(),
        inputs: inputs.collect(),
        choice,
    };
    KNOWN.with_borrow_mut(|all| {
        if all.len() == REMEMBERED {
            all.pop_front();
        }
        all.push_back(known);
    });
}
