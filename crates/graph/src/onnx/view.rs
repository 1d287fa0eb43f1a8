//! A view in a model: cut, then put under the sizes of its parts, then in another order, then repeated. What is not
//! needed is left out.

use stridewise_core::axis::Axis;
use stridewise_core::dim::Dim;
use stridewise_core::error::{Error, Result};
use stridewise_core::size::{Shape, Size, Truth};
use stridewise_onnx::Var;

use super::Export;
use crate::node::Id;

/// The input axis that an output axis comes from, where it is one.
fn origin(axis: &Axis<Dim>) -> Option<usize> {
    match axis {
        Axis::Of(of)
        | Axis::Slice { of, .. }
        | Axis::Split { of, .. }
        | Axis::Stretch { of, .. }
        | Axis::Range { of, .. } => Some(*of),
        Axis::Merge(run) => Some(run.start),
        Axis::Fresh(_) => None,
    }
}

impl Export<'_> {
    /// A view of a value whose shape is known, which has the sizes `seen`.
    pub(super) fn view(&mut self, x: Id, axes: &[Axis<Dim>], seen: &[Dim]) -> Result<Var> {
        let shape: Shape<Dim> = match self.program.values[x].shape.shape() {
            Some(shape) => shape.into(),
            None => return Err(Error::too_early("the rank is not known")),
        };
        let var = self.var(x)?;
        let var = self.cut(var, axes)?;
        // The output axes that have elements of their own, in the input's order.
        let mut order: Vec<usize> = (0..axes.len())
            .filter(|at| origin(&axes[*at]).is_some())
            .collect();
        order.sort_by_key(|at| origin(&axes[*at]));
        let size = |at: &usize| match &axes[*at] {
            Axis::Stretch { of, .. } => shape[*of].clone(),
            _ => seen[*at].clone(),
        };
        let parts: Vec<Dim> = order.iter().map(size).collect();
        // Each input axis as it is, one for one: nothing to put under other sizes.
        let whole = order.len() == shape.len()
            && order.iter().enumerate().all(|(at, out)| {
                origin(&axes[*out]) == Some(at)
                    && !matches!(&axes[*out], Axis::Merge(run) if run.len() != 1)
                    && !matches!(&axes[*out], Axis::Split { len, .. } if len.same(&shape[at]) != Truth::Yes)
            });
        let mut var = match whole {
            true => var,
            false => {
                let parts = self.shape(&parts)?;
                self.writer.reshape(&var, &parts)
            }
        };
        // From the input's order to the output's.
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if sorted != order {
            let place = |out: &usize| order.iter().position(|at| at == out).unwrap_or(0) as i64;
            let places: Vec<i64> = sorted.iter().map(place).collect();
            var = self.writer.transpose(&var, &places);
        }
        let fresh: Vec<i64> = (0..axes.len())
            .filter(|at| matches!(axes[*at], Axis::Fresh(_)))
            .map(|at| at as i64)
            .collect();
        if !fresh.is_empty() {
            let fresh = self.writer.integers(&fresh);
            var = self.writer.unsqueeze(&var, &fresh);
        }
        let repeated = axes.iter().any(|axis| match axis {
            Axis::Fresh(len) => len.is(1) != Truth::Yes,
            Axis::Stretch { .. } => true,
            _ => false,
        });
        if repeated {
            let shape = self.shape(seen)?;
            var = self.writer.expand(&var, &shape);
        }
        Ok(var)
    }

    /// What slices leave of a tensor.
    fn cut(&mut self, x: Var, axes: &[Axis<Dim>]) -> Result<Var> {
        let (mut at, mut starts, mut stops, mut steps) = (vec![], vec![], vec![], vec![]);
        for axis in axes {
            let (of, start, stop, step) = match axis {
                Axis::Slice {
                    of,
                    start,
                    len,
                    step,
                } => {
                    let (Some(start), Some(len)) = (start.known(), len.known()) else {
                        return Err(Error::too_early("where a slice begins is not known"));
                    };
                    let stop = start as i64 + len as i64 * *step as i64;
                    // Before the first element there is nothing that counts from the front.
                    (
                        *of,
                        start as i64,
                        if stop < 0 { i64::MIN } else { stop },
                        *step,
                    )
                }
                Axis::Range {
                    of,
                    start,
                    stop,
                    step,
                } => {
                    let (near, far) = match *step > 0 {
                        true => (0, i64::MAX),
                        false => (i64::MAX, i64::MIN),
                    };
                    let start = start.map_or(near, |start| start as i64);
                    (*of, start, stop.map_or(far, |stop| stop as i64), *step)
                }
                _ => continue,
            };
            at.push(of as i64);
            starts.push(start);
            stops.push(stop);
            steps.push(step as i64);
        }
        if at.is_empty() {
            return Ok(x);
        }
        let [at, starts, stops, steps] =
            [at, starts, stops, steps].map(|all| self.writer.integers(&all));
        Ok(self
            .writer
            .slice(&x, &starts, &stops, Some(&at), Some(&steps)))
    }
}
