//! The oracle's rules for reading and adding at given indices.

use super::arguments::{axis, fits, int, optional_int, optional_scalar, tensor, value, word};
use super::{Answer, Faults, Judgement, Question};
use crate::call::Argument;
use crate::input::Input;
use crate::number::{Cell, Number};
use crate::reference::Reference;
use crate::runner::Family;

use stridewise_core::call::Arg;

/// What an index outside the source means.
enum Outside {
    Raise,
    Wrap,
    Clip,
    Fill(Argument),
}

/// The values of an index. Without data all of them are taken to be 0, which is in range where anything is.
fn positions(q: Question, index: &Input) -> Vec<i128> {
    let value = |number| match (q.data, number) {
        (true, Number::Int(n)) => n,
        (true, other) => panic!("{other:?} as an index"),
        (false, _) => 0,
    };
    index.reference().numbers().into_iter().map(value).collect()
}

/// Where an index points among `n`; `None` where it takes the fill value.
fn resolve(i: i128, n: usize, mode: &Outside) -> Result<Option<usize>, Family> {
    let n = n as i128;
    match mode {
        _ if n == 0 && !matches!(mode, Outside::Fill(_)) => Err(Family::Index),
        Outside::Wrap => Ok(Some(i.rem_euclid(n) as usize)),
        Outside::Clip => Ok(Some(i.clamp(0, n - 1) as usize)),
        _ if (0..n).contains(&i) => Ok(Some(i as usize)),
        _ if (-n..0).contains(&i) => Ok(Some((i + n) as usize)),
        Outside::Raise => Err(Family::Index),
        Outside::Fill(_) => Ok(None),
    }
}

fn resolve_all(
    indices: &[i128],
    n: usize,
    mode: &Outside,
    faults: &mut Faults,
) -> Vec<Option<usize>> {
    let all: Result<Vec<_>, Family> = indices.iter().map(|&i| resolve(i, n, mode)).collect();
    faults.keep(all).unwrap_or_default()
}

/// `take` along one axis: the index's axes stand where the axis stood.
fn along_axis(
    x: &Reference,
    axis: usize,
    index_shape: &[usize],
    found: &[Option<usize>],
    fill: Cell,
) -> Reference {
    let shape = [&x.shape[..axis], index_shape, &x.shape[axis + 1..]].concat();
    let end = axis + index_shape.len();
    Reference::build(x.dtype, &shape, |out| {
        let at = out[axis..end].iter().zip(index_shape);
        let flat = at.fold(0, |flat, (&i, &size)| flat * size + i);
        match found[flat] {
            Some(i) => x.at(&[&out[..axis], &[i], &out[end..]].concat()),
            None => fill,
        }
    })
}

pub(super) fn take(q: Question) -> Judgement {
    let mut x = q.receiver().reference();
    let mut faults = Faults::default();
    let index = faults.keep(tensor(q, "index"));
    let given = faults.keep(optional_int(q, "axis", None));
    let along = match given {
        Some(Some(given)) => faults.keep(axis(given, x.shape.len())),
        _ => {
            let count = x.elements.len();
            x = x.shaped(&[count]);
            Some(0)
        }
    };
    let fill = faults.keep(optional_scalar(q, "fill_value")).flatten();
    let mode = match faults.keep(word(q, "mode", "raise")) {
        Some("raise") => Outside::Raise,
        Some("wrap") => Outside::Wrap,
        Some("clip") => Outside::Clip,
        Some("fill") => Outside::Fill(fill.cloned().unwrap_or(Arg::Int(0))),
        Some(_) => {
            faults.unless(false, Family::Argument);
            Outside::Clip
        }
        None => Outside::Clip,
    };
    match &mode {
        Outside::Fill(value) => faults.unless(fits(value, x.dtype), Family::DType),
        _ => faults.unless(fill.is_none(), Family::Argument),
    }
    faults.unless(
        index.is_none_or(|index| index.dtype.is_integer()),
        Family::DType,
    );
    let (Some(index), Some(along), true) = (index, along, faults.0.is_empty()) else {
        return Err(faults.0);
    };
    let found = resolve_all(&positions(q, index), x.shape[along], &mode, &mut faults);
    faults.end()?;
    let fill = match &mode {
        Outside::Fill(scalar) => value(scalar).cast(x.dtype).encode(x.dtype),
        _ => [0; 16],
    };
    Ok(Answer::One(along_axis(
        &x,
        along,
        &index.shape,
        &found,
        fill,
    )))
}

/// The length of an index that must be 1-D; a single one counts as a list of one.
fn length(index: &Input) -> Result<usize, Family> {
    match index.shape.as_slice() {
        [] => Ok(1),
        [n] => Ok(*n),
        _ => Err(Family::Shape),
    }
}

