//! What ranks agree on before anything moves. Each rank of a line writes down its call as a [`Record`]; every rank
//! reads all of them and comes to the same verdict. Both wires share the records, the verdict and the words in which
//! a fault is told, and how long to wait for a rank.

use std::borrow::Cow;
use std::time::Duration;

use stridewise_core::dtype::DType;
use stridewise_core::error::{Error, Result};

use super::{Call, Collective};
use crate::mesh::Line;
use crate::sbp::Reduction;

mod bytes;
#[cfg(test)]
mod tests;

/// What a rank is about to do, as the others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// How many calls of this rank on this line came before.
    pub sequence: u64,
    /// The operator or method on whose behalf.
    pub operator: Cow<'a, str>,
    /// What.
    pub kind: Kind,
    /// The elements.
    pub dtype: DType,
    /// How elements become one, in a reduction.
    pub by: Option<Reduction>,
    /// Bytes that this rank sends in all.
    pub bytes: usize,
    /// Bytes of each rank of an all-gather, for each of a reduce-scatter, to each in an all-to-all; else empty.
    pub counts: Cow<'a, [usize]>,
    /// Bytes from each rank in an all-to-all; else empty.
    pub recv: Cow<'a, [usize]>,
}

/// A [`Collective`] without its counts, or a message to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as the collectives are")]
pub enum Kind {
    AllGather,
    AllToAll,
    ReduceScatter,
    AllReduce,
    Barrier,
    Tell,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 6] = [
        Kind::AllGather,
        Kind::AllToAll,
        Kind::ReduceScatter,
        Kind::AllReduce,
        Kind::Barrier,
        Kind::Tell,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::AllGather => "all_gather",
            Kind::AllToAll => "all_to_all",
            Kind::ReduceScatter => "reduce_scatter",
            Kind::AllReduce => "all_reduce",
            Kind::Barrier => "barrier",
            Kind::Tell => "tell",
        }
    }
}

