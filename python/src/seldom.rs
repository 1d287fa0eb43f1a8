//! Whether calls may be more than they are mostly: noted for gradients, or recorded in a graph. Until there has been
//! a tensor with a history or a graph, no argument is looked at for one.

use std::sync::atomic::{AtomicBool, Ordering};

static EVER: AtomicBool = AtomicBool::new(false);

/// Says that there is a tensor with a history, or a graph.
pub(crate) fn begin() {
    EVER.store(true, Ordering::Relaxed);
}

/// Whether there may be one.
#[inline]
pub(crate) fn ever() -> bool {
    EVER.load(Ordering::Relaxed)
}
