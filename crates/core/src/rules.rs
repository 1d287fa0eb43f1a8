//! The shapes that primitives give and the errors they raise, shared by every engine.

use crate::engine::Along;
use crate::error::{Error, Result};
use crate::size::{Shape, Size, tuple};

/// The shape of a gather.
pub fn gather_shape<S: Clone>(source: &[S], index: &[S], along: &Along) -> Shape<S> {
    match along {
        Along::Aligned(_) => index.iter().cloned().collect(),
        Along::Run(run) => {
            let behind = &source[run.end..];
            source[..run.start]
                .iter()
                .chain(index)
                .chain(behind)
                .cloned()
                .collect()
        }
    }
}

/// The shape of a sum over `axes`.
pub fn sum_shape<S: Clone>(shape: &[S], axes: &[usize]) -> Shape<S> {
    (0..shape.len())
        .filter(|axis| !axes.contains(axis))
        .map(|axis| shape[axis].clone())
        .collect()
}

/// The shape of tensors one after another along `axis`.
pub fn concat_shape<'a, S: Size>(
    shapes: impl IntoIterator<Item = &'a [S]>,
    axis: usize,
) -> Result<Shape<S>> {
    let mut total: Option<Shape<S>> = None;
    for shape in shapes {
        match &mut total {
            None => total = Some(shape.iter().cloned().collect()),
            Some(total) => {
                total[axis] = total[axis].plus(&shape[axis]).ok_or_else(|| {
                    Error::overflow(format!(
                        "the sizes of axis {axis} add up to more than any machine can address"
                    ))
                    .at_axis(axis)
                })?;
            }
        }
    }
    Ok(total.unwrap_or_default())
}

/// The length of the index that reads slice `i` `counts[i]` times.
pub fn runs_len<S: Size>(counts: &[S]) -> Result<S> {
    let total = counts
        .iter()
        .try_fold(S::from(0), |sum, count| sum.plus(count));
    total.ok_or_else(|| {
        Error::overflow("the counts add up to more than any machine can address")
            .note("counts", tuple(counts))
    })
}

/// An index of a gather or scatter that points outside: `value`, found at the flat `position` of the index.
#[cold]
pub fn bad_index(
    value: i128,
    position: usize,
    source: &[usize],
    index: &[usize],
    along: &Along,
) -> Error {
    let mut rest = position;
    let mut at: Shape = index.into();
    for (place, size) in at.iter_mut().zip(index).rev() {
        *place = rest % (*size).max(1);
        rest /= (*size).max(1);
    }
    let bound = along.cells(source);
    let axis = match along {
        Along::Aligned(axis) => Some(*axis),
        Along::Run(run) => (run.len() == 1).then_some(run.start),
    };
    let place = if index.is_empty() {
        String::new()
    } else {
        format!(" at position {}", tuple(&at))
    };
    let of = match axis {
        Some(axis) => format!("axis {axis}, which has size {bound}"),
        None => format!("the input's {bound} elements"),
    };
    let error = Error::index(format!("index {value}{place} is out of range for {of}"))
        .at_argument("index")
        .sizes(index_range(bound), value)
        .note("input shape", tuple(source))
        .note("index shape", tuple(index));
    axis.map_or(error.clone(), |axis| error.at_axis(axis))
}

/// The indices that an axis takes, in words.
pub(crate) fn index_range(size: usize) -> String {
    match size {
        0 => "no index".to_string(),
        _ => format!("-{size} <= index < {size}"),
    }
}
