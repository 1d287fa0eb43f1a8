//! Carrying out changes of layout, and noting them.

use std::fmt;

use stridewise_core::axis::Axis;
use stridewise_core::dtype::{DType, Family};
use stridewise_core::engine::Engine;
use stridewise_core::error::{Error, Result};
use stridewise_core::params::Scalar;
use stridewise_core::size::{Shape, tuple};

use crate::engine::Spread;
use crate::global::Global;
use crate::local::{Link, Local, Ranks};
use crate::mesh::{part, parts};
use crate::path::{Change, local_shape};
use crate::sbp::Sbp;
use crate::signature::Shift;

/// A change of layout that was made, and what this rank received for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The operator or method that needed it.
    pub operator: &'static str,
    /// What it was.
    pub what: What,
    /// The logical shape of the tensor.
    pub shape: Shape,
    /// Its element type.
    pub dtype: DType,
    /// The mesh axis.
    pub mesh_axis: usize,
    /// Bytes that this rank received from others.
    pub bytes: u64,
}

/// What kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// From one way to be held to another.
    Change(Sbp, Sbp),
    /// Rows of a split axis went to other ranks, since the cut points differ.
    Rows(usize),
}

impl What {
    /// The collective.
    pub fn name(self) -> &'static str {
        match self {
            What::Rows(_) => "all_to_all",
            What::Change(Sbp::Split(_), Sbp::Split(_)) => "all_to_all",
            What::Change(Sbp::Split(_), _) => "all_gather",
            What::Change(Sbp::Partial(_), Sbp::Split(_)) => "reduce_scatter",
            What::Change(Sbp::Partial(_), _) => "all_reduce",
            What::Change(_, Sbp::Partial(_)) => "keep on one",
            What::Change(..) => "slice",
        }
    }
}

/// `take: (6, 4) float32, mesh axis 0, S(0) -> B, all_gather, 48 bytes`.
impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, dtype, axis) = (tuple(&self.shape), self.dtype, self.mesh_axis);
        write!(f, "{}: {shape} {dtype}, mesh axis {axis}, ", self.operator)?;
        match self.what {
            What::Change(from, to) => write!(f, "{from} -> {to}")?,
            What::Rows(axis) => write!(f, "rows of S({axis})")?,
        }
        write!(f, ", {}, {} bytes", self.what.name(), self.bytes)
    }
}

/// What added to any number gives that number, bit for bit: minus zero for floats.
pub(crate) fn nothing(dtype: DType) -> Scalar {
    match dtype.family() {
        Family::Bool | Family::Unsigned | Family::Signed => Scalar::Int(0),
        Family::Float => Scalar::Float(-0.0),
        Family::Complex => Scalar::Complex(-0.0, -0.0),
    }
}

impl<E: Local> Global<E> {
    /// The tensor after some changes.
    pub(crate) fn changed(&self, changes: &[Change], operator: &'static str) -> Result<Global<E>> {
        let mut x = self.clone();
        for change in changes {
            let stepped = x.stepped(*change, operator);
            x.local = stepped.map_err(|error| self.spread.short_of_memory(error))?;
            x.sbp[change.mesh_axis] = change.to;
        }
        Ok(x)
    }

    /// This rank's part after one change.
    fn stepped(&self, change: Change, operator: &'static str) -> Result<E::Value> {
        let (spread, x) = (&self.spread, &self.local);
        let (inner, mesh_axis) = (spread.inner(), change.mesh_axis);
        let (count, at) = (
            spread.mesh().sizes()[mesh_axis],
            spread.coordinate()[mesh_axis],
        );
        if count == 1 {
            return Ok(x.clone());
        }
        // What the line has as a whole.
        let mut held = self.sbp.clone();
        held[mesh_axis] = Sbp::Broadcast;
        let whole = local_shape(&self.shape, spread.mesh(), &held, spread.coordinate());
        let link = spread.link(mesh_axis, operator);
        let before = spread.world().received();
        let sizes = |axis: usize| parts(whole[axis], count);
        let stepped = match (change.from, change.to) {
            (Sbp::Broadcast, Sbp::Split(axis)) => {
                let rows = part(whole[axis], count, at);
                cut(inner, x, axis, rows.start, rows.len(), 1)
            }
            (Sbp::Broadcast, _) if at == 0 => Ok(x.clone()),
            (Sbp::Broadcast, _) => {
                let dtype = inner.dtype(x);
                uniform(inner, dtype, nothing(dtype), &inner.shape(x)?)
            }
            (Sbp::Split(from), Sbp::Split(to)) => {
                inner.all_to_all(&link, x, (to, &sizes(to)), (from, &sizes(from)))
            }
            (Sbp::Split(axis), _) => inner.all_gather(&link, x, axis, &sizes(axis)),
            (Sbp::Partial(by), Sbp::Split(axis)) => {
                inner.reduce_scatter(&link, x, axis, &sizes(axis), by)
            }
            (Sbp::Partial(by), _) => inner.all_reduce(&link, x, by),
        }?;
        let bytes = spread.world().received() - before;
        spread.note(
            self,
            operator,
            mesh_axis,
            What::Change(change.from, change.to),
            bytes,
        );
        Ok(stepped)
    }

