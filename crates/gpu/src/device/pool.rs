//! Buffers that are kept for the next tensor of about their size: making one costs far more than a small kernel, and
//! a new one is cleared before its first use.

use std::collections::HashMap;

use stridewise_core::{Error, Result};

use super::{Device, lock};

/// How a buffer is used: bound by kernels, and copied to and from.
pub(super) const USAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST);

/// Smaller buffers are as large.
const SMALLEST: u64 = 256;

/// This much is kept in any case, and beyond it as much as is in use.
const KEPT: u64 = 256 << 20;

/// Buffers that nobody uses, by size.
#[derive(Default)]
pub(super) struct Pool {
    free: HashMap<u64, Vec<wgpu::Buffer>>,
    free_bytes: u64,
    used_bytes: u64,
    limit: Option<u64>,
}

impl Pool {
    pub(super) fn limit(&mut self, bytes: Option<u64>) {
        self.limit = bytes;
    }

    fn take(&mut self, size: u64) -> Option<wgpu::Buffer> {
        let buffer = self.free.get_mut(&size)?.pop()?;
        self.free_bytes -= size;
        self.used_bytes += size;
        Some(buffer)
    }

    fn fits(&self, size: u64) -> bool {
        let total = self.used_bytes + self.free_bytes + size;
        self.limit.is_none_or(|limit| total <= limit)
    }

    fn give(&mut self, buffer: wgpu::Buffer) {
        let size = buffer.size();
        self.used_bytes -= size;
        if self.free_bytes + size <= KEPT.max(self.used_bytes) {
            self.free_bytes += size;
            self.free.entry(size).or_default().push(buffer);
        }
    }

    fn clear(&mut self) {
        self.free.clear();
        self.free_bytes = 0;
    }
}

/// The size of the buffer for so many bytes: four classes between powers of two, so that a quarter is wasted at most.
fn class(bytes: u64, most: u64) -> u64 {
    let bytes = bytes.max(SMALLEST);
    let step = (bytes.next_power_of_two() / 8).max(SMALLEST);
    bytes.next_multiple_of(step).min(most)
}

impl Device {
    /// A buffer of at least so many bytes.
    pub(super) fn buffer(&self, bytes: usize) -> Result<wgpu::Buffer> {
        let most = self.info().max_tensor_bytes;
        if bytes > most {
            return Err(self.too_large(bytes));
        }
        let size = class(bytes as u64, most as u64);
        match self.try_buffer(size) {
            // What waits in the batch may hold on to memory, and so does the pool.
            Err(Error::Memory(_)) => {
                self.finish()?;
                lock(&self.0.pool).clear();
                self.wait()?;
                self.try_buffer(size).map_err(|error| match error {
                    Error::Memory(_) => self.no_memory(bytes),
                    other => other,
                })
            }
            outcome => outcome,
        }
    }

    fn try_buffer(&self, size: u64) -> Result<wgpu::Buffer> {
        {
            let mut pool = lock(&self.0.pool);
            if let Some(buffer) = pool.take(size) {
                return Ok(buffer);
            }
            if !pool.fits(size) {
                return Err(Error::memory("above the limit"));
            }
        }
        let buffer = self.guarded(|| {
            self.0.raw.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage: USAGE,
                mapped_at_creation: false,
            })
        })?;
        lock(&self.0.pool).used_bytes += size;
        Ok(buffer)
    }

    /// Takes a buffer back. Commands that use it and have not run yet run before those of its next owner.
    pub(crate) fn recycle(&self, buffer: wgpu::Buffer) {
        lock(&self.0.pool).give(buffer);
    }

    /// Bytes in buffers: those of tensors, and those kept for later.
    pub fn memory(&self) -> (usize, usize) {
        let pool = lock(&self.0.pool);
        (pool.used_bytes as usize, pool.free_bytes as usize)
    }

    #[cold]
    fn too_large(&self, bytes: usize) -> Error {
        let info = self.info();
        Error::memory(format!(
            "{bytes} bytes are needed, but one tensor on {} has at most {}",
            info.title(),
            info.max_tensor_bytes
        ))
        .sizes(format!("at most {}", info.max_tensor_bytes), bytes)
        .help("cut the tensor into smaller ones, or keep it on the CPU")
    }

    #[cold]
    fn no_memory(&self, bytes: usize) -> Error {
        Error::memory(format!(
            "{bytes} bytes are needed, but {} has no memory left",
            self.info().title()
        ))
        .sizes(bytes, "less")
        .note("bytes in use there", self.memory().0)
        .help("let go of tensors that are not needed, or keep some on the CPU")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_what_they_are_for_and_waste_little() {
        for bytes in (0..5000).chain((1..200).map(|n| n * 654_321)) {
            let size = class(bytes, 128 << 20);
            assert!(size >= bytes && size.is_multiple_of(16), "{bytes}: {size}");
            assert!(
                size <= (bytes + bytes / 4).max(bytes + SMALLEST),
                "{bytes}: {size}"
            );
        }
        assert_eq!(class((128 << 20) - 1, 128 << 20), 128 << 20);
    }
}
