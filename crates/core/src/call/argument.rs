//! What a front door must say about an argument so that operators can be called with it. An argument is
//! looked at where it stands: a call from Python copies nothing but the numbers it needs.

use std::borrow::Borrow;

use smallvec::SmallVec;

use crate::dtype::DType;
use crate::engine::Engine;
use crate::error::Error;
use crate::operators::Dims;
use crate::params::{Extent, Symbol};
use crate::table::{Kind, ParamKind};

/// What an argument is, at first sight.
#[derive(Debug)]
pub enum Look<'a, S> {
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
    Text(&'a str),
    /// `...`.
    Rest,
    /// `start:stop:step`.
    Range(Option<isize>, Option<isize>, Option<isize>),
    /// A size, known or symbolic.
    Extent(&'a Extent<S>),
    /// A symbol.
    Symbol(&'a Symbol),
    /// An element type.
    DType(DType),
    /// A list or tuple: see [`Argument::items`].
    List,
    /// A tensor: see [`Argument::tensor`].
    Tensor,
    /// Anything else, by the name of its type.
    Other(String),
}

impl<'a, S> Look<'a, S> {
    /// The same where sizes are counted in another way; a size of this way is then another object.
    pub fn elsewhere<T>(self) -> Look<'a, T> {
        match self {
            Look::None => Look::None,
            Look::Bool(b) => Look::Bool(b),
            Look::Int(n) => Look::Int(n),
            Look::Float(x) => Look::Float(x),
            Look::Complex(re, im) => Look::Complex(re, im),
            Look::Text(text) => Look::Text(text),
            Look::Rest => Look::Rest,
            Look::Range(start, stop, step) => Look::Range(start, stop, step),
            Look::Extent(_) => Look::Other("size".to_string()),
            Look::Symbol(symbol) => Look::Symbol(symbol),
            Look::DType(dtype) => Look::DType(dtype),
            Look::List => Look::List,
            Look::Tensor => Look::Tensor,
            Look::Other(class) => Look::Other(class),
        }
    }
}

impl<S> Look<'_, S> {
    /// What the argument is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Look::None => "None",
            Look::Bool(_) => "a bool",
            Look::Int(_) => "an int",
            Look::Float(_) => "a float",
            Look::Complex(..) => "a complex number",
            Look::Text(_) => "a string",
            Look::Rest => "an ellipsis",
            Look::Range(..) => "a slice",
            Look::List => "a list",
            Look::Extent(_) => "a size",
            Look::Symbol(_) => "a symbol",
            Look::DType(_) => "a dtype",
            Look::Tensor => "a tensor",
            Look::Other(_) => "another object",
        }
    }

    /// What the argument is, with its value where that is short.
    pub fn describe(&self) -> String {
        match self {
            Look::Bool(true) => "the bool True".to_string(),
            Look::Bool(false) => "the bool False".to_string(),
            Look::Int(n) => format!("the int {n}"),
            Look::Float(x) => format!("the float {x:?}"),
            Look::Complex(re, im) => format!("the complex number ({re:?}{im:+?}j)"),
            Look::Text(text) if text.len() <= 40 => format!("the string \"{text}\""),
            Look::Other(class) => format!("an object of type `{class}`"),
            other => other.kind().to_string(),
        }
    }

    /// A default of the operator table.
    #[inline]
    pub(crate) fn at_default(text: &str) -> Look<'_, S> {
        match text {
            "None" => Look::None,
            "True" => Look::Bool(true),
            "False" => Look::Bool(false),
            _ if text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
                text.parse().map_or(Look::Text(text), Look::Int)
            }
            _ => Look::Text(text),
        }
    }
}

/// Why a call failed: an [`Error`], or what the front door itself raises while an argument is read.
pub trait Failure: From<Error> {
    /// Adds the operator, unless one further in has done so.
    fn within(self, operator: &'static str) -> Self;

    /// The error, where it is one.
    fn edit(self, change: impl FnOnce(Error) -> Error) -> Self;
}

impl Failure for Error {
    fn within(self, operator: &'static str) -> Error {
        Error::within(self, operator)
    }

    fn edit(self, change: impl FnOnce(Error) -> Error) -> Error {
        change(self)
    }
}

/// An argument as a front door holds it.
pub trait Argument<E: Engine>: Sized {
    /// What goes wrong while it is read.
    type Error: Failure;
    /// A tensor among arguments, or one made from them.
    type Tensor: Borrow<E::Value> + From<E::Value>;
    /// What a call gives back.
    type Output;

    /// What it is. `wanted` is what it will be used as: where that is no tensor, an object that can be a
    /// number as well as an array is a number.
    fn look(&self, wanted: ParamKind) -> Result<Look<'_, E::Size>, Self::Error>;

    /// The tensor it is, if [`look`](Self::look) says so.
    fn tensor(&self) -> Result<Self::Tensor, Self::Error>;

    /// The items of the list it is, if [`look`](Self::look) says so; otherwise none.
    fn items(&self) -> impl ExactSizeIterator<Item: Borrow<Self>>;

    /// The tensor that a list with arrays in it is, where the front door knows better than to stack them.
    fn whole_list(&self) -> Result<Option<Self::Tensor>, Self::Error> {
        Ok(None)
    }

    /// The tensor it is, where it is one of the engine's own: the short way there.
    #[inline]
    fn plain_tensor(&self) -> Option<Self::Tensor> {
        None
    }

    /// The plain whole number it is. Most arguments are one, so a front door may have a short way here;
    /// [`look`](Self::look) tells what it is otherwise.
    #[inline]
    fn plain_number(&self) -> Option<isize> {
        None
    }

    /// Adds the items of the list it is, where they are plain whole numbers all; otherwise says so, and
    /// [`items`](Self::items) tells what they are.
    #[inline]
    fn plain_numbers(&self, _into: &mut SmallVec<[isize; 8]>) -> bool {
        false
    }

    /// Runs the operator, once all arguments are read. A front door may let others work meanwhile, and may
    /// try it and give it up first: an operator changes nothing.
    #[inline]
    fn run<T>(_kind: Kind, _inputs: &[&E::Value], work: impl Fn() -> T) -> T {
        work()
    }

    /// Runs the operator as [`run`](Self::run) does, and hands out its tensor, or the error that came instead;
    /// `origin` is the one the operator was called on, which may be the very same. The tensor is made here
    /// because it is large: what is made before a call is moved into it.
    fn one(
        kind: Kind,
        inputs: &[&E::Value],
        work: impl Fn() -> Result<E::Value, Error>,
        origin: Option<&Self::Tensor>,
    ) -> Result<Self::Output, Self::Error>;

    /// Hands out several tensors; `origins` are those the operator was called on, one for each or none.
    fn many(values: Vec<E::Value>, origins: &[Self::Tensor]) -> Result<Self::Output, Self::Error>;

    /// Hands out a tensor and the sizes its shape was found to have.
    fn checked(
        pair: (E::Value, Dims<E::Size>),
        origin: Option<&Self::Tensor>,
    ) -> Result<Self::Output, Self::Error>;
}
