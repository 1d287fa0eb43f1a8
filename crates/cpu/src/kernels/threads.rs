//! Work shared out over threads. They are rayon's, but for a process that was forked from one that had them: there
//! the threads are gone and whoever waited for them would wait for ever, so it gets threads of its own.

mod standby;

use std::any::Any;
use std::hint;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};

use rayon::{ThreadPool, ThreadPoolBuilder};
use smallvec::SmallVec;

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

/// The most threads that work is shared out to.
static MOST: AtomicUsize = AtomicUsize::new(usize::MAX);

/// From now on the work of one call is shared out to at most so many threads. For a process that shares its cores with
/// others: a thread that waits for a core holds up the rest.
pub fn limit_threads(most: usize) {
    MOST.store(most.max(1), Ordering::Relaxed);
}

/// How many threads there are.
pub(crate) fn count() -> usize {
    rayon::current_num_threads().min(MOST.load(Ordering::Relaxed))
}

/// Runs `part` for each of `0..parts`, on as many threads as there are. Each begins with a stretch of parts of its own: what
/// threads do next to each other in memory gets in each other's way. Others than this one join in as soon as they are awake;
/// one that comes too late is not waited for, and whoever is done first takes parts of the others.
pub(crate) fn each(parts: usize, part: impl Fn(usize) + Sync) {
    let others = count() - 1;
    let helpers = others.min(parts.saturating_sub(1));
    let place = place();
    if helpers == 0 || matches!(place, Place::Alone) {
        return (0..parts).for_each(part);
    }
    let part: &(dyn Fn(usize) + Sync) = &part;
    // SAFETY: only the lifetime changes. Helpers use it between `join` and `leave` alone, and nobody is there any more
    // when `finish` has returned, which is before this function does, by a panic too.
    let part = unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static _>(part) };
    let threads = helpers + 1;
    let starts = (0..threads).map(|at| AtomicUsize::new(parts * at / threads));
    let work = Arc::new(Work {
        part,
        parts,
        next: starts.collect(),
        came: AtomicUsize::new(1),
        inside: AtomicUsize::new(0),
        caller: thread::current(),
        panic: Mutex::new(None),
    });
    let finish = Finish(&work);
    // Whose threads do other work besides gets them back at once, and forked ones leave nobody behind.
    let stand_by = matches!(place, Place::Home) && rayon::current_thread_index().is_none();
    for _ in 0..helpers {
        if stand_by && standby::give(&work) {
            continue;
        }
        let work = Arc::clone(&work);
        let help = move || {
            if work.help() && stand_by {
                standby::stand_by();
            }
        };
        match place {
            Place::Forked(pool) => pool.spawn(help),
            _ => rayon::spawn(help),
        }
    }
    work.take_parts(0);
    drop(finish);
    let panic = work.panic.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(panic) = { panic }.take() {
        resume_unwind(panic);
    }
}

/// Parts that threads take one by one, each from its own stretch first.
struct Work {
    /// Valid until the caller is done; see `each`.
    part: &'static (dyn Fn(usize) + Sync),
    parts: usize,
    /// The next part of each stretch.
    next: SmallVec<[AtomicUsize; 8]>,
    /// How many threads have come.
    came: AtomicUsize,
    /// How many helpers have joined and not left, and whether it is too late to join.
    inside: AtomicUsize,
    caller: Thread,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// Set in `Work::inside` when it is too late to join.
const CLOSED: usize = 1 << (usize::BITS - 1);

/// How often to look whether the last helper is done before sleeping: about as long as falling asleep and waking up.
const PATIENCE: usize = 2000;

impl Work {
    /// Takes parts from the stretch of that number on.
    fn take_parts(&self, first: usize) {
        let stretches = self.next.len();
        for stretch in (first..stretches).chain(0..first) {
            let end = self.parts * (stretch + 1) / stretches;
            loop {
                let at = self.next[stretch].fetch_add(1, Ordering::Relaxed);
                if at >= end {
                    break;
                }
                (self.part)(at);
            }
        }
    }

