//! Sizes against an oracle that knows no algebra: random expressions, worked out at random numbers.

pub(super) mod expression;
mod laws;
mod reach;
mod soundness;
mod tables;
