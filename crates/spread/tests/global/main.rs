//! Global tensors against one machine: every operator, layout and mesh; what may move and what may not; dry runs that
//! count what real ones move; gradients; and the engine-neutral suite.
#![allow(clippy::unwrap_used)]

mod calls;
mod changes;
mod counting;
mod dry_run;
mod exhaustive;
mod gradients;
mod held;
mod jobs;
mod large;
mod one_rank;
mod perform;
mod suite;
mod survive;
mod worlds;