pub(super) fn index_select(q: Question) -> Judgement {
    let x = q.receiver().reference();
    let mut faults = Faults::default();
    let index = faults.keep(tensor(q, "index"));
    let given = faults.keep(int(q, "axis", None));
    let along = given.and_then(|given| faults.keep(axis(given, x.shape.len())));
    faults.unless(
        index.is_none_or(|index| index.dtype.is_integer()),
        Family::DType,
    );
    let len = index.and_then(|index| faults.keep(length(index)));
    let (Some(index), Some(len), Some(along), true) = (index, len, along, faults.0.is_empty())
    else {
        return Err(faults.0);
    };
    let found = resolve_all(
        &positions(q, index),
        x.shape[along],
        &Outside::Raise,
        &mut faults,
    );
    faults.end()?;
    Ok(Answer::One(along_axis(&x, along, &[len], &found, [0; 16])))
}

pub(super) fn take_along_axis(q: Question) -> Judgement {
    let mut x = q.receiver().reference();
    let mut faults = Faults::default();
    let index = faults.keep(tensor(q, "index"));
    let given = faults.keep(optional_int(q, "axis", Some(-1)));
    let along = match given {
        Some(None) => {
            let count = x.elements.len();
            x = x.shaped(&[count]);
            Some(0)
        }
        Some(Some(given)) => faults.keep(axis(given, x.shape.len())),
        None => None,
    };
    faults.unless(
        index.is_none_or(|index| index.dtype.is_integer()),
        Family::DType,
    );
    if let Some(index) = index {
        faults.unless(index.shape.len() == x.shape.len(), Family::Shape);
        for (at, (&a, &b)) in x.shape.iter().zip(&index.shape).enumerate() {
            let fine = Some(at) == along || a == b || a == 1 || b == 1;
            faults.unless(fine, Family::Shape);
        }
    }
    let (Some(index), Some(along), true) = (index, along, faults.0.is_empty()) else {
        return Err(faults.0);
    };
    let mut shape = Vec::new();
    for (at, (&a, &b)) in x.shape.iter().zip(&index.shape).enumerate() {
        shape.push(if at == along || a == 1 { b } else { a });
    }
    let values = Reference {
        elements: positions(q, index)
            .into_iter()
            .map(|n| Number::Int(n).encode(stridewise_core::dtype::DType::I64))
            .collect(),
        dtype: stridewise_core::dtype::DType::I64,
        shape: index.shape.clone(),
    };
    // Positions past int64 are past any axis too; they are judged before they are stored as int64.
    let n = x.shape[along];
    if !shape.contains(&0) {
        resolve_all(&positions(q, index), n, &Outside::Raise, &mut faults);
        faults.end()?;
    }
    Ok(Answer::One(Reference::build(x.dtype, &shape, |out| {
        let within = |shape: &[usize]| -> Vec<usize> {
            let pairs = out.iter().zip(shape);
            pairs
                .map(|(&i, &size)| if size == 1 { 0 } else { i })
                .collect()
        };
        let mut at = within(&index.shape);
        at[along] = out[along];
        let i = match values.number(&at) {
            Number::Int(i) if i < 0 => (i + n as i128) as usize,
            other => other.real() as usize,
        };
        let mut from = within(&x.shape);
        from[along] = i;
        x.at(&from)
    })))
}

pub(super) fn index_add(q: Question) -> Judgement {
    let x = q.receiver().reference();
    let mut faults = Faults::default();
    let given = faults.keep(int(q, "axis", None));
    let along = given.and_then(|given| faults.keep(axis(given, x.shape.len())));
    let index = faults.keep(tensor(q, "index"));
    let source = faults.keep(tensor(q, "source"));
    faults.unless(
        index.is_none_or(|index| index.dtype.is_integer()),
        Family::DType,
    );
    let len = index.and_then(|index| faults.keep(length(index)));
    if let Some(source) = source {
        faults.unless(source.dtype == x.dtype, Family::DType);
        faults.unless(source.shape.len() == x.shape.len(), Family::Shape);
    }
    let (Some(along), Some(index), Some(source), Some(len), true) =
        (along, index, source, len, faults.0.is_empty())
    else {
        return Err(faults.0);
    };
    for (at, (&a, &b)) in x.shape.iter().zip(&source.shape).enumerate() {
        faults.unless(b == if at == along { len } else { a }, Family::Shape);
    }
    let found = resolve_all(
        &positions(q, index),
        x.shape[along],
        &Outside::Raise,
        &mut faults,
    );
    faults.end()?;
    let source = source.reference();
    Ok(Answer::One(Reference::build(x.dtype, &x.shape, |out| {
        let mut sum = x.number(out);
        for (at, to) in found.iter().enumerate() {
            if *to == Some(out[along]) {
                let mut from = out.to_vec();
                from[along] = at;
                sum = sum.plus(source.number(&from), x.dtype);
            }
        }
        sum.cast(x.dtype).encode(x.dtype)
    })))
}
