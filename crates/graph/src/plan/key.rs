//! Which inputs a plan is for.

use stridewise_core::dtype::DType;
use stridewise_core::engine::Engine;
use stridewise_core::error::Result;
use stridewise_core::size::Shape;
use stridewise_core::smallvec::SmallVec;
use stridewise_cpu::compare::array_equal;
use stridewise_cpu::{Cpu, Tensor};

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
    /// The key of a plan for such inputs, unless it is not worth keeping. What is read is kept as it is now: whoever
    /// lent it may write other sizes there before the next run.
    pub(crate) fn new(program: &Program, inputs: &[Tensor]) -> Result<Option<Key>> {
        let read = program.read_inputs();
        if read.iter().any(|at| inputs[*at].count() > READABLE) {
            return Ok(None);
        }
        let kinds = inputs.iter().map(|x| Kind {
            dtype: x.dtype(),
            dims: x.shape().into(),
            strides: x.strides().into(),
        });
        let read = read.into_iter().map(|at| {
            let settled = Cpu.as_it_is(&inputs[at]);
            settled.map(|settled| (at, settled))
        });
        Ok(Some(Key {
            inputs: kinds.collect(),
            read: read.collect::<Result<_>>()?,
        }))
    }

    /// The inputs, those that are read as they are kept here.
    pub(crate) fn settled(&self, inputs: &[Tensor]) -> Vec<Tensor> {
        let mut inputs = inputs.to_vec();
        for (at, read) in &self.read {
            inputs[*at] = read.clone();
        }
        inputs
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
