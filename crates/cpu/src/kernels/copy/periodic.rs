//! Outputs that are one stretch over and over: the first is made as any copy is, and read for all the others, which are
//! written in order. Pieces of each, as a plan would cut them, lie too far from each other for memory to write in a row.

use super::plan::packed_from;
use super::{PARTS, Simplest, stream};
use crate::kernels::loops::Shared;
use crate::kernels::{lines, threads};

/// Stretches shorter than this stay near while they are written over and over.
const SHORT: usize = 8 << 10;
/// The first stretch is at least this long: it is read in order, as what follows is written.
const LONG: usize = 256 << 10;
/// Of a longer one, so many bytes are written over and over while they stay in the second cache; and fewer past the caches,
/// where they are all that is to stay.
const NEAR: usize = 512 << 10;
const NEAR_PAST: usize = 128 << 10;
/// Bytes in a cache line.
const LINE: usize = 64;

/// A copy whose output repeats.
pub(super) struct Periodic {
    /// Bytes of the stretch that is repeated.
    period: usize,
    /// The copy that makes it.
    pub(super) first: Simplest,
}

impl Periodic {
    /// The copy as one whose output repeats, if the stretch is too long to stay in the nearest cache and short enough
    /// for a last cache of `cache` bytes to keep it while the output passes.
    pub(super) fn of(simple: &Simplest, cache: usize) -> Option<Periodic> {
        let outer = simple.axes.first()?;
        let period = outer.dst as usize;
        let repeats = outer.src == 0 && packed_from(&simple.axes, simple.cell) == 0;
        if !repeats || period < SHORT || period > cache / 4 {
            return None;
        }
        let times = LONG.div_ceil(period);
        let mut first = simple.clone();
        match times {
            1 => drop(first.axes.remove(0)),
            _ => first.axes[0].size = times,
        }
        (times < outer.size).then(|| Periodic {
            period: times * period,
            first,
        })
    }

    /// Writes what follows the first stretch, up to `bytes` from its start; past the caches where asked to.
    ///
    /// # Safety
    /// The first stretch has been written; K1 and K3 for all of the output.
    pub(super) unsafe fn go_on(&self, bytes: usize, past: bool) {
        let Periodic { period, first } = self;
        let start = Shared::new(first.dst);
        let near = if past { NEAR_PAST } else { NEAR };
        let pieces = period.div_ceil(near);
        let times = bytes.div_ceil(*period) - 1;
        let turns = (threads::count() * PARTS).div_ceil(pieces).min(times);
        threads::each(pieces * turns, |part| {
            let (piece, turn) = (part / turns, part % turns);
            let cut = |piece: usize| period * piece / pieces / LINE * LINE;
            let (from, to) = match piece + 1 < pieces {
                true => (cut(piece), cut(piece + 1)),
                false => (cut(piece), *period),
            };
            for time in 1 + times * turn / turns..1 + times * (turn + 1) / turns {
                let at = time * period + from;
                let len = (to - from).min(bytes.saturating_sub(at));
                // SAFETY: from the first stretch, inside it, to what follows it; no two parts share a byte (K1, K3, K4).
                unsafe {
                    let (src, dst) = (start.get().add(from), start.get().add(at.min(bytes)));
                    match past {
                        true => stream::stream(src, dst, len),
                        false => lines::copy_near(src, dst, len),
                    }
                }
            }
            if past {
                stream::fence();
            }
        });
    }
}
