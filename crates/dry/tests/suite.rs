//! The engine-neutral suite on the shape-only engine.

use std::cell::RefCell;
use std::collections::VecDeque;

use stridewise_core::{Layout, Result};
use stridewise_dry::{Dry, Sketch};
use stridewise_suite::{Input, Observed, Runner};

/// Storages are told apart by the sketches that were looked at last.
#[derive(Default)]
struct DryRunner {
    engine: Dry,
    seen: RefCell<(usize, VecDeque<Sketch>)>,
}

impl DryRunner {
    fn storage(&self, x: &Sketch) -> usize {
        let (dropped, seen) = &mut *self.seen.borrow_mut();
        let known = seen.iter().position(|other| other.shares_storage_with(x));
        let at = known.unwrap_or_else(|| {
            seen.push_back(x.clone());
            seen.len() - 1
        });
        let storage = *dropped + at;
        if seen.len() > 512 {
            seen.pop_front();
            *dropped += 1;
        }
        storage
    }
}

impl Runner for DryRunner {
    type Engine = Dry;

    const HOLDS_DATA: bool = false;

    fn engine(&self) -> Dry {
        self.engine.clone()
    }

    fn input(&self, spec: &Input) -> Sketch {
        let (dims, strides) = (spec.shape.as_slice(), spec.strides.as_slice());
        let layout = Layout::new(spec.dtype.width(), dims, strides, spec.offset)
            .unwrap_or_else(|error| panic!("{spec:?} cannot be made: {error}"));
        self.engine.with_layout(spec.dtype, layout)
    }

    fn observe(&self, x: &Sketch) -> Result<Observed> {
        Ok(Observed {
            dtype: x.dtype(),
            shape: x.shape().to_vec(),
            strides: Some(x.strides().to_vec()),
            storage: Some(self.storage(x)),
            elements: None,
        })
    }
}

stridewise_suite::run_all!(DryRunner::default());
