//! Ranks as processes under MPI. All of it is messages between two ranks on a communicator of our own: letters in which
//! the ranks of a line agree ([`control`]), then bytes ([`exchange`], [`reduce`]). No rank goes without a word ([`end`]): where one is
//! gone, late or at odds with the others, they learn its name, and the job ends with a status that is not 0.

mod control;
mod end;
mod exchange;
mod flight;
mod link;
mod reduce;
mod rooms;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use stridewise_core::DType;
use stridewise_core::error::{Error, Result};
use stridewise_cpu::{Rows, RowsMut};

use super::agree::{self, Record};
use super::{Call, Collective, Wire, World, bytes_of, cut_mut, pieces};
use crate::mesh::Line;
use control::{About, Came, Letter};
use link::Link;
use reduce::Moving;
use rooms::Rooms;

impl World {
    /// The world of all processes that `mpirun` started; a program that was started alone is the only rank of one.
    ///
    /// Every rank opens it, once or more often. MPI is started unless another library of the process has done so. From
    /// here on all ranks must come to their end together: where one panics, exits or fails while others still call
    /// something, the job ends with a message and a status that is not 0.
    pub fn mpi() -> Result<World> {
        match OPENED.get_or_init(Mpi::open) {
            Ok(world) => Ok(World::new(Arc::new(*world))),
            Err(error) => Err(error.clone()),
        }
    }
}

/// A process has one world: MPI cannot be started twice.
static OPENED: OnceLock<Result<&'static Mpi>> = OnceLock::new();

struct Mpi {
    link: Link,
    timeout: Duration,
    received: AtomicU64,
    /// Whoever holds it is the only one inside MPI.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Calls so far, by line.
    calls: HashMap<Line, u64>,
    /// Why nothing goes any more.
    broken: Option<Error>,
    /// Whether this rank has said farewell to the others, after which it calls nothing.
    left: bool,
    rooms: Rooms,
}

/// Bytes that even a slow network carries in a second: a transfer may take longer than ranks wait for each other.
const SLOWEST: f64 = 10e6;