    /// Joins in, unless it is too late.
    fn help(&self) -> bool {
        let join = |inside| (inside & CLOSED == 0).then_some(inside + 1);
        let joined = self
            .inside
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, join);
        if joined.is_err() {
            return false;
        }
        // As many come as there are stretches, at most.
        let first = self.came.fetch_add(1, Ordering::Relaxed);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.take_parts(first))) {
            let mut first = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert(panic);
        }
        // Leaves.
        if self.inside.fetch_sub(1, Ordering::Release) == CLOSED + 1 {
            self.caller.unpark();
        }
        true
    }
}

/// Lets nobody else join and waits for those who have, also when a part of the caller's own panics.
struct Finish<'a>(&'a Work);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        let inside = &self.0.inside;
        let mut left = inside.fetch_or(CLOSED, Ordering::Acquire) | CLOSED;
        for _ in 0..PATIENCE {
            if left == CLOSED {
                return;
            }
            hint::spin_loop();
            left = inside.load(Ordering::Acquire);
        }
        while left != CLOSED {
            thread::park();
            left = inside.load(Ordering::Acquire);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_run_once_however_calls_overlap_and_nest() {
        let run = |parts: usize| {
            let seen: Vec<_> = (0..parts).map(|_| AtomicUsize::new(0)).collect();
            each(parts, |at| {
                seen[at].fetch_add(1, Ordering::Relaxed);
            });
            assert!(seen.iter().all(|n| n.load(Ordering::Relaxed) == 1));
        };
        (0..200).for_each(run);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..100).for_each(run));
            }
        });
        // From threads that would help as well, and within a part.
        rayon::join(|| (0..100).for_each(run), || (0..100).for_each(run));
        each(50, |_| run(50));
    }

    #[test]
    fn the_caller_is_one_of_the_threads_that_work_is_shared_out_to() {
        let inside = AtomicUsize::new(0);
        let most = AtomicUsize::new(0);
        for _ in 0..20 {
            each(100 * count(), |_| {
                let now = inside.fetch_add(1, Ordering::Relaxed) + 1;
                most.fetch_max(now, Ordering::Relaxed);
                (0..10_000).for_each(|_| hint::spin_loop());
                inside.fetch_sub(1, Ordering::Relaxed);
            });
        }
        let most = most.into_inner();
        assert!(
            most <= count(),
            "{most} parts at a time on {} threads",
            count()
        );
    }

    /// Work of one part, whose caller takes none.
    fn work(part: &'static (dyn Fn(usize) + Sync)) -> Arc<Work> {
        Arc::new(Work {
            part,
            parts: 1,
            next: SmallVec::from_iter([const { AtomicUsize::new(0) }]),
            came: AtomicUsize::new(0),
            inside: AtomicUsize::new(0),
            caller: thread::current(),
            panic: Mutex::new(None),
        })
    }

    #[test]
    fn who_stands_by_does_what_is_given_to_it() {
        static DONE: AtomicUsize = AtomicUsize::new(0);
        let given = work(&|_| {
            DONE.fetch_add(1, Ordering::Release);
        });
        let done = || DONE.load(Ordering::Acquire);
        thread::scope(|scope| {
            scope.spawn(|| {
                while done() == 0 {
                    standby::stand_by();
                }
            });
            while !standby::give(&given) {
                thread::yield_now();
            }
            while done() == 0 {
                thread::yield_now();
            }
        });
        drop(Finish(&given));
        assert_eq!(done(), 1);
    }

    #[test]
    fn who_comes_too_late_does_nothing() {
        let given = work(&|_| panic!("the caller is gone"));
        drop(Finish(&given));
        assert!(!given.help());
    }

    #[test]
    fn a_panic_of_any_part_reaches_the_caller_when_all_others_are_done() {
        for bad in 0..40 {
            let under_way = AtomicUsize::new(0);
            let caught = catch_unwind(AssertUnwindSafe(|| {
                each(40, |at| {
                    under_way.fetch_add(1, Ordering::Relaxed);
                    let leave = Leave(&under_way);
                    assert!(at != bad, "part {at}");
                    drop(leave);
                });
            }));
            let panic = caught.expect_err("a part has panicked");
            let text = panic.downcast_ref::<String>().expect("a message");
            assert_eq!(*text, format!("part {bad}"));
            assert_eq!(under_way.load(Ordering::Relaxed), 0);
        }
    }

    struct Leave<'a>(&'a AtomicUsize);

    impl Drop for Leave<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
