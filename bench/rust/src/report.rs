//! The lines as a table on standard output, as JSON, and what to say at the end.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;

use crate::bench::BYTES;
use crate::bench::{Kind, Peer};
use crate::seen::Outcome;

impl Kind {
    pub(crate) fn columns(self) -> &'static [Peer] {
        match self {
            Kind::Call => &[Peer::Owned, Peer::Borrowed, Peer::Static, Peer::Candle],
            Kind::Large => &[Peer::Owned, Peer::Existing, Peer::Candle],
        }
    }

    pub(crate) fn unit(self) -> (&'static str, f64) {
        match self {
            Kind::Call => ("ns", 1e9),
            Kind::Large => ("ms", 1e3),
        }
    }
}

impl Peer {
    /// The key in JSON.
    fn key(self) -> &'static str {
        match self {
            Peer::Owned => "ndarray_owned",
            Peer::Borrowed => "ndarray_borrowed",
            Peer::Static => "ndarray_static",
            Peer::Existing => "ndarray_existing",
            Peer::Candle => "candle",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Peer::Owned => "ndarray",
            Peer::Borrowed => "nd. borrowed",
            Peer::Static => "(nd. static)",
            Peer::Existing => "(nd. into)",
            Peer::Candle => "candle",
        }
    }

    /// Shown, but not what a result of ours is held to.
    pub(crate) fn is_information(self) -> bool {
        matches!(self, Peer::Static | Peer::Existing)
    }
}

/// A row that has been timed, in seconds.
pub(crate) struct Line {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) ours: f64,
    pub(crate) of_copy: Option<f64>,
    peers: Vec<(Peer, f64)>,
}

impl Line {
    pub(crate) fn new(
        kind: Kind,
        name: String,
        bytes: usize,
        ours: f64,
        copy: Option<Duration>,
    ) -> Line {
        let of_copy = copy.map(|copy| copy.as_secs_f64() / BYTES as f64 * bytes as f64 / ours);
        Line {
            kind,
            name,
            ours,
            of_copy,
            peers: Vec::new(),
        }
    }

    /// The fastest spelling counts.
    pub(crate) fn add(&mut self, peer: Peer, took: f64) {
        match self.peers.iter_mut().find(|(known, _)| *known == peer) {
            Some((_, best)) => *best = best.min(took),
            None => self.peers.push((peer, took)),
        }
    }

    pub(crate) fn of(&self, peer: Peer) -> Option<f64> {
        let found = self.peers.iter().find(|(known, _)| *known == peer);
        found.map(|(_, took)| *took)
    }

    /// A time in the line's unit.
    pub(crate) fn number(&self, took: f64) -> String {
        let (_, factor) = self.kind.unit();
        match self.kind {
            Kind::Call => format!("{:.1}", took * factor),
            Kind::Large => format!("{:.2}", took * factor),
        }
    }

