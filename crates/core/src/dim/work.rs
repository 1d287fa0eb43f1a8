//! A size worked out by something else: written as a program that computes it, say.

use super::atom::{Atom, Kind, Leaf};
use super::poly::Poly;
use super::{Dim, Form};

/// What works out sizes.
pub trait Arithmetic {
    /// What it gives.
    type Value;
    /// Why it cannot.
    type Error;

    /// A number, which may be negative on the way to a size.
    fn number(&mut self, n: i128) -> Result<Self::Value, Self::Error>;
    /// What a symbol stands for.
    fn symbol(&mut self, leaf: &Leaf) -> Result<Self::Value, Self::Error>;
    /// The length of Python's `[start:stop:step]` of an axis of that size; the step is positive.
    fn sliced(
        &mut self,
        of: Self::Value,
        start: isize,
        stop: Option<isize>,
        step: isize,
    ) -> Result<Self::Value, Self::Error>;
    /// A sum.
    fn plus(&mut self, a: Self::Value, b: Self::Value) -> Result<Self::Value, Self::Error>;
    /// A product.
    fn times(&mut self, a: Self::Value, b: Self::Value) -> Result<Self::Value, Self::Error>;
    /// An exact quotient.
    fn over(&mut self, a: Self::Value, b: Self::Value) -> Result<Self::Value, Self::Error>;
}

impl Dim {
    /// Works out the size, step by step.
    pub fn work_out<A: Arithmetic>(&self, by: &mut A) -> Result<A::Value, A::Error> {
        let node = match &self.0 {
            Form::Known(n) => return by.number(*n as i128),
            Form::Symbolic(node) => node,
        };
        let above = sum(&node.ratio.above, by)?;
        if node.ratio.below.is_one() {
            return Ok(above);
        }
        let below = sum(&node.ratio.below, by)?;
        by.over(above, below)
    }
}

fn sum<A: Arithmetic>(poly: &Poly, by: &mut A) -> Result<A::Value, A::Error> {
    let mut total = None;
    for (factors, times) in poly.terms() {
        let mut product = match times {
            1 if !factors.is_one() => None,
            _ => Some(by.number(*times)?),
        };
        for (atom, power) in factors.iter() {
            for _ in 0..*power {
                let value = value(atom, by)?;
                product = Some(match product {
                    Some(product) => by.times(product, value)?,
                    None => value,
                });
            }
        }
        if let Some(product) = product {
            total = Some(match total {
                Some(total) => by.plus(total, product)?,
                None => product,
            });
        }
    }
    match total {
        Some(total) => Ok(total),
        None => by.number(0),
    }
}

fn value<A: Arithmetic>(atom: &Atom, by: &mut A) -> Result<A::Value, A::Error> {
    match atom.kind() {
        Kind::Leaf { leaf, .. } => by.symbol(leaf),
        Kind::Length { of, cut } => {
            let of = of.work_out(by)?;
            let (start, stop, step) = cut.parts();
            by.sliced(of, start, stop, step)
        }
    }
}
