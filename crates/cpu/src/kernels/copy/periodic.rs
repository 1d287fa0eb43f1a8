//! Outputs that are one stretch over and over: the first is made as any copy is, and read for all the others, which are
//! written in order. Pieces of each, as a plan would cut them, lie too far from each other for memory to write in a row.

use super::plan::packed_from;
use super::{PARTS, Simplest, stream};
use crate::kernels::{lines, threads};

/// Stretches shorter than this stay near while they are written over and over.
const SHORT: usize = 8 << 10;
/// The first stretch is at least this long: it is read in order, as what follows is written.
const LONG: usize = 256 << 10;

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
        let stretch = Stretch {
            start: self.first.dst,
            period: self.period,
        };
        let parts = threads::count() * PARTS;
        let left = bytes - stretch.period;
        threads::each(parts, |part| {
            let cut = |part: usize| stretch.period + left * part / parts;
            // SAFETY: parts share no byte, and none has one of the first stretch (K3).
            unsafe { stretch.repeat(cut(part), cut(part + 1), past) }
        });
    }
}

/// The first stretch of the output.
struct Stretch {
    start: *mut u8,
    period: usize,
}

// SAFETY: threads read the first stretch, which nobody writes any more, and write parts that share no byte (K3).
unsafe impl Sync for Stretch {}

impl Stretch {
    /// Writes the bytes of the output numbered `from` up to `to`.
    unsafe fn repeat(&self, from: usize, to: usize, past: bool) {
        let mut at = from;
        while at < to {
            let within = at % self.period;
            let bytes = (self.period - within).min(to - at);
            // SAFETY: from the first stretch, inside it, to what follows it (K1, K3, K4).
            unsafe {
                let (src, dst) = (self.start.add(within), self.start.add(at));
                if past {
                    stream::stream(src, dst, bytes);
                } else {
                    lines::copy_near(src, dst, bytes);
                }
            }
            at += bytes;
        }
        if past {
            stream::fence();
        }
    }
}
