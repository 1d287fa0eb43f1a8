//! The oracle's rules for operators on the elements themselves, and for tensors made from nothing.

use stridewise_core::call::Arg;
use stridewise_core::dtype::{DType, Family as Kind};

use super::arguments::{
    axes, distinct, fits, flag, given_dtype, optional_dtype, optional_scalar, scalar, sizes, value,
};
use super::{Answer, Faults, Judgement, Question, addressable};
use crate::call::Argument;
use crate::number::Number;
use crate::reference::{Reference, indices};
use crate::runner::Family;

pub(super) fn contiguous(q: Question) -> Judgement {
    Ok(Answer::One(q.receiver().reference()))
}

fn cast_all(x: &Reference, dtype: DType) -> Reference {
    Reference::build(dtype, &x.shape, |index| {
        if x.dtype == dtype {
            x.at(index)
        } else {
            x.number(index).cast(dtype).encode(dtype)
        }
    })
}

pub(super) fn cast(q: Question) -> Judgement {
    let dtype = given_dtype(q, "dtype", None).map_err(|family| vec![family])?;
    Ok(Answer::One(cast_all(&q.receiver().reference(), dtype)))
}

pub(super) fn sum(q: Question) -> Judgement {
    let x = q.receiver().reference();
    let rank = x.shape.len();
    let mut faults = Faults::default();
    let given = faults.keep(axes(q, "axis", true));
    let keepdims = faults.keep(flag(q, "keepdims"));
    let dtype = faults.keep(optional_dtype(q, "dtype"));
    let reduced = match given.flatten() {
        Some(given) => faults.keep(distinct(&given, rank)).unwrap_or_default(),
        None => (0..rank).collect(),
    };
    faults.end()?;
    let dtype = dtype.flatten().unwrap_or(match x.dtype.family() {
        Kind::Bool | Kind::Signed => DType::I64,
        Kind::Unsigned => DType::U64,
        Kind::Float | Kind::Complex => x.dtype,
    });
    let x = cast_all(&x, dtype);
    let sizes = |keep: bool| -> Vec<usize> {
        let axes = (0..rank).filter(|axis| reduced.contains(axis) != keep);
        axes.map(|axis| x.shape[axis]).collect()
    };
    let (kept, terms) = (sizes(true), sizes(false));
    let summed = Reference::build(dtype, &kept, |out| {
        let mut sum = Number::Int(0).cast(dtype);
        for term in indices(&terms) {
            let (mut out, mut term) = (out.iter(), term.iter());
            let mut next = |axis| match reduced.contains(&axis) {
                true => term.next().copied().unwrap_or(0),
                false => out.next().copied().unwrap_or(0),
            };
            let from: Vec<usize> = (0..rank).map(&mut next).collect();
            sum = sum.plus(x.number(&from), dtype);
        }
        sum.cast(dtype).encode(dtype)
    });
    if keepdims != Some(true) {
        return Ok(Answer::One(summed));
    }
    let one_or = |axis| {
        if reduced.contains(&axis) {
            1
        } else {
            x.shape[axis]
        }
    };
    let shape: Vec<usize> = (0..rank).map(one_or).collect();
    Ok(Answer::One(summed.shaped(&shape)))
}

pub(super) fn shape_of(q: Question) -> Judgement {
    let shape = &q.receiver().shape;
    Ok(Answer::One(Reference::build(
        DType::I64,
        &[shape.len()],
        |index| Number::Int(shape[index[0]] as i128).encode(DType::I64),
    )))
}

/// A shape that must be given in full.
fn new_shape(q: Question, width: usize) -> Result<Vec<usize>, Family> {
    let given = sizes(q, "shape")?;
    let sized = |n: &i128| usize::try_from(*n).map_err(|_| Family::Shape);
    let shape: Vec<usize> = given.iter().map(sized).collect::<Result<_, _>>()?;
    match addressable(&shape, width) {
        true => Ok(shape),
        false => Err(Family::Overflow),
    }
}

pub(super) fn constant(q: Question, n: i128) -> Judgement {
    let mut faults = Faults::default();
    let dtype = faults.keep(given_dtype(q, "dtype", Some(DType::F64)));
    let shape = faults.keep(new_shape(q, dtype.map_or(1, DType::width)));
    faults.end()?;
    let dtype = dtype.unwrap_or(DType::F64);
    let one = Number::Int(n).cast(dtype).encode(dtype);
    Ok(Answer::One(Reference::build(
        dtype,
        &shape.unwrap_or_default(),
        |_| one,
    )))
}

