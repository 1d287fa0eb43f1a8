//! Indices that point outside, found on the device. A kernel notes the first bad position of each index it checks in a
//! slot; whatever is computed from then on carries the fault along, and who reads it raises the error that the CPU
//! engine would have raised at the call.

use std::sync::{Arc, Mutex, OnceLock, Weak};

use stridewise_core::engine::Along;
use stridewise_core::operator::running;
use stridewise_core::rules::bad_index;
use stridewise_core::size::Shape;
use stridewise_core::{DType, Error, Result};

use crate::device::lock;
use crate::kernels::places::Places;
use crate::storage::Storage;
use crate::tensor::Tensor;

/// How many checks are told apart between two reads.
pub(crate) const SLOTS: usize = 1024;

/// One check of an index, whose outcome is known when the device has been waited for.
pub(crate) struct Fault {
    /// Checks are numbered as they are made: of several that fail, the first is the one to tell.
    number: u64,
    slot: usize,
    operator: &'static str,
    source: Shape,
    along: Along,
    /// What was checked, until the outcome is known.
    index: Mutex<Option<Tensor>>,
    outcome: OnceLock<Option<Error>>,
}

impl Fault {
    /// The error, if the outcome is known and bad.
    pub(crate) fn error(&self) -> Option<&Error> {
        self.outcome.get()?.as_ref()
    }

    /// Whether the outcome is known and good.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.outcome.get(), Some(None))
    }

    /// Whether the outcome is not known yet.
    pub(crate) fn is_open(&self) -> bool {
        self.outcome.get().is_none()
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn slot(&self) -> usize {
        self.slot
    }

    /// Takes the word of the slot: 0, or the complement of the first bad position, whose value is then `read` as
    /// bytes from a place in the index's storage.
    pub(crate) fn settle(
        &self,
        word: u32,
        read: impl FnOnce(&Storage, usize, &mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let Some(index) = lock(&self.index).clone() else {
            return Ok(());
        };
        let outcome = match word {
            0 => None,
            _ => {
                let position = !word as usize;
                let mut bytes = [0; 8];
                let width = index.dtype().width();
                let place = Places::of(index.layout()).place(position) * width;
                read(index.storage(), place, &mut bytes[..width])?;
                let value = integer(bytes, index.dtype());
                let error = bad_index(value, position, &self.source, index.shape(), &self.along);
                Some(error.within(self.operator))
            }
        };
        let _ = self.outcome.set(outcome);
        *lock(&self.index) = None;
        Ok(())
    }
}

/// The value of an integer from its bytes, those beyond its width being 0.
fn integer(bytes: [u8; 8], dtype: DType) -> i128 {
    let value = u64::from_le_bytes(bytes);
    let unused = 64 - 8 * dtype.width() as u32;
    match dtype.family() {
        stridewise_core::dtype::Family::Signed => (((value << unused) as i64) >> unused) as i128,
        _ => value as i128,
    }
}

/// The checks of a device.
pub(crate) struct Faults {
    /// A word for each slot.
    page: wgpu::Buffer,
    used: usize,
    made: u64,
    open: Vec<Weak<Fault>>,
}

impl Faults {
    /// None yet, with words that are 0.
    pub(crate) fn new(page: wgpu::Buffer) -> Faults {
        Faults {
            page,
            used: 0,
            made: 0,
            open: Vec::new(),
        }
    }

    /// Where the slots are.
    pub(crate) fn page(&self) -> &wgpu::Buffer {
        &self.page
    }

    /// All slots are free again, once the page has been cleared.
    pub(crate) fn start_over(&mut self) {
        self.used = 0;
    }

    /// Whether another slot can be taken.
    pub(crate) fn has_room(&self) -> bool {
        self.used < SLOTS
    }

    /// Takes a slot for a check.
    pub(crate) fn open(&mut self, index: &Tensor, source: &[usize], along: &Along) -> Arc<Fault> {
        let fault = Arc::new(Fault {
            number: self.made,
            slot: self.used,
            operator: running(),
            source: source.into(),
            along: along.clone(),
            index: Mutex::new(Some(index.clone())),
            outcome: OnceLock::new(),
        });
        self.made += 1;
        self.used += 1;
        self.open.push(Arc::downgrade(&fault));
        fault
    }

    /// Those whose outcome is not known and that somebody would hear of.
    pub(crate) fn all_open(&mut self) -> Vec<Arc<Fault>> {
        let open: Vec<_> = self.open.iter().filter_map(Weak::upgrade).collect();
        let open: Vec<_> = open.into_iter().filter(|fault| fault.is_open()).collect();
        self.open = open.iter().map(Arc::downgrade).collect();
        open
    }
}
