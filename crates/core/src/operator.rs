//! What an operator is: parameters, and a lowering to the primitives that knows no engine.

use std::cell::Cell;
use std::fmt::Debug;

use crate::call::Parameters;
use crate::dtype::DType;
use crate::engine::Engine;
use crate::error::Result;
use crate::operators::{Dims, TABLE};
use crate::params::Sizes;
use crate::size::Size;

/// The name an operator goes by everywhere; given by its line in the operator table.
pub trait Named {
    /// The name.
    const NAME: &'static str;
}

thread_local! {
    /// The operator that is running.
    static RUNNING: Cell<&'static str> = const { Cell::new("") };
}

/// Does something on behalf of an operator: engines that tell of it later, or to others, name it then. Those that need
/// it do so for each operator they run, and so do those that run operators over others, such as a tape.
pub fn on_behalf_of<T>(operator: &'static str, work: impl FnOnce() -> T) -> T {
    /// As it was before, also after a panic.
    struct Before(&'static str);
    impl Drop for Before {
        fn drop(&mut self) {
            RUNNING.set(self.0);
        }
    }
    let _before = Before(RUNNING.replace(operator));
    work()
}

/// The operator on whose behalf this thread works; empty where there is none.
pub fn running() -> &'static str {
    RUNNING.get()
}

/// An operator as the call that makes it.
pub trait Written<S: Size>: Named {
    /// The arguments beside tensors; given by its line in the operator table.
    fn parameters(&self) -> Parameters<S>;

    /// Its line of the operator table, if it has one.
    fn place() -> Option<usize> {
        TABLE.iter().position(|entry| entry.name == Self::NAME)
    }
}

/// What an operator returns: tensors, in a form that depends on the operator.
pub trait Outputs<V, S>: Sized {
    /// Shows every tensor in it, in order, to be exchanged for another.
    fn each(&mut self, change: &mut dyn FnMut(&mut V));

    /// The form with tensors about which nothing is known, where that is possible.
    fn open(make: &mut dyn FnMut() -> V) -> Option<Self>;
}

impl<V, S> Outputs<V, S> for V {
    fn each(&mut self, change: &mut dyn FnMut(&mut V)) {
        change(self);
    }

    fn open(make: &mut dyn FnMut() -> V) -> Option<V> {
        Some(make())
    }
}

impl<V, S> Outputs<V, S> for Vec<V> {
    fn each(&mut self, change: &mut dyn FnMut(&mut V)) {
        self.iter_mut().for_each(change);
    }

    fn open(_make: &mut dyn FnMut() -> V) -> Option<Vec<V>> {
        None
    }
}

impl<V, S> Outputs<V, S> for (V, Dims<S>) {
    fn each(&mut self, change: &mut dyn FnMut(&mut V)) {
        change(&mut self.0);
    }

    fn open(_make: &mut dyn FnMut() -> V) -> Option<Self> {
        None
    }
}

/// An operator: a struct of parameters that can lower itself on any engine.
pub trait Operator<E: Engine>: Written<E::Size> + Clone + Debug {
    /// What it returns: a tensor, a list of them, or a tensor and what was learnt about it.
    type Output: Outputs<E::Value, E::Size>;

    /// The element type of what it returns, given those of its inputs: it depends on no shape.
    fn dtype(&self, inputs: &[DType]) -> DType {
        inputs.first().copied().unwrap_or(DType::F64)
    }

    /// The sizes of what it returns, where a parameter says them; `-1` is whatever fits.
    fn sizes(&self) -> Option<&Sizes<E::Size>> {
        None
    }

    /// Expresses the operator in primitives. Checks every argument first; nothing has happened when it fails.
    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<Self::Output>;
}
