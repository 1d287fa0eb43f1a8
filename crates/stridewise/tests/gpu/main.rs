//! Everything that stands over an engine, over the GPU: transfers, graphs and gradients. Without a GPU these fail.
#![allow(clippy::unwrap_used)]

#[path = "../../../tape/tests/gradients/drawn.rs"]
#[allow(dead_code)]
mod drawn;
mod gradients;
mod graphs;
#[path = "../../../tape/tests/inputs/mod.rs"]
mod inputs;
mod transfers;
