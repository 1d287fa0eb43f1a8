//! Rows: the same work of ours and of the peers, checked, then timed in turns, the best of several rounds.

use std::hint::black_box;
use std::time::{Duration, Instant};

use stridewise::{Tensor, Tolerance, allclose, array_equal};

use stridewise_machine::Machine;

use crate::report::{Line, Report};
use crate::seen::{Outcome, Seen};

/// Who does the work, or how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Peer {
    /// ndarray, of dynamic rank, with a result that stands alone: an `ArcArray` or an `Array`.
    Owned,
    /// ndarray, of dynamic rank, with a result that borrows the input.
    Borrowed,
    /// ndarray, with a rank known when it is compiled: for information, since our ranks are dynamic.
    Static,
    /// ndarray, writing to an array that is there and warm: for information, since our results are new.
    Existing,
    Candle,
}

/// Whether a row is about the cost of a call, or about moving much data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Call,
    Large,
}

/// The bytes of the machine's own fill and copy.
pub(crate) const BYTES: usize = 64 << 20;

/// Does the work a number of times and says how long all of them took.
type Run<'a> = Box<dyn FnMut(usize) -> Duration + 'a>;

/// What the command line asks for, and where lines go.
pub(crate) struct Bench {
    pub(crate) only: Vec<String>,
    pub(crate) rounds: usize,
    pub(crate) report: Report,
    limits: Option<Duration>,
}

impl Bench {
    pub(crate) fn new(only: Vec<String>, rounds: usize, report: Report) -> Bench {
        let limits = None;
        Bench {
            only,
            rounds,
            report,
            limits,
        }
    }

    /// Whether a row of that name is asked for.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| name.contains(part.as_str()))
    }

    /// A row about the cost of a call, with what we do for it. Results are dropped while the clock runs.
    pub(crate) fn call<'a, R: Seen>(
        &mut self,
        name: &str,
        ours: impl Fn() -> R + 'a,
    ) -> Row<'_, 'a> {
        self.row(Kind::Call, name, 0, ours)
    }

    /// A row about moving that many bytes, with what we do for it. Results are dropped while the clock stands
    /// still: giving pages back to the system is not counted against the peers.
    pub(crate) fn large<'a, R: Seen>(
        &mut self,
        name: &str,
        bytes: usize,
        ours: impl Fn() -> R + 'a,
    ) -> Row<'_, 'a> {
        self.row(Kind::Large, name, bytes, ours)
    }

    fn row<'a, R: Seen>(
        &mut self,
        kind: Kind,
        name: &str,
        bytes: usize,
        ours: impl Fn() -> R + 'a,
    ) -> Row<'_, 'a> {
        let wanted = self.wants(name);
        let mut row = Row {
            bench: self,
            name: name.to_owned(),
            kind,
            bytes,
            expected: None,
            tolerance: None,
            runs: Vec::new(),
            failed: None,
        };
        if wanted {
            match ours().seen() {
                Ok(tensor) => row.expected = Some(tensor),
                Err(error) => row.failed = Some(format!("{name}: {error}")),
            }
            row.runs.push((None, run(kind, ours)));
        }
        row
    }

    /// The machine's own copy, measured before the first row that moves much.
    fn copy_limit(&mut self) -> Outcome<Duration> {
        if let Some(limit) = self.limits {
            return Ok(limit);
        }
        let mut machine = Machine::new(BYTES).ok_or("no memory for the machine's own copy")?;
        let mut limit = |work| machine.fastest(work, BYTES, usize::MAX).unwrap_or_default();
        let (fill, copy) = (limit("fill"), limit("copy"));
        self.report.limits(fill, copy)?;
        self.limits = Some(copy);
        Ok(copy)
    }
}

/// How long the work takes; what it makes is dropped later.
fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    let result = work();
    let took = start.elapsed();
    drop(result);
    took
}

fn run<'a, R>(kind: Kind, work: impl Fn() -> R + 'a) -> Run<'a> {
    match kind {
        Kind::Call => Box::new(move |times| {
            let start = Instant::now();
            for _ in 0..times {
                // By reference: a result that is large must not be moved once more than its caller would.
                black_box(&work());
            }
            start.elapsed()
        }),
        Kind::Large => Box::new(move |_| timed(&work)),
    }
}

