//! Bytes between the ranks of a line, for counts that they have agreed on.
//!
//! Everything is made of messages between two ranks. On one machine they are as fast as MPI's own collectives, and its
//! reductions are several times slower than reducing what comes in; besides, counts in 32 bits, an order of reduction
//! that differs by rank and types that MPI does not know never come up, and whoever is late is known by name.

use std::time::Duration;

use stridewise_core::DType;
use stridewise_core::error::Result;

use super::flight::{Flight, Tag, Trouble};
use super::link::Link;
use crate::mesh::{Line, part};
use crate::sbp::Reduction;
use crate::world::Collective;

/// A piece of at most this many bytes travels with the agreement.
pub(super) const SMALL: usize = 1024;

/// While elements are reduced, at most this many bytes of each of the others are held, twice over.
const CHUNK: usize = 1 << 20;
/// The same for all of the others together, as far as chunks of a reasonable size allow.
const WINDOW: usize = 16 << 20;

/// One rank's part in a collective.
pub(super) struct Moving<'a> {
    pub(super) link: &'a Link,
    pub(super) line: Line,
    /// Where this rank stands on the line.
    pub(super) at: usize,
    pub(super) width: usize,
    pub(super) what: Collective<'a>,
    pub(super) send: &'a [u8],
}

/// Why nothing was moved, or not all of it.
pub(super) enum Stopped {
    Trouble(Trouble),
    Error(stridewise_core::error::Error),
}

impl From<Trouble> for Stopped {
    fn from(trouble: Trouble) -> Stopped {
        Stopped::Trouble(trouble)
    }
}

impl From<stridewise_core::error::Error> for Stopped {
    fn from(error: stridewise_core::error::Error) -> Stopped {
        Stopped::Error(error)
    }
}

