//! Reductions over the ranks of a line, for counts that they have agreed on.
//!
//! Everything is made of messages between two ranks. On one machine they are as fast as MPI's own collectives, and its
//! reductions are several times slower than reducing what comes in; besides, counts in 32 bits, an order of reduction
//! that differs by rank and types that MPI does not know never come up, and whoever is late is known by name.

use std::time::Duration;

use stridewise_core::DType;
use stridewise_core::error::Result;

use super::control::Came;
use super::flight::{Flight, Tag, Trouble};
use super::link::{Link, abort};
use super::rooms::Rooms;
use crate::mesh::{Line, part};
use crate::sbp::Reduction;
use crate::world::{Collective, cut, cut_mut};

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
    /// On whose behalf.
    pub(super) operator: &'a str,
    pub(super) what: Collective<'a>,
    pub(super) dtype: DType,
    pub(super) send: &'a [u8],
    /// How long to wait for bytes.
    pub(super) patience: Duration,
}

impl<'a> Moving<'a> {
    /// What this rank sends to each of the line at first; an all-reduce of more than a little hands round its results
    /// afterwards.
    pub(super) fn pieces(&self) -> Vec<&'a [u8]> {
        let places = 0..self.line.len;
        match self.what {
            Collective::ReduceScatter { counts, .. } => cut(self.send, counts),
            Collective::AllReduce { .. } if self.send.len() <= SMALL => {
                places.map(|_| self.send).collect()
            }
            Collective::AllReduce { .. } => cut(self.send, &self.parts()),
            _ => places.map(|_| &self.send[..0]).collect(),
        }
    }

    /// Bytes that each of the line reduces in an all-reduce.
    fn parts(&self) -> Vec<usize> {
        let elements = self.send.len() / self.dtype.width();
        let places = 0..self.line.len;
        places
            .map(|at| part(elements, self.line.len, at).len() * self.dtype.width())
            .collect()
    }

    pub(super) fn rank(&self, at: usize) -> usize {
        self.line.first + at * self.line.step
    }

    /// The others of the line, those that follow this rank first: so that not all turn to the same one.
    pub(super) fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let (at, len) = (self.at, self.line.len);
        (1..len).map(move |step| (at + step) % len)
    }

    /// Reduces. `came` has the pieces that came with the agreement, by place.
    pub(super) fn run(&self, recv: &mut [u8], came: &[Came], rooms: &mut Rooms) -> Result<()> {
        let pieces = self.pieces();
        match self.what {
            Collective::ReduceScatter { by, .. } => self.reduce(&pieces, recv, came, by, rooms),
            Collective::AllReduce { by } if self.send.len() <= SMALL => {
                self.reduce(&pieces, recv, came, by, rooms)
            }
            Collective::AllReduce { by } => {
                let mut parts: Vec<&mut [u8]> = cut_mut(recv, &self.parts());
                self.reduce(&pieces, parts[self.at], came, by, rooms)?;
                let own = std::mem::take(&mut parts[self.at]);
                let mut flight = Flight::new(self.link);
                for (at, part) in parts.into_iter().enumerate() {
                    flight.receive(part, self.rank(at), Tag::Data);
                }
                for at in self.others() {
                    flight.send(own, self.rank(at), Tag::Data);
                }
                self.land(&mut flight);
                Ok(())
            }
            // A barrier; exchanges do not come here.
            _ => Ok(()),
        }
    }

    /// Sends each its piece, and reduces what comes with this rank's own, in the order of the line. It goes chunk by
    /// chunk: the next ones travel while the last ones, still in the cache, are reduced.
    fn reduce(
        &self,
        pieces: &[&[u8]],
        into: &mut [u8],
        came: &[Came],
        by: Reduction,
        rooms: &mut Rooms,
    ) -> Result<()> {
        let chunk = (WINDOW / 2 / self.line.len).clamp(CHUNK / 16, CHUNK) / 16 * 16;
        let total = into.len();
        let far = |len: usize| len > SMALL;
        let longest = pieces.iter().map(|piece| piece.len()).max().unwrap_or(0);
        let steps = longest.div_ceil(chunk);
        let span = |len: usize, step: usize| (step * chunk).min(len)..((step + 1) * chunk).min(len);
        let begin = |step: usize, rooms: &mut Rooms| {
            let mut flight = Flight::new(self.link);
            let len = span(total, step).len();
            if far(total) && len > 0 {
                for at in (0..self.line.len).filter(|at| *at != self.at) {
                    flight.receive_room(rooms.take(chunk), len, self.rank(at), Tag::Data);
                }
            }
            for at in self.others().filter(|at| far(pieces[*at].len())) {
                let piece = &pieces[at][span(pieces[at].len(), step)];
                flight.send(piece, self.rank(at), Tag::Data);
            }
            flight
        };
        let mut next = (steps > 0).then(|| begin(0, rooms));
        for step in 0..steps {
            let now = next.take();
            if step + 1 < steps {
                next = Some(begin(step + 1, rooms));
            }
            let Some(mut flight) = now else { break };
            self.land(&mut flight);
            let arrived = flight.rooms();
            let span = span(total, step);
            if !span.is_empty() {
                // The others in the order of the line, with this rank among them.
                let mut sources: Vec<&[u8]> = match far(total) {
                    true => arrived.iter().map(|room| &room[..span.len()]).collect(),
                    false => came.iter().map(|came| &came.piece[..]).collect(),
                };
                let own = &pieces[self.at][span.clone()];
                match far(total) {
                    true => sources.insert(self.at, own),
                    false => sources[self.at] = own,
                }
                stridewise_cpu::reduce_all(self.dtype, by, &mut into[span], &sources)?;
            }
            rooms.give(arrived);
        }
        Ok(())
    }

    /// Waits until everything has come. What is under way cannot be called back, and the memory it goes to is the
    /// caller's: where it does not come, the job ends here.
    pub(super) fn land(&self, flight: &mut Flight<'_>) {
        let why = match flight.wait(self.patience) {
            Ok(()) => return,
            Err(Trouble::Late(ranks)) => format!(
                "ranks {ranks:?} had agreed, but their bytes did not come within {} seconds",
                self.patience.as_secs_f64()
            ),
            Err(Trouble::Broken(text)) => text,
        };
        let (rank, what, operator) = (self.link.rank, self.what.name(), self.operator);
        abort(&format!(
            "rank {rank} ends the job in {what} for `{operator}`: {why}"
        ));
    }
}
