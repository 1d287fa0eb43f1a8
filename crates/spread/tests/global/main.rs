//! Global tensors against one machine: every operator, layout and mesh; what may move and what may not; dry runs that
//! count what real ones move; gradients; and the engine-neutral suite.
#![allow(clippy::unwrap_used)]

mod calls;
mod exhaustive;
mod held;
mod jobs;
mod perform;
