//! The engine-neutral suite on the CPU.

use stridewise_core::{Layout, Result};
use stridewise_cpu::{Cpu, Tensor};
use stridewise_suite::{Input, Observed, Runner};

struct CpuRunner;

impl Runner for CpuRunner {
    type Engine = Cpu;

    const HOLDS_DATA: bool = true;

    fn engine(&self) -> Cpu {
        Cpu
    }

    fn input(&self, spec: &Input) -> Tensor {
        let width = spec.dtype.width();
        let (dims, strides) = (spec.shape.as_slice(), spec.strides.as_slice());
        Layout::new(width, dims, strides, spec.offset)
            .and_then(|layout| {
                let cells = spec.storage.len() / width;
                Tensor::from_bytes(spec.dtype, &[cells], &spec.storage)?.with_layout(layout)
            })
            .unwrap_or_else(|error| panic!("{spec:?} cannot be made: {error}"))
    }

    fn observe(&self, x: &Tensor) -> Result<Observed> {
        Ok(Observed {
            dtype: x.dtype(),
            shape: x.shape().to_vec(),
            strides: Some(x.strides().to_vec()),
            storage: Some(x.storage_ptr().addr()),
            elements: Some(x.to_bytes()?),
        })
    }
}

stridewise_suite::run_all!(CpuRunner);
