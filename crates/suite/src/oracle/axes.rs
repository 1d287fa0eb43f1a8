//! The oracle's rules for operators that add, drop, reorder or cut axes.

use stridewise_core::call::Arg;

use super::arguments::{axes, axis, distinct, int, word};
use super::{Answer, Faults, Judgement, Question};
use crate::call::Argument;
use crate::reference::Reference;
use crate::runner::Family;

/// The shape with `new` axes of size 1, in NumPy's places: one axis goes behind once there are three, as long
/// as there is an axis to go behind of.
fn numpy_places(shape: &[usize], n: usize) -> Vec<usize> {
    let mut out = shape.to_vec();
    if n >= 3 && !shape.is_empty() && out.len() < n {
        out.push(1);
    }
    while out.len() < n {
        out.insert(0, 1);
    }
    out
}

/// The table of `atleast_1d`, `atleast_2d` and `atleast_3d`.
pub(super) fn atleast(q: Question, n: usize) -> Judgement {
    let x = q.receiver().reference();
    let shape = match (n, x.shape.as_slice()) {
        (1, []) => vec![1],
        (2, []) => vec![1, 1],
        (3, []) => vec![1, 1, 1],
        (2, [n]) => vec![1, *n],
        (3, [n]) => vec![1, *n, 1],
        (3, [m, n]) => vec![*m, *n, 1],
        (_, as_is) => as_is.to_vec(),
    };
    Ok(Answer::One(x.shaped(&shape)))
}

pub(super) fn atleast_nd(q: Question) -> Judgement {
    let mut faults = Faults::default();
    let n = faults.keep(int(q, "n", None));
    faults.unless(n.is_none_or(|n| n >= 0), Family::Argument);
    let place = faults.keep(word(q, "place", "numpy"));
    let known = place.is_none_or(|p| ["front", "back", "numpy"].contains(&p));
    faults.unless(known, Family::Argument);
    faults.end()?;
    let x = q.receiver().reference();
    let n = n.unwrap_or(0) as usize;
    let missing = vec![1; n.saturating_sub(x.shape.len())];
    let shape = match place {
        Some("front") => [missing, x.shape.clone()].concat(),
        Some("back") => [x.shape.clone(), missing].concat(),
        _ => numpy_places(&x.shape, n),
    };
    Ok(Answer::One(x.shaped(&shape)))
}

pub(super) fn squeeze(q: Question) -> Judgement {
    let x = q.receiver().reference();
    let mut faults = Faults::default();
    let dropped = match faults.keep(axes(q, "axis", true)) {
        Some(Some(given)) => {
            let named = faults
                .keep(distinct(&given, x.shape.len()))
                .unwrap_or_default();
            // An axis of another size is a fault of its own, whatever else is wrong.
            for &given in &given {
                if let Ok(axis) = axis(given, x.shape.len()) {
                    faults.unless(x.shape[axis] == 1, Family::Shape);
                }
            }
            named
        }
        _ => (0..x.shape.len())
            .filter(|&axis| x.shape[axis] == 1)
            .collect(),
    };
    faults.end()?;
    let kept = (0..x.shape.len()).filter(|axis| !dropped.contains(axis));
    let shape: Vec<usize> = kept.map(|axis| x.shape[axis]).collect();
    Ok(Answer::One(x.shaped(&shape)))
}

pub(super) fn unsqueeze(q: Question) -> Judgement {
    let x = q.receiver().reference();
    let mut faults = Faults::default();
    let given = faults.keep(axes(q, "axis", false));
    faults.unless(!matches!(given, Some(None)), Family::Argument);
    let given = given.flatten().unwrap_or_default();
    let total = x.shape.len() + given.len();
    let added = faults.keep(distinct(&given, total)).unwrap_or_default();
    faults.end()?;
    let mut old = x.shape.iter();
    let shape: Vec<usize> = (0..total)
        .map(|axis| match added.contains(&axis) {
            true => 1,
            false => *old.next().unwrap_or(&1),
        })
        .collect();
    Ok(Answer::One(x.shaped(&shape)))
}

