//! Numbers and nested lists as tensors, with NumPy's dtypes: bool, `int64`, `float64`, `complex128`.

use std::borrow::Borrow;

use smallvec::SmallVec;

use crate::call::argument::{Argument, Look};
use crate::dtype::DType;
use crate::engine::Engine;
use crate::error::Error;
use crate::operator::Operator;
use crate::operators::Stack;
use crate::params::Scalar;
use crate::size::counted;
use crate::table::{Kind, ParamKind};

/// Lists nested deeper than this are not meant as arrays; a list may even hold itself.
pub const DEEPEST: usize = 64;

/// A tensor from whatever stands for one.
#[inline(always)]
pub fn literal<E: Engine, A: Argument<E>>(
    engine: &E,
    arg: &A,
    name: &'static str,
) -> Result<A::Tensor, A::Error> {
    if let Some(tensor) = arg.plain_tensor() {
        return Ok(tensor);
    }
    other(engine, arg, name)
}

/// A tensor from what is none of the engine's own.
#[inline(never)]
fn other<E: Engine, A: Argument<E>>(
    engine: &E,
    arg: &A,
    name: &'static str,
) -> Result<A::Tensor, A::Error> {
    match arg.look(ParamKind::Tensor)? {
        Look::Tensor => arg.tensor(),
        _ => of_numbers(engine, arg, name).map(A::Tensor::from),
    }
}

fn of_numbers<E: Engine, A: Argument<E>>(
    engine: &E,
    arg: &A,
    name: &'static str,
) -> Result<E::Value, A::Error> {
    // A list of plain whole numbers, as an index mostly is.
    let mut plain = SmallVec::new();
    if arg.plain_numbers(&mut plain) && !plain.is_empty() {
        return Ok(engine.integers(&plain)?);
    }
    let mut numbers = Numbers {
        name,
        sizes: Vec::new(),
        values: Vec::new(),
        has_tensor: false,
    };
    numbers.read(arg, 0)?;
    if numbers.has_tensor {
        return match arg.whole_list()? {
            Some(tensor) => Ok(tensor.borrow().clone()),
            None => stacked(engine, arg, name, 0),
        };
    }
    let Numbers { sizes, values, .. } = numbers;
    // An empty list is float64 in NumPy; as an index that would be refused, and there it can only be int64.
    let dtype = match values.is_empty() && name == "index" {
        true => DType::I64,
        false => common_dtype(&values),
    };
    for value in &values {
        if value.require_fit(dtype, name).is_err() {
            let message = match dtype {
                DType::U64 if matches!(value, Scalar::Int(n) if *n < 0) => {
                    format!(
                        "{name} holds {value} and a number past int64, which fit no dtype together"
                    )
                }
                _ => format!("{name} holds {value}, which fits no integer dtype"),
            };
            return Err(Error::overflow(message).at_argument(name).into());
        }
    }
    Ok(engine.literal(dtype, &sizes, &values)?)
}

/// A list with tensors in it: one tensor, its parts side by side.
fn stacked<E: Engine, A: Argument<E>>(
    engine: &E,
    arg: &A,
    name: &'static str,
    level: usize,
) -> Result<E::Value, A::Error> {
    if !matches!(arg.look(ParamKind::Tensor)?, Look::List) {
        return Ok(literal(engine, arg, name)?.borrow().clone());
    }
    // Checked when the numbers were read, but a list may have changed since.
    if level == DEEPEST {
        return Err(too_deep(name).into());
    }
    let parts = arg
        .items()
        .map(|item| stacked(engine, item.borrow(), name, level + 1))
        .collect::<Result<Vec<_>, _>>()?;
    let parts: Vec<&E::Value> = parts.iter().collect();
    let stack = Stack { axis: 0 };
    Ok(A::run(Kind::Copy, &parts, || stack.lower(engine, &parts))?)
}

fn too_deep(name: &'static str) -> Error {
    Error::type_(format!("{name} holds lists nested deeper than {DEEPEST}")).at_argument(name)
}

/// What nested lists hold, as far as they have been read.
struct Numbers {
    name: &'static str,
    /// The size of each level, from the first list on it.
    sizes: Vec<usize>,
    values: Vec<Scalar>,
    has_tensor: bool,
}

impl Numbers {
    fn read<E: Engine, A: Argument<E>>(&mut self, arg: &A, level: usize) -> Result<(), A::Error> {
        let name = self.name;
        let value = match arg.look(ParamKind::Tensor)? {
            Look::List => return self.list(arg, level),
            Look::Tensor => {
                self.has_tensor = true;
                return Ok(());
            }
            Look::Bool(b) => Scalar::Bool(b),
            Look::Int(n) => Scalar::Int(n),
            Look::Float(x) => Scalar::Float(x),
            Look::Complex(re, im) => Scalar::Complex(re, im),
            other => {
                let message = format!(
                    "{name} is {}, which is not a number, a list or a tensor",
                    other.describe()
                );
                return Err(Error::type_(message).at_argument(name).into());
            }
        };
        if level != self.sizes.len() && !self.has_tensor {
            return Err(self.mixed().into());
        }
        self.values.push(value);
        Ok(())
    }

    fn list<E: Engine, A: Argument<E>>(&mut self, arg: &A, level: usize) -> Result<(), A::Error> {
        let (name, items) = (self.name, arg.items());
        let len = items.len();
        if level == DEEPEST {
            return Err(too_deep(name).into());
        }
        match self.sizes.get(level) {
            // Where tensors are among the items, stacking them says what does not fit.
            _ if self.has_tensor => {}
            Some(&size) if size != len => {
                let message = format!(
                    "a list in {name} has {}, but the first one has {size}",
                    counted(len, "item")
                );
                return Err(Error::shape(message)
                    .at_argument(name)
                    .sizes(size, len)
                    .into());
            }
            Some(_) => {}
            // Only the first item of each level may go deeper.
            None if !self.values.is_empty() => {
                return Err(self.mixed().into());
            }
            None => self.sizes.push(len),
        }
        if self.values.try_reserve(len).is_err() {
            let message = format!("{name} holds more numbers than there is memory for");
            return Err(Error::memory(message).at_argument(name).into());
        }
        for item in items {
            self.read(item.borrow(), level + 1)?;
        }
        Ok(())
    }

    fn mixed(&self) -> Error {
        let name = self.name;
        Error::shape(format!("{name} mixes numbers and lists on one level")).at_argument(name)
    }
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
