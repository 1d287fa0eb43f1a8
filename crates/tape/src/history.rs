//! A tensor's history by itself: for front doors that keep it beside a tensor of their own.

use std::collections::BTreeMap;
use std::sync::Arc;

use stridewise_core::engine::Engine;
use stridewise_core::error::Result;

use crate::node::{Node, Step};
use crate::{Tape, Var};

/// How a tensor came about.
#[derive(Debug)]
pub struct History<E: Engine>(pub(crate) Arc<Node<E>>);

impl<E: Engine> Clone for History<E> {
    fn clone(&self) -> History<E> {
        History(self.0.clone())
    }
}

impl<E: Engine> History<E> {
    /// A number that no other tensor's history has.
    pub fn number(&self) -> u64 {
        self.0.number
    }

    /// Lets go of the history, and so of all it keeps in memory, whoever else has it. The tensors stay; to
    /// differentiate through them again is an error.
    ///
    /// ```
    /// use stridewise_core::operators::Methods;
    /// use stridewise_cpu::Tensor;
    /// use stridewise_tape::Tape;
    ///
    /// let tape = Tape::new();
    /// let x = tape.watch(&Tensor::from_vec(vec![1.0, 2.0], &[2])?)?;
    /// let y = x.sum(.., false, None)?;
    /// let found = tape.gradients_by_watched(&y, None)?;
    /// assert_eq!(found[0].1.value().to_vec::<f64>()?, [1.0, 1.0]);
    /// y.history().iter().for_each(|history| history.free());
    /// let error = tape.gradients_by_watched(&y, None).unwrap_err();
    /// assert!(error.to_string().starts_with("the history has been let go"));
    /// # Ok::<(), stridewise_core::Error>(())
    /// ```
    pub fn free(&self) {
        self.0.free();
    }

    /// Where the history begins: the watched tensors, and those whose own history was let go.
    pub fn roots(&self) -> Vec<History<E>> {
        let mut roots = Vec::new();
        // The highest number first, so that each node is met once, after all that was made from it.
        let mut open = BTreeMap::from([(self.0.number, self.0.clone())]);
        while let Some((_, node)) = open.pop_last() {
            let step = node.step();
            match *step {
                Step::Watched | Step::Freed => roots.push(History(node.clone())),
                _ => open.extend(step.parents().into_iter().map(|x| (x.number, x))),
            }
        }
        roots
    }
}

impl<E: Engine> Var<E> {
    /// A tensor and its history, which is that of this very tensor.
    pub fn with_history(value: E::Value, history: &History<E>) -> Var<E> {
        Var {
            value,
            node: Some(history.0.clone()),
        }
    }

    /// Its history, where it has one.
    pub fn history(&self) -> Option<History<E>> {
        self.node.clone().map(History)
    }

    /// The tensor of the engine below, without its history.
    pub fn into_value(self) -> E::Value {
        self.value
    }
}

impl<E: Engine + Clone> Tape<E> {
    /// The same tensor as one to differentiate by by itself, whose own history goes on below: a function can be
    /// differentiated by it, and the result by what `x` was made from.
    ///
    /// ```
    /// use stridewise_core::operators::Methods;
    /// use stridewise_cpu::Tensor;
    /// use stridewise_tape::Tape;
    ///
    /// let tape = Tape::new();
    /// let x = tape.watch(&Tensor::from_vec(vec![1.0, 2.0], &[2])?)?;
    /// let inner = tape.branch(&x.repeat([2])?)?;
    /// let y = inner.sum(.., false, None)?;
    /// let found = tape.tracked_gradient(&y, &[&inner, &x], None)?;
    /// assert_eq!(found[0].value().to_vec::<f64>()?, [1.0; 4]);
    /// assert_eq!(found[1].value().to_vec::<f64>()?, [2.0; 2]);
    /// # Ok::<(), stridewise_core::Error>(())
    /// ```
    pub fn branch(&self, x: &Var<E>) -> Result<Var<E>> {
        let step = match &x.node {
            Some(node) => Step::Same {
                x: Some(node.clone()),
            },
            None => Step::Watched,
        };
        self.begin(&x.value, step)
    }
}
