//! What a device has done so far, for tests and for whoever wonders where the time went.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// How often a device did something since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Kernels that were launched.
    pub launches: u64,
    /// Copies from one buffer on the device to another, and buffers that were filled with zeros.
    pub copies: u64,
    /// Batches of commands that were sent.
    pub submissions: u64,
    /// Bytes of tensors that went to the device.
    pub bytes_up: u64,
    /// Bytes of tensors that came back.
    pub bytes_down: u64,
}

impl Counts {
    /// What was done since an earlier count.
    #[must_use]
    pub fn since(self, earlier: Counts) -> Counts {
        Counts {
            launches: self.launches - earlier.launches,
            copies: self.copies - earlier.copies,
            submissions: self.submissions - earlier.submissions,
            bytes_up: self.bytes_up - earlier.bytes_up,
            bytes_down: self.bytes_down - earlier.bytes_down,
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} launches, {} copies, {} submissions, {} bytes up, {} bytes down",
            self.launches, self.copies, self.submissions, self.bytes_up, self.bytes_down
        )
    }
}

/// One number of the [`Counts`], counted by any thread.
#[derive(Default)]
pub(super) struct Counter(AtomicU64);

impl Counter {
    pub(super) fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The [`Counts`] as they grow.
#[derive(Default)]
pub(super) struct Counters {
    pub(super) launches: Counter,
    pub(super) copies: Counter,
    pub(super) submissions: Counter,
    pub(super) bytes_up: Counter,
    pub(super) bytes_down: Counter,
}

impl Counters {
    pub(super) fn get(&self) -> Counts {
        Counts {
            launches: self.launches.get(),
            copies: self.copies.get(),
            submissions: self.submissions.get(),
            bytes_up: self.bytes_up.get(),
            bytes_down: self.bytes_down.get(),
        }
    }
}
