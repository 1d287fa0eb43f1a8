//! Graphs: programs over tensors whose sizes, and even ranks, are not known yet.
//!
//! A [`Graph`] is an engine, so the operators that run at once elsewhere are recorded here. Each is kept whole and
//! lowered with symbolic sizes, which tells what is known of its result and what a run must check. A finished
//! [`Program`] is planned once for each set of input layouts, with real sizes and by the very same lowering that
//! runs at once: what fails there fails here, and the other way round.
//!
//! ```
//! use stridewise_core::{dtype::DType, operators::Methods};
//! use stridewise_cpu::Tensor;
//! use stridewise_graph::Graph;
//!
//! let graph = Graph::new();
//! let x = graph.input("x", DType::F64, "[B, 6]".parse()?)?;
//! let y = x.unflatten(1, [2, 3])?.permute([1, 0, 2])?;
//! assert_eq!(y.shape().to_string(), "[2, B, 3]");
//!
//! let program = graph.finish(&[&y])?;
//! let outputs = program.run(&[Tensor::from_vec(vec![0.0; 24], &[4, 6])?])?;
//! assert_eq!(outputs[0].shape(), [2, 4, 3]);
//! # Ok::<(), stridewise_core::Error>(())
//! ```
#![forbid(unsafe_code)]

mod bindings;
mod elements;
mod engine;
mod gradient;
mod graph;
mod node;
mod onnx;
mod placed;
mod plan;
mod program;
mod replay;
mod symbols;
mod text;

pub use graph::{Graph, Symbolic};
pub use node::Guard;
pub use placed::Placed;
pub use program::Program;
pub use symbols::{as_spread, may_declare, spread};
