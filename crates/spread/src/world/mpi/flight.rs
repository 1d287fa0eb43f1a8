//! Messages under way. While they are, their memory belongs to MPI, which cannot be asked to give it back: a flight
//! that has not landed is never let go of, and where it cannot land the job ends.
//!
//! F1: the bytes of a message stay where they are, and are touched by nobody else, until it has landed: they are
//! borrowed for the life of the flight or owned by it, and a flight that is dropped in the air ends the job.

use std::ffi::c_int;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use mpi::ffi;

use super::link::{Link, abort, check};
use super::rooms::Room;

/// What a message belongs to.
#[derive(Clone, Copy)]
pub(super) enum Tag {
    /// What ranks agree on.
    Control = 1,
    /// Bytes of tensors.
    Data = 2,
}

/// Why a flight has not landed.
pub(super) enum Trouble {
    /// Time is over, and these ranks have not sent or taken their messages.
    Late(Vec<usize>),
    /// MPI says that something is wrong.
    Broken(String),
}

/// Messages to and from other ranks, under way together.
pub(super) struct Flight<'a> {
    link: &'a Link,
    requests: Vec<ffi::MPI_Request>,
    messages: Vec<Message>,
    /// How many have not landed.
    left: usize,
    owned: Vec<Box<[u8]>>,
    rooms: Vec<Room>,
    /// Where MPI writes what has landed.
    places: Vec<c_int>,
    statuses: Vec<ffi::MPI_Status>,
    memory: PhantomData<&'a mut [u8]>,
}

struct Message {
    with: usize,
    receives: bool,
    landed: bool,
    /// Which of the flight's own bytes, where it is some of them.
    owned: usize,
}

/// A message that has been received.
pub(super) struct Landed {
    message: usize,
    bytes: usize,
}

/// MPI counts in 32 bits. What is longer than this many bytes goes in pieces; few enough that none of them is felt.
pub(super) const LARGEST: usize = 32 << 20;