impl<'a> Record<'a> {
    /// The record of a call by the rank at `place` of the line, whose buffers have these lengths. The error is about
    /// this rank alone: its buffers are not what its call says.
    pub fn of_call(
        sequence: u64,
        line: Line,
        place: usize,
        call: &Call<'a>,
        send: usize,
        recv: usize,
    ) -> Result<Record<'a>> {
        let none: &[usize] = &[];
        let (kind, by, counts, from) = match call.what {
            Collective::AllGather { counts } => (Kind::AllGather, None, counts, none),
            Collective::AllToAll { send, recv } => (Kind::AllToAll, None, send, recv),
            Collective::ReduceScatter { counts, by } => {
                (Kind::ReduceScatter, Some(by), counts, none)
            }
            Collective::AllReduce { by } => (Kind::AllReduce, Some(by), none, none),
            Collective::Barrier => (Kind::Barrier, None, none, none),
        };
        let record = Record {
            sequence,
            operator: Cow::Borrowed(call.operator),
            kind,
            dtype: call.dtype,
            by,
            bytes: send,
            counts: Cow::Borrowed(counts),
            recv: Cow::Borrowed(from),
        };
        record.fits(line, place, recv)?;
        Ok(record)
    }

    /// The record of an exchange of pieces of so many bytes, which must be those that the call says.
    pub fn of_exchange(
        sequence: u64,
        line: Line,
        place: usize,
        call: &Call<'a>,
        sent: &[usize],
        room: &[usize],
    ) -> Result<Record<'a>> {
        let (sends, receives) = (sent.iter().sum(), room.iter().sum());
        let record = Record::of_call(sequence, line, place, call, sends, receives)?;
        let fits = match call.what {
            Collective::AllGather { counts } => sent.len() == 1 && room == counts,
            Collective::AllToAll { send, recv } => sent == send && room == recv,
            _ => false,
        };
        match fits {
            true => Ok(record),
            false => Err(Error::world(format!("{record} does not fit its pieces"))
                .note("to send", several(sent))
                .note("to receive", several(room))),
        }
    }

    /// The record of a message of so many bytes.
    pub fn of_message(sequence: u64, operator: &'a str, bytes: usize) -> Record<'a> {
        Record {
            sequence,
            operator: Cow::Borrowed(operator),
            kind: Kind::Tell,
            dtype: DType::U8,
            by: None,
            bytes,
            counts: Cow::Borrowed(&[]),
            recv: Cow::Borrowed(&[]),
        }
    }

    fn fits(&self, line: Line, place: usize, recv: usize) -> Result<()> {
        if let Some(by) = self.by {
            by.check(self.dtype)?;
        }
        let wrong = |what: String| {
            Err(
                Error::world(format!("{self} does not fit its buffers: {what}"))
                    .note("ranks", ranks(line)),
            )
        };
        let lists = match self.kind {
            Kind::AllToAll => [Some(&self.counts), Some(&self.recv)],
            Kind::AllGather | Kind::ReduceScatter => [Some(&self.counts), None],
            _ => [None, None],
        };
        for counts in lists.into_iter().flatten() {
            if counts.len() != line.len {
                let (given, wanted) = (counts.len(), line.len);
                return wrong(format!("it has {given} counts for {wanted} ranks"));
            }
        }
        let total = |counts: &[usize]| {
            let add = |sum: usize, &count: &usize| sum.checked_add(count);
            counts.iter().try_fold(0, add)
        };
        let (sends, receives) = match self.kind {
            Kind::AllGather => (Some(self.counts[place]), total(&self.counts)),
            Kind::AllToAll => (total(&self.counts), total(&self.recv)),
            Kind::ReduceScatter => (total(&self.counts), Some(self.counts[place])),
            Kind::AllReduce => (Some(self.bytes), Some(self.bytes)),
            Kind::Barrier => (Some(0), Some(0)),
            Kind::Tell => (Some(self.bytes), Some(recv)),
        };
        for (side, says, has) in [("send", sends, self.bytes), ("recv", receives, recv)] {
            if says != Some(has) {
                let says = says.map_or("too many".to_string(), |says| says.to_string());
                return wrong(format!("`{side}` has {has} bytes, not {says}"));
            }
        }
        let width = self.dtype.width();
        let broken = |count: &usize| !count.is_multiple_of(width);
        if self.by.is_some() && (broken(&self.bytes) || self.counts.iter().any(broken)) {
            let dtype = self.dtype;
            return wrong(format!("that is no whole number of {dtype} elements"));
        }
        Ok(())
    }

    /// Whether both are the same call, as far as two ranks by themselves can tell.
    fn agrees(&self, other: &Record<'_>) -> bool {
        let bytes = match self.kind {
            Kind::AllReduce => self.bytes == other.bytes,
            _ => true,
        };
        let counts = match self.kind {
            Kind::AllGather | Kind::ReduceScatter => self.counts == other.counts,
            _ => true,
        };
        self.sequence == other.sequence
            && self.kind == other.kind
            && self.operator == other.operator
            && self.dtype == other.dtype
            && self.by == other.by
            && bytes
            && counts
    }
}

/// `all_gather of float32 (8, 4 bytes) for `take``.
impl std::fmt::Display for Record<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kind.name())?;
        if let Some(by) = self.by {
            write!(f, " by {}", by.name())?;
        }
        match self.kind {
            Kind::AllGather | Kind::ReduceScatter => {
                write!(f, " of {} ({})", self.dtype, several(&self.counts))?;
            }
            Kind::AllToAll => {
                let counts = several(&self.counts);
                write!(f, " of {} (sends {counts})", self.dtype)?;
            }
            Kind::AllReduce => write!(f, " of {} ({} bytes)", self.dtype, self.bytes)?,
            Kind::Barrier | Kind::Tell => {}
        }
        write!(f, " for `{}`", self.operator)
    }
}

/// `8, 4 bytes`; long lists are cut.
fn several(counts: &[usize]) -> String {
    match counts {
        [first, rest @ ..] if !rest.is_empty() && rest.iter().all(|count| count == first) => {
            format!("{first} bytes each")
        }
        _ => format!("{} bytes", list(counts)),
    }
}

