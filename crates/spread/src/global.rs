//! A global tensor: one rank's part of a logical tensor, and what is known of the whole.

use std::fmt;

use stridewise_core::dtype::DType;
use stridewise_core::engine::Value;
use stridewise_core::error::{Error, Result};
use stridewise_core::size::{Shape, tuple};
use stridewise_core::smallvec::SmallVec;

use crate::engine::{Spread, require_countable};
use crate::local::Local;
use crate::path::{Change, Ways, local_shape};
use crate::sbp::{NdSbp, Sbp, text};

/// One logical tensor over the ranks of a mesh: this rank's part of it.
#[derive(Clone)]
pub struct Global<E: Local> {
    pub(crate) spread: Spread<E>,
    pub(crate) local: E::Value,
    pub(crate) shape: Shape,
    pub(crate) sbp: NdSbp,
    /// Whether all elements are one value: such a tensor lies however one likes.
    pub(crate) uniform: bool,
}

impl<E: Local> Global<E> {
    /// The logical shape.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.spread.inner().dtype(&self.local)
    }

    /// How each mesh axis holds it.
    pub fn sbp(&self) -> &[Sbp] {
        &self.sbp
    }

    /// Its engine.
    pub fn spread(&self) -> &Spread<E> {
        &self.spread
    }

    /// This rank's part.
    pub fn to_local(&self) -> E::Value {
        self.local.clone()
    }

    /// Whether every rank has all of it.
    pub(crate) fn is_everywhere(&self) -> bool {
        self.sbp.iter().all(|sbp| *sbp == Sbp::Broadcast)
    }

    /// The same tensor, held otherwise: the cheapest way there is taken.
    pub fn to_sbp(&self, sbp: &[Sbp]) -> Result<Global<E>> {
        self.held_as(sbp, "to_sbp")
    }

    /// The same, on behalf of a method that messages and notes name.
    fn held_as(&self, sbp: &[Sbp], method: &'static str) -> Result<Global<E>> {
        let fail = |error: Error| error.within(method);
        check_sbp(&self.spread, &self.shape, self.dtype(), sbp).map_err(fail)?;
        if self.sbp[..] == *sbp {
            return Ok(self.clone());
        }
        let mesh = self.spread.mesh();
        let ways = Ways::new(mesh, &self.shape, self.dtype().width(), &self.sbp);
        let changes = ways.changes(sbp).ok_or_else(|| {
            fail(
                Error::world(format!("a tensor held as {} cannot be held as {}", text(&self.sbp), text(sbp)))
                    .at_argument("sbp")
                    .note("shape", tuple(&self.shape))
                    .help("only what is broadcast can become a partial sum, and nothing becomes a partial maximum or minimum"),
            )
        })?;
        let mut x = self.changed(&changes, method).map_err(fail)?;
        let sliced = |change: &Change| change.from == Sbp::Broadcast && change.to.axis().is_some();
        if changes.iter().any(sliced) {
            // A part that looked into the whole would keep all of it in memory.
            x.local = self.spread.inner().copy(&x.local).map_err(fail)?;
        }
        Ok(x)
    }

    /// All of it, on every rank.
    pub fn gather(&self) -> Result<E::Value> {
        let all: NdSbp = SmallVec::from_elem(Sbp::Broadcast, self.sbp.len());
        Ok(self.held_as(&all, "gather")?.local)
    }
}

impl<E: Local> Value for Global<E> {
    type Engine = Spread<E>;

    fn engine(&self) -> Spread<E> {
        self.spread.clone()
    }
}

impl<E: Local> fmt::Debug for Global<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dtype, shape) = (self.dtype(), tuple(&self.shape));
        let (mesh, sbp) = (self.spread.mesh(), text(&self.sbp));
        write!(f, "{dtype} of shape {shape} over {mesh} ranks as {sbp}")
    }
}

/// Whether a tensor can be held so.
pub(crate) fn check_sbp<E: Local>(
    spread: &Spread<E>,
    shape: &[usize],
    dtype: DType,
    sbp: &[Sbp],
) -> Result<()> {
    let mesh = spread.mesh();
    let wrong = |error: Error| {
        error
            .at_argument("sbp")
            .note("sbp", text(sbp))
            .note("mesh", mesh)
            .note("shape", tuple(shape))
    };
    if sbp.len() != mesh.rank() {
        let message = format!(
            "{} for {}",
            counted(sbp.len(), "layout"),
            counted(mesh.rank(), "mesh axis")
        );
        return Err(
            wrong(Error::argument(message)).help("give one of S(axis), B or P for each mesh axis")
        );
    }
    for held in sbp {
        match held {
            Sbp::Split(axis) if *axis >= shape.len() => {
                let message = format!(
                    "{held} splits an axis that a tensor of rank {} does not have",
                    shape.len()
                );
                let help = match shape.len() {
                    0 => "a tensor of rank 0 has no axis to split: hold it as B".to_string(),
                    1 => "split axis 0, as S(0), or hold it as B".to_string(),
                    rank => format!("split an axis from 0 to {}, or hold it as B", rank - 1),
                };
                return Err(wrong(Error::axis(message)).help(help));
            }
            Sbp::Partial(by) => by.check(dtype).map_err(wrong)?,
            _ => {}
        }
    }
    Ok(())
}

fn counted(n: usize, what: &str) -> String {
    match (n, what.strip_suffix("is")) {
        (1, _) => format!("1 {what}"),
        (_, Some(stem)) => format!("{n} {stem}es"),
        _ => format!("{n} {what}s"),
    }
}

impl<E: Local> Spread<E> {
    /// A global tensor from this rank's part of it; `shape` is the logical one. What the other ranks give is not
    /// looked at.
    pub fn assemble(&self, local: E::Value, shape: &[usize], sbp: &[Sbp]) -> Result<Global<E>> {
        let wanted = self.part_of(shape, self.inner().dtype(&local), sbp)?;
        let found = self.inner().shape(&local)?;
        if wanted != found {
            let message = format!(
                "rank {} has a part of shape {}, but {} is its part of {}",
                self.rank(),
                tuple(&found),
                tuple(&wanted),
                tuple(shape)
            );
            return Err(Error::shape(message)
                .sizes(tuple(&wanted), tuple(&found))
                .note("sbp", text(sbp))
                .note("mesh", self.mesh())
                .help(
                    "parts are balanced: their sizes differ by at most one, the longer ones first",
                ));
        }
        Ok(self.global(local, shape.into(), sbp.into()))
    }

    /// The shape of this rank's part of a tensor, if one can be held so.
    pub fn part_of(&self, shape: &[usize], dtype: DType, sbp: &[Sbp]) -> Result<Shape> {
        require_countable(dtype, shape)?;
        check_sbp(self, shape, dtype, sbp)?;
        Ok(local_shape(shape, self.mesh(), sbp, self.coordinate()))
    }

    /// A global tensor from the whole of it, which every rank has: nothing is sent, each keeps its part.
    pub fn from_whole(&self, whole: E::Value, sbp: &[Sbp]) -> Result<Global<E>> {
        let shape = self.inner().shape(&whole)?;
        let all = SmallVec::from_elem(Sbp::Broadcast, self.mesh().rank());
        self.global(whole, shape, all).held_as(sbp, "shard")
    }

    pub(crate) fn global(&self, local: E::Value, shape: Shape, sbp: NdSbp) -> Global<E> {
        Global {
            spread: self.clone(),
            local,
            shape,
            sbp,
            uniform: false,
        }
    }
}
