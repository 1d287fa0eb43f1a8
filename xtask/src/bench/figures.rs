//! The committed figures, `bench/instructions.toml`: instructions of a call, by case, for each driver; and how figures
//! are compared.

use std::fmt::Write;
use std::fs;

use crate::steps::{Failure, root};

const FILE: &str = "bench/instructions.toml";

/// How far a count may be from its figure, either way.
const PERCENT: f64 = 10.0;

const HEAD: &str = "\
# Instructions of one small call, by `cargo xtask bench --check`, which fails where a count is more than 10 % away.
# Written by `cargo xtask bench --check --update`.
";

/// What one driver has counted: instructions of a call by case, in order.
pub(crate) type Counts = Vec<(String, u64)>;

/// The file: sections in order, each with what its figures were made with.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Figures(Vec<Section>);

#[derive(Clone, Debug, PartialEq)]
struct Section {
    name: String,
    made_with: String,
    counts: Counts,
}

impl Figures {
    /// What is committed; nothing if there is no file yet.
    pub(crate) fn read() -> Result<Figures, Failure> {
        match fs::read_to_string(root().join(FILE)) {
            Ok(text) => parse(&text).map_err(|line| format!("{FILE}: cannot read `{line}`")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Figures::default()),
            Err(error) => Err(format!("{FILE}: {error}")),
        }
    }

    pub(crate) fn write(&self) -> Result<(), Failure> {
        fs::write(root().join(FILE), self.text()).map_err(|error| format!("{FILE}: {error}"))?;
        println!("xtask: {FILE} is written");
        Ok(())
    }

    /// Puts a driver's counts in the place of those it had.
    pub(crate) fn replace(&mut self, name: &str, made_with: String, counts: Counts) {
        let section = Section {
            name: name.to_string(),
            made_with,
            counts,
        };
        match self.0.iter_mut().find(|section| section.name == name) {
            Some(old) => *old = section,
            None => self.0.push(section),
        }
    }

    /// Prints how a driver's counts compare with the figures; the number of those that do not hold.
    pub(crate) fn compare(&self, name: &str, made_with: &str, counts: &Counts) -> usize {
        let none = Section {
            name: name.to_string(),
            made_with: String::new(),
            counts: Vec::new(),
        };
        let section = self.0.iter().find(|section| section.name == name);
        let section = section.unwrap_or(&none);
        println!("\n{name}: {made_with}");
        if section.made_with != made_with && !section.counts.is_empty() {
            println!("figures are of other tools: {}", section.made_with);
        }
        let lines = verdicts(&section.counts, counts);
        println!("{:<36}{:>10}{:>8}{:>10}", "", "committed", "now", "change");
        for line in &lines {
            println!("{line}");
        }
        lines.iter().filter(|line| !line.holds()).count()
    }

    fn text(&self) -> String {
        let mut text = HEAD.to_string();
        for section in &self.0 {
            let _ = write!(
                text,
                "\n[{}]\nmade_with = \"{}\"\n",
                section.name, section.made_with
            );
            for (case, count) in &section.counts {
                let _ = writeln!(text, "\"{case}\" = {count}");
            }
        }
        text
    }
}

/// Reads what `text` writes, which is the little of TOML that is needed; `Err` is a line that is something else.
fn parse(text: &str) -> Result<Figures, String> {
    let mut sections: Vec<Section> = Vec::new();
    let lines = text.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let bad = || line.to_string();
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            sections.push(Section {
                name: name.to_string(),
                made_with: String::new(),
                counts: Vec::new(),
            });
            continue;
        }
        let section = sections.last_mut().ok_or_else(bad)?;
        let (key, value) = line.rsplit_once(" = ").ok_or_else(bad)?;
        if key == "made_with" {
            section.made_with = value.trim_matches('"').to_string();
        } else {
            let count = value.parse().map_err(|_| bad())?;
            section
                .counts
                .push((key.trim_matches('"').to_string(), count));
        }
    }
    Ok(Figures(sections))
}

/// A line of the comparison.
#[derive(Debug, PartialEq)]
struct Line<'a> {
    case: &'a str,
    committed: Option<u64>,
    now: Option<u64>,
}

