//! What ranks tell each other before anything moves: each sends a [`Letter`] to each of its line, with what it is about
//! to do and, where it is small, what it has to give. All of them see all letters, so all come to the same decision;
//! and whoever sends none is known by name.

use std::time::{Duration, Instant};

use stridewise_core::error::{Error, Result};

use super::flight::{Flight, Looking, Tag, Trouble};
use super::link::Link;
use super::reduce::SMALL;
use crate::mesh::Line;

/// The longest text of a letter: the record of a call, or why a rank is gone. A longer record is sent on its own.
pub(super) const TEXT: usize = 1024;

/// After this long the others are busy, and the processor is left to them.
const BUSY: Duration = Duration::from_millis(1);
const NAP: Duration = Duration::from_micros(50);

/// What a rank has to say to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Letter<'a> {
    pub(super) about: About,
    /// The ranks that are to take part.
    pub(super) line: Line,
    /// The record of the call or the reason, as far as it fits.
    pub(super) text: &'a [u8],
    /// How many bytes it has for the other.
    pub(super) len: usize,
    /// Those bytes, if they are few.
    pub(super) piece: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum About {
    /// A call, with its record.
    Call,
    /// A call whose record is too long for a letter.
    LongCall,
    /// The program has come to its end.
    End,
    /// The rank has failed.
    Failure,
}

/// What came with a letter: bytes, if they are few, and how many there are in any case.
#[derive(Default)]
pub(super) struct Came {
    pub(super) len: usize,
    pub(super) piece: Box<[u8]>,
}

impl<'a> Letter<'a> {
    const HEAD: usize = 1 + 5 * 8;
    const LONGEST: usize = Letter::HEAD + TEXT + SMALL;

