//! The memory behind tensors on a device: one buffer, and the checks that what it holds depends on.

use std::fmt;
use std::sync::{Arc, Mutex};

use smallvec::SmallVec;
use stridewise_core::{Error, Result};

use crate::device::{Device, lock};
use crate::faults::Fault;

/// A buffer of a device. When the last tensor that uses it goes, it returns to the pool.
pub struct Storage {
    device: Device,
    /// Always there, until the storage is dropped.
    buffer: Option<wgpu::Buffer>,
    bytes: usize,
    faults: Mutex<SmallVec<[Arc<Fault>; 1]>>,
}

impl Storage {
    pub(crate) fn new(device: Device, buffer: wgpu::Buffer, bytes: usize) -> Storage {
        Storage {
            device,
            buffer: Some(buffer),
            bytes,
            faults: Mutex::default(),
        }
    }

    /// The device it is on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// How many bytes tensors may use; the buffer is padded to a multiple of 16.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    pub(crate) fn buffer(&self) -> &wgpu::Buffer {
        match &self.buffer {
            Some(buffer) => buffer,
            None => unreachable!("a storage has its buffer until it is dropped"),
        }
    }

    /// Notes that this was computed from another.
    pub(crate) fn inherit(&self, from: &Storage) {
        // Taken first: two locks at a time might be taken in the other order elsewhere.
        let inherited = lock(&from.faults).clone();
        self.blame(inherited);
    }

    /// Notes that what this holds is good only if checks are.
    pub(crate) fn blame(&self, more: impl IntoIterator<Item = Arc<Fault>>) {
        let mut more = more.into_iter().peekable();
        if more.peek().is_none() {
            return;
        }
        // Long chains have many: they are put in order together, which is quick for a few rows that are in order.
        let mut faults = lock(&self.faults);
        faults.extend(more);
        faults.retain(|fault| !fault.is_over());
        faults.sort_by_key(|fault| fault.number());
        faults.dedup_by_key(|fault| fault.number());
    }

    /// The error of the first check that failed, as far as is known.
    pub(crate) fn raise(&self) -> Result<()> {
        let mut faults = lock(&self.faults);
        faults.retain(|fault| !fault.is_over());
        let error: Option<Error> = faults.iter().find_map(|fault| fault.error().cloned());
        error.map_or(Ok(()), Err)
    }

    /// Whether there are checks whose outcome is not known.
    pub(crate) fn is_in_doubt(&self) -> bool {
        lock(&self.faults).iter().any(|fault| fault.is_open())
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            self.device.recycle(buffer);
        }
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Storage")
            .field("device", &self.device)
            .field("len", &self.bytes)
            .finish()
    }
}
