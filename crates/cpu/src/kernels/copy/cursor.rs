//! From block to block of a plan.

use super::collapse::Axes;
use super::plan::Plan;
use smallvec::SmallVec;

/// Where one block starts, and the axes it has there.
pub(super) struct Cursor {
    index: SmallVec<[usize; 8]>,
    /// Bytes from the start of the copy.
    pub(super) src: isize,
    pub(super) dst: isize,
    pub(super) block: Axes,
}

impl Cursor {
    /// The block with the given number.
    pub(super) fn new(plan: &Plan, number: usize) -> Cursor {
        let mut index = SmallVec::from_elem(0, plan.steps.len());
        let mut left = number;
        for (step, index) in plan.steps.iter().zip(&mut index).rev() {
            *index = left % step.count;
            left /= step.count;
        }
        let mut cursor = Cursor {
            index,
            src: 0,
            dst: 0,
            block: plan.block.clone(),
        };
        cursor.locate(plan);
        cursor
    }

    /// Goes on to the next block, and says whether it reads another part of the source.
    pub(super) fn advance(&mut self, plan: &Plan) -> bool {
        let mut new_source = false;
        for (i, (step, index)) in plan.steps.iter().zip(&mut self.index).enumerate().rev() {
            new_source |= i < plan.walks;
            *index += 1;
            if *index < step.count {
                break;
            }
            *index = 0;
        }
        self.locate(plan);
        new_source
    }

    fn locate(&mut self, plan: &Plan) {
        (self.src, self.dst) = (0, 0);
        for (step, &index) in plan.steps.iter().zip(&self.index) {
            self.src += index as isize * step.src;
            self.dst += index as isize * step.dst;
            if let Some((axis, rest)) = step.cut {
                let whole = plan.block[axis].size;
                self.block[axis].size = if index + 1 < step.count { whole } else { rest };
            }
        }
    }
}
