//! Arithmetic on the device against the CPU engine, bit for bit. Only which NaN comes out is nobody's promise.
//!
//! `STRIDEWISE_SEED` repeats a run with other numbers.
#![allow(clippy::unwrap_used, missing_docs)]

mod add;
mod cast;
mod numbers;
mod scatter_add;
mod sum;
