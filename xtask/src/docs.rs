//! The parts of the documentation that come from the operator table: the rows in README.md and the page
//! docs/operators.md. `docs` writes them, `test` fails when they are not what would be written.

use std::fs;

use stridewise_core::operators::TABLE;
use stridewise_core::table::{Arity, Entry, Kind};

use crate::steps::{Failure, root};

const BEGIN: &str = "<!-- operators: written by `cargo xtask docs` -->\n";
const END: &str = "<!-- operators end -->";

/// Writes both.
pub(crate) fn write() -> Result<(), Failure> {
    for (path, text) in pages()? {
        fs::write(root().join(path), text).map_err(|error| format!("{path}: {error}"))?;
    }
    Ok(())
}

/// Fails when one of them is not up to date.
pub(crate) fn check() -> Result<(), Failure> {
    for (path, text) in pages()? {
        let there = fs::read_to_string(root().join(path)).unwrap_or_default();
        if there != text {
            return Err(format!(
                "{path} does not match the operator table: run `cargo xtask docs`"
            ));
        }
    }
    Ok(())
}

fn pages() -> Result<[(&'static str, String); 2], Failure> {
    let readme = fs::read_to_string(root().join("README.md"))
        .map_err(|error| format!("README.md: {error}"))?;
    let parts = readme
        .split_once(BEGIN)
        .and_then(|(before, rest)| rest.split_once(END).map(|(_, after)| (before, after)));
    let (before, after) = parts.ok_or("README.md has lost the marks around its operator table")?;
    let rows: String = TABLE.iter().map(row).collect();
    let table = format!("| operator | data | what it does |\n|---|---|---|\n{rows}");
    Ok([
        ("README.md", format!("{before}{BEGIN}{table}{END}{after}")),
        ("docs/operators.md", reference()),
    ])
}

fn row(entry: &Entry) -> String {
    format!(
        "| `{}` | {} | {} |\n",
        entry.signature(),
        data(entry.kind),
        entry.summary
    )
}

fn data(kind: Kind) -> &'static str {
    match kind {
        Kind::View => "view",
        Kind::ViewOrCopy => "view or copy",
        Kind::Copy => "copy",
        Kind::Make => "new",
    }
}

fn reference() -> String {
    let mut text = String::from(
        "# Operators\n\nWritten by `cargo xtask docs` from the operator table in `crates/core/src/operators/mod.rs`.\n\
         Signatures are as the command line has them; in Rust every parameter is given. What each operator does, edge\n\
         by edge, is in [semantics.md](semantics.md).\n",
    );
    let groups = [
        (
            Arity::Each,
            "On each of several tensors",
            "Methods in Rust; by name, any number of tensors at once.",
        ),
        (
            Arity::One,
            "On a tensor",
            "Methods in Rust: `x.expand([2, -1])`.",
        ),
        (
            Arity::Many,
            "On several tensors",
            "Functions: `concat(&[&a, &b], 0)`.",
        ),
        (
            Arity::None,
            "From nothing",
            "Functions: `zeros([2, 3], DType::F32)`.",
        ),
    ];
    for (arity, title, how) in groups {
        text += &format!(
            "\n## {title}\n\n{how}\n\n| operator | data | what it does |\n|---|---|---|\n"
        );
        text.extend(TABLE.iter().filter(|entry| entry.arity == arity).map(row));
    }
    text
}
