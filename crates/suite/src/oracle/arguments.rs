//! The oracle's reading of arguments: a bool is not a number, a float is not a size, and a whole number that
//! no machine can count to is an overflow.

use stridewise_core::call::Arg;
use stridewise_core::dtype::{DType, Family as Kind};

use crate::call::Argument;
use crate::input::Input;
use crate::number::{Number, int_range};
use crate::oracle::Question;
use crate::runner::Family;

type Read<T> = Result<T, Family>;

fn required<'a>(q: Question<'a>, name: &str) -> Read<&'a Argument> {
    q.call.get(name).ok_or(Family::Type)
}

fn whole(arg: &Argument) -> Read<i128> {
    match arg {
        Arg::Int(n) if isize::try_from(*n).is_ok() => Ok(*n),
        Arg::Int(_) => Err(Family::Overflow),
        _ => Err(Family::Type),
    }
}

/// A whole number, or the default where there is one.
pub(super) fn int(q: Question, name: &str, default: Option<i128>) -> Read<i128> {
    match (q.call.get(name), default) {
        (None, Some(default)) => Ok(default),
        (None, None) => Err(Family::Type),
        (Some(arg), _) => whole(arg),
    }
}

/// A whole number or `None`.
pub(super) fn optional_int(q: Question, name: &str, default: Option<i128>) -> Read<Option<i128>> {
    match q.call.get(name) {
        None => Ok(default),
        Some(Arg::None) => Ok(None),
        Some(arg) => whole(arg).map(Some),
    }
}

/// True or false, or false.
pub(super) fn flag(q: Question, name: &str) -> Read<bool> {
    match q.call.get(name) {
        None => Ok(false),
        Some(Arg::Bool(b)) => Ok(*b),
        Some(_) => Err(Family::Type),
    }
}

/// A word, or the default.
pub(super) fn word<'a>(q: Question<'a>, name: &str, default: &'a str) -> Read<&'a str> {
    match q.call.get(name) {
        None => Ok(default),
        Some(Arg::Text(word)) => Ok(word),
        Some(_) => Err(Family::Type),
    }
}

/// An element type; `None` where there is no argument or it is `None`.
pub(super) fn optional_dtype(q: Question, name: &str) -> Read<Option<DType>> {
    match q.call.get(name) {
        None | Some(Arg::None) => Ok(None),
        Some(arg) => dtype(arg).map(Some),
    }
}

/// An element type that must be one.
pub(super) fn given_dtype(q: Question, name: &str, default: Option<DType>) -> Read<DType> {
    match (q.call.get(name), default) {
        (None, Some(default)) => Ok(default),
        (None, None) => Err(Family::Type),
        (Some(arg), _) => dtype(arg),
    }
}

fn dtype(arg: &Argument) -> Read<DType> {
    match arg {
        Arg::DType(dtype) => Ok(*dtype),
        Arg::Text(word) => {
            let named = |d: &DType| d.name() == word || d.short_name() == word;
            DType::ALL.into_iter().find(named).ok_or(Family::DType)
        }
        _ => Err(Family::Type),
    }
}

/// Sizes as given: numbers, 0-d integer tensors among them, or one 1-D tensor of int32 or int64.
pub(super) fn sizes(q: Question, name: &str) -> Read<Vec<i128>> {
    let read = |input: &Input| -> Read<Vec<i128>> {
        if !q.data {
            return Err(Family::TooEarly);
        }
        let value = |number| match number {
            Number::Int(n) => n,
            other => panic!("{other:?} among integers"),
        };
        Ok(input.reference().numbers().into_iter().map(value).collect())
    };
    match required(q, name)? {
        Arg::Tensor(input) if !matches!(input.dtype, DType::I32 | DType::I64) => Err(Family::Type),
        Arg::Tensor(input) if input.shape.len() > 1 => Err(Family::Shape),
        Arg::Tensor(input) => read(input),
        Arg::List(items) => {
            let mut sizes = Vec::new();
            for item in items {
                match item {
                    Arg::Tensor(input) if !input.dtype.is_integer() => return Err(Family::Type),
                    Arg::Tensor(input) if !input.shape.is_empty() => return Err(Family::Shape),
                    Arg::Tensor(input) => sizes.extend(read(input)?),
                    other => sizes.push(whole(other)?),
                }
            }
            Ok(sizes)
        }
        one => whole(one).map(|n| vec![n]),
    }
}

/// Axes as given; `None` for all of them.
pub(super) fn axes(q: Question, name: &str, all_by_default: bool) -> Read<Option<Vec<i128>>> {
    match q.call.get(name) {
        None if all_by_default => Ok(None),
        None => Err(Family::Type),
        Some(Arg::None) => Ok(None),
        Some(Arg::List(items)) => items.iter().map(whole).collect::<Read<_>>().map(Some),
        Some(one) => whole(one).map(|n| Some(vec![n])),
    }
}

/// A tensor.
pub(super) fn tensor<'a>(q: Question<'a>, name: &str) -> Read<&'a Input> {
    match required(q, name)? {
        Arg::Tensor(input) => Ok(input),
        _ => Err(Family::Type),
    }
}

/// One number.
pub(super) fn scalar<'a>(q: Question<'a>, name: &str) -> Read<&'a Argument> {
    match required(q, name)? {
        arg @ (Arg::Bool(_) | Arg::Int(_) | Arg::Float(_) | Arg::Complex(..)) => Ok(arg),
        _ => Err(Family::Type),
    }
}

/// One number; `None` where there is no argument or it is `None`.
pub(super) fn optional_scalar<'a>(q: Question<'a>, name: &str) -> Read<Option<&'a Argument>> {
    match q.call.get(name) {
        None | Some(Arg::None) => Ok(None),
        Some(_) => scalar(q, name).map(Some),
    }
}

/// The value of a scalar argument.
pub(super) fn value(scalar: &Argument) -> Number {
    match scalar {
        Arg::Bool(b) => Number::Int(i128::from(*b)),
        Arg::Int(n) => Number::Int(*n),
        Arg::Float(x) => Number::Float(*x),
        Arg::Complex(re, im) => Number::Complex(*re, *im),
        other => panic!("{other:?} is not a scalar"),
    }
}

/// Whether elements of `dtype` hold the number without a change of kind or a wrap: nothing is cast silently.
pub(super) fn fits(scalar: &Argument, dtype: DType) -> bool {
    match (scalar, dtype.family()) {
        (Arg::Bool(_), _) => true,
        (Arg::Int(n), Kind::Bool) => matches!(n, 0 | 1),
        (Arg::Int(n), Kind::Unsigned | Kind::Signed) => {
            let (low, high) = int_range(dtype);
            (low..=high).contains(n)
        }
        (Arg::Int(_) | Arg::Float(_), Kind::Float | Kind::Complex) => true,
        (Arg::Complex(..), Kind::Complex) => true,
        _ => false,
    }
}

/// An axis counted from the front.
pub(super) fn axis(given: i128, rank: usize) -> Read<usize> {
    let rank = rank as i128;
    match given {
        _ if (0..rank).contains(&given) => Ok(given as usize),
        _ if (-rank..0).contains(&given) => Ok((given + rank) as usize),
        _ => Err(Family::Axis),
    }
}

/// Several axes, each at most once.
pub(super) fn distinct(given: &[i128], rank: usize) -> Read<Vec<usize>> {
    let mut axes = Vec::new();
    for &one in given {
        let axis = axis(one, rank)?;
        if axes.contains(&axis) {
            return Err(Family::Axis);
        }
        axes.push(axis);
    }
    Ok(axes)
}
