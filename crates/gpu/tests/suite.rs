//! The engine-neutral suite on a GPU. Without one it fails: a suite that is skipped shows nothing.

use std::sync::Arc;

use stridewise_core::{Layout, Result};
use stridewise_gpu::{Gpu, Tensor};
use stridewise_suite::{Input, Observed, Runner};

struct GpuRunner(Gpu);

impl Default for GpuRunner {
    fn default() -> GpuRunner {
        GpuRunner(Gpu::open().unwrap_or_else(|error| panic!("{error}")))
    }
}

impl Runner for GpuRunner {
    type Engine = Gpu;

    const HOLDS_DATA: bool = true;

    fn engine(&self) -> Gpu {
        self.0.clone()
    }

    fn input(&self, spec: &Input) -> Tensor {
        let width = spec.dtype.width();
        let (dims, strides) = (spec.shape.as_slice(), spec.strides.as_slice());
        let made = || {
            let layout = Layout::new(width, dims, strides, spec.offset)?;
            let cells = spec.storage.len() / width;
            let x = stridewise_cpu::Tensor::from_bytes(spec.dtype, &[cells], &spec.storage)?;
            self.0.upload(&x)?.with_layout(layout)
        };
        made().unwrap_or_else(|error| panic!("{spec:?} cannot be made: {error}"))
    }

    fn observe(&self, x: &Tensor) -> Result<Observed> {
        Ok(Observed {
            dtype: x.dtype(),
            shape: x.shape().to_vec(),
            strides: Some(x.strides().to_vec()),
            storage: Some(Arc::as_ptr(x.storage()).addr()),
            elements: Some(x.download()?.to_bytes()?),
        })
    }
}

stridewise_suite::run_all!(GpuRunner::default());