impl Mpi {
    fn open() -> Result<&'static Mpi> {
        let timeout = agree::timeout()?;
        end::guard()?;
        let link = Link::open(timeout)?;
        link::share_cores();
        end::guard_stop()?;
        Ok(Box::leak(Box::new(Mpi {
            link,
            timeout,
            received: AtomicU64::new(0),
            state: Mutex::default(),
        })))
    }

    /// The right to use MPI.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This rank's record of its next call on a line, unless something has gone wrong before. What this rank alone has
    /// got wrong is told to the others as its failure.
    fn begin<'r>(
        &'static self,
        state: &mut State,
        line: Line,
        record: impl FnOnce(u64, usize) -> Result<Record<'r>>,
    ) -> Result<Record<'r>> {
        if let Some(error) = &state.broken {
            return Err(error.clone());
        }
        if state.left {
            let rank = self.link.rank;
            return Err(Error::world(format!(
                "the world is closed: rank {rank} has left it"
            )));
        }
        let calls = state.calls.get(&line).copied().unwrap_or(0);
        let record = self.place(line).and_then(|at| record(calls, at));
        record.inspect_err(|error| self.break_off(state, error))
    }

    /// Where this rank stands on a line.
    fn place(&self, line: Line) -> Result<usize> {
        let last = line
            .len
            .checked_sub(1)
            .and_then(|steps| steps.checked_mul(line.step));
        let last = last.and_then(|last| last.checked_add(line.first));
        let rank = self.link.rank;
        match last {
            Some(last) if last < self.link.size && line.ranks().any(|one| one == rank) => {
                Ok(line.place(rank))
            }
            _ => Err(Error::world(format!(
                "rank {rank} of {} is not one of ranks {}",
                self.link.size,
                agree::ranks(line)
            ))),
        }
    }

    /// Agrees with the others of the line that this is what all do, and gives each its piece if it is small. Says what
    /// came from each place.
    fn agree(
        &'static self,
        state: &mut State,
        line: Line,
        record: &Record<'_>,
        pieces: &[&[u8]],
    ) -> Result<Vec<Came>> {
        let agreed = self.letters(line, record, pieces);
        end::idle();
        match agreed {
            Ok(came) => {
                *state.calls.entry(line).or_default() += 1;
                Ok(came)
            }
            Err(error) => {
                self.break_off(state, &error);
                Err(error)
            }
        }
    }

    fn letters(
        &'static self,
        line: Line,
        record: &Record<'_>,
        pieces: &[&[u8]],
    ) -> Result<Vec<Came>> {
        let me = self.link.rank;
        let others = || line.ranks().enumerate().filter(|(_, rank)| *rank != me);
        let written = record.encode();
        let mut records: Vec<Option<Record<'static>>> = vec![None; line.len];
        let mut came: Vec<Came> = (0..line.len).map(|_| Came::default()).collect();
        let mut long = written.len() > control::TEXT;
        let late = |ranks: &[usize]| agree::late(line, ranks, record, self.timeout, None);
        control::exchange(
            &self.link,
            others().map(|(at, rank)| (rank, Some(Letter::call(line, &written, pieces[at])))),
            self.timeout,
            |rank, letter| {
                let at = line.place(rank);
                match letter.about {
                    About::End | About::Failure => {
                        let why = String::from_utf8_lossy(letter.text);
                        return Err(agree::gone(rank, record, &why));
                    }
                    About::Call => records[at] = Some(Record::decode(letter.text)?),
                    About::LongCall => long = true,
                }
                if letter.line != line {
                    return Err(self.elsewhere(
                        rank,
                        letter.line,
                        records[at].as_ref(),
                        line,
                        record,
                    ));
                }
                came[at] = Came {
                    len: letter.len,
                    piece: letter.piece.into(),
                };
                Ok(())
            },
            |ranks| end::waiting(&format!("rank {me} waited for ranks {ranks:?} in {record}")),
            late,
        )?;
        if long {
            self.long_records(line, &written, &mut records, late)?;
        }
        let all = (0..line.len).map(|at| records[at].as_ref().unwrap_or(record));
        agree::check(line, &all.collect::<Vec<_>>())?;
        Ok(came)
    }

    /// Where a record does not fit a letter, the ranks of the line send each other all of them.
    fn long_records(
        &'static self,
        line: Line,
        written: &[u8],
        records: &mut [Option<Record<'static>>],
        late: impl Fn(&[usize]) -> Error,
    ) -> Result<()> {
        let me = self.link.rank;
        let others = || line.ranks().filter(|rank| *rank != me);
        let len = (written.len() as u64).to_le_bytes();
        let mut lengths = Vec::new();
        let sizes = others().map(|rank| (rank, len.len()));
        control::exchange_long(
            &self.link,
            &len,
            sizes,
            self.timeout,
            |rank, bytes| {
                let len = bytes.try_into().map(u64::from_le_bytes).unwrap_or(0);
                lengths.push((rank, len as usize));
                Ok(())
            },
            &late,
        )?;
        let hear = |rank, bytes: &[u8]| {
            records[line.place(rank)] = Some(Record::decode(bytes)?);
            Ok(())
        };
        control::exchange_long(&self.link, written, lengths, self.timeout, hear, &late)
    }

    #[cold]
    fn elsewhere(
        &self,
        rank: usize,
        there: Line,
        theirs: Option<&Record<'_>>,
        here: Line,
        ours: &Record<'_>,
    ) -> Error {
        let theirs = theirs.map_or("something".to_string(), ToString::to_string);
        Error::world(format!(
            "rank {rank} called {theirs} with ranks {}, but rank {} called {ours} with ranks {}",
            agree::ranks(there),
            self.link.rank,
            agree::ranks(here)
        ))
        .help(agree::SAME)
    }

    /// All ranks but this one.
    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let rank = self.link.rank;
        (0..self.link.size).filter(move |&other| other != rank)
    }

    /// Gives up: nothing goes any more on this rank, and the others learn why when they next wait for it.
    fn break_off(&'static self, state: &mut State, why: &Error) {
        if state.broken.is_some() {
            return;
        }
        state.broken = Some(why.clone());
        if link::running() && !state.left {
            let size = self.link.size;
            let text = format!("it failed: {why}");
            let letter = Letter::farewell(About::Failure, size, &text);
            control::leave(&self.link, letter, self.others());
        }
    }

    /// Agrees, then moves pieces. What the record says of their sizes has been checked.
    fn exchanged<'r>(
        &'static self,
        line: Line,
        call: &Call<'_>,
        record: impl FnOnce(u64, usize) -> Result<Record<'r>>,
        send: &[Rows<'_>],
        recv: &mut [RowsMut<'_>],
    ) -> Result<()> {
        let mut state = self.lock();
        let record = self.begin(&mut state, line, record)?;
        let room: usize = recv.iter().map(RowsMut::bytes).sum();
        let moving = self.moving(line, call, &[], record.bytes + room);
        let small = moving.small(send);
        let small: Vec<&[u8]> = small.iter().map(|piece| &piece[..]).collect();
        let came = self.agree(&mut state, line, &record, &small)?;
        moving.exchange(send, recv, &came, &mut state.rooms);
        self.count(call, &moving, 0);
        Ok(())
    }

    fn count(&self, call: &Call<'_>, moving: &Moving<'_>, sent: usize) {
        let (at, ranks) = (moving.at, moving.line.len);
        let received = call.what.received(at, ranks, sent, call.dtype.width());
        self.received.fetch_add(received as u64, Ordering::Relaxed);
    }

    /// This rank's part in a call that sends and receives so many bytes.
    fn moving<'a>(
        &'a self,
        line: Line,
        call: &Call<'a>,
        send: &'a [u8],
        bytes: usize,
    ) -> Moving<'a> {
        let longest = Duration::from_secs_f64(bytes as f64 / SLOWEST);
        Moving {
            link: &self.link,
            line,
            at: line.place(self.link.rank),
            operator: call.operator,
            what: call.what,
            dtype: call.dtype,
            send,
            patience: self.timeout + longest,
        }
    }
}

