//! What comes from the operator table: the rows in README.md, the page docs/operators.md, and the operators in the
//! Python package's names and type stubs. `docs` writes them, `test` fails when they are not what would be written.

use std::fs;

use stridewise_core::operators::TABLE;
use stridewise_core::table::{Arity, Entry, Kind};

use crate::steps::{Failure, root};
use crate::stubs;

const README: &str = "README.md";
const PACKAGE: &str = "python/stridewise/__init__.py";
const STUBS: &str = "python/stridewise/_stridewise.pyi";

/// Writes all of them.
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

fn pages() -> Result<[(&'static str, String); 4], Failure> {
    let rows: String = TABLE.iter().map(row).collect();
    let table = format!("| operator | data | what it does |\n|---|---|---|\n{rows}");
    let readme = read(README)?;
    let begin = "<!-- operators: written by `cargo xtask docs` -->\n";
    let readme = between(README, &readme, begin, "<!-- operators end -->", &table)?;
    let package = marked(PACKAGE, "    ", "names", stubs::names(true), read(PACKAGE)?)?;
    let typed = marked(STUBS, "    ", "names", stubs::names(false), read(STUBS)?)?;
    let typed = marked(STUBS, "    ", "methods", stubs::methods("Tensor"), typed)?;
    let symbolic = stubs::methods("SymbolicTensor");
    let typed = marked(STUBS, "    ", "symbolic methods", symbolic, typed)?;
    let global = stubs::methods("GlobalTensor");
    let typed = marked(STUBS, "    ", "global methods", global, typed)?;
    let gpu = stubs::methods("GpuTensor");
    let typed = marked(STUBS, "    ", "gpu methods", gpu, typed)?;
    let typed = marked(STUBS, "", "functions", stubs::functions(), typed)?;
    Ok([
        (README, readme),
        ("docs/operators.md", reference()),
        (PACKAGE, package),
        (STUBS, typed),
    ])
}

/// Python with the lines between two comments replaced.
fn marked(
    path: &str,
    indent: &str,
    what: &str,
    text: String,
    page: String,
) -> Result<String, Failure> {
    let begin = format!("{indent}# {what}: written by `cargo xtask docs`\n");
    let end = format!("{indent}# {what} end\n");
    between(path, &page, &begin, &end, &text)
}

fn read(path: &str) -> Result<String, Failure> {
    fs::read_to_string(root().join(path)).map_err(|error| format!("{path}: {error}"))
}

/// The page with the text between two marks replaced.
fn between(path: &str, page: &str, begin: &str, end: &str, text: &str) -> Result<String, Failure> {
    let parts = page
        .split_once(begin)
        .and_then(|(before, rest)| rest.split_once(end).map(|(_, after)| (before, after)));
    match parts {
        Some((before, after)) => Ok(format!("{before}{begin}{text}{end}{after}")),
        None => Err(format!("{path} has lost the mark `{}`", begin.trim())),
    }
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
         Signatures are as the command line has them; in Rust every parameter is given, and in Python every call also\n\
         takes a `name`, and `take` an `out`. What each operator does, edge by edge, is in [semantics.md](semantics.md);\n\
         conversions and exceptions are in [python.md](python.md).\n",
    );
    let groups = [
        (
            Arity::Each,
            "On each of several tensors",
            "Methods in Rust; in Python and by name, any number of tensors at once.",
        ),
        (
            Arity::One,
            "On a tensor",
            "Methods in Rust: `x.expand([2, -1])`. In Python methods and functions: `sw.expand(x, 2, -1)`.",
        ),
        (
            Arity::Many,
            "On several tensors",
            "Functions: `concat(&[&a, &b], 0)`, in Python `sw.concat([a, b])`.",
        ),
        (
            Arity::None,
            "From nothing",
            "Functions: `zeros([2, 3], DType::F32)`, in Python `sw.zeros([2, 3], \"float32\")`.",
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
