//! The shape algebra, the engine and operator traits, and every operator. Holds no data, starts no threads.
#![forbid(unsafe_code)]

pub mod dtype;
pub mod error;
