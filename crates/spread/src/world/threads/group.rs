//! All ranks of a world of threads: where they meet, who has left, and the first thing that went wrong.

use std::collections::HashMap;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use stridewise_core::error::{Error, Result};

use super::meeting::Meeting;
use crate::mesh::Line;
use crate::world::agree::{self, Record};

/// The ranks of a world.
pub(super) struct Group {
    timeout: Duration,
    /// How often to look at a gate before letting go of the core.
    spins: u32,
    meetings: Mutex<HashMap<Line, Arc<Meeting>>>,
    /// Who calls nothing any more.
    left: Box<[AtomicBool]>,
    /// Set once, under its lock, together with `failed`.
    cause: Mutex<Option<Cause>>,
    failed: AtomicBool,
    /// Grows whenever a rank leaves or the world fails, so that whoever waits looks again.
    news: AtomicU64,
}

/// Why a world has failed.
#[derive(Clone, Debug)]
pub(super) enum Cause {
    /// A rank has failed by itself.
    Failed(usize, Error),
    /// A rank has panicked, with this message.
    Panicked(usize, String),
    /// A call could not be made together; the error says it all.
    Call(Error),
}

impl Cause {
    /// What whoever makes a call is told.
    fn told(&self, record: &Record<'_>) -> Error {
        match self {
            Cause::Failed(rank, error) => agree::gone(*rank, record, &error.to_string()),
            Cause::Panicked(rank, text) => {
                agree::gone(*rank, record, &format!("it panicked: {text}"))
            }
            Cause::Call(error) => error.clone(),
        }
    }

    /// What whoever started the ranks is told.
    pub(super) fn at_its_rank(&self) -> Error {
        match self {
            Cause::Failed(rank, error) => error.clone().note("on rank", rank),
            Cause::Panicked(rank, text) => Error::world(format!("rank {rank} panicked: {text}")),
            Cause::Call(error) => error.clone(),
        }
    }
}

impl Group {
    pub(super) fn new(size: usize, timeout: Duration) -> Group {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Group {
            timeout,
            // A rank that has no core of its own only keeps others from coming.
            spins: if size <= cores { 20 } else { 0 },
            meetings: Mutex::default(),
            left: (0..size).map(|_| AtomicBool::new(false)).collect(),
            cause: Mutex::default(),
            failed: AtomicBool::new(false),
            news: AtomicU64::new(0),
        }
    }

    pub(super) fn size(&self) -> usize {
        self.left.len()
    }

    pub(super) fn meeting(&self, line: Line) -> Arc<Meeting> {
        let mut meetings = lock(&self.meetings);
        let fresh = || Arc::new(Meeting::new(line, self.spins));
        Arc::clone(meetings.entry(line).or_insert_with(fresh))
    }

    /// The first cause, if the world has failed.
    pub(super) fn cause(&self) -> Option<Cause> {
        lock(&self.cause).clone()
    }

    /// An error if the world has failed.
    pub(super) fn check(&self, record: &Record<'_>) -> Result<()> {
        if !self.failed.load(SeqCst) {
            return Ok(());
        }
        match &*lock(&self.cause) {
            Some(cause) => Err(cause.told(record)),
            None => Ok(()),
        }
    }

    /// The world fails, unless it has failed already.
    pub(super) fn fail(&self, cause: Cause) {
        self.set(&mut lock(&self.cause), cause);
        self.tell_all();
    }

    /// A rank calls nothing any more.
    pub(super) fn leave(&self, rank: usize) {
        if !self.left[rank].swap(true, SeqCst) {
            self.tell_all();
        }
    }

    /// Waits at the first gate of a call until all are there. After an error nobody ever gets through it.
    pub(super) fn assemble(
        &self,
        meeting: &Meeting,
        at: usize,
        gate: u64,
        record: &Record<'_>,
    ) -> Result<()> {
        meeting.set_waiting(at, true);
        let result = self.wait_for_all(meeting, gate, record);
        meeting.set_waiting(at, false);
        result
    }

    fn wait_for_all(&self, meeting: &Meeting, gate: u64, record: &Record<'_>) -> Result<()> {
        let mut until = None;
        loop {
            let news = self.news.load(SeqCst);
            if !meeting.is_broken() && meeting.is_open(gate) {
                return Ok(());
            }
            // A meeting is broken under the lock of the cause, so the cause is there by now.
            if meeting.is_broken() || self.failed.load(SeqCst) {
                let nothing_new = || Cause::Call(Error::world("the world has failed"));
                self.give_up(meeting, gate, record, nothing_new)?;
                continue;
            }
            // Whoever left before it came will not come: `left` is set after its last call.
            let left = |&rank: &usize| self.left[rank].load(SeqCst);
            let gone = meeting
                .line
                .ranks()
                .find(|rank| left(rank) && meeting.missing(gate).any(|missing| missing == *rank));
            if let Some(rank) = gone {
                let why = "it has left, and calls nothing any more";
                let cause = || Cause::Call(agree::gone(rank, record, why));
                self.give_up(meeting, gate, record, cause)?;
                continue;
            }
            let until = *until.get_or_insert_with(|| Instant::now().checked_add(self.timeout));
            let settled = || meeting.is_broken() || meeting.is_open(gate);
            if !meeting.wait(|| settled() || self.news.load(SeqCst) != news, until) {
                let missing: Vec<usize> = meeting.missing(gate).collect();
                // None: the last one is about to be counted.
                if !missing.is_empty() {
                    let cause = || self.late(meeting, &missing, record);
                    self.give_up(meeting, gate, record, cause)?;
                }
            }
        }
    }

    /// Gives up a gate, with the first cause as the error; or not, when all have come after all.
    fn give_up(
        &self,
        meeting: &Meeting,
        gate: u64,
        record: &Record<'_>,
        cause: impl FnOnce() -> Cause,
    ) -> Result<()> {
        let told = {
            let mut first = lock(&self.cause);
            if !meeting.give_up(gate) {
                return Ok(());
            }
            self.set(&mut first, cause()).told(record)
        };
        self.tell_all();
        Err(told)
    }

    fn late(&self, meeting: &Meeting, missing: &[usize], record: &Record<'_>) -> Cause {
        let meetings = lock(&self.meetings);
        let elsewhere = missing.iter().find_map(|&rank| {
            let other = meetings.values().find(|other| other.is_waiting(rank))?;
            let with = agree::ranks(other.line);
            Some(format!("rank {rank} waits in a call of ranks {with}"))
        });
        let line = meeting.line;
        Cause::Call(agree::late(line, missing, record, self.timeout, elsewhere))
    }

    fn set<'a>(&self, first: &'a mut Option<Cause>, cause: Cause) -> &'a Cause {
        let first = first.get_or_insert(cause);
        self.failed.store(true, SeqCst);
        first
    }

    /// Wakes everybody. A meeting that is made after this is waited at by ranks that see the news.
    fn tell_all(&self) {
        self.news.fetch_add(1, SeqCst);
        let meetings = lock(&self.meetings);
        meetings.values().for_each(|meeting| meeting.ring());
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is kept under the locks of a world is whole between any two statements, so a panic does no harm.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
