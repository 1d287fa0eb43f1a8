//! What a tape notes: for each tensor with a history, the primitive that made it and what it was made from.

use std::fmt;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
    pub(crate) step: Step<E>,
}

/// The history of a tensor among those a primitive was given; none for one without.
pub(crate) type Parent<E> = Option<Arc<Node<E>>>;

/// The primitive that made a tensor, with what its adjoint needs.
pub(crate) enum Step<E: Engine> {
    Watched,
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
            step,
        }))
    }
}

impl<E: Engine> Step<E> {
    /// Takes out what the tensor was made from.
    fn take_parents(&mut self, into: &mut Vec<Arc<Node<E>>>) {
        match self {
            Step::Watched => {}
            Step::View { x, .. } | Step::Copy { x } | Step::Sum { x, .. } | Step::Cast { x } => {
                into.extend(x.take());
            }
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
        self.step.take_parents(&mut left);
        while let Some(node) = left.pop() {
            if let Some(mut last) = Arc::into_inner(node) {
                last.step.take_parents(&mut left);
            }
        }
    }
}

impl<E: Engine> fmt::Debug for Node<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = match &self.step {
            Step::Watched => "watched",
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
