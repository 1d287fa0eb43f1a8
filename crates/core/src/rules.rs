//! The shapes that primitives give and the errors they raise, shared by every engine.

use crate::dtype::DType;
use crate::engine::Along;
use crate::error::{Error, Result};
use crate::params::Mode;
use crate::size::{Shape, Size, Truth, tuple};

/// The shape of a gather; an error where source and index do not go together.
pub fn gather_shape<S: Size>(source: &[S], index: &[S], along: &Along) -> Result<Shape<S>> {
    let mut shape = Shape::new();
    write_gather_shape(&mut shape, source, index, along)?;
    Ok(shape)
}

/// The same, written where it stays: a shape is large, and every move of it costs as much as a small gather.
#[inline]
fn write_gather_shape<S: Size>(
    shape: &mut Shape<S>,
    source: &[S],
    index: &[S],
    along: &Along,
) -> Result<()> {
    let misfit = |what: &str| {
        Error::shape(format!("{what}, so the index cannot address the source"))
            .note("source shape", tuple(source))
            .note("index shape", tuple(index))
            .note("along", format!("{along:?}"))
    };
    match along {
        Along::Aligned(axis) => {
            if source.len() != index.len() || *axis >= source.len() {
                return Err(misfit("the ranks differ or the axis is not there"));
            }
            let differ = |at: &usize| at != axis && source[*at].same(&index[*at]) == Truth::No;
            match (0..source.len()).find(differ) {
                Some(at) => Err(misfit("the sizes off the axis differ").at_axis(at)),
                None => {
                    shape.extend(index.iter().cloned());
                    Ok(())
                }
            }
        }
        Along::Run(run) => {
            if run.start > run.end || run.end > source.len() {
                return Err(misfit("the run of axes is not there"));
            }
            // One by one: there are few, and `extend` counts on many.
            for part in [&source[..run.start], index, &source[run.end..]] {
                part.iter().for_each(|size| shape.push(size.clone()));
            }
            Ok(())
        }
    }
}

/// Writes the shape of a gather or scatter that can be run: the index is of integers and goes with the source, and there
/// is something to read.
#[inline]
pub fn addressed(
    shape: &mut Shape,
    source: &[usize],
    index: &[usize],
    index_dtype: DType,
    along: &Along,
    mode: Mode,
) -> Result<()> {
    write_gather_shape(shape, source, index, along)?;
    if !index_dtype.is_integer() {
        return Err(Error::dtype(format!(
            "an index of dtype {index_dtype} is not an integer"
        )));
    }
    let reads = !index.contains(&0) && !matches!(mode, Mode::Fill(_));
    match reads && along.cells(source) == 0 {
        true => Err(
            Error::index("the source is empty, so there is nothing to read")
                .note("source shape", tuple(source)),
        ),
        false => Ok(()),
    }
}

/// Requires that updates are what a scatter adds: of the base's dtype, and of the shape that a gather would have.
pub fn require_updates(updates: (DType, &[usize]), dtype: DType, dims: &[usize]) -> Result<()> {
    if updates == (dtype, dims) {
        return Ok(());
    }
    let described =
        |(dtype, shape): (DType, &[usize])| format!("{dtype} of shape {}", tuple(shape));
    Err(
        Error::shape("the updates do not fit the base and the index")
            .note("updates", described(updates))
            .note("needed", described((dtype, dims))),
    )
}

/// Requires that two operands can be added: that they have one dtype and one shape.
pub fn require_alike(a: (DType, &[usize]), b: (DType, &[usize])) -> Result<()> {
    if a == b {
        return Ok(());
    }
    let message = format!("{} of shape {} cannot be added to", a.0, tuple(a.1));
    Err(Error::shape(message).note("the other", format!("{} {}", b.0, tuple(b.1))))
}

/// The shape of a sum over `axes`.
pub fn sum_shape<S: Clone>(shape: &[S], axes: &[usize]) -> Shape<S> {
    (0..shape.len())
        .filter(|axis| !axes.contains(axis))
        .map(|axis| shape[axis].clone())
        .collect()
}

