//! Global tensors: one logical tensor over many ranks.
#![deny(unsafe_code)]

pub mod mesh;
pub mod sbp;
pub mod world;

pub use mesh::{Line, Mesh};
pub use sbp::{NdSbp, Reduction, Sbp};
pub use world::{Call, Collective, Wire, World};
