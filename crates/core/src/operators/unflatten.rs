//! `unflatten`: one axis split into several. Always a view, whatever the stride.

use crate::axis::Axis;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::operator::Operator;
use crate::operators::reshape::fit;
use crate::params::{Sizes, resolve_axis};

/// Splits `axis` into `shape`; one size may be `-1`.
#[derive(Clone, Debug)]
pub struct Unflatten<S> {
    /// The axis to split.
    pub axis: isize,
    /// The sizes it is split into.
    pub shape: Sizes<S>,
}

impl<E: Engine> Operator<E> for Unflatten<E::Size> {
    type Output = E::Value;

    #[inline(never)]
    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<E::Value> {
        let x = inputs[0];
        let rank = engine.rank(x)?;
        let axis = resolve_axis(self.axis, rank, "axis", || engine.shape_text(x))?;
        if self.shape.is_empty() {
            return Err(
                Error::shape("shape is empty, but an axis splits into at least one")
                    .at_argument("shape")
                    .at_axis(axis)
                    .note("input shape", engine.shape_text(x))
                    .help("squeeze drops an axis of size 1"),
            );
        }
        let whole = engine.size(x, axis);
        let parts = fit(engine, &self.shape, &whole, || {
            format!("axis {axis} of the input has size {whole}")
        })
        .map_err(|error| {
            error
                .at_axis(axis)
                .note("input shape", engine.shape_text(x))
        })?;
        let split = axis..axis + self.shape.len();
        engine.view(x, rank - 1 + split.len(), |out| match out {
            _ if out < split.start => Axis::Of(out),
            _ if out >= split.end => Axis::Of(out + 1 - split.len()),
            _ => {
                let part = out - axis;
                Axis::Split {
                    of: axis,
                    len: parts.size(part),
                    inner: parts.inner(part),
                }
            }
        })
    }
}
