//! Pieces from each rank of a line to each: all-gather and all-to-all.
//!
//! They go in steps of so many bytes, of one size whoever sends, and two steps are under way at a time. What does not
//! lie in one run is read into room of its own before it is sent, or written from there after it came.

use std::ops::Range;
use std::slice::ChunksMut;

use stridewise_cpu::{Rows, RowsMut};

use super::control::Came;
use super::flight::{Flight, LARGEST, Tag};
use super::reduce::{Moving, SMALL};
use super::rooms::Rooms;
use crate::world::Collective;

/// How many bytes of each piece a step moves where there are few ranks; a huge page.
const STEP: usize = 2 << 20;
/// What one step of all pieces moves at most, as far as steps of a reasonable size allow.
const WINDOW: usize = 64 << 20;

/// Where a piece from another rank goes.
enum Target<'a, 'r> {
    /// One run of memory, of which these chunks are still to come.
    Run(ChunksMut<'a, u8>),
    Rows(&'a mut RowsMut<'r>),
    /// It is there already.
    Filled,
}

/// One step: the messages, and what is to be written when they have come, in the order of their rooms.
struct Step<'a> {
    flight: Flight<'a>,
    arriving: Vec<(usize, Range<usize>)>,
}

/// The piece for the rank at a place: its own, or the one for all.
fn piece<'a, 'r>(send: &'a [Rows<'r>], at: usize) -> &'a Rows<'r> {
    send.get(at).unwrap_or(&send[0])
}

/// The bytes of a piece that a step moves; small pieces have come with the agreement.
fn span(len: usize, step: usize, size: usize) -> Range<usize> {
    match len > SMALL {
        true => (step * size).min(len)..((step + 1) * size).min(len),
        false => 0..0,
    }
}

impl<'m> Moving<'m> {
    /// What each place gets with the agreement.
    pub(super) fn small(&self, send: &[Rows<'_>]) -> Vec<Vec<u8>> {
        let one = |at| {
            let piece = piece(send, at);
            let mut bytes = vec![
                0;
                if piece.bytes() > SMALL {
                    0
                } else {
                    piece.bytes()
                }
            ];
            piece.read(0, &mut bytes);
            bytes
        };
        (0..self.line.len).map(one).collect()
    }

    /// How many bytes a step moves of the piece from each place, or in an all-to-all to it: on every rank the same. In an
    /// all-gather, where it lies in the same way for all, a piece that goes to one run needs no steps.
    fn sizes(&self, recv: &[RowsMut<'_>]) -> Vec<usize> {
        let gathers = matches!(self.what, Collective::AllGather { .. });
        let step = (WINDOW / self.line.len).clamp(STEP / 32, STEP) / 16 * 16;
        let size = |target: &RowsMut<'_>| match gathers && target.is_one_run() {
            true => LARGEST,
            false => step,
        };
        recv.iter().map(size).collect()
    }

    /// Sends each its piece, and receives one of each.
    pub(super) fn exchange(
        &self,
        send: &[Rows<'_>],
        recv: &mut [RowsMut<'_>],
        came: &[Came],
        rooms: &mut Rooms,
    ) {
        let sizes = self.sizes(recv);
        let sent = self
            .others()
            .map(|at| (piece(send, at).bytes(), sizes[self.at]));
        let received = recv.iter().map(RowsMut::bytes).zip(sizes.iter().copied());
        let steps = |(len, size): (usize, usize)| span(len, 0, len).len().div_ceil(size);
        let steps = sent.chain(received).map(steps).max().unwrap_or(0);
        let mut own = None;
        let mut targets = Vec::with_capacity(recv.len());
        for (at, target) in recv.iter_mut().enumerate() {
            targets.push(if at == self.at {
                own = Some(target);
                Target::Filled
            } else if target.bytes() <= SMALL {
                target.write(0, &came[at].piece);
                Target::Filled
            } else if target.is_one_run() {
                let run = target.as_mut_slice().unwrap_or_default();
                Target::Run(run.chunks_mut(sizes[at]))
            } else {
                Target::Rows(target)
            });
        }
        let mut next = (steps > 0).then(|| self.begin(0, &sizes, send, &mut targets, rooms));
        if let Some(own) = own {
            own.copy_from(piece(send, self.at));
        }
        for step in 1..=steps {
            let now = next.take();
            if step < steps {
                next = Some(self.begin(step, &sizes, send, &mut targets, rooms));
            }
            if let Some(now) = now {
                self.end(now, &mut targets, rooms);
            }
        }
    }

    fn begin<'a>(
        &self,
        step: usize,
        sizes: &[usize],
        send: &'a [Rows<'_>],
        targets: &mut [Target<'a, '_>],
        rooms: &mut Rooms,
    ) -> Step<'a>
    where
        'm: 'a,
    {
        let mut flight = Flight::new(self.link);
        let mut arriving = Vec::new();
        for (at, target) in targets.iter_mut().enumerate() {
            match target {
                Target::Run(chunks) => {
                    if let Some(chunk) = chunks.next() {
                        flight.receive(chunk, self.rank(at), Tag::Data);
                    }
                }
                Target::Rows(rows) => {
                    let span = span(rows.bytes(), step, sizes[at]);
                    if !span.is_empty() {
                        let room = rooms.take(sizes[at]);
                        flight.receive_room(room, span.len(), self.rank(at), Tag::Data);
                        arriving.push((at, span));
                    }
                }
                Target::Filled => {}
            }
        }
        for at in self.others() {
            let piece = piece(send, at);
            let span = span(piece.bytes(), step, sizes[self.at]);
            if let Some(run) = piece.as_slice() {
                flight.send(&run[span], self.rank(at), Tag::Data);
            } else if !span.is_empty() {
                let mut room = rooms.take(span.len());
                piece.read(span.start, &mut room[..span.len()]);
                flight.send_room(room, span.len(), self.rank(at), Tag::Data);
            }
        }
        Step { flight, arriving }
    }

    fn end(&self, step: Step<'_>, targets: &mut [Target<'_, '_>], rooms: &mut Rooms) {
        let Step {
            mut flight,
            arriving,
        } = step;
        self.land(&mut flight);
        let kept = flight.rooms();
        for ((at, span), room) in arriving.into_iter().zip(&kept) {
            if let Target::Rows(rows) = &mut targets[at] {
                rows.write(span.start, &room[..span.len()]);
            }
        }
        rooms.give(kept);
    }
}