/// The shape of tensors one after another along `axis`; an error where they do not go together.
pub fn concat_shape<'a, S: Size>(
    shapes: impl IntoIterator<Item = &'a [S]>,
    axis: usize,
) -> Result<Shape<S>> {
    let mut shapes = shapes.into_iter();
    let first = shapes
        .next()
        .ok_or_else(|| Error::argument("there are no tensors"))?;
    if axis >= first.len() {
        return Err(Error::axis(format!("there is no axis {axis}")).note("shape", tuple(first)));
    }
    let mut total: Shape<S> = Shape::new();
    first.iter().for_each(|size| total.push(size.clone()));
    for shape in shapes {
        let differ = |at: usize| at != axis && first[at].same(&shape[at]) == Truth::No;
        if shape.len() != first.len() || (0..shape.len()).any(differ) {
            return Err(Error::shape("the shapes differ off the axis")
                .at_axis(axis)
                .note("first shape", tuple(first))
                .note("other shape", tuple(shape)));
        }
        total[axis] = total[axis].plus(&shape[axis]).ok_or_else(|| {
            let what = format!("the sizes of axis {axis}");
            no_sum(&what, &[total[axis].clone(), shape[axis].clone()]).at_axis(axis)
        })?;
    }
    Ok(total)
}

/// The shape of tensors side by side along a new axis; an error where they do not go together.
pub fn stack_shape<'a>(
    shapes: impl ExactSizeIterator<Item = &'a [usize]>,
    axis: usize,
) -> Result<Shape> {
    let (count, mut shapes) = (shapes.len(), shapes);
    let first = shapes
        .next()
        .ok_or_else(|| Error::argument("there are no tensors"))?;
    if axis > first.len() {
        return Err(Error::axis(format!("there is no axis {axis}")).note("shape", tuple(first)));
    }
    if let Some(other) = shapes.find(|shape| *shape != first) {
        return Err(Error::shape("the shapes differ")
            .note("first shape", tuple(first))
            .note("other shape", tuple(other)));
    }
    let mut shape = Shape::new();
    first[..axis].iter().for_each(|&size| shape.push(size));
    shape.push(count);
    first[axis..].iter().for_each(|&size| shape.push(size));
    Ok(shape)
}

/// The one dtype of tensors that stand one after another.
pub fn concat_dtype(dtypes: impl IntoIterator<Item = DType>) -> Result<DType> {
    let mut dtypes = dtypes.into_iter();
    let first = dtypes
        .next()
        .ok_or_else(|| Error::argument("there are no tensors"))?;
    match dtypes.find(|dtype| *dtype != first) {
        None => Ok(first),
        Some(other) => {
            Err(Error::dtype(format!("{other} cannot stand behind {first}")).sizes(first, other))
        }
    }
}

/// The length of the index that reads slice `i` `counts[i]` times.
pub fn runs_len<S: Size>(counts: &[S]) -> Result<S> {
    let total = counts
        .iter()
        .try_fold(S::from(0), |sum, count| sum.plus(count));
    total.ok_or_else(|| no_sum("the counts", counts).note("counts", tuple(counts)))
}

/// Sizes that have no sum: numbers that are too large, or symbols of which a run must tell more first.
#[cold]
fn no_sum<S: Size>(what: &str, sizes: &[S]) -> Error {
    match sizes.iter().all(|size| size.known().is_some()) {
        true => Error::overflow(format!(
            "{what} add up to more than any machine can address"
        )),
        false => Error::too_early(format!(
            "what {what} add up to is only known when the graph runs"
        )),
    }
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
        .note("index shape", tuple(index))
        .help(match bound {
            0 => "an empty axis has no indices".to_string(),
            _ => format!("indices run from -{bound} to {}", bound - 1),
        });
    axis.map_or(error.clone(), |axis| error.at_axis(axis))
}

/// The indices that an axis takes, in words.
pub(crate) fn index_range(size: usize) -> String {
    match size {
        0 => "no index".to_string(),
        _ => format!("-{size} <= index < {size}"),
    }
}
