//! Movement: kernels that know how wide an element is, and nothing else of it.

pub mod copy;
