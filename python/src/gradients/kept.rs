//! What a tensor keeps for gradients: its history and, where it is one to differentiate by, the gradient that has come
//! back so far. A history knows nothing of Python, so that gradients find their way to such a tensor by number.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use pyo3::prelude::*;
use stridewise::{Cpu, History, Tensor};

use crate::gradients::tape;
use crate::seldom;
use crate::tensor::{PyTensor, object};

/// The tensors that gradients are kept for, by the number of their history, as long as they are there.
static LEAVES: Mutex<BTreeMap<u64, Weak<Leaf>>> = Mutex::new(BTreeMap::new());

/// What a tensor with a history keeps.
pub(crate) struct Kept {
    pub(crate) history: History<Cpu>,
    /// Only for a tensor that was made with `requires_grad=True`.
    pub(crate) leaf: Option<Arc<Leaf>>,
}

/// The gradient of a tensor.
pub(crate) struct Leaf {
    number: u64,
    grad: Mutex<Option<Py<PyTensor>>>,
}

impl Kept {
    /// For the result of an operator.
    pub(crate) fn of(history: History<Cpu>) -> Box<Kept> {
        seldom::begin();
        Box::new(Kept {
            history,
            leaf: None,
        })
    }

    /// For a tensor to differentiate by, of floating-point or complex numbers.
    pub(crate) fn leaf(x: &Tensor) -> stridewise::Result<Option<Box<Kept>>> {
        let Some(history) = tape().watch(x)?.history() else {
            return Ok(None);
        };
        let mut kept = Kept::of(history);
        let leaf = Arc::new(Leaf {
            number: kept.history.number(),
            grad: Mutex::new(None),
        });
        leaves().insert(leaf.number, Arc::downgrade(&leaf));
        kept.leaf = Some(leaf);
        Ok(Some(kept))
    }
}

impl Leaf {
    /// The leaf whose history has that number, if it is still there.
    pub(crate) fn numbered(number: u64) -> Option<Arc<Leaf>> {
        leaves().get(&number)?.upgrade()
    }

    /// The gradient so far.
    pub(crate) fn grad(&self, py: Python<'_>) -> Option<Py<PyTensor>> {
        Some(self.place().as_ref()?.clone_ref(py))
    }

    /// Puts another in its place.
    pub(crate) fn set(&self, grad: Option<Py<PyTensor>>) {
        let old = std::mem::replace(&mut *self.place(), grad);
        // Let go after the lock: a tensor may be the last to know of others.
        drop(old);
    }

    fn place(&self) -> MutexGuard<'_, Option<Py<PyTensor>>> {
        self.grad.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Leaf {
    fn drop(&mut self) {
        leaves().remove(&self.number);
    }
}

fn leaves() -> MutexGuard<'static, BTreeMap<u64, Weak<Leaf>>> {
    LEAVES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The tensor as an object to differentiate by.
pub(crate) fn leaf(py: Python<'_>, x: Tensor) -> stridewise::Result<PyResult<Bound<'_, PyTensor>>> {
    let kept = Kept::leaf(&x)?;
    Ok(object(py, x).inspect(|object| {
        if let Some(kept) = kept {
            // SAFETY: the object is new, so nobody else looks at it yet.
            unsafe { object.get().inner.keep(kept) };
        }
    }))
}
