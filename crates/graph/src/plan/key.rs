//! Which inputs a plan is for.

use stridewise_core::size::Shape;
use stridewise_core::smallvec::SmallVec;
use stridewise_cpu::Tensor;
use stridewise_cpu::compare::array_equal;

use crate::program::Program;

/// The sizes and strides of the inputs, and the elements of those from which sizes are read.
#[derive(Debug)]
pub(crate) struct Key {
    layouts: Vec<(Shape, SmallVec<[isize; 8]>)>,
    read: Vec<(usize, Tensor)>,
}

/// Inputs from which sizes are read are compared in full; what is larger is no list of sizes.
const READABLE: usize = 1 << 12;

impl Key {
    /// The key of a plan for such inputs, unless it is not worth keeping.
    pub(crate) fn new(program: &Program, inputs: &[Tensor]) -> Option<Key> {
        let read = program.read_inputs();
        if read.iter().any(|at| inputs[*at].count() > READABLE) {
            return None;
        }
        let layouts = inputs
            .iter()
            .map(|x| (x.shape().into(), x.strides().into()));
        Some(Key {
            layouts: layouts.collect(),
            read: (read.into_iter())
                .map(|at| (at, inputs[at].clone()))
                .collect(),
        })
    }

    /// Whether a plan for this is a plan for those.
    pub(crate) fn fits(&self, inputs: &[Tensor]) -> bool {
        let alike = |(layout, x): (&(Shape, SmallVec<[isize; 8]>), &Tensor)| {
            layout.0.as_slice() == x.shape() && layout.1.as_slice() == x.strides()
        };
        self.layouts.len() == inputs.len()
            && self.layouts.iter().zip(inputs).all(alike)
            && (self.read.iter()).all(|(at, read)| array_equal(read, &inputs[*at], false))
    }
}
