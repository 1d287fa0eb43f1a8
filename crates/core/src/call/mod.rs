//! Calling an operator by name with arguments that are only known at run time: how the command line and
//! Python reach the operators. Arguments are matched to parameters once, here, by Python's rules.

mod argument;
mod bind;
mod bound;
mod literal;
mod write;

use std::borrow::Borrow;
use std::convert::Infallible;

use crate::dtype::DType;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::operators::{Dims, TABLE};
use crate::params::{Extent, Symbol};
use crate::size::Size;
use crate::table::{Entry, Kind, Outcome, Param, ParamKind};

pub use argument::{Argument, Failure, Look};
pub use bind::Bind;
pub use bound::{Bound, Given};
pub use literal::{DEEPEST, literal};
pub use write::{Parameters, Plain, Write};

/// One argument as given.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg<V, S> {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A floating-point number.
    Float(f64),
    /// A complex number.
    Complex(f64, f64),
    /// A string or a bare word.
    Text(String),
    /// `...`.
    Rest,
    /// `start:stop:step`.
    Range(Option<isize>, Option<isize>, Option<isize>),
    /// A list or tuple.
    List(Vec<Arg<V, S>>),
    /// A size, known or symbolic.
    Extent(Extent<S>),
    /// A symbol.
    Symbol(Symbol),
    /// An element type.
    DType(DType),
    /// A tensor.
    Tensor(V),
}

impl<S: Size, E: Engine<Size = S>> Argument<E> for Arg<E::Value, S> {
    type Error = Error;
    type Tensor = E::Value;
    type Output = Outcome<E::Value, S>;

    fn look(&self, _wanted: ParamKind) -> Result<Look<'_, S>> {
        Ok(match self {
            Arg::None => Look::None,
            Arg::Bool(b) => Look::Bool(*b),
            Arg::Int(n) => Look::Int(*n),
            Arg::Float(x) => Look::Float(*x),
            Arg::Complex(re, im) => Look::Complex(*re, *im),
            Arg::Text(text) => Look::Text(text),
            Arg::Rest => Look::Rest,
            Arg::Range(start, stop, step) => Look::Range(*start, *stop, *step),
            Arg::List(_) => Look::List,
            Arg::Extent(extent) => Look::Extent(extent),
            Arg::Symbol(symbol) => Look::Symbol(symbol),
            Arg::DType(dtype) => Look::DType(*dtype),
            Arg::Tensor(_) => Look::Tensor,
        })
    }

    fn tensor(&self) -> Result<E::Value> {
        match self {
            Arg::Tensor(x) => Ok(x.clone()),
            _ => Err(Error::type_("the argument is no tensor")),
        }
    }

    fn items(&self) -> impl ExactSizeIterator<Item: Borrow<Self>> {
        match self {
            Arg::List(items) => items.iter(),
            _ => [].iter(),
        }
    }

    fn one(
        _kind: Kind,
        _inputs: &[&E::Value],
        work: impl Fn() -> Result<E::Value>,
        _origin: Option<&E::Value>,
    ) -> Result<Outcome<E::Value, S>> {
        work().map(Outcome::One)
    }

    fn many(values: Vec<E::Value>, _origins: &[E::Value]) -> Result<Outcome<E::Value, S>> {
        Ok(Outcome::Many(values))
    }

    fn checked(
        pair: (E::Value, Dims<S>),
        _origin: Option<&E::Value>,
    ) -> Result<Outcome<E::Value, S>> {
        Ok(Outcome::Checked(pair))
    }
}

/// What makes a size of another kind.
pub type Resize<'a, S, T, F> = &'a mut dyn FnMut(&Extent<S>) -> Result<Extent<T>, F>;

impl<V, S> Arg<V, S> {
    /// The same argument with other tensors, made from its own in order.
    pub fn with_tensors<W>(&self, make: &mut dyn FnMut(&V) -> W) -> Arg<W, S>
    where
        S: Clone,
    {
        let converted: Result<_, Infallible> =
            self.try_map(&mut |x| Ok(make(x)), &mut |extent| Ok(extent.clone()));
        match converted {
            Ok(arg) => arg,
            Err(never) => match never {},
        }
    }

    /// The same argument with other tensors and other sizes.
    pub fn try_map<W, T, F>(
        &self,
        tensor: &mut dyn FnMut(&V) -> Result<W, F>,
        size: Resize<'_, S, T, F>,
    ) -> Result<Arg<W, T>, F> {
        Ok(match self {
            Arg::Tensor(x) => Arg::Tensor(tensor(x)?),
            Arg::Extent(extent) => Arg::Extent(size(extent)?),
            Arg::List(items) => {
                let items = items.iter().map(|item| item.try_map(tensor, size));
                Arg::List(items.collect::<Result<_, F>>()?)
            }
            Arg::None => Arg::None,
            Arg::Bool(b) => Arg::Bool(*b),
            Arg::Int(n) => Arg::Int(*n),
            Arg::Float(x) => Arg::Float(*x),
            Arg::Complex(re, im) => Arg::Complex(*re, *im),
            Arg::Text(word) => Arg::Text(word.clone()),
            Arg::Rest => Arg::Rest,
            Arg::Range(start, stop, step) => Arg::Range(*start, *stop, *step),
            Arg::Symbol(symbol) => Arg::Symbol(symbol.clone()),
            Arg::DType(dtype) => Arg::DType(*dtype),
        })
    }
}

/// An argument of an engine.
pub type ArgOf<E> = Arg<<E as Engine>::Value, <E as Engine>::Size>;

/// The arguments of a call: by position (the tensor first), then by name.
pub struct Args<E: Engine> {
    /// Those given by position.
    pub positional: Vec<ArgOf<E>>,
    /// Those given by name.
    pub named: Vec<(String, ArgOf<E>)>,
}

/// The parameter that the `at`-th argument by position stands for, the tensors left out.
pub fn parameter_at(entry: &Entry, at: usize) -> Option<Param> {
    match entry.is_variadic() {
        true => entry.parameters().next(),
        false => entry.parameters().nth(at),
    }
}

/// An operator that is not there.
pub fn unknown(name: &str) -> Error {
    let error = Error::argument(format!("there is no operator `{name}`"));
    let nearest = TABLE
        .iter()
        .map(|entry| (distance(name, entry.name), entry.name))
        .min();
    match nearest {
        Some((d, near)) if d <= near.len() / 2 => error.help(format!("did you mean `{near}`?")),
        _ => error,
    }
}

/// Levenshtein's distance between two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, cb) in b.iter().enumerate() {
            let change = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_operator_is_answered_with_the_nearest() {
        let text = unknown("unflaten").to_string();
        assert!(text.ends_with("help: did you mean `unflatten`?"), "{text}");
        assert!(!unknown("qqqqqqqqqqqq").to_string().contains("did you mean"));
    }
}
