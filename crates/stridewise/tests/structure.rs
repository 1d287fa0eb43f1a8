//! The one idea, held by reading the sources: operators know no engine, engines know no operator, and every
//! operator of the table has a row in the documentation.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use stridewise::operators::TABLE;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every Rust file below a folder, with its code: comments and what is only compiled for tests left out.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    collect(folder, &mut found);
    assert!(!found.is_empty(), "{} has no sources", folder.display());
    found
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs")
            && path.file_stem() != Some("tests".as_ref())
        {
            let text = fs::read_to_string(&path).expect("a source file");
            let text = text
                .split("#[cfg(test)]\nmod tests {")
                .next()
                .unwrap_or_default();
            let code = text
                .lines()
                .map(|line| line.split("//").next().unwrap_or_default());
            found.push((path, code.collect::<Vec<_>>().join("\n")));
        }
    }
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

/// What follows a phrase, up to the end of the word.
fn named_after<'a>(code: &'a str, phrase: &str) -> Vec<&'a str> {
    code.split(phrase)
        .skip(1)
        .filter_map(|rest| words(rest).next())
        .collect()
}

/// Each crate that implements an engine, and the engine's name.
fn engines() -> Vec<(PathBuf, String)> {
    let mut engines = Vec::new();
    for entry in fs::read_dir(root().join("crates")).expect("the crates") {
        let folder = entry.expect("a crate").path();
        for (_, code) in sources(&folder.join("src")) {
            let names = named_after(&code, "impl Engine for ");
            engines.extend(
                names
                    .into_iter()
                    .map(|name| (folder.clone(), name.to_string())),
            );
        }
    }
    engines
}

#[test]
fn there_are_several_engines() {
    let names: BTreeSet<String> = engines().into_iter().map(|(_, name)| name).collect();
    for engine in ["Cpu", "Dry", "Gpu"] {
        assert!(names.contains(engine), "{names:?}");
    }
}

#[test]
fn only_the_gpu_engine_knows_how_a_gpu_is_reached() {
    let crates = fs::read_dir(root().join("crates")).expect("the crates");
    let crates = crates.map(|entry| entry.expect("a crate").path());
    let others = crates.filter(|folder| !folder.ends_with("gpu"));
    for folder in others.chain([root().join("python")]) {
        for (path, code) in sources(&folder.join("src")) {
            let reaches = words(&code).any(|word| ["wgpu", "naga"].contains(&word));
            assert!(!reaches, "{} reaches past the engine", path.display());
        }
    }
}

#[test]
fn an_operator_file_names_no_engine() {
    let mut forbidden: BTreeSet<String> = BTreeSet::new();
    for (folder, engine) in engines() {
        let package = folder
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a crate's folder");
        forbidden.extend([engine, format!("stridewise_{package}")]);
    }
    for (path, code) in sources(&root().join("crates/core/src/operators")) {
        for word in words(&code) {
            assert!(
                !forbidden.contains(word),
                "{} names the engine `{word}`",
                path.display()
            );
        }
    }
}

const DOORS: [&str; 2] = ["src/text", "src/onnx"];
const CALLS: [&str; 2] = ["src/replay.rs", "src/node.rs"];

#[test]
fn an_engine_names_no_operator() {
    let mut structs: BTreeSet<String> = BTreeSet::new();
    for (_, code) in sources(&root().join("crates/core/src/operators")) {
        structs.extend(
            named_after(&code, "> Operator<E> for ")
                .iter()
                .map(|name| name.to_string()),
        );
    }
    assert!(
        structs.len() >= TABLE.len(),
        "only {} operators were found",
        structs.len()
    );
    for (folder, _) in engines() {
        for (path, code) in sources(&folder.join("src")) {
            let at = path.display();
            // Texts and models are front doors of a graph: they say which operators there are.
            if DOORS.iter().any(|door| path.starts_with(folder.join(door))) {
                continue;
            }
            // A graph keeps calls, which are lines of the table, whichever they are.
            let by_line = CALLS.iter().any(|file| path == folder.join(file));
            for word in words(&code) {
                let known = by_line || word != "operators";
                assert!(known, "{at} reaches for the operators");
                // A `Slice` is also a part of an axis map, and primitives have names that operators have too.
                let shared = ["Slice", "Full", "View", "Sum", "Concat", "Cast"].contains(&word);
                assert!(
                    shared || !structs.contains(word),
                    "{at} names the operator `{word}`"
                );
            }
            for entry in TABLE {
                let quoted = format!("\"{}\"", entry.name);
                let primitive = ["concat", "sum", "cast", "full"].contains(&entry.name);
                assert!(
                    primitive || !code.contains(&quoted),
                    "{at} matches the operator {quoted} by name"
                );
            }
        }
    }
}

#[test]
fn every_operator_has_a_row_in_the_readme_and_on_the_page_of_operators() {
    for page in ["README.md", "docs/operators.md"] {
        let text = fs::read_to_string(root().join(page)).expect("a page");
        for entry in TABLE {
            let row = format!("| `{}` |", entry.signature());
            assert!(
                text.contains(&row),
                "{page} has no row for {}: run `cargo xtask docs`",
                entry.name
            );
            assert!(
                text.contains(entry.summary),
                "{page} does not say what {} does",
                entry.name
            );
        }
    }
}

#[test]
fn a_module_is_not_named_for_nothing() {
    for (path, _) in sources(&root().join("crates")) {
        let stem = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default();
        assert!(
            !["utils", "helpers", "misc", "common"].contains(&stem),
            "{}",
            path.display()
        );
    }
}
