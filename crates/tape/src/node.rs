//! What a tape notes: for each tensor with a history, the primitive that made it and what it was made from, until
//! the history is let go.

use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use stridewise_core::axis::Axis;
use stridewise_core::dtype::{DType, Family};
use stridewise_core::engine::{Along, Engine};
use stridewise_core::error::Result;
use stridewise_core::params::Mode;
use stridewise_core::size::Shape;

/// Numbers nodes in the order they are made, on any thread: what something was made from has a lower number.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// A tensor in the history of another.
pub(crate) struct Node<E: Engine> {
    pub(crate) number: u64,
    pub(crate) dtype: DType,
    pub(crate) shape: Shape<E::Size>,
    /// Behind a lock, since a history that is done with can be let go while tensors still have it.
    step: RwLock<Step<E>>,
}

/// The history of a tensor among those a primitive was given; none for one without.
pub(crate) type Parent<E> = Option<Arc<Node<E>>>;

/// The primitive that made a tensor, with what its adjoint needs.
pub(crate) enum Step<E: Engine> {
    Watched,
    /// The tensor itself, under another node: to differentiate by it as one among others.
    Same {
        x: Parent<E>,
    },
    /// What was noted has been let go.
    Freed,
    View {
        x: Parent<E>,
        axes: Vec<Axis<E::Size>>,
    },
    Copy {
        x: Parent<E>,
    },
    Gather {
        source: Parent<E>,
        index: E::Value,
        along: Along,
        mode: Mode,
    },
    ScatterAdd {
        base: Parent<E>,
        updates: Parent<E>,
        index: E::Value,
        along: Along,
        mode: Mode,
    },
    Sum {
        x: Parent<E>,
        axes: Vec<usize>,
    },
    Concat {
        xs: Vec<Parent<E>>,
        /// How much of the axis each one has.
        sizes: Vec<E::Size>,
        axis: usize,
    },
    Cast {
        x: Parent<E>,
    },
    Add {
        a: Parent<E>,
        b: Parent<E>,
    },
}

/// Whether tensors of that dtype have gradients.
pub(crate) fn has_gradient(dtype: DType) -> bool {
    matches!(dtype.family(), Family::Float | Family::Complex)
}

impl<E: Engine> Node<E> {
    pub(crate) fn new(engine: &E, value: &E::Value, step: Step<E>) -> Result<Arc<Node<E>>> {
        Ok(Arc::new(Node {
            number: COUNT.fetch_add(1, Ordering::Relaxed),
            dtype: engine.dtype(value),
            shape: engine.shape(value)?,
            step: RwLock::new(step),
        }))
    }

    /// How it was made.
    pub(crate) fn step(&self) -> RwLockReadGuard<'_, Step<E>> {
        self.step.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets go of all that it was made from, and that of those in turn; watched tensors stay.
    pub(crate) fn free(self: &Arc<Self>) {
        let mut left = vec![self.clone()];
        while let Some(node) = left.pop() {
            let mut step = node.step.write().unwrap_or_else(PoisonError::into_inner);
            if matches!(*step, Step::Watched) {
                continue;
            }
            let mut made = mem::replace(&mut *step, Step::Freed);
            // What goes with it, such as memory that another library lent, goes when nobody waits for the lock.
            drop(step);
            made.take_parents(&mut left);
        }
    }
}

impl<E: Engine> Step<E> {
    /// What the tensor was made from.
    pub(crate) fn parents(&self) -> Vec<Arc<Node<E>>> {
        let given: &[&Parent<E>] = match self {
            Step::Watched | Step::Freed => &[],
            Step::Same { x }
            | Step::View { x, .. }
            | Step::Copy { x }
            | Step::Sum { x, .. }
            | Step::Cast { x } => &[x],
            Step::Gather { source, .. } => &[source],
            Step::ScatterAdd { base, updates, .. } => &[base, updates],
            Step::Concat { xs, .. } => return xs.iter().flatten().cloned().collect(),
            Step::Add { a, b } => &[a, b],
        };
        given.iter().filter_map(|x| (*x).clone()).collect()
    }

    /// Takes out what the tensor was made from.
    fn take_parents(&mut self, into: &mut Vec<Arc<Node<E>>>) {
        match self {
            Step::Watched | Step::Freed => {}
            Step::Same { x }
            | Step::View { x, .. }
            | Step::Copy { x }
            | Step::Sum { x, .. }
            | Step::Cast { x } => into.extend(x.take()),
            Step::Gather { source, .. } => into.extend(source.take()),
            Step::ScatterAdd { base, updates, .. } => {
                into.extend(base.take());
                into.extend(updates.take());
            }
            Step::Concat { xs, .. } => into.extend(mem::take(xs).into_iter().flatten()),
            Step::Add { a, b } => {
                into.extend(a.take());
                into.extend(b.take());
            }
        }
    }
}

/// A history may be as long as a program runs, so it is let go step by step, not by calls within calls.
impl<E: Engine> Drop for Node<E> {
    fn drop(&mut self) {
        let mut left = Vec::new();
        let take = |node: &mut Node<E>, left: &mut Vec<Arc<Node<E>>>| {
            let step = node.step.get_mut();
            step.unwrap_or_else(PoisonError::into_inner)
                .take_parents(left);
        };
        take(self, &mut left);
        while let Some(node) = left.pop() {
            if let Some(mut last) = Arc::into_inner(node) {
                take(&mut last, &mut left);
            }
        }
    }
}

impl<E: Engine> fmt::Debug for Node<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = match &*self.step() {
            Step::Watched => "watched",
            Step::Same { .. } => "same",
            Step::Freed => "freed",
            Step::View { .. } => "view",
            Step::Copy { .. } => "copy",
            Step::Gather { .. } => "gather",
            Step::ScatterAdd { .. } => "scatter_add",
            Step::Sum { .. } => "sum",
            Step::Concat { .. } => "concat",
            Step::Cast { .. } => "cast",
            Step::Add { .. } => "add",
        };
        write!(f, "{step} #{}", self.number)
    }
}
