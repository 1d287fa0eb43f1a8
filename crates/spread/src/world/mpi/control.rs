//! What ranks tell each other before anything moves: each sends an envelope to each of its line, with what it is about
//! to do and, where it is small, what it has to give. All of them see all envelopes, so all come to the same decision;
//! and whoever does not send one is known by name.

use std::time::{Duration, Instant};

use stridewise_core::error::{Error, Result};

use super::data::SMALL;
use super::flight::{Flight, Tag, Trouble};
use super::link::Link;

/// The most bytes of a record.
pub(super) const RECORD: usize = 1024;
/// Two lengths.
const HEAD: usize = 12;

/// After this long the others are busy, and the processor is left to them.
const BUSY: Duration = Duration::from_millis(5);
const NAP: Duration = Duration::from_micros(50);

/// What a rank has to say to another.
#[derive(Clone, Copy)]
pub(super) struct Envelope<'a> {
    /// What it is about to do.
    pub(super) record: &'a [u8],
    /// How many bytes it has for the other.
    pub(super) len: usize,
    /// Those bytes, if they are few.
    pub(super) piece: &'a [u8],
}

impl<'a> Envelope<'a> {
    pub(super) fn new(record: &'a [u8], piece: &'a [u8]) -> Envelope<'a> {
        Envelope {
            record: &record[..record.len().min(RECORD)],
            len: piece.len(),
            piece: if piece.len() <= SMALL { piece } else { &[] },
        }
    }

    fn write(&self) -> Box<[u8]> {
        let lengths = [
            &(self.record.len() as u32).to_le_bytes()[..],
            &(self.len as u64).to_le_bytes()[..],
        ];
        [&lengths.concat(), self.record, self.piece].concat().into()
    }

    fn read(bytes: &'a [u8]) -> Option<Envelope<'a>> {
        let (record, rest) = bytes.split_first_chunk::<4>()?;
        let (len, rest) = rest.split_first_chunk::<8>()?;
        let (record, piece) = rest.split_at_checked(u32::from_le_bytes(*record) as usize)?;
        let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
        let whole = piece.len() == if len <= SMALL { len } else { 0 };
        whole.then_some(Envelope { record, len, piece })
    }
}

/// Gives each rank its envelope, and `hear`s one of each as it comes. Stops at the first that `hear` does not like.
pub(super) fn exchange<'a>(
    link: &'static Link,
    envelopes: impl IntoIterator<Item = (usize, Envelope<'a>)>,
    patience: Duration,
    mut hear: impl FnMut(usize, Envelope<'_>) -> Result<()>,
    mut waits: impl FnMut(usize),
    late: impl FnOnce(usize) -> Error,
) -> Result<()> {
    let begun = Instant::now();
    let mut flight = Flight::new(link);
    for (rank, envelope) in envelopes {
        let room = vec![0; HEAD + RECORD + SMALL].into_boxed_slice();
        let len = room.len();
        flight.receive_owned(room, len, rank, Tag::Control);
        flight.send_owned(envelope.write(), [rank], Tag::Control);
    }
    let mut landed = Vec::new();
    let mut told = false;
    let stopped = loop {
        if let Err(trouble) = flight.look(&mut landed) {
            break match trouble {
                Trouble::Late(rank) => late(rank),
                Trouble::Broken(text) => Error::world(text),
            };
        }
        let heard = landed.iter().try_for_each(|one| {
            let (rank, bytes) = flight.message(one);
            match Envelope::read(bytes) {
                Some(envelope) => hear(rank, envelope),
                None => Err(Error::world(format!(
                    "what rank {rank} says cannot be read: it runs another version of this library"
                ))),
            }
        });
        if let Err(error) = heard {
            break error;
        }
        let Some(rank) = flight.late() else {
            return Ok(());
        };
        let waited = begun.elapsed();
        if waited > patience {
            break late(rank);
        }
        match waited > BUSY {
            true => {
                if !told {
                    waits(rank);
                    told = true;
                }
                std::thread::sleep(NAP);
            }
            false => std::thread::yield_now(),
        }
    };
    flight.abandon();
    Err(stopped)
}

/// Leaves an envelope with every rank, which finds it when it next waits for this one.
pub(super) fn leave(link: &'static Link, record: &[u8], ranks: impl IntoIterator<Item = usize>) {
    let mut flight = Flight::new(link);
    flight.send_owned(Envelope::new(record, &[]).write(), ranks, Tag::Control);
    // Small messages are on their way at once; one that is not has nobody to take it.
    let _ = flight.wait(Duration::from_millis(50));
    flight.abandon();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envelopes_are_read_as_they_were_written_and_torn_ones_are_not() {
        for len in [0, 1, SMALL, SMALL + 1] {
            let piece: Vec<u8> = (0..len).map(|i| i as u8).collect();
            let written = Envelope::new(b"record", &piece).write();
            let read = Envelope::read(&written).expect("whole");
            assert_eq!((read.record, read.len), (&b"record"[..], len));
            assert_eq!(read.piece, if len <= SMALL { &piece[..] } else { &[] });
            for cut in 0..written.len() {
                assert!(Envelope::read(&written[..cut]).is_none(), "{len} {cut}");
            }
        }
    }
}
