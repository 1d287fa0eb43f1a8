//! Global tensors: one logical tensor over many ranks, as OneFlow's consistent view has it. On each axis of a mesh of
//! ranks a tensor is split, broadcast or partial ([`Sbp`]); every operator works on it and gives what one machine
//! would give. [`Spread`] is an engine over any engine whose tensors can be sent ([`Local`]), so no operator knows of
//! it.
#![deny(unsafe_code)]

mod change;
mod choose;
mod engine;
mod global;
pub mod local;
pub mod mesh;
mod parts;
mod path;
mod remember;
pub mod sbp;
mod signature;
pub mod world;

pub use change::{Moved, What};
pub use engine::Spread;
pub use global::Global;
pub use local::{Imagined, Local, Ranks};
pub use mesh::{Line, Mesh};
pub use path::{Change, local_shape};
pub use sbp::{NdSbp, Reduction, Sbp};
pub use stridewise_core::operator::on_behalf_of;
pub use stridewise_cpu::{Rows, RowsMut};
pub use world::{Call, Collective, Wire, World};
