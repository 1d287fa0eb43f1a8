//! Programs as text: what they look like, that they read back as the same program, and what is said of texts that
//! are none.

mod chains;
#[path = "../common/mod.rs"]
mod common;
mod examples;
mod mistakes;
mod random;
