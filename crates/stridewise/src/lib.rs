//! Stridewise: shape work on tensors, once and properly.
//!
//! A [`Tensor`] is an immutable value in main memory. Operators that only look at data differently
//! (`expand`, `unflatten`, `permute`, …) are views: they cost a reference count and no data moves. Those
//! that must copy (`repeat`, `take`, …) do it in one pass.
//!
//! ```
//! use stridewise::prelude::*;
//!
//! # fn main() -> stridewise::Result<()> {
//! let x = tensor([[1, 2, 3], [4, 5, 6]])?;
//!
//! let wide = x.unflatten(1, [3, 1])?.expand([-1, -1, 4])?;    // views of x: (2, 3, 4)
//! assert!(wide.shares_storage_with(&x));
//!
//! let tiled = x.repeat([2, 1])?;                              // one copy: (4, 3)
//! let picked = tiled.take(&tensor([0, -1])?, 1, Mode::Raise)?;
//! assert_eq!(picked.to_vec::<i32>()?, [1, 3, 4, 6, 1, 3, 4, 6]);
//!
//! let (_, dims) = x.enforce_shape(pattern![_, .., 3])?;
//! assert_eq!(dims.to_string(), "[2, ((), 1), 3]");
//!
//! let error = x.unflatten(1, [2, 2]).unwrap_err();
//! assert!(error.to_string().starts_with("unflatten: shape (2, 2) holds 4 elements, but axis 1"));
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "gpu")]
pub mod device;
pub mod files;
mod literal;
mod out;

#[cfg(feature = "gpu")]
pub use device::{Device, To};
pub use literal::{Nested, tensor};
pub use out::take_into;
pub use stridewise_core::operators::{concat, repeat_plan, stack};
pub use stridewise_core::params::Scalar;
pub use stridewise_core::{
    Axis, DType, Engine, Error, Layout, Operator, Result, Value, call, dim, dtype, engine, error,
    index, layout, nn, operator, operators, params, pattern, size, table,
};
pub use stridewise_cpu::compare::{Tolerance, allclose, array_equal, equal, not_equal};
pub use stridewise_cpu::{Cpu, Element, Tensor, pool};
pub use stridewise_dry::{self as dry, Dry, Sketch};
#[cfg(feature = "gpu")]
pub use stridewise_gpu::{self as gpu, Gpu};
pub use stridewise_graph::{self as graph, Graph, Program, Symbolic};
pub use stridewise_spread::{self as spread, Global, Mesh, Sbp, Spread, World};
pub use stridewise_tape::{ByWatched, History, Pullback, Tape, Var, vjp};

/// What engines and bindings are made of; programs need none of it.
pub mod internals {
    pub use stridewise_core::{axis, inline, rules, smallvec};
    pub use stridewise_cpu::{element, kernels, primitives, storage};
}

/// What most programs need, in one line.
pub mod prelude {
    pub use crate::{
        Cpu, DType, Tensor, arange, concat, full, index, ones, pattern, stack, tensor, zeros,
    };
    pub use stridewise_core::Engine;
    pub use stridewise_core::nn::Layer;
    pub use stridewise_core::operators::{Methods, Shapes};
    pub use stridewise_core::params::{Item, Mode, NewAxis, Place, Scalar, Symbol};
}

/// The 16-bit floats that tensors hold.
pub use half;
/// The complex numbers that tensors hold.
pub use num_complex;

use params::Sizes;

/// Zeros, in main memory.
pub fn zeros(shape: impl Into<Sizes<usize>>, dtype: DType) -> Result<Tensor> {
    operators::make::zeros(&Cpu, shape, dtype)
}

/// Ones, in main memory.
pub fn ones(shape: impl Into<Sizes<usize>>, dtype: DType) -> Result<Tensor> {
    operators::make::ones(&Cpu, shape, dtype)
}

/// One value everywhere, in main memory; the dtype is the value's own unless one is named.
pub fn full(
    shape: impl Into<Sizes<usize>>,
    value: impl Into<Scalar>,
    dtype: impl Into<Option<DType>>,
) -> Result<Tensor> {
    operators::make::full(&Cpu, shape, value, dtype)
}

/// `start, start + step, …` up to, not including, `stop`, in main memory.
///
/// ```
/// let x = stridewise::arange(0, 10, 3, None)?;
/// assert_eq!(x.to_vec::<i64>()?, [0, 3, 6, 9]);
/// # Ok::<(), stridewise::Error>(())
/// ```
pub fn arange(
    start: impl Into<Scalar>,
    stop: impl Into<Scalar>,
    step: impl Into<Scalar>,
    dtype: impl Into<Option<DType>>,
) -> Result<Tensor> {
    operators::make::arange(&Cpu, start, Some(stop.into()), step, dtype)
}

/// The README's examples, run as tests.
#[doc = include_str!("../../../README.md")]
#[cfg(doctest)]
pub struct ReadmeExamples;
