//! How large the processor's caches are, as Linux tells it; elsewhere a guess.

use std::sync::OnceLock;

/// The size in bytes of the cache for data that is nearest to a core.
fn nearest() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| told(0, 8 << 10).unwrap_or(48 << 10))
}

/// Whether the nearest cache is a small one, as was measured to matter where much is on its way into it: lines that are asked
/// for to be read once are most likely pushed out before they are read, and have to come all the way again.
pub(crate) fn nearest_is_small() -> bool {
    nearest() <= 32 << 10
}

/// The size in bytes of the cache between the nearest and those that cores share.
pub(crate) fn second() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| told(2, 128 << 10).unwrap_or(512 << 10))
}

/// The size in bytes of the last cache before memory.
pub(crate) fn last() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| told(3, 1 << 20).unwrap_or(32 << 20))
}

/// What is told of a cache, unless it is less than one of its kind has.
fn told(index: usize, least: usize) -> Option<usize> {
    let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size");
    let text = std::fs::read_to_string(path).ok()?;
    let kib: usize = text.trim().strip_suffix('K')?.parse().ok()?;
    kib.checked_mul(1 << 10).filter(|&bytes| bytes >= least)
}
