//! Buffers that ranks lend to each other while all of them are in the same call. This is the only file of the world
//! of threads with `unsafe` in it; what it offers is safe.
//!
//! A rank writes where its buffers are to its own [`Lent`], comes to the first gate of the call, and from then until
//! it leaves is at a [`Stay`]. Numbered invariants, cited below:
//!
//! - **L1 own slot**: a rank's `Lent` is written by that rank only, before it comes to the first gate of a call, and
//!   not again before it has left that call. (A seat is locked during a call, so a rank is in one call of a line at a
//!   time, however many threads it has.)
//! - **L2 all there**: others read a `Lent`, and what it points to, only after the first gate has opened and before
//!   they come to the last one. Coming to a gate and seeing it open are `SeqCst`, so what was written before the one
//!   is seen after the other.
//! - **L3 nobody leaves early**: a rank that has come to the first gate returns in two ways only. It gives up, which
//!   succeeds only in breaking the meeting before the gate was open: then by L2 nobody has read its buffers, and since a
//!   broken gate lets nobody through, nobody will. Or the first gate is open and it waits for the last one, to which
//!   by L2 others come after they have stopped reading. There is no third way: a timeout or a failed world only leads
//!   to giving up, and when that comes too late the call is finished like any other. Unwinding takes the same way,
//!   since all of it is in `Stay`'s `drop`.
//! - **L4 same gates**: how many gates a call has follows from the records of all ranks, which all ranks read; so
//!   nobody waits at a gate that others do not come to.
//! - **L5 parts**: nobody but its owner reads or writes a `recv`, until the owner has come to the gate halfway; from
//!   then on its own part is only read, by everybody, and the rest is only written, by the owner.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::ops::Range;
use std::ptr;
use std::slice;

use stridewise_core::error::Result;
use stridewise_core::smallvec::SmallVec;
use stridewise_cpu::Rows;

use super::meeting::Meeting;
use crate::mesh::part;
use crate::world::agree::{self, Kind, Record};

/// Where a rank's buffers are.
#[derive(Default)]
pub(super) struct Lent(UnsafeCell<Option<Places>>);

// SAFETY: L1 and L2 keep writing apart from reading.
unsafe impl Sync for Lent {}
// SAFETY: what it points to may be read by any thread: bytes, and a record and pieces, which are `Sync`.
unsafe impl Send for Lent {}

#[derive(Clone, Copy)]
struct Places {
    record: *const Record<'static>,
    send: *const u8,
    sent: usize,
    pieces: *const Rows<'static>,
    count: usize,
    recv: *mut u8,
    room: usize,
}

/// What a rank lends to the others during a call.
#[derive(Default)]
pub(super) struct Buffers<'a> {
    /// What it sends in one run.
    pub(super) send: &'a [u8],
    /// What it sends in pieces.
    pub(super) pieces: &'a [Rows<'a>],
    /// Where it receives what the others read too.
    pub(super) recv: &'a mut [u8],
}

/// All-reduces of so few bytes are done by each rank for itself: that is over before a third gate would be.
const FEW: usize = 4096;

/// A rank's stay in a call. Dropping it is leaving.
pub(super) struct Stay<'a> {
    meeting: &'a Meeting,
    at: usize,
    own: Places,
    /// The last gate this rank has come to.
    gate: &'a mut u64,
    /// The last gate of the call.
    last: u64,
    /// Whether all are there.
    inside: bool,
    /// Whether others may read this rank's `recv`.
    shared: bool,
}

