//! Work that lets other threads have the interpreter, and whether this thread does so already: ranks that are threads
//! wait for each other, so whoever waits must not keep the others from running.

use std::cell::Cell;

use pyo3::prelude::*;

thread_local! {
    /// Whether this thread has let go of the interpreter through [`unlocked`].
    static FREE: Cell<bool> = const { Cell::new(false) };
}

/// As it was before, also after a panic.
struct Before(bool);

impl Drop for Before {
    fn drop(&mut self) {
        FREE.set(self.0);
    }
}

/// Runs the work while others may have the interpreter.
pub(crate) fn unlocked<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| {
        let _before = Before(FREE.replace(true));
        work()
    })
}

/// The same for work that does not know whether this thread has the interpreter.
pub(crate) fn surely_unlocked<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if FREE.get() {
        return work();
    }
    let mut work = Some(work);
    let done = Python::try_attach(|py| work.take().map(|work| unlocked(py, work)));
    match (done.flatten(), work) {
        (Some(done), _) => done,
        // There is no interpreter any more.
        (None, Some(work)) => work(),
        (None, None) => unreachable!("the work was done, or is still there"),
    }
}
