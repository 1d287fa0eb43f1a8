//! The oracle's rules for operators whose result holds copies of their inputs, whole or in slices.

use super::arguments::{axis, int, optional_int, sizes};
use super::{Answer, Faults, Judgement, Question, addressable};
use crate::reference::Reference;
use crate::runner::Family;

/// Counts for every axis; those in front are axes of their own.
fn tiled(x: &Reference, counts: &[i128]) -> Judgement {
    let new = counts.len() - x.shape.len();
    let mut shape = Vec::new();
    for (at, &count) in counts.iter().enumerate() {
        let old = at.checked_sub(new).map_or(1, |axis| x.shape[axis]) as u128;
        let size = old * count as u128;
        if size > isize::MAX as u128 {
            return Err(vec![Family::Overflow]);
        }
        shape.push(size as usize);
    }
    if !addressable(&shape, x.dtype.width()) {
        return Err(vec![Family::Overflow]);
    }
    Ok(Answer::One(Reference::build(x.dtype, &shape, |index| {
        let from: Vec<usize> = index[new..]
            .iter()
            .zip(&x.shape)
            .map(|(&i, &size)| i % size)
            .collect();
        x.at(&from)
    })))
}

pub(super) fn repeat(q: Question) -> Judgement {
    let x = q.receiver().reference();
    let counts = sizes(q, "sizes").map_err(|family| vec![family])?;
    if counts.len() < x.shape.len() || counts.iter().any(|&n| n < 0) {
        return Err(vec![Family::Shape]);
    }
    tiled(&x, &counts)
}

pub(super) fn tile(q: Question) -> Judgement {
    let x = q.receiver().reference();
    let mut counts = sizes(q, "reps").map_err(|family| vec![family])?;
    if counts.iter().any(|&n| n < 0) {
        return Err(vec![Family::Shape]);
    }
    while counts.len() < x.shape.len() {
        counts.insert(0, 1);
    }
    tiled(&x, &counts)
}

pub(super) fn repeat_interleave(q: Question) -> Judgement {
    let mut x = q.receiver().reference();
    let mut faults = Faults::default();
    let counts = faults.keep(sizes(q, "repeats"));
    let given = faults.keep(optional_int(q, "axis", None));
    let negative = counts
        .as_ref()
        .is_some_and(|counts| counts.iter().any(|&n| n < 0));
    faults.unless(!negative, Family::Shape);
    let along = match given {
        Some(Some(given)) => faults.keep(axis(given, x.shape.len())),
        _ => {
            let count = x.elements.len();
            x = x.shaped(&[count]);
            Some(0)
        }
    };
    let (Some(counts), Some(along)) = (counts, along) else {
        return Err(faults.0);
    };
    faults.unless(
        counts.len() == 1 || counts.len() == x.shape[along],
        Family::Shape,
    );
    faults.end()?;
    // The slice that each slice of the result is a copy of.
    let mut from = Vec::new();
    for slice in 0..x.shape[along] {
        let count = counts[if counts.len() == 1 { 0 } else { slice }];
        from.extend(std::iter::repeat_n(slice, count as usize));
    }
    let mut shape = x.shape.clone();
    shape[along] = from.len();
    Ok(Answer::One(Reference::build(x.dtype, &shape, |index| {
        let mut index = index.to_vec();
        index[along] = from[index[along]];
        x.at(&index)
    })))
}

/// What several tensors must have in common: dtype, rank, and sizes but for one axis.
fn alike(xs: &[Reference], except: Option<usize>, faults: &mut Faults) {
    for x in &xs[1..] {
        faults.unless(x.dtype == xs[0].dtype, Family::DType);
        faults.unless(x.shape.len() == xs[0].shape.len(), Family::Shape);
        for (axis, (a, b)) in xs[0].shape.iter().zip(&x.shape).enumerate() {
            faults.unless(a == b || Some(axis) == except, Family::Shape);
        }
    }
}

/// The tensors and the axis they are joined along; a new axis counts in the result.
fn joined(q: Question, new: bool) -> Result<(Vec<Reference>, usize), Vec<Family>> {
    let xs: Vec<Reference> = q.receivers().into_iter().map(|x| x.reference()).collect();
    let mut faults = Faults::default();
    let given = faults.keep(int(q, "axis", Some(0)));
    if xs.is_empty() {
        faults.unless(false, Family::Argument);
        return Err(faults.0);
    }
    let rank = xs[0].shape.len() + usize::from(new);
    let along = given.and_then(|given| faults.keep(axis(given, rank)));
    alike(&xs, along.filter(|_| !new), &mut faults);
    faults.end()?;
    Ok((xs, along.unwrap_or(0)))
}

pub(super) fn concat(q: Question) -> Judgement {
    let (xs, along) = joined(q, false)?;
    let mut shape = xs[0].shape.clone();
    shape[along] = xs.iter().map(|x| x.shape[along]).sum();
    Ok(Answer::One(Reference::build(
        xs[0].dtype,
        &shape,
        |index| {
            let mut index = index.to_vec();
            for x in &xs {
                if index[along] < x.shape[along] {
                    return x.at(&index);
                }
                index[along] -= x.shape[along];
            }
            panic!("an index beyond all parts")
        },
    )))
}

pub(super) fn stack(q: Question) -> Judgement {
    let (xs, along) = joined(q, true)?;
    let mut shape = xs[0].shape.clone();
    shape.insert(along, xs.len());
    Ok(Answer::One(Reference::build(
        xs[0].dtype,
        &shape,
        |index| {
            let mut index = index.to_vec();
            let which = index.remove(along);
            xs[which].at(&index)
        },
    )))
}