/// One row being put together; a peer may have several spellings, of which the fastest counts.
pub(crate) struct Row<'b, 'a> {
    bench: &'b mut Bench,
    name: String,
    kind: Kind,
    bytes: usize,
    expected: Option<Tensor>,
    tolerance: Option<Tolerance>,
    runs: Vec<(Option<Peer>, Run<'a>)>,
    failed: Option<String>,
}

impl<'a> Row<'_, 'a> {
    /// Peers may differ by rounding: sums of floats are added in different orders.
    pub(crate) fn rounded(mut self) -> Self {
        self.tolerance = Some(Tolerance {
            relative: 1e-4,
            absolute: 1e-4,
            equal_nan: false,
        });
        self
    }

    /// A peer's spelling of the same work.
    pub(crate) fn peer<R: Seen>(mut self, peer: Peer, work: impl Fn() -> R + 'a) -> Self {
        if self.expected.is_some() {
            self.check(peer, &work());
            self.runs.push((Some(peer), run(self.kind, work)));
        }
        self
    }

    /// The same work written to something that is there already.
    pub(crate) fn existing<R: Seen + 'a>(mut self, mut to: R, work: impl Fn(&mut R) + 'a) -> Self {
        if self.expected.is_some() {
            work(&mut to);
            self.check(Peer::Existing, &to);
            let run = move |_| timed(|| work(&mut to));
            self.runs.push((Some(Peer::Existing), Box::new(run)));
        }
        self
    }

    fn check(&mut self, peer: Peer, seen: &impl Seen) {
        let Some(expected) = &self.expected else {
            return;
        };
        let same = seen.seen().and_then(|seen| match self.tolerance {
            Some(within) => {
                Ok(seen.shape() == expected.shape() && allclose(&seen, expected, within)?)
            }
            None => Ok(array_equal(&seen, expected, false)),
        });
        let reason = match same {
            Ok(true) => return,
            Ok(false) => "makes something else".to_owned(),
            Err(error) => error.to_string(),
        };
        self.failed = Some(format!("{}: {peer:?}: {reason}", self.name));
    }

    /// Times all of it, in turns, and prints the line.
    pub(crate) fn time(mut self) -> Outcome {
        if let Some(failed) = self.failed {
            return Err(failed.into());
        }
        if self.expected.take().is_none() {
            return Ok(());
        }
        let limit = match self.kind {
            Kind::Call => None,
            Kind::Large => Some(self.bench.copy_limit()?),
        };
        let best = match self.kind {
            Kind::Call => best_of_calls(&mut self.runs, 4 * self.bench.rounds),
            Kind::Large => best_of(&mut self.runs, self.bench.rounds),
        };
        let mut line = Line::new(self.kind, self.name, self.bytes, best[0], limit);
        for ((peer, _), took) in self.runs.iter().zip(best) {
            if let Some(peer) = *peer {
                line.add(peer, took);
            }
        }
        self.bench.report.line(line)
    }
}

/// The best of each, in seconds. One that is far behind after three rounds is not asked again.
fn best_of(runs: &mut [(Option<Peer>, Run)], rounds: usize) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; runs.len()];
    for round in 0..rounds {
        for at in 0..runs.len() {
            if round < 3 || best[at] < 3.0 * best[0] {
                best[at] = best[at].min(runs[at].1(1).as_secs_f64());
            }
        }
    }
    best
}

/// The best of each, in seconds a call; every turn is as many calls as take a fifth of a millisecond.
fn best_of_calls(runs: &mut [(Option<Peer>, Run)], rounds: usize) -> Vec<f64> {
    let enough = Duration::from_micros(200);
    let times: Vec<usize> = runs
        .iter_mut()
        .map(|(_, run)| {
            let mut times = 1;
            while run(times) < enough {
                times *= 2;
            }
            times
        })
        .collect();
    let mut best = vec![f64::INFINITY; runs.len()];
    for _ in 0..rounds {
        for ((best, (_, run)), &times) in best.iter_mut().zip(runs.iter_mut()).zip(&times) {
            *best = best.min(run(times).as_secs_f64() / times as f64);
        }
    }
    best
}
