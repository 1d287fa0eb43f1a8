//! One rank's end of a world of threads: the collectives.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use stridewise_core::dtype::DType;
use stridewise_core::error::{Error, Result};
use stridewise_core::smallvec::SmallVec;
use stridewise_cpu::{Rows, RowsMut, reduce_all};

use super::group::{Cause, Group, lock};
use super::lend::{Buffers, Stay};
use super::meeting::Meeting;
use crate::mesh::Line;
use crate::sbp::Reduction;
use crate::world::agree::Record;
use crate::world::{Call, Collective, Wire, bytes_of, pieces};

/// A rank of a group.
pub(super) struct End {
    group: Arc<Group>,
    rank: usize,
    seats: Mutex<HashMap<Line, Arc<Mutex<Seat>>>>,
    received: AtomicU64,
}

/// This rank on one of its lines. It is locked during a call.
struct Seat {
    meeting: Arc<Meeting>,
    at: usize,
    gate: u64,
    calls: u64,
}

impl End {
    pub(super) fn new(group: Arc<Group>, rank: usize) -> End {
        End {
            group,
            rank,
            seats: Mutex::default(),
            received: AtomicU64::new(0),
        }
    }

    pub(super) fn group(&self) -> &Group {
        &self.group
    }

    fn seat(&self, line: Line) -> Result<Arc<Mutex<Seat>>> {
        if let Some(seat) = lock(&self.seats).get(&line) {
            return Ok(Arc::clone(seat));
        }
        let size = self.group.size();
        if line.len > size || line.ranks().any(|rank| rank >= size) {
            let last = size - 1;
            return Err(Error::world(format!("the last rank is {last}")).note("line", Told(line)));
        }
        let Some(at) = line.ranks().position(|rank| rank == self.rank) else {
            let rank = self.rank;
            let error = Error::world(format!("rank {rank} is not on the line of its call"));
            return Err(error.note("line", Told(line)));
        };
        let seat = Seat {
            meeting: self.group.meeting(line),
            at,
            gate: 0,
            calls: 0,
        };
        let mut seats = lock(&self.seats);
        let seat = seats
            .entry(line)
            .or_insert_with(|| Arc::new(Mutex::new(seat)));
        Ok(Arc::clone(seat))
    }

    /// Makes a call together with the others of the line; whatever goes wrong, the world has failed after it.
    fn together<'r, T>(
        &self,
        line: Line,
        record: impl FnOnce(u64, usize) -> Result<Record<'r>>,
        buffers: Buffers<'_>,
        work: impl FnOnce(&mut Stay<'_>) -> Result<T>,
    ) -> Result<T> {
        // What this rank alone has got wrong is told to the others as its failure.
        let own = |error: Error| {
            self.fail(&error);
            error
        };
        let seat = self.seat(line).map_err(own)?;
        let mut seat = lock(&seat);
        let Seat {
            meeting,
            at,
            gate,
            calls,
        } = &mut *seat;
        let record = record(*calls, *at).map_err(own)?;
        self.group.check(&record)?;
        *calls += 1;
        let group = &self.group;
        let assemble = |gate| group.assemble(meeting, *at, gate, &record);
        let done = Stay::during((meeting, *at, gate), &record, buffers, assemble, work);
        done.inspect_err(|error| group.fail(Cause::Call(error.clone())))
    }

    /// Each reads its pieces where the others have them.
    fn exchanged<'r>(
        &self,
        line: Line,
        call: &Call<'_>,
        record: impl FnOnce(u64, usize) -> Result<Record<'r>>,
        pieces: &[Rows<'_>],
        recv: &mut [RowsMut<'_>],
    ) -> Result<()> {
        let buffers = Buffers {
            pieces,
            ..Buffers::default()
        };
        self.together(line, record, buffers, |stay| {
            let at = stay.place();
            for (from, into) in recv.iter_mut().enumerate() {
                into.copy_from(stay.piece(from, at));
            }
            self.count(call, stay, 0);
            Ok(())
        })
    }

    fn count(&self, call: &Call<'_>, stay: &Stay<'_>, sent: usize) {
        let (at, ranks) = (stay.place(), stay.ranks());
        let received = call.what.received(at, ranks, sent, call.dtype.width());
        self.received.fetch_add(received as u64, Ordering::Relaxed);
    }
}

impl Wire for End {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.group.size()
    }

    fn name(&self) -> &'static str {
        "threads"
    }

    fn collective(&self, line: Line, call: &Call<'_>, send: &[u8], recv: &mut [u8]) -> Result<()> {
        let (sent, room) = (send.len(), recv.len());
        let record = |calls, at| Record::of_call(calls, line, at, call, sent, room);
        let dtype = call.dtype;
        let recv = match pieces(call.what, send, recv) {
            Ok((send, mut recv)) => return self.exchanged(line, call, record, &send, &mut recv),
            Err(recv) => recv,
        };
        let buffers = Buffers {
            send,
            recv,
            ..Buffers::default()
        };
        self.together(line, record, buffers, |stay| {
            let at = stay.place();
            match call.what {
                Collective::ReduceScatter { counts, by } => {
                    let start: usize = counts[..at].iter().sum();
                    let own = start..start + counts[at];
                    stay.receive(|into, all| reduced(all, own, by, dtype, into))?;
                }
                Collective::AllReduce { by } if !stay.shares() => {
                    stay.receive(|into, all| reduced(all, 0..sent, by, dtype, into))?;
                }
                Collective::AllReduce { by } => {
                    let own = stay.part(at);
                    stay.receive(|into, all| reduced(all, own.clone(), by, dtype, &mut into[own]))?;
                    stay.share();
                }
                _ => {}
            }
            self.count(call, stay, sent);
            Ok(())
        })
    }

    fn exchange(
        &self,
        line: Line,
        call: &Call<'_>,
        send: &[Rows<'_>],
        recv: &mut [RowsMut<'_>],
    ) -> Result<()> {
        let (sent, room) = bytes_of(send, recv);
        let record = |calls, at| Record::of_exchange(calls, line, at, call, &sent, &room);
        self.exchanged(line, call, record, send, recv)
    }

    fn tell(&self, line: Line, operator: &str, message: &[u8]) -> Result<Vec<Vec<u8>>> {
        let record = |calls, _| Ok(Record::of_message(calls, operator, message.len()));
        let buffers = Buffers {
            send: message,
            ..Buffers::default()
        };
        self.together(line, record, buffers, |stay| {
            Ok((0..stay.ranks())
                .map(|from| stay.sent(from).to_vec())
                .collect())
        })
    }

    fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    fn fail(&self, why: &Error) {
        self.group.fail(Cause::Failed(self.rank, why.clone()));
    }

    fn leave(&self) {
        self.group.leave(self.rank);
    }
}

/// The last clone of an end is gone, so this rank is.
impl Drop for End {
    fn drop(&mut self) {
        if thread::panicking() {
            let text = "see what its thread has printed".to_string();
            self.group.fail(Cause::Panicked(self.rank, text));
        }
        self.leave();
    }
}

/// A range of what all send, reduced in the order of ranks.
fn reduced(
    all: &Stay<'_>,
    bytes: std::ops::Range<usize>,
    by: Reduction,
    dtype: DType,
    into: &mut [u8],
) -> Result<()> {
    let sources: SmallVec<[&[u8]; 8]> = (0..all.ranks())
        .map(|from| &all.sent(from)[bytes.clone()])
        .collect();
    reduce_all(dtype, by, into, &sources)
}

struct Told(Line);

impl std::fmt::Display for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Line { first, step, len } = self.0;
        write!(f, "{len} ranks from {first} on in steps of {step}")
    }
}