impl<'a> Moving<'a> {
    /// What this rank sends to each of the line at first; an all-reduce of more than a little hands round its results
    /// afterwards.
    pub(super) fn pieces(&self) -> Vec<&'a [u8]> {
        let places = 0..self.line.len;
        match self.what {
            Collective::AllGather { .. } => places.map(|_| self.send).collect(),
            Collective::AllToAll { send, .. } => cut(self.send, send),
            Collective::ReduceScatter { counts, .. } => cut(self.send, counts),
            Collective::AllReduce { .. } if self.send.len() <= SMALL => {
                places.map(|_| self.send).collect()
            }
            Collective::AllReduce { .. } => cut(self.send, &self.parts()),
            Collective::Barrier => places.map(|_| &self.send[..0]).collect(),
        }
    }

    /// Bytes that each of the line reduces in an all-reduce.
    fn parts(&self) -> Vec<usize> {
        let elements = self.send.len() / self.width;
        let places = 0..self.line.len;
        places.map(|at| part(elements, self.line.len, at).len() * self.width).collect()
    }

    fn rank(&self, at: usize) -> usize {
        self.line.first + at * self.line.step
    }

    /// The others of the line, those that follow this rank first: so that not all turn to the same one.
    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let (at, len) = (self.at, self.line.len);
        (1..len).map(move |step| (at + step) % len)
    }

    /// Moves everything. `came` has the pieces that came with the agreement, by place.
    pub(super) fn run(
        &self,
        recv: &mut [u8],
        came: &[Box<[u8]>],
        dtype: DType,
        patience: Duration,
    ) -> Result<(), Stopped> {
        let pieces = self.pieces();
        match self.what {
            Collective::AllGather { counts: from } | Collective::AllToAll { recv: from, .. } => {
                self.exchange(&pieces, cut_mut(recv, from), came, patience)
            }
            Collective::ReduceScatter { by, .. } => {
                self.reduce(&pieces, recv, came, (dtype, by), patience)
            }
            Collective::AllReduce { by } if self.send.len() <= SMALL => {
                self.reduce(&pieces, recv, came, (dtype, by), patience)
            }
            Collective::AllReduce { by } => {
                let mut parts = cut_mut(recv, &self.parts());
                self.reduce(&pieces, parts[self.at], came, (dtype, by), patience)?;
                let own = std::mem::take(&mut parts[self.at]);
                let mut flight = Flight::new(self.link);
                for (at, part) in parts.into_iter().enumerate() {
                    flight.receive(part, self.rank(at), Tag::Data);
                }
                for at in self.others() {
                    flight.send(own, self.rank(at), Tag::Data);
                }
                land(flight, patience)
            }
            Collective::Barrier => Ok(()),
        }
    }

    /// Sends each its piece, and receives one of each.
    fn exchange(
        &self,
        pieces: &[&[u8]],
        targets: Vec<&mut [u8]>,
        came: &[Box<[u8]>],
        patience: Duration,
    ) -> Result<(), Stopped> {
        let mut flight = Flight::new(self.link);
        let mut own: &mut [u8] = &mut [];
        for (at, target) in targets.into_iter().enumerate() {
            if at == self.at {
                own = target;
            } else if target.len() <= SMALL {
                target.copy_from_slice(&came[at]);
            } else {
                flight.receive(target, self.rank(at), Tag::Data);
            }
        }
        for at in self.others().filter(|at| pieces[*at].len() > SMALL) {
            flight.send(pieces[at], self.rank(at), Tag::Data);
        }
        own.copy_from_slice(pieces[self.at]);
        land(flight, patience)
    }

    /// Sends each its piece, and reduces what comes with this rank's own, in the order of the line. It goes chunk by
    /// chunk: the next ones travel while the last ones, still in the cache, are reduced.
    fn reduce(
        &self,
        pieces: &[&[u8]],
        into: &mut [u8],
        came: &[Box<[u8]>],
        (dtype, by): (DType, Reduction),
        patience: Duration,
    ) -> Result<(), Stopped> {
        let chunk = (WINDOW / 2 / self.line.len).clamp(CHUNK / 16, CHUNK);
        let far = |len: usize| len > SMALL;
        let longest = pieces.iter().map(|piece| piece.len()).chain([into.len()]).max();
        let steps = longest.unwrap_or(0).div_ceil(chunk);
        let of = |len: usize, step: usize| (step * chunk).min(len)..((step + 1) * chunk).min(len);
        let begin = |step: usize, spare: &mut Vec<Box<[u8]>>| {
            let mut flight = Flight::new(self.link);
            let len = of(into.len(), step).len();
            if far(into.len()) && len > 0 {
                for at in (0..self.line.len).filter(|at| *at != self.at) {
                    let room = spare.pop().unwrap_or_else(|| vec![0; chunk].into());
                    flight.receive_owned(room, len, self.rank(at), Tag::Data);
                }
            }
            for at in self.others().filter(|at| far(pieces[*at].len())) {
                flight.send(&pieces[at][of(pieces[at].len(), step)], self.rank(at), Tag::Data);
            }
            flight
        };
        let mut spare = Vec::new();
        let mut next = (steps > 0).then(|| begin(0, &mut spare));
        for step in 0..steps {
            let Some(mut flight) = next.take() else { break };
            if step + 1 < steps {
                next = Some(begin(step + 1, &mut spare));
            }
            flight.wait(patience)?;
            let arrived = flight.owned();
            let span = of(into.len(), step);
            let target = &mut into[span.clone()];
            if !target.is_empty() {
                let mut others = arrived.iter();
                let sources = (0..self.line.len).map(|at| match at == self.at {
                    true => &pieces[at][span.clone()],
                    false if far(into_len(pieces, self.at)) => match others.next() {
                        Some(bytes) => &bytes[..span.len()],
                        None => &[],
                    },
                    false => &came[at][span.clone()],
                });
                stridewise_cpu::reduce_all(dtype, by, target, &sources.collect::<Vec<_>>())?;
            }
            spare.extend(arrived);
        }
        Ok(())
    }
}

/// What this rank reduces is as long as its own piece.
fn into_len(pieces: &[&[u8]], at: usize) -> usize {
    pieces[at].len()
}

fn land(mut flight: Flight<'_>, patience: Duration) -> Result<(), Stopped> {
    Ok(flight.wait(patience)?)
}

/// Bytes in pieces of these sizes.
fn cut<'a>(bytes: &'a [u8], counts: &[usize]) -> Vec<&'a [u8]> {
    let mut rest = bytes;
    let mut next = |count: &usize| {
        let (piece, after) = rest.split_at(*count);
        rest = after;
        piece
    };
    counts.iter().map(&mut next).collect()
}

fn cut_mut<'a>(bytes: &'a mut [u8], counts: &[usize]) -> Vec<&'a mut [u8]> {
    let mut rest = bytes;
    let mut pieces = Vec::with_capacity(counts.len());
    for count in counts {
        let (piece, after) = rest.split_at_mut(*count);
        pieces.push(piece);
        rest = after;
    }
    pieces
}
