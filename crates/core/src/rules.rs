//! The shapes that primitives give, shared by every engine.

use crate::engine::Along;
use crate::error::{Error, Result};
use crate::size::{Shape, Size};

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
