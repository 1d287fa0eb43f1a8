//! The engine-neutral suite on a tape over the CPU, with every tensor watched that can be: noting what is done must
//! not change what is done.

mod inputs;

use stridewise_core::Result;
use stridewise_cpu::Cpu;
use stridewise_suite::{Input, Observed, Runner};
use stridewise_tape::{Tape, Var};

use inputs::{has_gradient, over};

struct TapeRunner;

impl Runner for TapeRunner {
    type Engine = Tape<Cpu>;

    const HOLDS_DATA: bool = true;

    fn engine(&self) -> Tape<Cpu> {
        Tape::over(Cpu)
    }

    fn input(&self, spec: &Input) -> Var<Cpu> {
        let tape = self.engine();
        let x = over(&spec.storage, spec.dtype, spec);
        match has_gradient(spec.dtype) {
            true => tape.watch(&x).unwrap_or_else(|error| panic!("{error}")),
            false => tape.constant(x),
        }
    }

    fn observe(&self, x: &Var<Cpu>) -> Result<Observed> {
        let x = x.value();
        Ok(Observed {
            dtype: x.dtype(),
            shape: x.shape().to_vec(),
            strides: Some(x.strides().to_vec()),
            storage: Some(x.storage_ptr().addr()),
            elements: Some(x.to_bytes()?),
        })
    }
}

stridewise_suite::run_all!(TapeRunner);
