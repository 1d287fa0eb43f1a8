//! Work that may be tried while others wait: as long as it asks for little memory it is done at once, and
//! otherwise it is given up before anything has moved, to be done where it holds up nobody.

use std::cell::Cell;

thread_local! {
    /// The most bytes this thread may ask for at a time; 0 once it has asked for more.
    static LIMIT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Runs `work` while every buffer it asks for is of at most `bytes` bytes; `None` if it asks for a larger one.
/// What it then returns is an error of memory, and is dropped.
///
/// ```
/// use stridewise_cpu::pool::{Buffer, in_small_steps};
///
/// assert!(in_small_steps(100, || Buffer::new(100)).is_some());
/// assert!(in_small_steps(100, || Buffer::new(101)).is_none());
/// ```
pub fn in_small_steps<T>(bytes: usize, work: impl FnOnce() -> T) -> Option<T> {
    let steps = SmallSteps::new(bytes);
    let done = work();
    (!steps.given_up()).then_some(done)
}

/// The same for a result that is large, and stays where it is: as long as this lives, every buffer asked for is
/// of at most so many bytes.
pub struct SmallSteps {
    before: usize,
}

impl SmallSteps {
    /// From now on, on this thread.
    #[inline]
    pub fn new(bytes: usize) -> SmallSteps {
        SmallSteps {
            before: LIMIT.replace(bytes.max(1)),
        }
    }

    /// Whether a larger buffer was asked for, and refused.
    #[inline]
    pub fn given_up(&self) -> bool {
        LIMIT.get() == 0
    }
}

impl Drop for SmallSteps {
    #[inline]
    fn drop(&mut self) {
        LIMIT.set(self.before);
    }
}

/// Whether this thread may ask for so many bytes now.
#[inline]
pub(super) fn allows(bytes: usize) -> bool {
    let allowed = bytes <= LIMIT.get();
    if !allowed {
        LIMIT.set(0);
    }
    allowed
}
