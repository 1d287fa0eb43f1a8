//! docs/performance.md: the tables of this run between their marks.

use std::fmt::Write as _;
use std::fs;

use crate::bench::{Kind, Peer};
use crate::report::{Line, times};
use crate::seen::Outcome;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/performance.md");

/// Writes the tables anew.
pub(crate) fn write(lines: &[Line]) -> Outcome {
    let page = fs::read_to_string(PAGE)?;
    let (mark, end) = ("<!-- rust -->\n", "<!-- end -->");
    let (before, rest) = page
        .split_once(mark)
        .ok_or("the page has no place for it")?;
    let (_, after) = rest.split_once(end).ok_or("the place has no end")?;
    let tables = [Kind::Call, Kind::Large].map(|kind| table(lines, kind));
    let page = format!("{before}{mark}\n{}\n{end}{after}", tables.join("\n"));
    Ok(fs::write(PAGE, page)?)
}

fn table(lines: &[Line], kind: Kind) -> String {
    let (unit, _) = kind.unit();
    let peers = kind.columns();
    let held: Vec<Peer> = peers
        .iter()
        .copied()
        .filter(|peer| !peer.is_information())
        .collect();
    let mut head = vec![unit.to_owned(), "ours".to_owned()];
    head.extend(peers.iter().map(|peer| peer.title().to_owned()));
    if kind == Kind::Large {
        head.push("of copy".to_owned());
    }
    head.extend(held.iter().map(|peer| format!("of {}", peer.title())));
    let mut text = format!("| {} |\n| ---", head.join(" | "));
    text.push_str(&" | ---:".repeat(head.len() - 1));
    text.push_str(" |\n");
    for line in lines.iter().filter(|line| line.kind == kind) {
        let mut cells = vec![line.name.clone(), line.number(line.ours)];
        let took = |peer: &Peer| {
            line.of(*peer)
                .map_or("-".to_owned(), |took| line.number(took))
        };
        cells.extend(peers.iter().map(took));
        cells.extend(line.of_copy.map(|part| format!("{part:.2}×")));
        cells.extend(
            held.iter()
                .map(|peer| match line.of(*peer).map(|took| took / line.ours) {
                    Some(ratio) if ratio < 1.0 => format!("**{}×**", times(ratio)),
                    Some(ratio) => format!("{}×", times(ratio)),
                    None => "-".to_owned(),
                }),
        );
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}
