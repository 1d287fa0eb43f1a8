//! Buffers for tensors, kept after use. Fresh memory is slow: the system clears it and maps it page by page
//! at the first touch, which takes longer than filling it again. So freed buffers wait here for the next
//! request of their size, within a limit, and large ones ask for huge pages. A request that cannot be met
//! is an error before it becomes an abort.

mod available;
mod patience;
mod system;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use core::fmt;
use core::ptr::NonNull;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

pub use patience::{SmallSteps, in_small_steps};

/// Every buffer of more than a few hundred bytes starts on a cache line.
const ALIGN: usize = 64;
/// Smaller buffers are left to the system allocator, which is as quick and wastes less.
const POOLED: usize = 64 << 10;
/// From here on a request is held against the memory there is, since the system would grant it and kill the
/// process when it is touched.
const CHECKED: usize = 256 << 20;
/// The most that is kept by default.
const MOST_KEPT: usize = 2 << 30;

/// Uninitialised memory, aligned for every element, past 512 bytes to 64, and owned by nobody else.
#[derive(Debug)]
pub struct Buffer {
    start: NonNull<u8>,
    capacity: usize,
}

/// Gives its alignment to pointers to nothing.
#[repr(align(64))]
struct Line;

// SAFETY: a buffer is the only owner of its memory, which is not tied to a thread.
unsafe impl Send for Buffer {}
// SAFETY: a shared buffer gives out its address and size and nothing else.
unsafe impl Sync for Buffer {}

/// Memory that could not be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocError {
    /// How many bytes were asked for.
    pub bytes: usize,
    /// What stood in the way.
    pub why: String,
}

impl fmt::Display for AllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot allocate {} bytes: {}", self.bytes, self.why)
    }
}

impl std::error::Error for AllocError {}

/// What the pool holds, and how often it could help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Bytes kept for reuse.
    pub held_bytes: usize,
    /// Buffers kept for reuse.
    pub held_buffers: usize,
    /// The most bytes that are kept.
    pub limit: usize,
    /// Requests met from the pool.
    pub hits: u64,
    /// Requests of a pooled size that went to the system.
    pub misses: u64,
}

impl Buffer {
    const EMPTY: Buffer = Buffer {
        start: NonNull::<Line>::dangling().cast(),
        capacity: 0,
    };

    /// At least `bytes` bytes, uninitialised. None at all is fine.
    ///
    /// ```
    /// use stridewise_cpu::pool::Buffer;
    ///
    /// let buffer = Buffer::new(1000)?;
    /// assert!(buffer.capacity() >= 1000);
    /// assert_eq!(buffer.as_ptr() as usize % 64, 0);
    /// assert!(Buffer::new(1 << 60).is_err());
    /// # Ok::<(), stridewise_cpu::pool::AllocError>(())
    /// ```
    pub fn new(bytes: usize) -> Result<Buffer, AllocError> {
        if bytes == 0 {
            return Ok(Buffer::EMPTY);
        }
        let fail = |why: String| AllocError { bytes, why };
        let capacity = size_class(bytes).ok_or_else(|| fail("no machine has that much".into()))?;
        if !patience::allows(bytes) {
            return Err(fail("the work was to be done in small steps".into()));
        }
        if capacity >= POOLED
            && let Some(held) = pool().take(capacity)
        {
            return Ok(Buffer::from(held));
        }
        if capacity >= CHECKED {
            make_room(capacity).map_err(fail)?;
        }
        let fresh = system::obtain(capacity).or_else(|| {
            clear();
            system::obtain(capacity)
        });
        let fresh = fresh.ok_or_else(|| fail("the system has no more to give".into()))?;
        Ok(Buffer::from(fresh))
    }

    /// The first byte; dangling, though aligned, when the capacity is 0.
    #[inline]
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// How many bytes there are: what was asked for, or a little more.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.capacity
    }
}