/// Axis `out` of the result is axis `order[out]` of the input.
fn reordered(x: &Reference, order: &[usize]) -> Reference {
    let shape: Vec<usize> = order.iter().map(|&axis| x.shape[axis]).collect();
    Reference::build(x.dtype, &shape, |index| {
        let mut from = vec![0; index.len()];
        for (out, &axis) in order.iter().enumerate() {
            from[axis] = index[out];
        }
        x.at(&from)
    })
}

fn reorder(q: Question, given: &[i128]) -> Judgement {
    let x = q.receiver().reference();
    match distinct(given, x.shape.len()) {
        Ok(order) if order.len() == x.shape.len() => Ok(Answer::One(reordered(&x, &order))),
        _ => Err(vec![Family::Axis]),
    }
}

pub(super) fn permute(q: Question) -> Judgement {
    match axes(q, "axes", false) {
        Ok(Some(given)) => reorder(q, &given),
        Ok(None) => Err(vec![Family::Argument]),
        Err(family) => Err(vec![family]),
    }
}

pub(super) fn transpose(q: Question) -> Judgement {
    match axes(q, "axes", true) {
        Ok(Some(given)) => reorder(q, &given),
        Ok(None) => {
            let reversed: Vec<i128> = (0..q.receiver().shape.len() as i128).rev().collect();
            reorder(q, &reversed)
        }
        Err(family) => Err(vec![family]),
    }
}

pub(super) fn swapaxes(q: Question) -> Judgement {
    let x = q.receiver().reference();
    let mut faults = Faults::default();
    let mut one = |name| {
        let given = faults.keep(int(q, name, None))?;
        faults.keep(axis(given, x.shape.len()))
    };
    let (a, b) = (one("a"), one("b"));
    faults.end()?;
    let mut order: Vec<usize> = (0..x.shape.len()).collect();
    order.swap(a.unwrap_or(0), b.unwrap_or(0));
    Ok(Answer::One(reordered(&x, &order)))
}

pub(super) fn moveaxis(q: Question) -> Judgement {
    let x = q.receiver().reference();
    let rank = x.shape.len();
    let mut faults = Faults::default();
    let mut all = |name| {
        let given = faults.keep(axes(q, name, false))?;
        let given = given.unwrap_or_else(|| (0..rank as i128).collect());
        let resolved = faults.keep(distinct(&given, rank));
        Some((given.len(), resolved.unwrap_or_default()))
    };
    let (source, destination) = (all("source"), all("destination"));
    if let (Some(source), Some(destination)) = (&source, &destination) {
        faults.unless(source.0 == destination.0, Family::Axis);
    }
    faults.end()?;
    let (source, destination) = (
        source.unwrap_or_default().1,
        destination.unwrap_or_default().1,
    );
    // NumPy's own words: the axes that stay, with the others inserted in the order of their destinations.
    let mut order: Vec<usize> = (0..rank).filter(|axis| !source.contains(axis)).collect();
    let mut moves: Vec<(usize, usize)> = destination.into_iter().zip(source).collect();
    moves.sort_unstable();
    for (to, from) in moves {
        order.insert(to, from);
    }
    Ok(Answer::One(reordered(&x, &order)))
}

pub(super) fn flip(q: Question) -> Judgement {
    let x = q.receiver().reference();
    let mut faults = Faults::default();
    let flipped = match faults.keep(axes(q, "axis", true)) {
        Some(Some(given)) => faults
            .keep(distinct(&given, x.shape.len()))
            .unwrap_or_default(),
        _ => (0..x.shape.len()).collect(),
    };
    faults.end()?;
    let flipped = |axis: usize, i: usize| match flipped.contains(&axis) {
        true => x.shape[axis] - 1 - i,
        false => i,
    };
    Ok(Answer::One(Reference::build(x.dtype, &x.shape, |index| {
        let from: Vec<usize> = index
            .iter()
            .enumerate()
            .map(|(a, &i)| flipped(a, i))
            .collect();
        x.at(&from)
    })))
}