    /// Rows of a split axis, as the ranks of a line are to have them.
    pub(crate) fn shifted(
        &self,
        mesh_axis: usize,
        shift: &Shift,
        operator: &'static str,
    ) -> Result<Global<E>> {
        let (spread, inner) = (&self.spread, self.spread.inner());
        let at = spread.coordinate()[mesh_axis];
        let mut x = self.clone();
        let shape = inner.shape(&x.local)?;
        let row: usize = (0..shape.len())
            .filter(|axis| *axis != shift.axis)
            .map(|axis| shape[axis])
            .product();
        if row > 0 {
            let (send, recv) = shift.counts(at);
            let link = spread.link(mesh_axis, operator);
            let before = spread.world().received();
            let rows = inner.all_to_all(&link, &x.local, (shift.axis, &send), (shift.axis, &recv));
            x.local = rows.map_err(|error| spread.short_of_memory(error))?;
            let bytes = spread.world().received() - before;
            spread.note(self, operator, mesh_axis, What::Rows(shift.axis), bytes);
        } else {
            let mut sizes = shape;
            sizes[shift.axis] = shift.to[at].len();
            x.local = inner.full(inner.dtype(&x.local), Scalar::Int(0), &sizes)?;
        }
        if shift.flip {
            x.local = backwards(inner, &x.local, shift.axis, &shift.counts(at).1)?;
        }
        Ok(x)
    }
}

impl<E: Local> Spread<E> {
    /// Tells the others, who may be waiting, when this rank has no memory for what all do together.
    pub(crate) fn short_of_memory(&self, error: Error) -> Error {
        if matches!(error, Error::Memory(_)) && self.mesh().ranks() > 1 {
            self.world().fail(&error);
        }
        error
    }

    fn link(&self, mesh_axis: usize, operator: &'static str) -> Link<'_, E> {
        let line = self.mesh().line(mesh_axis, self.rank());
        Link {
            world: self.world(),
            line,
            operator,
        }
    }

    fn note(
        &self,
        x: &Global<E>,
        operator: &'static str,
        mesh_axis: usize,
        what: What,
        bytes: u64,
    ) {
        self.log(Moved {
            operator,
            what,
            shape: x.shape.clone(),
            dtype: x.dtype(),
            mesh_axis,
            bytes,
        });
    }
}

/// Pieces that lie one after another along an axis, the last one first.
fn backwards<E: Engine<Size = usize>>(
    engine: &E,
    x: &E::Value,
    axis: usize,
    sizes: &[usize],
) -> Result<E::Value> {
    let mut end = engine.size(x, axis);
    let mut pieces = Vec::new();
    for &len in sizes.iter().rev().filter(|len| **len > 0) {
        end -= len;
        pieces.push(cut(engine, x, axis, end, len, 1)?);
    }
    match pieces.len() {
        0 | 1 => Ok(x.clone()),
        _ => engine.concat(&pieces.iter().collect::<Vec<_>>(), axis),
    }
}

/// Some indices of an axis.
fn cut<E: Engine<Size = usize>>(
    engine: &E,
    x: &E::Value,
    axis: usize,
    start: usize,
    len: usize,
    step: isize,
) -> Result<E::Value> {
    engine.view(x, engine.rank(x)?, |out| match out == axis {
        true => Axis::Slice {
            of: axis,
            start,
            len,
            step,
        },
        false => Axis::Of(out),
    })
}

/// One value everywhere, of which only one is in memory.
pub(crate) fn uniform<E: Engine<Size = usize>>(
    engine: &E,
    dtype: DType,
    value: Scalar,
    shape: &[usize],
) -> Result<E::Value> {
    let one = engine.full(dtype, value, &[])?;
    engine.view(&one, shape.len(), |out| Axis::Fresh(shape[out]))
}
