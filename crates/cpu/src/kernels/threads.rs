//! Work shared out over threads. They are rayon's, but for a process that was forked from one that had them: there
//! the threads are gone and whoever waited for them would wait for ever, so it gets threads of its own.

use std::process;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The process that rayon's threads belong to; 0 before the first work is shared out.
static HOME: AtomicU32 = AtomicU32::new(0);

/// The threads of a forked process. A lock might be held for ever by a thread that did not come along, so they are
/// reached by a pointer; what it points to is never freed.
static FORKED: AtomicPtr<Forked> = AtomicPtr::new(ptr::null_mut());

struct Forked {
    process: u32,
    /// None where the system gives no more threads.
    pool: Option<ThreadPool>,
}

/// Where work is shared out.
enum Place {
    Home,
    Forked(&'static ThreadPool),
    Alone,
}

fn place() -> Place {
    let here = process::id();
    let home = match HOME.compare_exchange(0, here, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => here,
        Err(home) => home,
    };
    if home == here {
        return Place::Home;
    }
    // SAFETY: the pointer is null, or to something that is never freed.
    let known = unsafe { FORKED.load(Ordering::Acquire).as_ref() };
    let forked: &'static Forked = match known.filter(|forked| forked.process == here) {
        Some(forked) => forked,
        None => {
            let pool = ThreadPoolBuilder::new().build().ok();
            let fresh = Box::leak(Box::new(Forked {
                process: here,
                pool,
            }));
            FORKED.store(fresh, Ordering::Release);
            // SAFETY: just leaked, so it lives on; nobody writes to it.
            unsafe { &*ptr::from_ref(fresh) }
        }
    };
    match &forked.pool {
        Some(pool) => Place::Forked(pool),
        None => Place::Alone,
    }
}

/// How many threads there are.
pub(crate) fn count() -> usize {
    rayon::current_num_threads()
}

/// Runs `part` for each of `0..parts`, on all threads.
pub(crate) fn each(parts: usize, part: impl Fn(usize) + Sync) {
    let spread = || {
        rayon::scope(|scope| {
            for at in 1..parts {
                let part = &part;
                scope.spawn(move |_| part(at));
            }
            if parts > 0 {
                part(0);
            }
        });
    };
    match place() {
        Place::Home => spread(),
        Place::Forked(pool) => pool.install(spread),
        Place::Alone => (0..parts).for_each(&part),
    }
}