/// The indices that `start:stop:step` picks from `n`, by Python's definition.
fn picked(
    start: Option<isize>,
    stop: Option<isize>,
    step: Option<isize>,
    n: usize,
) -> Result<Vec<usize>, Family> {
    let (n, step) = (n as i128, step.unwrap_or(1) as i128);
    if step == 0 {
        return Err(Family::Argument);
    }
    let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let end = |given: Option<isize>, absent: i128| match given {
        None => absent,
        Some(i) if i < 0 => (i as i128 + n).max(low),
        Some(i) => (i as i128).min(high),
    };
    let (near, far) = if step > 0 { (low, high) } else { (high, low) };
    let (mut at, stop) = (end(start, near), end(stop, far));
    let mut picked = Vec::new();
    while (step > 0 && at < stop) || (step < 0 && at > stop) {
        picked.push(at as usize);
        at += step;
    }
    Ok(picked)
}

pub(super) fn slice(q: Question) -> Judgement {
    let x = q.receiver().reference();
    let rank = x.shape.len();
    let items: Vec<&Argument> = match q.call.get("items") {
        None => return Err(vec![Family::Type]),
        Some(Arg::List(items)) => items.iter().collect(),
        Some(one) => vec![one],
    };
    let mut faults = Faults::default();
    for item in &items {
        let legal = matches!(item, Arg::None | Arg::Rest | Arg::Range(..) | Arg::Int(_));
        faults.unless(legal, Family::Type);
    }
    let rests = items
        .iter()
        .filter(|item| matches!(item, Arg::Rest))
        .count();
    let indexed = items
        .iter()
        .filter(|i| matches!(i, Arg::Int(_) | Arg::Range(..)))
        .count();
    faults.unless(rests <= 1, Family::Argument);
    faults.unless(indexed <= rank, Family::Shape);
    if !faults.0.is_empty() {
        return Err(faults.0);
    }
    let whole = rank - indexed;
    // For each axis of the input the indices read, and for each axis of the result the one it comes from.
    let mut reads: Vec<Vec<usize>> = Vec::new();
    let mut origins: Vec<Option<usize>> = Vec::new();
    let rest = [&Arg::Rest];
    for item in items
        .iter()
        .copied()
        .chain(rest.into_iter().take(1 - rests))
    {
        let axis = reads.len();
        match item {
            Arg::None => origins.push(None),
            Arg::Rest => {
                for axis in axis..axis + whole {
                    reads.push((0..x.shape[axis]).collect());
                    origins.push(Some(axis));
                }
            }
            Arg::Range(start, stop, step) => {
                let read = faults.keep(picked(*start, *stop, *step, x.shape[axis]));
                reads.push(read.unwrap_or_default());
                origins.push(Some(axis));
            }
            Arg::Int(n) => {
                let size = x.shape[axis] as i128;
                let at = if *n < 0 { n + size } else { *n };
                let fault = match isize::try_from(*n) {
                    Ok(_) => Family::Index,
                    Err(_) => Family::Overflow,
                };
                faults.unless((0..size).contains(&at), fault);
                reads.push(vec![at.clamp(0, size.max(1) - 1) as usize]);
            }
            other => panic!("{other:?} was refused above"),
        }
    }
    faults.end()?;
    let shape: Vec<usize> = origins
        .iter()
        .map(|o| o.map_or(1, |axis| reads[axis].len()))
        .collect();
    Ok(Answer::One(Reference::build(x.dtype, &shape, |index| {
        let mut from: Vec<usize> = reads
            .iter()
            .map(|read| *read.first().unwrap_or(&0))
            .collect();
        for (out, origin) in origins.iter().enumerate() {
            if let Some(axis) = origin {
                from[*axis] = reads[*axis][index[out]];
            }
        }
        x.at(&from)
    })))
}

pub(super) fn unstack(q: Question) -> Judgement {
    let x = q.receiver().reference();
    let mut faults = Faults::default();
    let given = faults.keep(int(q, "axis", Some(0)));
    let axis = given.and_then(|given| faults.keep(axis(given, x.shape.len())));
    faults.end()?;
    let axis = axis.unwrap_or(0);
    let mut shape = x.shape.clone();
    let count = shape.remove(axis);
    let slice = |at: usize| {
        Reference::build(x.dtype, &shape, |index| {
            let mut from = index.to_vec();
            from.insert(axis, at);
            x.at(&from)
        })
    };
    Ok(Answer::Many((0..count).map(slice).collect()))
}