impl<'a> Flight<'a> {
    pub(super) fn new(link: &'a Link) -> Flight<'a> {
        Flight {
            link,
            requests: Vec::new(),
            messages: Vec::new(),
            left: 0,
            owned: Vec::new(),
            rooms: Vec::new(),
            places: Vec::new(),
            statuses: Vec::new(),
            memory: PhantomData,
        }
    }

    /// Sends bytes to a rank; nothing, if there are none.
    pub(super) fn send(&mut self, bytes: &'a [u8], to: usize, tag: Tag) {
        for piece in bytes.chunks(LARGEST) {
            // SAFETY: F1: borrowed for the life of the flight.
            unsafe { self.begin(piece.as_ptr().cast_mut(), piece.len(), to, tag, false) }
        }
    }

    /// Receives as many bytes as there is room for from a rank; nothing, if there is none.
    pub(super) fn receive(&mut self, bytes: &'a mut [u8], from: usize, tag: Tag) {
        for piece in bytes.chunks_mut(LARGEST) {
            // SAFETY: F1: borrowed for the life of the flight, and nobody else has it.
            unsafe { self.begin(piece.as_mut_ptr(), piece.len(), from, tag, true) }
        }
    }

    /// Sends bytes that the flight keeps.
    pub(super) fn send_owned(
        &mut self,
        bytes: Box<[u8]>,
        to: impl IntoIterator<Item = usize>,
        tag: Tag,
    ) {
        for to in to {
            // SAFETY: F1: a box stays where it is when the flight moves.
            unsafe { self.begin(bytes.as_ptr().cast_mut(), bytes.len(), to, tag, false) }
        }
        self.owned.push(bytes);
    }

    /// Sends the first `len` bytes of a room, which the flight keeps until it has landed.
    pub(super) fn send_room(&mut self, mut room: Room, len: usize, to: usize, tag: Tag) {
        let bytes = &mut room[..len];
        // SAFETY: F1: what a room points to stays where it is when the flight moves.
        unsafe { self.begin(bytes.as_mut_ptr(), len, to, tag, false) }
        self.rooms.push(room);
    }

    /// Receives up to `len` bytes into a room, which the flight keeps until it has landed.
    pub(super) fn receive_room(&mut self, mut room: Room, len: usize, from: usize, tag: Tag) {
        let bytes = &mut room[..len];
        // SAFETY: F1: as above.
        unsafe { self.begin(bytes.as_mut_ptr(), len, from, tag, true) }
        self.rooms.push(room);
    }

    /// Receives up to `len` bytes into memory that the flight keeps until it has landed.
    pub(super) fn receive_owned(
        &mut self,
        mut bytes: Box<[u8]>,
        len: usize,
        from: usize,
        tag: Tag,
    ) {
        let len = len.min(bytes.len());
        // SAFETY: F1: a box stays where it is when the flight moves.
        unsafe { self.begin(bytes.as_mut_ptr(), len, from, tag, true) }
        self.owned.push(bytes);
    }

    /// From which rank a message into the flight's own memory came, and what it says.
    pub(super) fn message(&self, landed: &Landed) -> (usize, &[u8]) {
        let message = &self.messages[landed.message];
        (message.with, &self.owned[message.owned][..landed.bytes])
    }

    /// # Safety
    /// F1 for `len` bytes at `start`, which may be written if it `receives`.
    unsafe fn begin(&mut self, start: *mut u8, len: usize, with: usize, tag: Tag, receives: bool) {
        // SAFETY: L1, L2; F1 by the caller; lengths are at most `LARGEST`, so they fit.
        let (code, request) = unsafe {
            let mut request = ffi::RSMPI_REQUEST_NULL;
            let (comm, byte) = (self.link.comm, ffi::RSMPI_UINT8_T);
            let (start, len, tag) = (start.cast(), len as c_int, tag as c_int);
            let code = match receives {
                true => ffi::MPI_Irecv(start, len, byte, with as c_int, tag, comm, &mut request),
                false => ffi::MPI_Isend(start, len, byte, with as c_int, tag, comm, &mut request),
            };
            (code, request)
        };
        if let Err(error) = check(code, if receives { "MPI_Irecv" } else { "MPI_Isend" }) {
            abort(&format!("rank {} ends the job: {error}", self.link.rank));
        }
        self.requests.push(request);
        self.messages.push(Message {
            with,
            receives,
            landed: false,
            owned: self.owned.len(),
        });
        self.left += 1;
    }

    /// Looks once which messages have landed since.
    pub(super) fn look(&mut self, landed: &mut Vec<Landed>) -> Result<(), Trouble> {
        landed.clear();
        if self.left == 0 {
            return Ok(());
        }
        let total = self.requests.len();
        self.places.resize(total, 0);
        // SAFETY: a status is plain numbers.
        let empty = unsafe { std::mem::zeroed::<ffi::MPI_Status>() };
        self.statuses.resize(total, empty);
        let mut count = 0;
        // SAFETY: L1, L2; both lists have room for all requests.
        let code = unsafe {
            ffi::MPI_Testsome(
                total as c_int,
                self.requests.as_mut_ptr(),
                &mut count,
                self.places.as_mut_ptr(),
                self.statuses.as_mut_ptr(),
            )
        };
        check(code, "MPI_Testsome").map_err(|error| {
            let code = self
                .statuses
                .iter()
                .find(|s| s.MPI_ERROR != ffi::MPI_SUCCESS as c_int);
            let inner = code.and_then(|s| check(s.MPI_ERROR, "a message").err());
            Trouble::Broken(inner.unwrap_or(error).to_string())
        })?;
        // Where nothing is under way the count is a negative constant.
        for (place, status) in self
            .places
            .iter()
            .zip(&self.statuses)
            .take(count.max(0) as usize)
        {
            let mut bytes = 0;
            // SAFETY: the status was written by the call above.
            unsafe { ffi::MPI_Get_count(status, ffi::RSMPI_UINT8_T, &mut bytes) };
            let message = *place as usize;
            self.messages[message].landed = true;
            self.left -= 1;
            if self.messages[message].receives {
                landed.push(Landed {
                    message,
                    bytes: bytes.max(0) as usize,
                });
            }
        }
        Ok(())
    }

    /// Whether all have landed.
    pub(super) fn is_down(&self) -> bool {
        self.left == 0
    }

    /// The ranks that have not sent, or else those that have not taken what they were sent.
    pub(super) fn late(&self) -> Vec<usize> {
        let left = || self.messages.iter().filter(|message| !message.landed);
        let silent = left().any(|message| message.receives);
        let mut ranks: Vec<usize> = left()
            .filter(|message| message.receives == silent)
            .map(|message| message.with)
            .collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }

    /// The rooms that the flight kept, in the order they were given, when all have landed.
    pub(super) fn rooms(mut self) -> Vec<Room> {
        debug_assert!(self.is_down());
        std::mem::take(&mut self.rooms)
    }

    /// Waits until all have landed, or too long.
    pub(super) fn wait(&mut self, patience: Duration) -> Result<(), Trouble> {
        let begun = Instant::now();
        let mut landed = Vec::new();
        let mut looking = Looking::default();
        loop {
            self.look(&mut landed)?;
            if self.is_down() {
                return Ok(());
            }
            if begun.elapsed() > patience {
                return Err(Trouble::Late(self.late()));
            }
            looking.rest();
        }
    }
}

/// Between two looks. Every look moves things on, so the next one comes at once; but now and then whoever else wants
/// the processor goes first, in case it is the one that is waited for.
#[derive(Default)]
pub(super) struct Looking(u32);

impl Looking {
    pub(super) fn rest(&mut self) {
        const LOOKS: u32 = 64;
        self.0 = (self.0 + 1) % LOOKS;
        match self.0 {
            0 => std::thread::yield_now(),
            _ => std::hint::spin_loop(),
        }
    }
}

impl Flight<'static> {
    /// Lets go of messages that will not land. Their memory is the flight's own, and is left to MPI for good.
    pub(super) fn abandon(self) {
        std::mem::forget(self);
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        if self.left > 0 {
            // F1 would be broken: the memory is about to be used for something else.
            abort(&format!(
                "rank {} ends the job: it cannot go on while messages are under way",
                self.link.rank
            ));
        }
    }
}
