//! The oracle's rules for operators that are given the sizes of their result.

use super::arguments::{axis, int, sizes, tensor};
use super::{Answer, Faults, Judgement, Question, addressable};
use crate::input::Input;
use crate::reference::{Reference, indices};
use crate::runner::Family;

pub(super) fn expand(q: Question) -> Judgement {
    let given = sizes(q, "sizes").map_err(|family| vec![family])?;
    stretch(q.receiver(), &given)
}

pub(super) fn expand_as(q: Question) -> Judgement {
    let other = tensor(q, "other").map_err(|family| vec![family])?;
    let given: Vec<i128> = other.shape.iter().map(|&n| n as i128).collect();
    stretch(q.receiver(), &given)
}

pub(super) fn broadcast_to(q: Question) -> Judgement {
    let given = sizes(q, "shape").map_err(|family| vec![family])?;
    match given.iter().any(|&n| n < 0) {
        true => Err(vec![Family::Shape]),
        false => stretch(q.receiver(), &given),
    }
}

fn stretch(input: &Input, given: &[i128]) -> Judgement {
    let x = input.reference();
    let Some(new) = given.len().checked_sub(x.shape.len()) else {
        return Err(vec![Family::Shape]);
    };
    let mut shape = Vec::new();
    for (at, &size) in given.iter().enumerate() {
        let old = at.checked_sub(new).map(|axis| x.shape[axis]);
        match (old, size) {
            (Some(old), -1) => shape.push(old),
            (_, ..=-1) => return Err(vec![Family::Shape]),
            (Some(old), size) if old != 1 && old as i128 != size => {
                return Err(vec![Family::Shape]);
            }
            (_, size) => shape.push(size as usize),
        }
    }
    if !addressable(&shape, x.dtype.width()) {
        return Err(vec![Family::Overflow]);
    }
    Ok(Answer::One(Reference::build(x.dtype, &shape, |index| {
        let old = index[new..].iter().zip(&x.shape);
        let from: Vec<usize> = old
            .map(|(&i, &size)| if size == 1 { 0 } else { i })
            .collect();
        x.at(&from)
    })))
}

/// Sizes with at most one `-1`, whose product must be `total`.
fn filled(given: &[i128], total: usize) -> Result<Vec<usize>, Vec<Family>> {
    let holes = given.iter().filter(|&&n| n == -1).count();
    if given.iter().any(|&n| n < -1) || holes > 1 {
        return Err(vec![Family::Shape]);
    }
    let mut others = 1u128;
    for &n in given.iter().filter(|&&n| n > 0) {
        others = others.saturating_mul(n as u128);
    }
    if others > isize::MAX as u128 {
        return Err(vec![Family::Overflow]);
    }
    if given.contains(&0) {
        others = 0;
    }
    let total = total as u128;
    let fill = match (holes, others) {
        (0, others) if others == total => 0,
        // Anything times 0 is 0, so a -1 beside a 0 could be any size.
        (1, 1..) if total.is_multiple_of(others) => total / others,
        _ => return Err(vec![Family::Shape]),
    };
    Ok(given
        .iter()
        .map(|&n| if n == -1 { fill as usize } else { n as usize })
        .collect())
}

pub(super) fn unflatten(q: Question) -> Judgement {
    let x = q.receiver().reference();
    let mut faults = Faults::default();
    let given_axis = faults.keep(int(q, "axis", None));
    let at = given_axis.and_then(|given| faults.keep(axis(given, x.shape.len())));
    let given = faults.keep(sizes(q, "shape"));
    let (Some(at), Some(given)) = (at, given) else {
        return Err(faults.0);
    };
    if given.is_empty() {
        return Err(vec![Family::Shape]);
    }
    let parts = filled(&given, x.shape[at])?;
    let shape = [&x.shape[..at], &parts, &x.shape[at + 1..]].concat();
    if !addressable(&shape, x.dtype.width()) {
        return Err(vec![Family::Overflow]);
    }
    Ok(Answer::One(x.shaped(&shape)))
}

pub(super) fn flatten(q: Question) -> Judgement {
    let x = q.receiver().reference();
    let rank = x.shape.len();
    let mut faults = Faults::default();
    // A tensor of rank 0 is read as if it had one axis.
    let mut one = |name, default| {
        let given = faults.keep(int(q, name, Some(default)))?;
        faults.keep(axis(given, rank.max(1)))
    };
    let (start, stop) = (one("start", 0), one("stop", -1));
    let (Some(start), Some(stop)) = (start, stop) else {
        return Err(faults.0);
    };
    if rank == 0 {
        return Ok(Answer::One(x.shaped(&[1])));
    }
    if start > stop {
        return Err(vec![Family::Axis]);
    }
    let merged = x.shape[start..=stop].iter().product();
    let shape = [&x.shape[..start], &[merged], &x.shape[stop + 1..]].concat();
    Ok(Answer::One(x.shaped(&shape)))
}

pub(super) fn reshape(q: Question) -> Judgement {
    let x = q.receiver().reference();
    let given = sizes(q, "shape").map_err(|family| vec![family])?;
    let shape = filled(&given, x.elements.len())?;
    if !addressable(&shape, x.dtype.width()) {
        return Err(vec![Family::Overflow]);
    }
    Ok(Answer::One(x.shaped(&shape)))
}

pub(super) fn view(q: Question) -> Judgement {
    let Answer::One(seen) = reshape(q)? else {
        return Err(vec![Family::Shape]);
    };
    match is_affine(&q.receiver().addresses(), &seen.shape) {
        true => Ok(Answer::One(seen)),
        false => Err(vec![Family::Shape]),
    }
}

/// Whether some strides put the elements of a shape at these addresses: the definition of what a view can be.
pub fn is_affine(addresses: &[isize], shape: &[usize]) -> bool {
    let at = |index: &[usize]| {
        let flat = index
            .iter()
            .zip(shape)
            .fold(0, |flat, (&i, &size)| flat * size + i);
        addresses[flat]
    };
    if addresses.is_empty() {
        return true;
    }
    let first = addresses[0];
    let stride = |axis: usize| {
        let mut index = vec![0; shape.len()];
        index[axis] = usize::from(shape[axis] > 1);
        at(&index) - first
    };
    let strides: Vec<isize> = (0..shape.len()).map(stride).collect();
    indices(shape).all(|index| {
        let steps = index
            .iter()
            .zip(&strides)
            .map(|(&i, &stride)| i as isize * stride);
        at(&index) == first + steps.sum::<isize>()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transposed_matrix_is_no_view_of_one_axis_but_a_gapped_one_splits() {
        assert!(!is_affine(&[0, 3, 1, 4, 2, 5], &[6]));
        assert!(is_affine(&[0, 3, 1, 4, 2, 5], &[3, 2]));
        assert!(is_affine(&[0, 2, 4, 6], &[2, 2]));
        assert!(is_affine(&[7, 7, 7, 7], &[4]));
    }
}
