//! Where the ranks of a line wait for each other: gates, one after another, each of which opens once all have come
//! to it. A call takes two gates or three: all are there, (halfway,) all are done.
//!
//! The first gate of a call can be given up: [`Meeting::give_up`] breaks the meeting for good unless the gate is open
//! already, in one atomic step. So either all ranks get past it, or none ever does. The gates after it cannot be given
//! up, nor need they be: whoever is past the first only copies memory before it comes to the next.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use super::lend::Lent;
use crate::mesh::Line;

/// The ranks of one line.
pub(super) struct Meeting {
    pub(super) line: Line,
    places: Box<[Place]>,
    /// How often ranks have come to a gate, in all: gate `n`, counted from 1, is open once it is `n` times the ranks.
    /// The top bit is set when the meeting is broken.
    came: AtomicU64,
    /// How often to look at a gate before letting go of the core.
    spins: u32,
    sleepers: AtomicUsize,
    bed: Mutex<()>,
    bell: Condvar,
}

/// A rank at a meeting.
#[derive(Default)]
pub(super) struct Place {
    /// The last gate it has come to.
    gate: AtomicU64,
    /// Whether it is waiting there for others to begin.
    waits: AtomicBool,
    /// What the others may read.
    pub(super) lent: Lent,
}

const BROKEN: u64 = 1 << 63;

impl Meeting {
    pub(super) fn new(line: Line, spins: u32) -> Meeting {
        Meeting {
            line,
            places: line.ranks().map(|_| Place::default()).collect(),
            came: AtomicU64::new(0),
            spins,
            sleepers: AtomicUsize::new(0),
            bed: Mutex::new(()),
            bell: Condvar::new(),
        }
    }

    pub(super) fn place(&self, at: usize) -> &Place {
        &self.places[at]
    }

    /// A rank comes to a gate, the one after its last.
    pub(super) fn come(&self, at: usize, gate: u64) {
        self.places[at].gate.store(gate, SeqCst);
        let came = self.came.fetch_add(1, SeqCst) + 1;
        if came & !BROKEN == self.full(gate) {
            self.ring();
        }
    }

    /// Whether all have come. Of a broken meeting the gate before is still open to those who have not noticed yet.
    pub(super) fn is_open(&self, gate: u64) -> bool {
        self.came.load(SeqCst) & !BROKEN >= self.full(gate)
    }

    /// Whether a rank has given up waiting at the first gate of a call.
    pub(super) fn is_broken(&self) -> bool {
        self.came.load(SeqCst) & BROKEN != 0
    }

    /// Breaks the meeting for good, unless all have come to this gate. Whether it is broken.
    pub(super) fn give_up(&self, gate: u64) -> bool {
        let broken = self.came.fetch_update(SeqCst, SeqCst, |came| {
            (came & BROKEN != 0 || came < self.full(gate)).then_some(came | BROKEN)
        });
        broken.is_ok()
    }

    /// The ranks that have not come to a gate.
    pub(super) fn missing(&self, gate: u64) -> impl Iterator<Item = usize> {
        let places = self.line.ranks().zip(&self.places);
        places
            .filter(move |(_, place)| place.gate.load(SeqCst) < gate)
            .map(|(rank, _)| rank)
    }

    /// Says whether a rank is waiting for others to begin.
    pub(super) fn set_waiting(&self, at: usize, waits: bool) {
        self.places[at].waits.store(waits, SeqCst);
    }

    /// Whether a rank of the line is waiting for others to begin.
    pub(super) fn is_waiting(&self, rank: usize) -> bool {
        let mut ranks = self.line.ranks().zip(&self.places);
        ranks.any(|(at, place)| at == rank && place.waits.load(SeqCst))
    }

    /// Waits until something is so; false when the time came first. Whoever makes it so rings.
    pub(super) fn wait(&self, is_so: impl Fn() -> bool, until: Option<Instant>) -> bool {
        for _ in 0..self.spins {
            if is_so() {
                return true;
            }
            std::hint::spin_loop();
        }
        // Once, whoever is waited for may have this core; sleeping and being woken costs more than that.
        if is_so() {
            return true;
        }
        thread::yield_now();
        let mut bed = self.bed.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever makes it so looks for sleepers after that, so one of the two sees the other.
        self.sleepers.fetch_add(1, SeqCst);
        let so = loop {
            if is_so() {
                break true;
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            bed = match left {
                Some(left) if left.is_zero() => break false,
                Some(left) => match self.bell.wait_timeout(bed, left) {
                    Ok((bed, _)) => bed,
                    Err(poisoned) => poisoned.into_inner().0,
                },
                None => self.bell.wait(bed).unwrap_or_else(PoisonError::into_inner),
            };
        };
        self.sleepers.fetch_sub(1, SeqCst);
        drop(bed);
        so
    }

    /// Wakes whoever sleeps here.
    pub(super) fn ring(&self) {
        if self.sleepers.load(SeqCst) > 0 {
            // Sleepers hold the lock from when they are counted until they hear the bell.
            drop(self.bed.lock().unwrap_or_else(PoisonError::into_inner));
            self.bell.notify_all();
        }
    }

    fn full(&self, gate: u64) -> u64 {
        gate * self.line.len as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_gate_cannot_be_given_up_and_a_broken_one_never_opens() {
        let meeting = Meeting::new(Line::all(2), 0);
        meeting.come(0, 1);
        assert_eq!(meeting.missing(1).collect::<Vec<_>>(), [1]);
        meeting.come(1, 1);
        assert!(meeting.is_open(1) && !meeting.give_up(1) && !meeting.is_broken());
        meeting.come(0, 2);
        assert!(meeting.give_up(2) && meeting.give_up(2));
        // Whoever has not noticed yet that the gate before is open still gets through that one.
        assert!(meeting.is_broken() && meeting.is_open(1) && !meeting.is_open(2));
        meeting.come(1, 2);
        assert!(meeting.is_broken());
    }

    #[test]
    fn giving_up_and_coming_at_once_ends_the_same_way_for_both() {
        let mut ends = [0; 2];
        for _ in 0..2000 {
            let meeting = Meeting::new(Line::all(2), 0);
            let through = thread::scope(|scope| {
                let gives_up = scope.spawn(|| {
                    meeting.come(0, 1);
                    let through = !meeting.give_up(1);
                    meeting.ring();
                    through
                });
                meeting.come(1, 1);
                meeting.wait(|| meeting.is_broken() || meeting.is_open(1), None);
                let through = !meeting.is_broken();
                assert_eq!(gives_up.join().expect("no panic"), through);
                through
            });
            ends[usize::from(through)] += 1;
        }
        println!("{} given up, {} opened", ends[0], ends[1]);
    }
}
