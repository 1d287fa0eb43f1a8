//! Tensors compared: elementwise, or as a whole, with NumPy's broadcasting and promotion. Comparing is no
//! primitive, since no operator is made of it; it is here for the front doors.

use stridewise_core::size::{Shape, tuple};
use stridewise_core::{Axis, DType, Error, Layout, Result};

use crate::kernels::compare;
pub use crate::kernels::compare::close::Tolerance;
use crate::tensor::{Tensor, allocate};

/// Whether each pair of elements is equal, as a bool tensor of the shape both broadcast to.
///
/// Values are compared as NumPy compares them: in the dtype both promote to, and exactly between `uint64`
/// and signed integers.
///
/// ```
/// use stridewise_cpu::{Tensor, compare::equal};
/// let x = Tensor::from_vec(vec![1, 2, 3], &[3])?;
/// let seen = equal(&x, &Tensor::scalar(2.0)?)?;
/// assert_eq!(seen.to_vec::<bool>()?, [false, true, false]);
/// # Ok::<(), stridewise_core::Error>(())
/// ```
pub fn equal(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    each(a, b, false).map_err(|error| error.within("equal"))
}

/// Whether each pair of elements differs, as a bool tensor of the shape both broadcast to.
pub fn not_equal(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    each(a, b, true).map_err(|error| error.within("not_equal"))
}

fn each(a: &Tensor, b: &Tensor, not: bool) -> Result<Tensor> {
    let (a, b) = broadcast(a, b)?;
    let layout = Layout::packed(1, a.shape())?;
    let buffer = allocate(layout.count())?;
    let (from, with, to) = (a.block(), b.block(), buffer.as_ptr());
    // SAFETY: K1, K2, K4 hold for tensors of one shape; K3: the result is new and has a byte for each element.
    unsafe { compare::equal(from, a.dtype(), with, b.dtype(), to, not) };
    Tensor::filled(buffer, DType::Bool, layout)
}

/// Whether two tensors have one shape and equal elements; with `equal_nan`, NaN is equal to NaN.
pub fn array_equal(a: &Tensor, b: &Tensor, equal_nan: bool) -> bool {
    // SAFETY: K1, K2 and K4 hold for tensors, which have the same sizes.
    a.shape() == b.shape()
        && unsafe { compare::all_equal(a.block(), a.dtype(), b.block(), b.dtype(), equal_nan) }
}

/// Whether all elements, broadcast, are equal up to a tolerance: `|a - b| <= absolute + relative · |b|`.
///
/// ```
/// use stridewise_cpu::{Tensor, compare::{Tolerance, allclose}};
/// let (x, y) = (Tensor::scalar(1.0)?, Tensor::scalar(1.001)?);
/// let within = |relative| Tolerance { relative, absolute: 0.0, equal_nan: false };
/// assert!(allclose(&x, &y, within(1e-2))? && !allclose(&x, &y, within(1e-5))?);
/// # Ok::<(), stridewise_core::Error>(())
/// ```
pub fn allclose(a: &Tensor, b: &Tensor, tolerance: Tolerance) -> Result<bool> {
    let (a, b) = broadcast(a, b).map_err(|error| error.within("allclose"))?;
    let (from, with) = (a.block(), b.block());
    // SAFETY: K1, K2 and K4 hold for tensors, which have the same sizes.
    Ok(unsafe { compare::close::all_close(from, a.dtype(), with, b.dtype(), tolerance) })
}

/// Views of both with the shape they broadcast to, by NumPy's rule.
fn broadcast(a: &Tensor, b: &Tensor) -> Result<(Tensor, Tensor)> {
    let rank = a.rank().max(b.rank());
    let size = |x: &Tensor, axis: usize| {
        let of = (axis + x.rank()).checked_sub(rank);
        of.map_or(1, |axis| x.shape()[axis])
    };
    let mut shape: Shape = Shape::new();
    for axis in 0..rank {
        let (m, n) = (size(a, axis), size(b, axis));
        shape.push(match (m, n) {
            _ if m == n => m,
            (1, _) => n,
            (_, 1) => m,
            _ => {
                let message =
                    format!("axis {axis} has size {m} in the first tensor and {n} in the second");
                return Err(Error::shape(message)
                    .at_axis(axis)
                    .sizes(m, n)
                    .note("first shape", tuple(a.shape()))
                    .note("second shape", tuple(b.shape()))
                    .help("shapes broadcast where sizes are equal or one of them is 1; `array_equal` compares any two"));
            }
        });
    }
    let stretch = |x: &Tensor| {
        x.view(&[], rank, |out| {
            Ok(match (out + x.rank()).checked_sub(rank) {
                Some(axis) if x.shape()[axis] == shape[out] => Axis::Of(axis),
                _ => Axis::Fresh(shape[out]),
            })
        })
    };
    Ok((stretch(a)?, stretch(b)?))
}