impl From<Held> for Buffer {
    fn from(held: Held) -> Buffer {
        let held = core::mem::ManuallyDrop::new(held);
        Buffer {
            start: held.start,
            capacity: held.capacity,
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.capacity == 0 {
            return;
        }
        let held = Held {
            start: self.start,
            capacity: self.capacity,
        };
        if self.capacity >= POOLED {
            let default = default_limit();
            // The lock is gone by the end of this statement, before anything is released.
            let surplus = pool().keep(held, default);
            drop(surplus);
        }
    }
}

/// What the pool holds and how it has done.
pub fn stats() -> Stats {
    let default = default_limit();
    let pool = pool();
    Stats {
        held_bytes: pool.bytes,
        held_buffers: pool.ages.len(),
        limit: pool.limit.unwrap_or(default),
        hits: pool.hits,
        misses: pool.misses,
    }
}

/// Gives everything that is held back to the system.
pub fn clear() {
    let surplus = pool().shrink(0);
    drop(surplus);
}

/// Keeps no more than `bytes` from now on; 0 turns the pool off.
pub fn set_limit(bytes: usize) {
    let surplus = {
        let mut pool = pool();
        pool.limit = Some(bytes);
        pool.shrink(bytes)
    };
    drop(surplus);
}

/// Memory that goes back to the system when dropped.
struct Held {
    start: NonNull<u8>,
    capacity: usize,
}

// SAFETY: the only owner of its memory, which is not tied to a thread.
unsafe impl Send for Held {}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: made by `obtain` with this capacity, and nothing else knows of it.
        unsafe { system::release(self.start, self.capacity) }
    }
}

/// Freed buffers by size, and when each was freed. Whatever leaves is returned, so that it is released
/// after the lock.
struct Pool {
    /// Within a class the newest are at the back.
    classes: BTreeMap<usize, VecDeque<(u64, Held)>>,
    /// The class of each held buffer, by the order of freeing.
    ages: BTreeMap<u64, usize>,
    clock: u64,
    bytes: usize,
    /// `None` until somebody sets one.
    limit: Option<usize>,
    hits: u64,
    misses: u64,
}

impl Pool {
    const fn new() -> Pool {
        Pool {
            classes: BTreeMap::new(),
            ages: BTreeMap::new(),
            clock: 0,
            bytes: 0,
            limit: None,
            hits: 0,
            misses: 0,
        }
    }

    /// The buffer of this size that was freed last: the likeliest to be in the cache still.
    fn take(&mut self, capacity: usize) -> Option<Held> {
        let newest = self.classes.get_mut(&capacity).and_then(VecDeque::pop_back);
        let Some((age, held)) = newest else {
            self.misses += 1;
            return None;
        };
        self.ages.remove(&age);
        self.bytes -= capacity;
        self.hits += 1;
        Some(held)
    }

    /// Keeps a buffer and returns what no longer fits, which may be the buffer itself.
    fn keep(&mut self, held: Held, default_limit: usize) -> Vec<Held> {
        let limit = self.limit.unwrap_or(default_limit);
        let capacity = held.capacity;
        if capacity > limit {
            return vec![held];
        }
        let surplus = self.shrink(limit - capacity);
        self.clock += 1;
        self.ages.insert(self.clock, capacity);
        let class = self.classes.entry(capacity).or_default();
        class.push_back((self.clock, held));
        self.bytes += capacity;
        surplus
    }

    /// Lets go of the oldest until no more than `limit` bytes are held.
    fn shrink(&mut self, limit: usize) -> Vec<Held> {
        let mut surplus = Vec::new();
        while self.bytes > limit
            && let Some((_, capacity)) = self.ages.pop_first()
        {
            self.bytes -= capacity;
            let class = self.classes.get_mut(&capacity);
            surplus.extend(class.and_then(VecDeque::pop_front).map(|(_, held)| held));
        }
        surplus
    }
}

/// The one pool. Nothing panics while it is locked, but a poisoned lock would be no reason to lose it.
fn pool() -> MutexGuard<'static, Pool> {
    static POOL: Mutex<Pool> = Mutex::new(Pool::new());
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A quarter of the machine's memory, within reason.
fn default_limit() -> usize {
    static LIMIT: OnceLock<usize> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        let quarter = available::physical().map(|bytes| bytes / 4);
        quarter.map_or(MOST_KEPT, |quarter| quarter.min(MOST_KEPT))
    })
}

/// The capacity a request is rounded up to: eight steps from each power of two to the next, so that an
/// eighth is wasted at most and near misses share buffers. `None` for what no address space holds.
fn size_class(bytes: usize) -> Option<usize> {
    if bytes > isize::MAX as usize / 2 {
        return None;
    }
    if bytes <= POOLED {
        return Some(bytes.next_multiple_of(ALIGN));
    }
    Some(bytes.next_multiple_of(1 << (bytes.ilog2() - 3)))
}

/// Sees to it that a large request can be met from memory that exists, the pool's own included.
fn make_room(bytes: usize) -> Result<(), String> {
    let Some(free) = available::available() else {
        return Ok(());
    };
    let held = pool().bytes;
    if bytes > free.saturating_add(held) {
        return Err(format!("{} bytes are available", free + held));
    }
    if bytes > free {
        clear();
    }
    Ok(())
}