pub(super) fn full(q: Question) -> Judgement {
    let mut faults = Faults::default();
    let given = faults.keep(scalar(q, "value"));
    let dtype = faults.keep(optional_dtype(q, "dtype")).flatten();
    let own = match given {
        Some(Arg::Bool(_)) => DType::Bool,
        Some(Arg::Int(n)) if *n > i64::MAX.into() => DType::U64,
        Some(Arg::Int(_)) => DType::I64,
        Some(Arg::Complex(..)) => DType::C128,
        _ => DType::F64,
    };
    let dtype = dtype.unwrap_or(own);
    faults.unless(given.is_none_or(|given| fits(given, dtype)), Family::DType);
    let shape = faults.keep(new_shape(q, dtype.width()));
    let (Some(given), Some(shape), true) = (given, shape, faults.0.is_empty()) else {
        return Err(faults.0);
    };
    let one = value(given).cast(dtype).encode(dtype);
    Ok(Answer::One(Reference::build(dtype, &shape, |_| one)))
}

/// A bound of a range as a real number: a bool counts as 0 or 1.
fn real(scalar: &Argument) -> Result<Number, Family> {
    match value(scalar) {
        Number::Complex(..) => Err(Family::DType),
        real => Ok(real),
    }
}

pub(super) fn arange(q: Question) -> Judgement {
    let mut faults = Faults::default();
    let start = faults.keep(scalar(q, "start"));
    let stop = faults.keep(optional_scalar(q, "stop")).flatten();
    let step = match q.call.get("step") {
        None => Some(&Arg::Int(1)),
        Some(_) => faults.keep(scalar(q, "step")),
    };
    let dtype = faults.keep(optional_dtype(q, "dtype")).flatten();
    let (Some(start), Some(step)) = (start, step) else {
        return Err(faults.0);
    };
    let (start, stop) = stop.map_or((&Arg::Int(0), start), |stop| (start, stop));
    let mut number = |scalar| faults.keep(real(scalar));
    let (start, stop, step) = (number(start), number(stop), number(step));
    faults.unless(step.is_none_or(|step| step.real() != 0.0), Family::Argument);
    for bound in [&start, &stop, &step].into_iter().flatten() {
        faults.unless(bound.real().is_finite(), Family::Argument);
    }
    let (Some(start), Some(stop), Some(step), true) = (start, stop, step, faults.0.is_empty())
    else {
        return Err(faults.0);
    };
    let whole = match (start, stop, step) {
        (Number::Int(a), Number::Int(b), Number::Int(s)) => Some((a, b, s)),
        _ => None,
    };
    let dtype = dtype.unwrap_or(if whole.is_some() {
        DType::I64
    } else {
        DType::F64
    });
    let count = match whole {
        Some((a, b, s)) => {
            let (a, b, s) = if s > 0 { (a, b, s) } else { (-a, -b, -s) };
            (b - a + s - 1).div_euclid(s).max(0) as f64
        }
        None => {
            let count = ((stop.real() - start.real()) / step.real()).ceil();
            if count < 0.0 { 0.0 } else { count }
        }
    };
    if count.is_nan() || count > isize::MAX as f64 {
        return Err(vec![Family::Overflow]);
    }
    let count = count as usize;
    let at = |i: usize| match (start, step) {
        (Number::Int(a), Number::Int(s)) => Number::Int(a + i as i128 * s),
        _ => {
            // NumPy takes the distance of the first two values, as they are rounded.
            let distance = (start.real() + step.real()) - start.real();
            Number::Float(start.real() + i as f64 * distance)
        }
    };
    for i in 0..count {
        let scalar = match at(i) {
            Number::Int(n) => Arg::Int(n),
            other => Arg::Float(other.real()),
        };
        faults.unless(fits(&scalar, dtype), Family::DType);
    }
    if !addressable(&[count], dtype.width()) {
        return Err(vec![Family::Overflow]);
    }
    faults.end()?;
    Ok(Answer::One(Reference::build(dtype, &[count], |index| {
        at(index[0]).cast(dtype).encode(dtype)
    })))
}