fn list(all: &[usize]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = all.iter().take(SHOWN).map(usize::to_string).collect();
    let more = if all.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// The ranks of a line, for messages.
pub fn ranks(line: Line) -> String {
    list(&line.ranks().collect::<Vec<_>>())
}

pub(super) const SAME: &str = "all ranks must call the same things in the same order; look for a branch that depends on the rank";

/// Whether the records of all ranks of the line, in order, go together. Every rank that has the same records comes to
/// the same verdict, in the same words.
pub fn check(line: Line, records: &[&Record<'_>]) -> Result<()> {
    let [first, rest @ ..] = records else {
        return Ok(());
    };
    let mut others = rest.iter().filter(|record| !first.agrees(record));
    if others.next().is_some() {
        return Err(disagreement(line, records));
    }
    if first.kind == Kind::AllToAll {
        return pairs(line, records);
    }
    Ok(())
}

#[cold]
fn disagreement(line: Line, records: &[&Record<'_>]) -> Error {
    let rank = |place: usize| line.first + place * line.step;
    let first = records[0];
    let differs = |record: &&&Record<'_>| !first.agrees(record);
    let many = records.iter().filter(differs).count();
    let at = records.iter().position(|record| !first.agrees(record));
    let at = at.unwrap_or(0);
    // Whoever is in the minority comes first: it is more likely to be the one that is wrong.
    let (odd, even) = match many * 2 > records.len() {
        true => (0, at),
        false => (at, 0),
    };
    let told = |place: usize| {
        let record = records[place];
        match first.sequence == records[at].sequence {
            true => record.to_string(),
            false => format!("{record} as call {}", record.sequence),
        }
    };
    Error::world(format!(
        "rank {} called {}, but rank {} called {}",
        rank(odd),
        told(odd),
        rank(even),
        told(even)
    ))
    .note("ranks", ranks(line))
    .help(SAME)
}

/// What each sends to each must be what the other expects.
fn pairs(line: Line, records: &[&Record<'_>]) -> Result<()> {
    let count = |counts: &[usize], place: usize| counts.get(place).copied().unwrap_or(0);
    for (from, sender) in records.iter().enumerate() {
        for (to, receiver) in records.iter().enumerate() {
            let (sent, wanted) = (count(&sender.counts, to), count(&receiver.recv, from));
            if sent != wanted {
                let rank = |place: usize| line.first + place * line.step;
                let (from, to) = (rank(from), rank(to));
                let (dtype, operator) = (sender.dtype, &sender.operator);
                return Err(Error::world(format!(
                    "rank {from} sends {sent} bytes to rank {to} in all_to_all of {dtype} for `{operator}`, but rank \
                     {to} expects {wanted}"
                ))
                .sizes(wanted, sent)
                .note("ranks", ranks(line))
                .help("all ranks must give the same logical shapes and layouts"));
            }
        }
    }
    Ok(())
}

/// A rank is gone, and why, when a call needs it.
#[cold]
pub fn gone(rank: usize, record: &Record<'_>, why: &str) -> Error {
    let (operator, kind) = (&record.operator, record.kind);
    let before = match kind {
        Kind::Barrier | Kind::Tell => format!("`{operator}`"),
        _ => format!("`{operator}` could {}", kind.name()),
    };
    Error::world(format!("rank {rank} ended before {before}: {why}"))
}

/// Ranks have not come in time. `elsewhere` says what one of them does meanwhile, where that is known.
#[cold]
pub fn late(
    line: Line,
    missing: &[usize],
    record: &Record<'_>,
    waited: Duration,
    elsewhere: Option<String>,
) -> Error {
    let who = match missing {
        [one] => format!("rank {one}"),
        many => format!("ranks {}", list(many)),
    };
    let error = Error::world(format!(
        "{who} did not come to {record} within {}",
        seconds(waited)
    ))
    .note("ranks", ranks(line));
    match elsewhere {
        Some(text) => error.note("meanwhile", text).help(SAME),
        None => error.help(format!(
            "if it is only slow, allow more seconds with {TIMEOUT}; else look for a branch that depends on the rank"
        )),
    }
}

pub(super) fn seconds(time: Duration) -> String {
    match time.as_secs_f64() {
        1.0 => "1 second".to_string(),
        many => format!("{many} seconds"),
    }
}

/// How many seconds ranks wait for each other, in the environment.
pub const TIMEOUT: &str = "STRIDEWISE_TIMEOUT";

/// How long ranks wait for each other: [`TIMEOUT`] seconds, or a minute.
pub fn timeout() -> Result<Duration> {
    match std::env::var_os(TIMEOUT) {
        None => Ok(Duration::from_secs(60)),
        Some(text) => read_timeout(&text.to_string_lossy()),
    }
}

/// A timeout of so many seconds, above 0 and not so long that it could not be counted.
pub fn timeout_of(seconds: f64) -> Option<Duration> {
    let time = Duration::try_from_secs_f64(seconds).ok();
    time.filter(|_| seconds > 0.0)
}

fn read_timeout(text: &str) -> Result<Duration> {
    let number = text.trim().parse().ok();
    number.and_then(timeout_of).ok_or_else(|| {
        Error::argument(format!("{TIMEOUT} is `{text}`"))
            .help("give a number of seconds above 0, such as 60 or 0.5")
    })
}
