//! From one layout to another: the cheapest way, one mesh axis a step, priced by the bytes that ranks receive.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use stridewise_core::size::Shape;
use stridewise_core::smallvec::SmallVec;

use crate::mesh::{Mesh, part, parts};
use crate::sbp::{NdSbp, Reduction, Sbp};

/// One mesh axis changes how it holds a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The mesh axis.
    pub mesh_axis: usize,
    /// How it held the tensor.
    pub from: Sbp,
    /// How it holds it then.
    pub to: Sbp,
}

/// A price: bytes that all ranks receive, then the number of steps.
pub(crate) type Price = (u128, usize);

/// The shape of a part: each mesh axis cuts what the ones before it have left.
pub fn local_shape(shape: &[usize], mesh: &Mesh, sbp: &[Sbp], coordinate: &[usize]) -> Shape {
    let mut local = Shape::from(shape);
    for ((held, &count), &at) in sbp.iter().zip(mesh.sizes()).zip(coordinate) {
        if let Sbp::Split(axis) = held {
            local[*axis] = part(local[*axis], count, at).len();
        }
    }
    local
}

/// The ways that lead away from one layout of a tensor.
pub(crate) struct Ways<'a> {
    mesh: &'a Mesh,
    shape: &'a [usize],
    width: usize,
    start: NdSbp,
    /// What each layout costs, and the change that comes last.
    found: HashMap<NdSbp, (Price, Option<Change>)>,
}

impl<'a> Ways<'a> {
    pub(crate) fn new(mesh: &'a Mesh, shape: &'a [usize], width: usize, start: &[Sbp]) -> Ways<'a> {
        let mut ways = Ways {
            mesh,
            shape,
            width,
            start: start.into(),
            found: HashMap::new(),
        };
        ways.search();
        ways
    }

    /// What a layout costs; `None` for one that cannot be reached.
    pub(crate) fn price(&self, to: &[Sbp]) -> Option<Price> {
        self.found.get(to).map(|(price, _)| *price)
    }

    /// The changes that lead to a layout, in order.
    pub(crate) fn changes(&self, to: &[Sbp]) -> Option<SmallVec<[Change; 4]>> {
        let mut changes = SmallVec::new();
        let mut at: NdSbp = to.into();
        while at != self.start {
            let (_, last) = self.found.get(&at)?;
            let change = (*last)?;
            at[change.mesh_axis] = change.from;
            changes.push(change);
        }
        changes.reverse();
        Some(changes)
    }

    fn search(&mut self) {
        let mut open = BinaryHeap::new();
        self.found.insert(self.start.clone(), ((0, 0), None));
        open.push(Reverse(((0, 0), self.start.clone())));
        while let Some(Reverse((price, at))) = open.pop() {
            if self.found.get(&at).is_some_and(|(best, _)| *best < price) {
                continue;
            }
            for mesh_axis in 0..at.len() {
                for to in targets(&at, mesh_axis, self.shape.len()) {
                    let change = Change {
                        mesh_axis,
                        from: at[mesh_axis],
                        to,
                    };
                    let next = (price.0 + self.cost(&at, change), price.1 + 1);
                    let mut there = at.clone();
                    there[mesh_axis] = to;
                    if self.found.get(&there).is_none_or(|(best, _)| next < *best) {
                        self.found.insert(there.clone(), (next, Some(change)));
                        open.push(Reverse((next, there)));
                    }
                }
            }
        }
    }

    /// Bytes that all ranks receive, where parts are as large as they get.
    fn cost(&self, at: &[Sbp], change: Change) -> u128 {
        let count = self.mesh.sizes()[change.mesh_axis];
        let mut whole: NdSbp = at.into();
        whole[change.mesh_axis] = Sbp::Broadcast;
        let first: Shape = self.mesh.sizes().iter().map(|_| 0).collect();
        let whole = local_shape(self.shape, self.mesh, &whole, &first);
        let bytes = whole.iter().fold(self.width as u128, |bytes, size| {
            bytes.saturating_mul(*size as u128)
        });
        let others = count as u128 - 1;
        let line = match (change.from, change.to) {
            (Sbp::Broadcast, _) => 0,
            (Sbp::Split(from), Sbp::Split(to)) => {
                bytes - stays(&whole, from, to, count, self.width)
            }
            (Sbp::Split(_), _) => others * bytes,
            (Sbp::Partial(_), Sbp::Split(_)) => others * bytes,
            (Sbp::Partial(_), _) => 2 * others * bytes,
        };
        line.saturating_mul((self.mesh.ranks() / count) as u128)
    }
}

/// Bytes that a change of the split axis leaves where they are.
fn stays(whole: &[usize], from: usize, to: usize, count: usize, width: usize) -> u128 {
    let (rows, columns) = (parts(whole[from], count), parts(whole[to], count));
    let cells: u128 = rows
        .iter()
        .zip(&columns)
        .map(|(a, b)| *a as u128 * *b as u128)
        .sum();
    let rest = (0..whole.len()).filter(|axis| *axis != from && *axis != to);
    rest.fold(cells * width as u128, |bytes, axis| {
        bytes * whole[axis] as u128
    })
}

/// What one step can make of a mesh axis. Rows that a later mesh axis cuts again must stay as they are; and what a later
/// one reduces otherwise must be reduced there first, since a largest of sums is no sum of largest ones.
fn targets(at: &[Sbp], mesh_axis: usize, rank: usize) -> impl Iterator<Item = Sbp> {
    let now = at[mesh_axis];
    let later = &at[mesh_axis + 1..];
    let movable = match now {
        Sbp::Split(_) => !later.contains(&now),
        Sbp::Broadcast => true,
        Sbp::Partial(_) => !later
            .iter()
            .any(|held| matches!(held, Sbp::Partial(_)) && *held != now),
    };
    let splits = (0..rank).map(Sbp::Split).filter(|to| !later.contains(to));
    let whole = [Sbp::Broadcast].into_iter();
    let partial = (now == Sbp::Broadcast).then_some(Sbp::Partial(Reduction::Sum));
    let all = splits.chain(whole).chain(partial);
    all.filter(move |to| movable && *to != now)
}
