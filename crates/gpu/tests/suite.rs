//! The engine-neutral suite on a GPU. Every call is made on the CPU too, and must give the same there: bit for bit,
//! strides and the texts of errors included. Without a GPU it fails: a suite that is skipped shows nothing.

use std::sync::Arc;

use stridewise_core::{DType, Error, Layout, Result};
use stridewise_cpu::Cpu;
use stridewise_gpu::{Gpu, Tensor};
use stridewise_suite::runner::{Ran, run};
use stridewise_suite::{Call, Input, Observation, Observed, Runner};

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
        let near = CpuRunner.input(spec);
        let far = self.0.upload(&row(spec));
        far.and_then(|x| x.with_layout(near.layout().clone()))
            .unwrap_or_else(|error| panic!("{spec:?} cannot be made: {error}"))
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

    fn witness(&self, call: &Call, ran: &Ran) {
        match (&ran.outcome, run(&CpuRunner, call).outcome) {
            (Ok(far), Ok(near)) => assert_eq!(plain(call, far), plain(call, &near), "{call}"),
            // What there is no memory for is told in each engine's words.
            (Err(Error::Memory(_)), Err(Error::Memory(_))) => {}
            (Err(far), Err(near)) => assert_eq!(*far, near, "{call}"),
            (far, near) => panic!("{call}: {far:?}, but on the CPU {near:?}"),
        }
    }
}

/// What is seen but for where storage is, and, of numbers that were computed, for which NaN it is: that depends on how the
/// CPU's code was compiled.
fn plain(call: &Call, seen: &Observation) -> Observation {
    let computed = ["cast", "sum", "index_add"].contains(&call.operator);
    let mut seen = seen.clone();
    let tensors = match &mut seen {
        Observation::One(x) | Observation::Checked(x, _) => std::slice::from_mut(x),
        Observation::Many(xs) => xs,
    };
    for x in tensors {
        x.storage = None;
        if computed {
            one_nan(x);
        }
    }
    seen
}

/// Makes all NaNs one.
fn one_nan(x: &mut Observed) {
    let (width, infinite) = match x.dtype {
        DType::F16 => (2, 0x7c00),
        DType::BF16 => (2, 0x7f80),
        DType::F32 | DType::C64 => (4, 0x7f80_0000),
        DType::F64 | DType::C128 => (8, 0x7ff0_0000_0000_0000),
        _ => return,
    };
    let elements = x.elements.as_deref_mut().unwrap_or_default();
    for number in elements.chunks_exact_mut(width) {
        let bits = number
            .iter()
            .rev()
            .fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        // Shifted, the sign is gone.
        if bits << (65 - 8 * width) > infinite << (65 - 8 * width) {
            number.fill(0xff);
        }
    }
}

struct CpuRunner;

impl Runner for CpuRunner {
    type Engine = Cpu;

    const HOLDS_DATA: bool = true;

    fn engine(&self) -> Cpu {
        Cpu
    }

    fn input(&self, spec: &Input) -> stridewise_cpu::Tensor {
        let (dims, strides) = (spec.shape.as_slice(), spec.strides.as_slice());
        Layout::new(spec.dtype.width(), dims, strides, spec.offset)
            .and_then(|layout| row(spec).with_layout(layout))
            .unwrap_or_else(|error| panic!("{spec:?} cannot be made: {error}"))
    }

    fn observe(&self, x: &stridewise_cpu::Tensor) -> Result<Observed> {
        Ok(Observed {
            dtype: x.dtype(),
            shape: x.shape().to_vec(),
            strides: Some(x.strides().to_vec()),
            storage: Some(x.storage_ptr().addr()),
            elements: Some(x.to_bytes()?),
        })
    }
}

/// The storage of an input.
fn row(spec: &Input) -> stridewise_cpu::Tensor {
    let cells = spec.storage.len() / spec.dtype.width();
    stridewise_cpu::Tensor::from_bytes(spec.dtype, &[cells], &spec.storage)
        .unwrap_or_else(|error| panic!("{spec:?} cannot be made: {error}"))
}

stridewise_suite::run_all!(GpuRunner::default());
