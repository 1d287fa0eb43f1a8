//! The ways up and down, a chunk at a time, in the order of all other commands; and what is learnt from a read: the
//! outcome of every check before it.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use stridewise_core::engine::Along;
use stridewise_core::{Error, Result};

use super::{Device, lock};
use crate::faults::Fault;
use crate::kernels::Kernel;
use crate::storage::Storage;
use crate::tensor::Tensor;

/// Uploads up to this many bytes travel with the parameters of kernels.
const SMALL: usize = 16 << 10;

/// The most bytes of one transfer.
const CHUNK: usize = 16 << 20;

/// The most bytes that wait for the way up.
const WAITING: u64 = 64 << 20;

impl Device {
    /// Writes bytes to the start of a storage.
    pub(crate) fn write(&self, to: &Storage, bytes: &[u8]) -> Result<()> {
        self.0.counters.bytes_up.add(bytes.len() as u64);
        if bytes.is_empty() {
            return Ok(());
        }
        if bytes.len() <= SMALL {
            let mut batch = lock(&self.0.batch);
            batch.write(bytes, to.buffer(), 0);
            return self.submit_if_long(&mut batch);
        }
        for (at, chunk) in (0..).step_by(CHUNK).zip(bytes.chunks(CHUNK)) {
            let size = chunk.len().next_multiple_of(4) as u64;
            let staging = self.guarded(|| {
                let staging = self.0.raw.create_buffer(&wgpu::BufferDescriptor {
                    label: None,
                    size,
                    usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
                    mapped_at_creation: true,
                });
                let mapped = staging.get_mapped_range_mut(..).map(|mut view| {
                    view.slice(..chunk.len()).copy_from_slice(chunk);
                });
                staging.unmap();
                mapped.map(|()| staging)
            })?;
            let staging = staging.map_err(|error| self.unmapped(&error.to_string()))?;
            let mut batch = lock(&self.0.batch);
            batch.copy(&staging, 0, to.buffer(), at, size);
            if batch.stage(size) > WAITING {
                self.submit(&mut batch)?;
                drop(batch);
                // Only now is what carried the bytes let go.
                self.wait()?;
            } else {
                self.submit_if_long(&mut batch)?;
            }
        }
        Ok(())
    }

    /// Copies bytes of one storage to a place in another; both places are multiples of 4, and so is the end of the range
    /// unless it is padding that follows.
    pub(crate) fn copy(
        &self,
        from: &Storage,
        range: Range<usize>,
        to: &Storage,
        at: usize,
    ) -> Result<()> {
        to.inherit(from);
        let bytes = range.len().next_multiple_of(4) as u64;
        if bytes > 0 {
            self.0.counters.copies.add(1);
            let mut batch = lock(&self.0.batch);
            let start = range.start as u64;
            batch.copy(from.buffer(), start, to.buffer(), at as u64, bytes);
            self.submit_if_long(&mut batch)?;
        }
        Ok(())
    }

    /// Fills a storage with zeros.
    pub(crate) fn clear(&self, storage: &Storage) -> Result<()> {
        self.0.counters.copies.add(1);
        let mut batch = lock(&self.0.batch);
        batch.clear(storage.buffer());
        self.submit_if_long(&mut batch)
    }

    /// Reads bytes of a storage, and raises what it depends on.
    pub(crate) fn read(&self, from: &Storage, at: usize, into: &mut [u8]) -> Result<()> {
        from.raise()?;
        self.0.counters.bytes_down.add(into.len() as u64);
        if into.is_empty() && from.is_in_doubt() {
            self.finish()?;
        }
        for (start, chunk) in (at..).step_by(CHUNK).zip(into.chunks_mut(CHUNK)) {
            self.fetch(Some((from, start)), chunk, true)?;
            from.raise()?;
        }
        from.raise()
    }

    /// Sends what waits and waits until it is done; the outcome of every check is known then, but raised by none.
    pub fn finish(&self) -> Result<()> {
        self.fetch(None, &mut [], true)
    }

