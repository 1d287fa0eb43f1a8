//! ONNX models, read and written.
//!
//! A [`Model`] is a file of nodes that are all supported operators, checked when it is loaded. It runs on any
//! engine, since each node becomes calls of Stridewise's own operators: the CPU engine runs them, a tape
//! differentiates them, a shape-only engine tells what they would give. A [`Writer`] makes such files.
//!
//! ```
//! use stridewise_core::DType;
//! use stridewise_cpu::{Cpu, Tensor};
//! use stridewise_onnx::{DeclaredSize, Model, Writer};
//!
//! let mut graph = Writer::new("pairs");
//! let x = graph.input("x", DType::F32, [DeclaredSize::from("n"), 3.into()])?;
//! let pairs = graph.integers(&[0, 2]);
//! let y = graph.gather(&x, &pairs, 1);
//! graph.output("y", &y, DType::F32, ["n".into(), DeclaredSize::from(2)])?;
//!
//! let model = Model::from_bytes(&graph.to_bytes())?;
//! let x = Tensor::from_vec(vec![1f32, 2., 3., 4., 5., 6.], &[2, 3])?;
//! let outputs = model.run(&Cpu, Tensor::from_bytes, [("x", x)])?;
//! assert_eq!(outputs[0].0, "y");
//! assert_eq!(outputs[0].1.to_vec::<f32>()?, [1., 3., 4., 6.]);
//! # Ok::<(), stridewise_core::Error>(())
//! ```
#![forbid(unsafe_code)]

mod budget;
pub mod export;
pub mod import;
pub mod proto;
mod size;
pub mod tensor;

pub use export::{Var, Writer};
pub use import::{DeclaredInput, Model, Node, Placed, Running};
pub use size::DeclaredSize;
pub use tensor::Data;