    /// A call: its record, and bytes for the one who gets the letter.
    pub(super) fn call(line: Line, record: &'a [u8], piece: &'a [u8]) -> Letter<'a> {
        let long = record.len() > TEXT;
        Letter {
            about: if long { About::LongCall } else { About::Call },
            line,
            text: if long { &[] } else { record },
            len: piece.len(),
            piece: if piece.len() <= SMALL { piece } else { &[] },
        }
    }

    /// A farewell to all ranks of the world.
    pub(super) fn farewell(about: About, size: usize, why: &'a str) -> Letter<'a> {
        let cut = (0..=TEXT.min(why.len())).rfind(|&at| why.is_char_boundary(at));
        Letter {
            about,
            line: Line::all(size),
            text: &why.as_bytes()[..cut.unwrap_or(0)],
            len: 0,
            piece: &[],
        }
    }

    fn write(&self) -> Box<[u8]> {
        let Line { first, step, len } = self.line;
        let mut bytes = Vec::with_capacity(Letter::HEAD + self.text.len() + self.piece.len());
        bytes.push(self.about as u8);
        for number in [first, step, len, self.text.len(), self.len] {
            bytes.extend((number as u64).to_le_bytes());
        }
        bytes.extend(self.text);
        bytes.extend(self.piece);
        bytes.into()
    }

    fn read(bytes: &'a [u8]) -> Option<Letter<'a>> {
        let (&about, mut rest) = bytes.split_first()?;
        let about = [About::Call, About::LongCall, About::End, About::Failure]
            .into_iter()
            .find(|one| *one as u8 == about)?;
        let mut number = || {
            let (number, after) = rest.split_first_chunk::<8>()?;
            rest = after;
            usize::try_from(u64::from_le_bytes(*number)).ok()
        };
        let (first, step, many) = (number()?, number()?, number()?);
        let (text, len) = (number()?, number()?);
        let (text, piece) = rest.split_at_checked(text)?;
        let whole = piece.len() == if len <= SMALL { len } else { 0 };
        whole.then_some(Letter {
            about,
            line: Line {
                first,
                step,
                len: many,
            },
            text,
            len,
            piece,
        })
    }
}

/// Gives each rank its letter, if there is one, and `hear`s one of each as it comes; stops at the first that `hear` does not like.
/// `waits` is told of whom it waits for when that takes a while.
pub(super) fn exchange<'a>(
    link: &'static Link,
    letters: impl IntoIterator<Item = (usize, Option<Letter<'a>>)>,
    patience: Duration,
    mut hear: impl FnMut(usize, &Letter<'_>) -> Result<()>,
    waits: impl FnMut(&[usize]),
    late: impl FnOnce(&[usize]) -> Error,
) -> Result<()> {
    let mut flight = Flight::new(link);
    for (rank, letter) in letters {
        let room = vec![0; Letter::LONGEST].into();
        flight.receive_owned(room, Letter::LONGEST, rank, Tag::Control);
        if let Some(letter) = letter {
            flight.send_owned(letter.write(), [rank], Tag::Control);
        }
    }
    converse(
        flight,
        patience,
        waits,
        late,
        |rank, bytes| match Letter::read(bytes) {
            Some(letter) => hear(rank, &letter),
            None => Err(Error::world(format!(
                "rank {rank} sent {} bytes that are no letter",
                bytes.len()
            ))
            .help("all ranks must run the same version of Stridewise")),
        },
    )
}

/// Gives all others the same bytes, and hears those of each, whose lengths are known.
pub(super) fn exchange_long(
    link: &'static Link,
    bytes: &[u8],
    lengths: impl IntoIterator<Item = (usize, usize)>,
    patience: Duration,
    hear: impl FnMut(usize, &[u8]) -> Result<()>,
    late: impl FnOnce(&[usize]) -> Error,
) -> Result<()> {
    let mut flight = Flight::new(link);
    for (rank, len) in lengths {
        flight.receive_owned(vec![0; len].into(), len, rank, Tag::Control);
        flight.send_owned(bytes.into(), [rank], Tag::Control);
    }
    converse(flight, patience, |_| (), late, hear)
}

fn converse(
    mut flight: Flight<'static>,
    patience: Duration,
    mut waits: impl FnMut(&[usize]),
    late: impl FnOnce(&[usize]) -> Error,
    mut hear: impl FnMut(usize, &[u8]) -> Result<()>,
) -> Result<()> {
    let begun = Instant::now();
    let mut told = false;
    let mut looking = Looking::default();
    let mut landed = Vec::new();
    let stopped = loop {
        match flight.look(&mut landed) {
            Ok(()) => {}
            Err(Trouble::Late(ranks)) => break late(&ranks),
            Err(Trouble::Broken(text)) => break Error::world(text),
        }
        let heard = landed.iter().try_for_each(|one| {
            let (rank, bytes) = flight.message(one);
            hear(rank, bytes)
        });
        if let Err(error) = heard {
            break error;
        }
        if flight.is_down() {
            return Ok(());
        }
        let waited = begun.elapsed();
        if waited > patience {
            break late(&flight.late());
        }
        if waited > BUSY {
            if !told || !landed.is_empty() {
                waits(&flight.late());
                told = true;
            }
            std::thread::sleep(NAP);
        } else {
            looking.rest();
        }
    };
    flight.abandon();
    Err(stopped)
}

/// Leaves a letter with other ranks, which find it when they next wait for this one.
pub(super) fn leave(link: &'static Link, letter: Letter<'_>, to: impl IntoIterator<Item = usize>) {
    let mut flight = Flight::new(link);
    flight.send_owned(letter.write(), to, Tag::Control);
    // Small messages are on their way at once; one that is not has nobody to take it.
    let _ = flight.wait(Duration::from_millis(50));
    flight.abandon();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_read_as_they_were_written_and_torn_ones_are_not() {
        let line = Line {
            first: 1,
            step: 2,
            len: 3,
        };
        for len in [0, 1, SMALL, SMALL + 1] {
            let piece: Vec<u8> = (0..len).map(|i| i as u8).collect();
            for record in [&b"record"[..], &[7; TEXT], &[7; TEXT + 1]] {
                let letter = Letter::call(line, record, &piece);
                let written = letter.write();
                assert!(written.len() <= Letter::LONGEST);
                assert_eq!(Letter::read(&written), Some(letter));
                for cut in 0..written.len() {
                    assert_eq!(Letter::read(&written[..cut]), None, "{len} {cut}");
                }
            }
        }
    }

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        let why = "é".repeat(TEXT);
        for start in [0, 2] {
            let why = format!("{}{why}", "x".repeat(start / 2));
            let letter = Letter::farewell(About::Failure, 4, &why);
            let text = std::str::from_utf8(letter.text).expect("whole characters");
            assert!(why.starts_with(text) && text.len() > TEXT - 2);
        }
    }
}
