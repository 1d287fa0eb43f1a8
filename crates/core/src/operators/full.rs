//! `zeros`, `ones`, `full` and `arange`: tensors made from nothing.

use crate::dtype::{DType, Family};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::operator::Operator;
use crate::params::{Scalar, Sizes};
use crate::size::Size;

/// Zeros.
#[derive(Clone, Debug)]
pub struct Zeros<S> {
    /// The shape.
    pub shape: Sizes<S>,
    /// The element type.
    pub dtype: DType,
}

/// Ones.
#[derive(Clone, Debug)]
pub struct Ones<S> {
    /// The shape.
    pub shape: Sizes<S>,
    /// The element type.
    pub dtype: DType,
}

/// One value everywhere.
#[derive(Clone, Debug)]
pub struct Full<S> {
    /// The shape.
    pub shape: Sizes<S>,
    /// The value.
    pub value: Scalar,
    /// The element type; `None` is the value's own.
    pub dtype: Option<DType>,
}

/// Evenly spaced values from `start` up to, not including, `stop`.
#[derive(Clone, Debug)]
pub struct Arange {
    /// The first value; the end, from 0 on, where `stop` is absent.
    pub start: Scalar,
    /// The end, not included.
    pub stop: Option<Scalar>,
    /// The distance.
    pub step: Scalar,
    /// The element type; `None` is what the numbers have.
    pub dtype: Option<DType>,
}

impl<E: Engine> Operator<E> for Zeros<E::Size> {
    type Output = E::Value;

    fn dtype(&self, _: &[DType]) -> DType {
        self.dtype
    }

    fn sizes(&self) -> Option<&Sizes<E::Size>> {
        Some(&self.shape)
    }

    fn lower(&self, engine: &E, _: &[&E::Value]) -> Result<E::Value> {
        engine.full(
            self.dtype,
            Scalar::Bool(false),
            &self.shape.all_given("shape", "size")?,
        )
    }
}

impl<E: Engine> Operator<E> for Ones<E::Size> {
    type Output = E::Value;

    fn dtype(&self, _: &[DType]) -> DType {
        self.dtype
    }

    fn sizes(&self) -> Option<&Sizes<E::Size>> {
        Some(&self.shape)
    }

    fn lower(&self, engine: &E, _: &[&E::Value]) -> Result<E::Value> {
        engine.full(
            self.dtype,
            Scalar::Bool(true),
            &self.shape.all_given("shape", "size")?,
        )
    }
}

impl<E: Engine> Operator<E> for Full<E::Size> {
    type Output = E::Value;

    fn dtype(&self, _: &[DType]) -> DType {
        self.dtype.unwrap_or(self.value.dtype())
    }

    fn sizes(&self) -> Option<&Sizes<E::Size>> {
        Some(&self.shape)
    }

    fn lower(&self, engine: &E, _: &[&E::Value]) -> Result<E::Value> {
        let dtype = self.dtype.unwrap_or(self.value.dtype());
        self.value.require_fit(dtype, "value")?;
        engine.full(dtype, self.value, &self.shape.all_given("shape", "size")?)
    }
}

impl<E: Engine> Operator<E> for Arange {
    type Output = E::Value;

    fn lower(&self, engine: &E, _: &[&E::Value]) -> Result<E::Value> {
        let (start, stop) = match self.stop {
            Some(stop) => (self.start, stop),
            None => (Scalar::Int(0), self.start),
        };
        let (start, stop, step) = (
            number(start, "start")?,
            number(stop, "stop")?,
            number(self.step, "step")?,
        );
        for (value, name) in [(start, "start"), (stop, "stop"), (step, "step")] {
            if !value.real().is_finite() {
                let message = format!("{name} is {value}, but a range needs finite numbers");
                return Err(Error::argument(message).at_argument(name));
            }
        }
        if step.real() == 0.0 {
            return Err(Error::argument("step is 0")
                .at_argument("step")
                .help("give a step of another size"));
        }
        let exact = match (start, stop, step) {
            (Scalar::Int(a), Scalar::Int(b), Scalar::Int(s)) => Some(steps(a, b, s)),
            _ => None,
        };
        let count = exact.unwrap_or_else(|| {
            // The cast saturates: what is too many to count fails below.
            ((stop.real() - start.real()) / step.real()).ceil().max(0.0) as i128
        });
        let own = if exact.is_some() {
            DType::I64
        } else {
            DType::F64
        };
        let dtype = self.dtype.unwrap_or(own);
        let len = usize::try_from(count)
            .ok()
            .and_then(|n| n.plus(&0))
            .ok_or_else(|| {
                Error::overflow(format!("from {start} to {stop} by {step} there are more values than any machine can address"))
                .at_argument("stop")
            })?;
        if len > 0 {
            let last = match (start, step) {
                (Scalar::Int(a), Scalar::Int(s)) => {
                    Scalar::Int(s.saturating_mul(len as i128 - 1).saturating_add(a))
                }
                _ => start,
            };
            require_whole(start, step, dtype)?;
            start.require_fit(dtype, "start")?;
            last.require_fit(dtype, "stop").map_err(|_| {
                Error::dtype(format!("the last value, {last}, does not fit {dtype}"))
                    .at_argument("stop")
                    .sizes(dtype, last)
                    .help("nothing is cast silently: stop earlier, or use another dtype")
            })?;
        }
        engine.range(dtype, start, step, len.into())
    }
}

/// How many of `a, a + s, …` lie before `b`.
fn steps(a: i128, b: i128, s: i128) -> i128 {
    let distance = b.saturating_sub(a).saturating_mul(s.signum());
    if distance <= 0 {
        0
    } else {
        (distance - 1) / s.saturating_abs() + 1
    }
}

/// A bound of a range: a real number.
fn number(value: Scalar, argument: &'static str) -> Result<Scalar> {
    match value {
        Scalar::Bool(b) => Ok(Scalar::Int(b.into())),
        Scalar::Complex(..) => Err(Error::dtype(format!(
            "{argument} is {value}, but a range needs real numbers"
        ))
        .at_argument(argument)),
        real => Ok(real),
    }
}

fn require_whole(start: Scalar, step: Scalar, dtype: DType) -> Result<()> {
    let whole = matches!((start, step), (Scalar::Int(_), Scalar::Int(_)));
    match dtype.family() {
        Family::Float | Family::Complex => Ok(()),
        _ if whole => Ok(()),
        _ => Err(Error::dtype(format!(
            "start {start} and step {step} do not give values of {dtype}"
        ))
        .at_argument("dtype")
        .help("nothing is cast silently: use a float dtype, or whole numbers")),
    }
}
