//! Helpers that have just helped stay awake for a moment: most work that is shared out is followed by more, and to wake a
//! thread takes longer than to copy a MiB.

use std::hint;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::Work;

/// How long a helper stays awake for more.
const MOMENT: Duration = Duration::from_micros(100);
/// How long it does so again and again: others wait for its thread, and work that was given to nobody is still queued there.
const STAY: Duration = Duration::from_millis(1);
/// How often it looks before it lets others have the core, and looks at the clock.
const LOOKS: usize = 64;

/// Where a helper stands by: nobody does where this is null, somebody where it is [`somebody`], and otherwise it is the work
/// that was given to whoever does.
#[repr(align(64))]
struct Place(AtomicPtr<Work>);

/// More helpers than this do not stand by.
static PLACES: [Place; 64] = [const { Place(AtomicPtr::new(ptr::null_mut())) }; 64];

/// No work: it is nowhere.
fn somebody() -> *mut Work {
    ptr::dangling_mut()
}

/// Gives work to a helper that stands by; `false` if there is none.
pub(super) fn give(work: &Arc<Work>) -> bool {
    PLACES.iter().any(|Place(place)| {
        if place.load(Ordering::Relaxed) != somebody() {
            return false;
        }
        let given = Arc::into_raw(Arc::clone(work)).cast_mut();
        let gone = place.compare_exchange(somebody(), given, Ordering::Release, Ordering::Relaxed);
        if gone.is_err() {
            // SAFETY: it was made so just now, and given to nobody.
            drop(unsafe { Arc::from_raw(given) });
        }
        gone.is_ok()
    })
}

/// Stands by for a moment, and again after work that was given meanwhile, unless that came too late.
pub(super) fn stand_by() {
    let since = Instant::now();
    let free = |Place(place): &&Place| {
        let (null, relaxed) = (ptr::null_mut(), Ordering::Relaxed);
        place
            .compare_exchange(null, somebody(), relaxed, relaxed)
            .is_ok()
    };
    while let Some(Place(place)) = PLACES.iter().find(free) {
        let Some(work) = wait(place) else {
            return;
        };
        if !work.help() || since.elapsed() > STAY {
            return;
        }
    }
}

/// Waits for work at a place, for a moment, and leaves it.
fn wait(place: &AtomicPtr<Work>) -> Option<Arc<Work>> {
    let since = Instant::now();
    loop {
        for _ in 0..LOOKS {
            if place.load(Ordering::Relaxed) != somebody() {
                break;
            }
            hint::spin_loop();
        }
        let over = since.elapsed() > MOMENT;
        if over || place.load(Ordering::Relaxed) != somebody() {
            let given = place.swap(ptr::null_mut(), Ordering::Acquire);
            if given != somebody() {
                // SAFETY: who gives work to this place makes it so, and it is taken once.
                return Some(unsafe { Arc::from_raw(given) });
            }
            return None;
        }
        thread::yield_now();
    }
}
