//! Gradients of every operator, held to three definitions that know nothing of each other:
//!
//! - `changes`: a change of the inputs changes the result as the gradient says, to the last bit;
//! - `accumulated`: each element of an input gets the gradients of all the elements that were read from it, added
//!   index by index, where the suite's oracle says what was read;
//! - `differences`: central differences, one element after another.
//!
//! All draw their calls from the suite's generators and go through the whole operator table: an operator that one
//! of them cannot judge fails it. `PROPTEST_CASES` sets how many calls each operator gets, `PROPTEST_RNG_SEED`
//! repeats a run.
#![allow(clippy::unwrap_used)]

mod accumulated;
mod changes;
mod differences;
mod drawn;
mod history;
#[path = "../inputs/mod.rs"]
mod inputs;
mod threads;
