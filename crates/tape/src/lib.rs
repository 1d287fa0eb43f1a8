//! Gradients of every operator on every engine. A [`Tape`] is itself an engine: it runs each primitive on the
//! engine below and notes what it did, and the gradient walks the notes back through the adjoint of each. No
//! operator knows of it, and a tape over a tape gives gradients of gradients.
//!
//! ```
//! use stridewise_core::operators::Methods;
//! use stridewise_cpu::Tensor;
//! use stridewise_tape::Tape;
//!
//! let tape = Tape::new();
//! let x = tape.watch(&Tensor::from_vec(vec![1.0, 2.0, 3.0], &[3, 1])?)?;
//! let y = x.expand([-1, 4])?;
//! let seed = Tensor::from_vec(vec![1.0; 12], &[3, 4])?;
//! let dx = tape.gradient(&y, &[&x], Some(&seed))?;
//! assert_eq!(dx[0].to_vec::<f64>()?, [4.0, 4.0, 4.0]);
//! # Ok::<(), stridewise_core::Error>(())
//! ```
#![forbid(unsafe_code)]

mod adjoint;
mod engine;
mod gradient;
mod history;
mod inverse;
mod node;

use std::sync::Arc;

use stridewise_core::engine::{Engine, Value};
use stridewise_core::error::{Error, Result};

pub use gradient::{ByWatched, Pullback, vjp};
pub use history::History;
use node::{Node, Step};

/// An engine that notes what it does, over another that does it.
#[derive(Clone, Debug, Default)]
pub struct Tape<E> {
    inner: E,
}

/// A tensor of the engine below, and how it came about. Those that depend on no watched tensor have no
/// history and cost nothing more than below.
#[derive(Debug)]
pub struct Var<E: Engine> {
    value: E::Value,
    node: Option<Arc<Node<E>>>,
}

impl<E: Engine> Clone for Var<E> {
    fn clone(&self) -> Var<E> {
        Var {
            value: self.value.clone(),
            node: self.node.clone(),
        }
    }
}

impl<E: Default> Tape<E> {
    /// A tape over an engine of which there is only one.
    pub fn new() -> Tape<E> {
        Tape::default()
    }
}

impl<E: Engine + Clone> Tape<E> {
    /// A tape over an engine.
    pub fn over(inner: E) -> Tape<E> {
        Tape { inner }
    }

    /// The engine below.
    pub fn inner(&self) -> &E {
        &self.inner
    }

    /// A tensor to differentiate by. Its elements are floating-point or complex numbers.
    pub fn watch<V: Value<Engine = E>>(&self, value: &V) -> Result<Var<E>>
    where
        E: Engine<Value = V>,
    {
        self.begin(value, Step::Watched)
    }

    /// A tensor with a history that begins here, or is said to.
    fn begin(&self, value: &E::Value, step: Step<E>) -> Result<Var<E>> {
        let dtype = self.inner.dtype(value);
        if !node::has_gradient(dtype) {
            return Err(
                Error::dtype(format!("a gradient by a tensor of {dtype} has no meaning"))
                    .sizes("a floating-point or complex dtype", dtype)
                    .help("cast it to float32 or float64 first"),
            );
        }
        let node = Node::new(&self.inner, value, step)?;
        Ok(Var {
            value: value.clone(),
            node: Some(node),
        })
    }

    /// A tensor that stays as it is: nothing is differentiated by it.
    pub fn constant(&self, value: E::Value) -> Var<E> {
        Var { value, node: None }
    }
}

impl<E: Engine> Var<E> {
    /// The tensor of the engine below.
    pub fn value(&self) -> &E::Value {
        &self.value
    }

    /// Whether it depends on a watched tensor.
    pub fn is_tracked(&self) -> bool {
        self.node.is_some()
    }

    /// The same tensor without its history.
    pub fn detach(&self) -> Var<E> {
        Var {
            value: self.value.clone(),
            node: None,
        }
    }
}

impl<E: Engine + Clone> Value for Var<E>
where
    E::Value: Value<Engine = E>,
{
    type Engine = Tape<E>;

    fn engine(&self) -> Tape<E> {
        Tape::over(self.value.engine())
    }
}