    /// Adds a check of an index to the batch. What is computed with the index is to blame the fault.
    pub(crate) fn check(
        &self,
        kernel: &Kernel,
        params: &mut [u32],
        threads: usize,
        index: &Tensor,
        source: &[usize],
        along: &Along,
    ) -> Result<Arc<Fault>> {
        let page = lock(&self.0.batch).faults.page().clone();
        let input = std::iter::once(index.storage().buffer());
        let launch = self.prepare(kernel, &page, input, threads)?;
        let mut batch = lock(&self.0.batch);
        while !batch.faults.has_room() {
            if batch.faults.all_open().is_empty() {
                batch.clear(&page);
                batch.faults.start_over();
            } else {
                drop(batch);
                self.finish()?;
                batch = lock(&self.0.batch);
            }
        }
        let fault = batch.faults.open(index, source, along);
        params[0] = fault.slot() as u32;
        self.add(&mut batch, launch, params)?;
        Ok(fault)
    }

    /// Sends what waits and brings down some bytes and the outcome of checks.
    fn fetch(&self, from: Option<(&Storage, usize)>, into: &mut [u8], checks: bool) -> Result<()> {
        // Copies are of whole words.
        let skip = from.map_or(0, |(_, at)| at % 4);
        let data = (skip + into.len()).next_multiple_of(4);
        let (staging, sent, faults) = {
            let mut batch = lock(&self.0.batch);
            let faults = match checks {
                true => batch.faults.all_open(),
                false => Vec::new(),
            };
            let slots = faults
                .iter()
                .map(|fault| fault.slot() + 1)
                .max()
                .unwrap_or(0);
            let page = batch.faults.page().clone();
            if data + slots == 0 {
                self.submit(&mut batch)?;
                drop(batch);
                return self.wait();
            }
            let staging = self.guarded(|| {
                self.0.raw.create_buffer(&wgpu::BufferDescriptor {
                    label: None,
                    size: (data + slots * 4) as u64,
                    usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                })
            })?;
            if let Some((storage, at)) = from.filter(|_| data > 0) {
                let at = (at - skip) as u64;
                batch.copy(storage.buffer(), at, &staging, 0, data as u64);
            }
            if slots > 0 {
                batch.copy(&page, 0, &staging, data as u64, slots as u64 * 4);
            }
            (staging, self.submit(&mut batch)?, faults)
        };
        let mut words = Vec::new();
        self.look(&staging, sent, |bytes| {
            into.copy_from_slice(&bytes[skip..skip + into.len()]);
            words.extend(bytes[data..].chunks_exact(4).map(|word| {
                word.iter()
                    .rev()
                    .fold(0, |all, byte| all << 8 | u32::from(*byte))
            }));
        })?;
        faults.iter().try_for_each(|fault: &Arc<Fault>| {
            let word = words.get(fault.slot()).copied().unwrap_or(0);
            fault.settle(word, |index, at, bytes| {
                self.fetch(Some((index, at)), bytes, false)
            })
        })
    }

    /// Looks at the bytes of a buffer when what was sent is done.
    fn look(
        &self,
        staging: &wgpu::Buffer,
        sent: Option<wgpu::SubmissionIndex>,
        look: impl FnOnce(&[u8]),
    ) -> Result<()> {
        let (sender, mapped) = channel();
        self.guarded(|| {
            staging.map_async(wgpu::MapMode::Read, .., move |outcome| {
                // Nobody listens any more where the wait was given up.
                let _ = sender.send(outcome);
            });
        })?;
        let outcome = loop {
            let waiting = wgpu::PollType::Wait {
                submission_index: sent.clone(),
                timeout: None,
            };
            // What goes wrong here is told by the mapping.
            let _ = self.0.raw.poll(waiting);
            // Another thread's poll may be about to tell us.
            match mapped.recv_timeout(Duration::from_millis(10)) {
                Ok(outcome) => break outcome.map_err(|error| error.to_string()),
                Err(RecvTimeoutError::Disconnected) => break Err("it gave no answer".to_string()),
                Err(RecvTimeoutError::Timeout) => self.require_alive()?,
            }
        };
        self.require_alive()?;
        let seen = outcome.and_then(|()| match staging.get_mapped_range(..) {
            Ok(bytes) => {
                look(&bytes);
                Ok(())
            }
            Err(error) => Err(error.to_string()),
        });
        let seen = seen.map_err(|why| self.unmapped(&why));
        staging.unmap();
        seen
    }

    /// What the device holds cannot be reached: it is lost.
    #[cold]
    fn unmapped(&self, why: &str) -> Error {
        self.lose_for(&format!("its memory cannot be reached: {why}"))
    }
}
