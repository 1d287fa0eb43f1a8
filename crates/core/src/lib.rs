//! The shape algebra, the engine and operator traits, and every operator. Holds no data, starts no threads.
#![forbid(unsafe_code)]

pub mod axis;
pub mod call;
pub mod dim;
pub mod dtype;
pub mod engine;
pub mod error;
pub mod inline;
pub mod layout;
pub mod nn;
pub mod operator;
pub mod operators;
pub mod params;
pub mod rules;
pub mod size;
pub mod table;

pub use axis::Axis;
pub use dtype::DType;
pub use engine::{Engine, Value};
pub use error::{Error, Result};
pub use layout::Layout;
pub use operator::Operator;

#[doc(hidden)]
pub use smallvec;