    fn json(&self) -> String {
        let (unit, factor) = self.kind.unit();
        let mut text = format!(
            r#"{{"name": {:?}, "unit": "{unit}", "ours": {:.4}"#,
            self.name,
            self.ours * factor
        );
        if let Some(of_copy) = self.of_copy {
            let _ = write!(text, r#", "of_copy": {of_copy:.4}"#);
        }
        for &(peer, took) in &self.peers {
            let (key, took) = (peer.key(), took * factor);
            let times = took / factor / self.ours;
            let _ = write!(text, r#", "{key}": {took:.4}, "times_{key}": {times:.4}"#);
        }
        text + "}"
    }
}

/// The table so far.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) lines: Vec<Line>,
    limits: Vec<(&'static str, Duration)>,
    table: Option<Kind>,
}

impl Report {
    /// What the machine can do by itself.
    pub(crate) fn limits(&mut self, fill: Duration, copy: Duration) -> Outcome {
        self.limits = vec![("the machine's fill", fill), ("the machine's copy", copy)];
        self.heading(Kind::Large)?;
        for (name, took) in &self.limits {
            let (ms, part) = (took.as_secs_f64() * 1e3, copy.div_duration_f64(*took));
            writeln!(io::stdout(), "{name:<46}{ms:>8.2}{part:>8.2}")?;
        }
        Ok(())
    }

    fn heading(&mut self, kind: Kind) -> Outcome {
        if self.table == Some(kind) {
            return Ok(());
        }
        let mut text = String::new();
        if self.table.is_some() {
            text.push('\n');
        }
        let (first, second) = match kind {
            Kind::Call => ("ns a call, and how many times faster we are", ""),
            Kind::Large => ("ms, and how many times faster we are", "of copy"),
        };
        let _ = write!(text, "{first:<46}{:>8}", "ours");
        if kind == Kind::Large {
            let _ = write!(text, "{second:>8}");
        }
        for peer in kind.columns() {
            let _ = write!(text, "{:>14}", peer.title());
        }
        self.table = Some(kind);
        Ok(writeln!(io::stdout(), "{text}")?)
    }

    /// Prints a line and keeps it.
    pub(crate) fn line(&mut self, line: Line) -> Outcome {
        self.heading(line.kind)?;
        let mut text = format!("{:<46}{:>8}", line.name, line.number(line.ours));
        if let Some(of_copy) = line.of_copy {
            let _ = write!(text, "{of_copy:>8.2}");
        }
        for &peer in line.kind.columns() {
            let (took, times) = match line.of(peer) {
                Some(took) => (line.number(took), times(took / line.ours)),
                None => ("-".to_owned(), String::new()),
            };
            let _ = write!(text, "{took:>8}{times:>6}");
        }
        self.lines.push(line);
        Ok(writeln!(io::stdout(), "{}", text.trim_end())?)
    }

    /// Where a peer is ahead.
    pub(crate) fn summary(&self) -> Outcome {
        let behind = |information: bool| {
            let all = self.lines.iter().flat_map(|line| {
                let ratios = line
                    .peers
                    .iter()
                    .map(|&(peer, took)| (peer, took / line.ours));
                ratios.map(move |(peer, ratio)| (line, peer, ratio))
            });
            all.filter(move |(_, peer, ratio)| *ratio < 1.0 && peer.is_information() == information)
        };
        let rows = self.lines.len();
        let mut out = io::stdout();
        writeln!(
            out,
            "\n{rows} rows; a peer is ahead in {}",
            behind(false).count()
        )?;
        for (line, peer, ratio) in behind(false) {
            writeln!(out, "  {:<46} {:<20} {ratio:.2}", line.name, peer.key())?;
        }
        let more = behind(true).count();
        writeln!(
            out,
            "and, for information (static ranks, existing results), in {more}"
        )?;
        for (line, peer, ratio) in behind(true) {
            writeln!(out, "  {:<46} {:<20} {ratio:.2}", line.name, peer.key())?;
        }
        Ok(())
    }

    /// All lines, and the limits of the machine.
    pub(crate) fn json(&self) -> String {
        let limits = self.limits.iter().map(|(name, took)| {
            let ms = took.as_secs_f64() * 1e3;
            format!("    {{\"name\": {name:?}, \"unit\": \"ms\", \"took\": {ms:.4}}}")
        });
        let lines = self.lines.iter().map(|line| format!("    {}", line.json()));
        let join = |parts: Vec<String>| parts.join(",\n");
        format!(
            "{{\n  \"limits\": [\n{}\n  ],\n  \"rows\": [\n{}\n  ]\n}}\n",
            join(limits.collect()),
            join(lines.collect())
        )
    }
}

/// A ratio in at most five characters.
pub(crate) fn times(ratio: f64) -> String {
    match ratio {
        ..9.995 => format!("{ratio:.2}"),
        ..99.95 => format!("{ratio:.1}"),
        _ => format!("{ratio:.0}"),
    }
}