impl Wire for &'static Mpi {
    fn rank(&self) -> usize {
        self.link.rank
    }

    fn size(&self) -> usize {
        self.link.size
    }

    fn name(&self) -> &'static str {
        "MPI"
    }

    fn collective(&self, line: Line, call: &Call<'_>, send: &[u8], recv: &mut [u8]) -> Result<()> {
        let (sent, room) = (send.len(), recv.len());
        let record = |calls, at| Record::of_call(calls, line, at, call, sent, room);
        let recv = match pieces(call.what, send, recv) {
            Ok((send, mut recv)) => return self.exchanged(line, call, record, &send, &mut recv),
            Err(recv) => recv,
        };
        let mut state = self.lock();
        let record = self.begin(&mut state, line, record)?;
        let moving = self.moving(line, call, send, sent + room);
        let came = self.agree(&mut state, line, &record, &moving.pieces())?;
        moving.run(recv, &came, &mut state.rooms)?;
        self.count(call, &moving, sent);
        Ok(())
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
        let mut state = self.lock();
        let record = self.begin(&mut state, line, |calls, _| {
            Ok(Record::of_message(calls, operator, message.len()))
        })?;
        let mut came = self.agree(&mut state, line, &record, &vec![message; line.len])?;
        came[line.place(self.link.rank)].len = message.len();
        let counts: Vec<usize> = came.iter().map(|came| came.len).collect();
        let mut all = vec![0; counts.iter().sum()];
        let call = Call {
            operator,
            what: Collective::AllGather { counts: &counts },
            dtype: DType::U8,
        };
        let moving = self.moving(line, &call, &[], message.len() + all.len());
        let send = [Rows::from(message)];
        moving.exchange(
            &send,
            &mut cut_mut(&mut all, &counts),
            &came,
            &mut state.rooms,
        );
        let mut rest = &all[..];
        let one = |count: &usize| {
            let (one, after) = rest.split_at(*count);
            rest = after;
            one.to_vec()
        };
        Ok(counts.iter().map(one).collect())
    }

    fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    fn fail(&self, why: &Error) {
        self.break_off(&mut self.lock(), why);
    }

    fn leave(&self) {
        let mut state = self.lock();
        if state.broken.is_none() && !state.left && link::running() {
            state.left = true;
            let letter = Letter::farewell(About::End, self.link.size, "it has left the world");
            control::leave(&self.link, letter, self.others());
        }
    }
}