impl<'a> Stay<'a> {
    /// Lends the buffers to the others, and once `assemble` says that all are there and their records go together does
    /// the work of the call. Returns when nobody reads the buffers any more.
    pub(super) fn during<T>(
        (meeting, at, gate): (&'a Meeting, usize, &'a mut u64),
        record: &Record<'_>,
        buffers: Buffers<'_>,
        assemble: impl FnOnce(u64) -> Result<()>,
        work: impl FnOnce(&mut Stay<'_>) -> Result<T>,
    ) -> Result<T> {
        let own = Places {
            record: ptr::from_ref(record).cast(),
            send: buffers.send.as_ptr(),
            sent: buffers.send.len(),
            pieces: buffers.pieces.as_ptr().cast(),
            count: buffers.pieces.len(),
            // `recv` is not touched before this function returns, but through this pointer.
            recv: buffers.recv.as_mut_ptr(),
            room: buffers.recv.len(),
        };
        // SAFETY: L1.
        unsafe { *meeting.place(at).lent.0.get() = Some(own) };
        *gate += 1;
        let first = *gate;
        let mut stay = Stay {
            meeting,
            at,
            own,
            gate,
            last: first + 1,
            inside: false,
            shared: false,
        };
        meeting.come(at, first);
        assemble(first)?;
        assert!(
            meeting.is_open(first) && !meeting.is_broken(),
            "all are there"
        );
        stay.enter()?;
        work(&mut stay)
    }

    /// All are there. The error is the verdict of all of them on their records.
    fn enter(&mut self) -> Result<()> {
        self.inside = true;
        agree::check(self.meeting.line, &self.records())?;
        // L4: this is the same in all records.
        let own = self.record(self.at);
        let halfway = own.kind == Kind::AllReduce && own.bytes > FEW;
        self.last += u64::from(halfway);
        Ok(())
    }

    /// How many ranks there are.
    pub(super) fn ranks(&self) -> usize {
        self.meeting.line.len
    }

    /// The place of this rank.
    pub(super) fn place(&self) -> usize {
        self.at
    }

    /// What the rank at one place sends to the one at another, of an exchange: its piece, or the only one.
    pub(super) fn piece(&self, from: usize, to: usize) -> &Rows<'_> {
        let places = self.places(from);
        // SAFETY: L2 and L3: they are lent for as long as this stay, and only read meanwhile.
        let pieces = unsafe { slice::from_raw_parts(places.pieces, places.count) };
        pieces.get(to).unwrap_or(&pieces[0])
    }

    /// What the rank at a place sends.
    pub(super) fn sent(&self, at: usize) -> &[u8] {
        let places = self.places(at);
        // SAFETY: L2 and L3: it is lent for as long as this stay, and only read meanwhile.
        unsafe { slice::from_raw_parts(places.send, places.sent) }
    }

    /// Lets `fill` write where this rank receives, with what all send at hand.
    pub(super) fn receive<T>(&mut self, fill: impl FnOnce(&mut [u8], &Stay<'_>) -> T) -> T {
        assert!(!self.shared, "what others read is not written");
        // SAFETY: L5: no one else reads or writes it, and a stay that is not borrowed mutably has no other way to it.
        let room = unsafe { slice::from_raw_parts_mut(self.own.recv, self.own.room) };
        fill(room, self)
    }

    /// Whether there is a gate halfway, so that each does a part of the work and parts are shared.
    pub(super) fn shares(&self) -> bool {
        *self.gate + 1 < self.last
    }

    /// The bytes of an all-reduce that the rank at a place reduces for all.
    pub(super) fn part(&self, at: usize) -> Range<usize> {
        let record = self.record(self.at);
        let width = record.dtype.width();
        let elements = part(record.bytes / width, self.ranks(), at);
        elements.start * width..elements.end * width
    }

    /// Lets the others read this rank's part of what it has received, and reads theirs.
    pub(super) fn share(&mut self) {
        assert!(self.shares() && !self.shared);
        self.shared = true;
        self.pass();
        for at in (0..self.ranks()).filter(|&at| at != self.at) {
            let (theirs, part) = (self.places(at), self.part(at));
            assert!(part.end <= theirs.room.min(self.own.room));
            // SAFETY: L5: their own part is only read by now. Here it lies outside of this rank's own part, since all
            // have the same record and parts do not overlap. Nor do two buffers that ranks hold as slices.
            unsafe {
                let (from, to) = (theirs.recv.add(part.start), self.own.recv.add(part.start));
                ptr::copy_nonoverlapping(from, to, part.len());
            }
        }
    }

    fn record(&self, at: usize) -> &Record<'_> {
        // SAFETY: L2 and L3: the record is on its owner's stack, who does not return during this stay.
        unsafe { &*self.places(at).record.cast() }
    }

    fn records(&self) -> SmallVec<[&Record<'_>; 8]> {
        (0..self.ranks()).map(|at| self.record(at)).collect()
    }

    fn places(&self, at: usize) -> Places {
        assert!(self.inside, "others are not read before all are there");
        // SAFETY: L1 and L2: it was written before the first gate opened.
        let places = unsafe { *self.meeting.place(at).lent.0.get() };
        places.expect("whoever is there has lent its buffers")
    }

    /// Comes to the next gate and waits for it to open.
    fn pass(&mut self) {
        *self.gate += 1;
        let gate = *self.gate;
        self.meeting.come(self.at, gate);
        self.meeting.wait(|| self.meeting.is_open(gate), None);
    }
}

impl Drop for Stay<'_> {
    fn drop(&mut self) {
        if !self.inside {
            // L3, the first way.
            if self.meeting.give_up(*self.gate) {
                return;
            }
            // Only a panic while waiting leads here; the others have begun, and must not wait for ever.
            let _ = self.enter();
        }
        // L3, the second way.
        while *self.gate < self.last {
            self.pass();
        }
    }
}