/// Every case that either side has, in the driver's order; those that only the figures have come last.
fn verdicts<'a>(committed: &'a Counts, now: &'a Counts) -> Vec<Line<'a>> {
    let find = |counts: &Counts, case: &str| {
        let found = counts.iter().find(|(name, _)| name == case);
        found.map(|(_, count)| *count)
    };
    let mut lines: Vec<Line<'_>> = now
        .iter()
        .map(|(case, count)| Line {
            case,
            committed: find(committed, case),
            now: Some(*count),
        })
        .collect();
    let gone = committed
        .iter()
        .filter(|(case, _)| find(now, case).is_none());
    lines.extend(gone.map(|(case, count)| Line {
        case,
        committed: Some(*count),
        now: None,
    }));
    lines
}

impl Line<'_> {
    /// How much more there is now, in percent.
    fn change(&self) -> Option<f64> {
        let (committed, now) = (self.committed? as f64, self.now? as f64);
        Some((now - committed) / committed.max(1.0) * 100.0)
    }

    fn verdict(&self) -> &'static str {
        match self.change() {
            Some(change) if change > PERCENT => "worse",
            Some(change) if change < -PERCENT => "better",
            Some(_) => "ok",
            None if self.now.is_none() => "no such case",
            None => "no figure",
        }
    }

    fn holds(&self) -> bool {
        self.verdict() == "ok"
    }
}

impl std::fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number = |count: Option<u64>| count.map_or("-".to_string(), |count| count.to_string());
        let (committed, now) = (number(self.committed), number(self.now));
        let change = self.change();
        let change = change.map_or("-".to_string(), |change| format!("{change:+.1} %"));
        write!(
            f,
            "{:<36}{committed:>10}{now:>8}{change:>10}  {}",
            self.case,
            self.verdict()
        )
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn counts(list: &[(&str, u64)]) -> Counts {
        let owned = list.iter().map(|(case, count)| (case.to_string(), *count));
        owned.collect()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut figures = Figures::default();
        let cases = counts(&[("clone", 12), ("x = cube[1:, ::2]", 3000)]);
        figures.replace("rust", "a compiler".to_string(), cases);
        figures.replace(
            "python",
            "another".to_string(),
            counts(&[("sw.sum(x)", 99)]),
        );
        assert_eq!(parse(&figures.text()).unwrap(), figures);
    }

    #[test]
    fn a_driver_s_counts_take_the_place_of_its_own_only() {
        let mut figures = Figures::default();
        figures.replace("rust", "a".to_string(), counts(&[("clone", 1)]));
        figures.replace("python", "b".to_string(), counts(&[("sum", 2)]));
        let python = figures.0[1].clone();
        figures.replace("rust", "c".to_string(), counts(&[("expand", 3)]));
        assert_eq!(figures.0[0].counts, counts(&[("expand", 3)]));
        assert_eq!(figures.0[1], python);
    }

    #[test]
    fn a_line_that_is_no_figure_is_named() {
        assert_eq!(
            parse("[rust]\n\"clone\" = few"),
            Err("\"clone\" = few".to_string())
        );
        assert_eq!(parse("\"clone\" = 3"), Err("\"clone\" = 3".to_string()));
    }

    #[test]
    fn counts_hold_within_ten_percent_both_ways() {
        let held = |committed: u64, now: u64| {
            Line {
                case: "",
                committed: Some(committed),
                now: Some(now),
            }
            .verdict()
        };
        assert_eq!(held(1000, 1000), "ok");
        assert_eq!(held(1000, 1100), "ok");
        assert_eq!(held(1000, 1101), "worse");
        assert_eq!(held(1000, 900), "ok");
        assert_eq!(held(1000, 899), "better");
        assert_eq!(held(0, 0), "ok");
        assert_eq!(held(0, 5), "worse");
    }

    #[test]
    fn cases_without_figures_and_figures_without_cases_do_not_hold() {
        let (committed, now) = (
            counts(&[("a", 1), ("gone", 2)]),
            counts(&[("a", 1), ("new", 3)]),
        );
        let lines = verdicts(&committed, &now);
        let held: Vec<_> = lines.iter().map(|line| (line.case, line.holds())).collect();
        assert_eq!(held, [("a", true), ("new", false), ("gone", false)]);
    }
}
