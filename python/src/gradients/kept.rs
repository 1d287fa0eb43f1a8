//! What a tensor keeps for gradients: its history and, where it is one to differentiate by, the gradient that has come
//! back so far. A history knows nothing of Python, so that gradients find their way to such a tensor by number.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use pyo3::prelude::*;
use stridewise::{History, Tape, Tensor, Value};

use crate::gradients::class::{Class, ValueOf};
use crate::seldom;
use crate::tensor::PyTensor;

/// The tensors of a class that gradients are kept for, by the number of their history, as long as they are there.
pub(crate) type Leaves<C> = Mutex<BTreeMap<u64, Weak<Leaf<C>>>>;

/// What a tensor with a history keeps.
pub(crate) struct Kept<C: Class = PyTensor> {
    pub(crate) history: History<C::Engine>,
    /// Only for a tensor that was made with `requires_grad=True`.
    pub(crate) leaf: Option<Arc<Leaf<C>>>,
}

/// The gradient of a tensor.
pub(crate) struct Leaf<C: Class> {
    number: u64,
    grad: Mutex<Option<Py<C>>>,
}

impl<C: Class> Kept<C> {
    /// For the result of an operator.
    pub(crate) fn of(history: History<C::Engine>) -> Box<Kept<C>> {
        seldom::begin();
        Box::new(Kept {
            history,
            leaf: None,
        })
    }

    /// For a tensor to differentiate by, of floating-point or complex numbers.
    pub(crate) fn leaf(x: &ValueOf<C>) -> stridewise::Result<Option<Box<Kept<C>>>> {
        let Some(history) = Tape::over(x.engine()).watch(x)?.history() else {
            return Ok(None);
        };
        let mut kept = Kept::of(history);
        let leaf = Arc::new(Leaf {
            number: kept.history.number(),
            grad: Mutex::new(None),
        });
        leaves::<C>().insert(leaf.number, Arc::downgrade(&leaf));
        kept.leaf = Some(leaf);
        Ok(Some(kept))
    }
}

impl<C: Class> Leaf<C> {
    /// The leaf whose history has that number, if it is still there.
    pub(crate) fn numbered(number: u64) -> Option<Arc<Leaf<C>>> {
        leaves::<C>().get(&number)?.upgrade()
    }

    /// The gradient so far.
    pub(crate) fn grad(&self, py: Python<'_>) -> Option<Py<C>> {
        Some(self.place().as_ref()?.clone_ref(py))
    }

    /// Puts another in its place.
    pub(crate) fn set(&self, grad: Option<Py<C>>) {
        let old = std::mem::replace(&mut *self.place(), grad);
        // Let go after the lock: a tensor may be the last to know of others.
        drop(old);
    }

    fn place(&self) -> MutexGuard<'_, Option<Py<C>>> {
        self.grad.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C: Class> Drop for Leaf<C> {
    fn drop(&mut self) {
        leaves::<C>().remove(&self.number);
    }
}

fn leaves<C: Class>() -> MutexGuard<'static, BTreeMap<u64, Weak<Leaf<C>>>> {
    C::leaves().lock().unwrap_or_else(PoisonError::into_inner)
}

/// The tensor as an object to differentiate by.
pub(crate) fn leaf(py: Python<'_>, x: Tensor) -> stridewise::Result<PyResult<Bound<'_, PyTensor>>> {
    let kept = Kept::leaf(&x)?;
    Ok(PyTensor::object(py, x, kept))
}
