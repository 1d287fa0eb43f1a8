//! How ranks reach each other. A [`World`] is one rank's end of it; what is behind is a [`Wire`]: threads of one
//! process, or processes under MPI.
//!
//! Before anything moves, the ranks of a line agree on what they are about to do. A rank that calls something else,
//! has other sizes, is gone or is late makes an [`Error::World`] on the others that names it and the call; nothing
//! hangs, and no memory is written by counts that do not match.

use std::fmt;
use std::sync::Arc;

use stridewise_core::dtype::DType;
use stridewise_core::error::{Error, Result};
use stridewise_cpu::{Rows, RowsMut};

use crate::mesh::Line;
use crate::sbp::Reduction;

pub mod agree;
#[cfg(feature = "mpi")]
#[allow(unsafe_code, reason = "MPI is a C library")]
mod mpi;
pub mod threads;

/// A rank's end of a world. Clones are the same end.
#[derive(Clone)]
pub struct World(Arc<dyn Wire>);

/// What ranks do together, with counts in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective<'a> {
    /// Each sends all it has; each receives what everybody sent, in order: `counts[r]` bytes of rank `r` of the line.
    AllGather {
        /// Bytes of each.
        counts: &'a [usize],
    },
    /// Each sends a piece to each, `send[r]` bytes to rank `r` of the line, and receives `recv[r]` bytes of it.
    AllToAll {
        /// Bytes to each.
        send: &'a [usize],
        /// Bytes from each.
        recv: &'a [usize],
    },
    /// What all send is reduced, element by element; rank `r` of the line receives its `counts[r]` bytes of that.
    ReduceScatter {
        /// Bytes for each.
        counts: &'a [usize],
        /// How elements become one.
        by: Reduction,
    },
    /// What all send is reduced, and each receives all of it.
    AllReduce {
        /// How elements become one.
        by: Reduction,
    },
    /// Nothing moves: nobody goes on before all are there.
    Barrier,
}

/// What is asked of a world.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The operator or method on whose behalf, for messages.
    pub operator: &'a str,
    /// What.
    pub what: Collective<'a>,
    /// The elements; `u8` where it is only bytes.
    pub dtype: DType,
}

/// What carries bytes between ranks.
pub trait Wire: Send + Sync {
    /// Which of them this is.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// What it is, for messages: `threads`, `MPI`.
    fn name(&self) -> &'static str;

    /// Does something together with the other ranks of `line`, on which this rank is. `send` and `recv` have the bytes
    /// that the call says. All of `recv` has been written when it succeeds.
    fn collective(&self, line: Line, call: &Call<'_>, send: &[u8], recv: &mut [u8]) -> Result<()>;

    /// As [`collective`](Self::collective), for an all-gather (one piece to send, to all) or an all-to-all (one to each),
    /// with pieces that may lie anywhere.
    fn exchange(
        &self,
        line: Line,
        call: &Call<'_>,
        send: &[Rows<'_>],
        recv: &mut [RowsMut<'_>],
    ) -> Result<()>;

    /// Gives every rank of the line the messages of all, in order. For small things such as shapes, whose lengths
    /// may differ.
    fn tell(&self, line: Line, operator: &str, message: &[u8]) -> Result<Vec<Vec<u8>>>;

    /// Bytes this rank has received from others so far. Of a reduction, what a rank receives when it reduces its own
    /// part of everybody's elements and, in an all-reduce, then the parts of the others.
    fn received(&self) -> u64;

    /// Tells the others that this rank has failed, and why; whoever waits for it learns at once.
    fn fail(&self, why: &Error);

    /// Tells the others that this rank is done with the world, and calls nothing any more; whoever waits for it learns
    /// at once. An end that is dropped has left.
    fn leave(&self) {}
}

impl World {
    /// A world behind a wire.
    pub fn new(wire: Arc<dyn Wire>) -> World {
        World(wire)
    }

    /// What is behind it.
    pub fn wire(&self) -> &dyn Wire {
        &*self.0
    }

    /// Which rank this is.
    pub fn rank(&self) -> usize {
        self.0.rank()
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.0.size()
    }
}

impl std::ops::Deref for World {
    type Target = dyn Wire;

    fn deref(&self) -> &(dyn Wire + 'static) {
        &*self.0
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "rank {} of {} ({})",
            self.rank(),
            self.size(),
            self.0.name()
        )
    }
}

impl Collective<'_> {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Collective::AllGather { .. } => "all_gather",
            Collective::AllToAll { .. } => "all_to_all",
            Collective::ReduceScatter { .. } => "reduce_scatter",
            Collective::AllReduce { .. } => "all_reduce",
            Collective::Barrier => "barrier",
        }
    }

    /// Bytes that rank `at` of the line receives from the others, where each sends `sent` bytes; the most there is
    /// where that is more than can be counted, as on meshes that are only imagined.
    pub fn received(&self, at: usize, line: usize, sent: usize, width: usize) -> usize {
        let others = |counts: &[usize]| counts.iter().sum::<usize>() - counts[at];
        match self {
            Collective::AllGather { counts } => others(counts),
            Collective::AllToAll { recv, .. } => others(recv),
            Collective::ReduceScatter { counts, .. } => counts[at].saturating_mul(line - 1),
            // Each reduces one part and hands it round.
            Collective::AllReduce { .. } => {
                let own = crate::mesh::part(sent / width.max(1), line, at).len() * width;
                own.saturating_mul(line - 1).saturating_add(sent - own)
            }
            Collective::Barrier => 0,
        }
    }
}

/// What an exchange sends and where it receives, of bytes that lie one after another; `recv` as it is where the
/// collective is none.
fn pieces<'a>(
    what: Collective<'_>,
    send: &'a [u8],
    recv: &'a mut [u8],
) -> Result<(Vec<Rows<'a>>, Vec<RowsMut<'a>>), &'a mut [u8]> {
    match what {
        Collective::AllGather { counts } => Ok((vec![Rows::from(send)], cut_mut(recv, counts))),
        Collective::AllToAll {
            send: to,
            recv: from,
        } => Ok((cut(send, to), cut_mut(recv, from))),
        _ => Err(recv),
    }
}

/// How many bytes each piece has.
fn bytes_of(send: &[Rows<'_>], recv: &[RowsMut<'_>]) -> (Vec<usize>, Vec<usize>) {
    let sent = send.iter().map(Rows::bytes).collect();
    let room = recv.iter().map(RowsMut::bytes).collect();
    (sent, room)
}

/// Bytes in pieces of these sizes, as far as they go.
fn cut<'a, P: From<&'a [u8]>>(bytes: &'a [u8], counts: &[usize]) -> Vec<P> {
    let mut rest = bytes;
    let mut next = |count: &usize| {
        let (piece, after) = rest.split_at(rest.len().min(*count));
        rest = after;
        P::from(piece)
    };
    counts.iter().map(&mut next).collect()
}

fn cut_mut<'a, P: From<&'a mut [u8]>>(bytes: &'a mut [u8], counts: &[usize]) -> Vec<P> {
    let mut rest = bytes;
    let mut pieces = Vec::with_capacity(counts.len());
    for count in counts {
        let (piece, after) = rest.split_at_mut(rest.len().min(*count));
        pieces.push(P::from(piece));
        rest = after;
    }
    pieces
}
