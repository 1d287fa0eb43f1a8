//! Numbers and nested lists as tensors, with NumPy's dtypes: bool, `int64`, `float64`, `complex128`.

use crate::call::{Arg, ArgOf};
use crate::dtype::DType;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::operator::Operator;
use crate::operators::Stack;
use crate::params::Scalar;

/// A tensor from whatever stands for one.
pub fn literal<E: Engine>(engine: &E, arg: ArgOf<E>, name: &'static str) -> Result<E::Value> {
    if let Arg::Tensor(x) = arg {
        return Ok(x);
    }
    if holds_tensor(&arg) {
        return stacked(engine, arg, name);
    }
    let mut sizes = Vec::new();
    let mut first = &arg;
    while let Arg::List(items) = first {
        sizes.push(items.len());
        match items.first() {
            Some(item) => first = item,
            None => break,
        }
    }
    let mut values = Vec::new();
    flatten(&arg, &sizes, name, &mut values)?;
    let dtype = common_dtype(&values);
    // An empty list is float64 in NumPy; as an index that would be refused, and there it can only be int64.
    let dtype = if values.is_empty() && name == "index" {
        DType::I64
    } else {
        dtype
    };
    for value in &values {
        if value.require_fit(dtype, name).is_err() {
            let message = format!("{name} holds {value}, which fits no integer dtype");
            return Err(Error::overflow(message).at_argument(name));
        }
    }
    engine.literal(dtype, &sizes, &values)
}

fn holds_tensor<V, S>(arg: &Arg<V, S>) -> bool {
    match arg {
        Arg::Tensor(_) => true,
        Arg::List(items) => items.iter().any(holds_tensor),
        _ => false,
    }
}

/// A list with tensors in it: one tensor, its parts side by side.
fn stacked<E: Engine>(engine: &E, arg: ArgOf<E>, name: &'static str) -> Result<E::Value> {
    let Arg::List(items) = arg else {
        return literal(engine, arg, name);
    };
    let parts = items
        .into_iter()
        .map(|item| stacked(engine, item, name))
        .collect::<Result<Vec<_>>>()?;
    Stack { axis: 0 }.lower(engine, &parts.iter().collect::<Vec<_>>())
}

fn flatten<V, S>(
    arg: &Arg<V, S>,
    sizes: &[usize],
    name: &'static str,
    into: &mut Vec<Scalar>,
) -> Result<()> {
    let value = match (arg, sizes) {
        (Arg::List(items), [size, inner @ ..]) if items.len() == *size => {
            return items
                .iter()
                .try_for_each(|item| flatten(item, inner, name, into));
        }
        (Arg::Bool(b), []) => Scalar::Bool(*b),
        (Arg::Int(n), []) => Scalar::Int(*n),
        (Arg::Float(x), []) => Scalar::Float(*x),
        (Arg::Complex(re, im), []) => Scalar::Complex(*re, *im),
        (Arg::List(items), [size, ..]) => {
            let message = format!(
                "a list in {name} has {}, but the first one has {size}",
                items.len()
            );
            return Err(Error::shape(message)
                .at_argument(name)
                .sizes(size, items.len()));
        }
        (Arg::List(_) | Arg::Bool(_) | Arg::Int(_) | Arg::Float(_) | Arg::Complex(..), _) => {
            let message = format!("{name} mixes numbers and lists on one level");
            return Err(Error::shape(message).at_argument(name));
        }
        (other, _) => {
            let message = format!(
                "{name} is {}, which is not a number, a list or a tensor",
                other.describe()
            );
            return Err(Error::type_(message).at_argument(name));
        }
    };
    into.push(value);
    Ok(())
}

fn common_dtype(values: &[Scalar]) -> DType {
    let rank = |value: &Scalar| match value {
        Scalar::Bool(_) => 0,
        Scalar::Int(_) => 1,
        Scalar::Float(_) => 2,
        Scalar::Complex(..) => 3,
    };
    match values.iter().map(rank).max() {
        Some(0) => DType::Bool,
        Some(1) => {
            let large = values
                .iter()
                .any(|v| matches!(v, Scalar::Int(n) if *n > i64::MAX as i128));
            if large { DType::U64 } else { DType::I64 }
        }
        Some(3) => DType::C128,
        _ => DType::F64,
    }
}
