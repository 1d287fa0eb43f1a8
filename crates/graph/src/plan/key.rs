//! Which inputs a plan is for.

use stridewise_core::dtype::DType;
use stridewise_core::size::Shape;
use stridewise_core::smallvec::SmallVec;
use stridewise_cpu::Tensor;
use stridewise_cpu::compare::array_equal;

use crate::program::Program;

/// The dtypes, sizes and strides of the inputs, and the elements of those from which sizes are read.
#[derive(Debug)]
pub(crate) struct Key {
    inputs: Vec<Kind>,
    read: Vec<(usize, Tensor)>,
}

#[derive(Debug)]
struct Kind {
    dtype: DType,
    dims: Shape,
    strides: SmallVec<[isize; 8]>,
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
        let kinds = inputs.iter().map(|x| Kind {
            dtype: x.dtype(),
            dims: x.shape().into(),
            strides: x.strides().into(),
        });
        Some(Key {
            inputs: kinds.collect(),
            read: (read.into_iter())
                .map(|at| (at, inputs[at].clone()))
                .collect(),
        })
    }

    /// Whether a plan for this is a plan for those.
    pub(crate) fn fits(&self, inputs: &[Tensor]) -> bool {
        let alike = |(kind, x): (&Kind, &Tensor)| {
            kind.dtype == x.dtype()
                && kind.dims.as_slice() == x.shape()
                && kind.strides.as_slice() == x.strides()
        };
        self.inputs.len() == inputs.len()
            && self.inputs.iter().zip(inputs).all(alike)
            && (self.read.iter()).all(|(at, read)| array_equal(read, &inputs[*at], false))
    }
}
