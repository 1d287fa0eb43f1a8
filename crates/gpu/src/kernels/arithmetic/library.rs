//! The functions that kernels share, in WGSL, and the linking of a kernel with those it uses: a driver compiles what it
//! is given, and takes its time.

use std::collections::BTreeMap;

/// The texts, each a run of functions.
const TEXTS: [&str; 6] = [
    include_str!("wgsl/pair.wgsl"),
    include_str!("wgsl/single.wgsl"),
    include_str!("wgsl/double.wgsl"),
    include_str!("wgsl/half.wgsl"),
    include_str!("wgsl/convert.wgsl"),
    include_str!("wgsl/source.wgsl"),
];

/// The text with the functions it calls, and those they call. `native` chooses between the two forms of `single_add`.
pub(super) fn linked(text: &str, native: bool) -> String {
    let single = match native {
        true => include_str!("wgsl/single_native.wgsl"),
        false => include_str!("wgsl/single_plain.wgsl"),
    };
    let mut unused: BTreeMap<&str, &str> = TEXTS
        .iter()
        .chain([&single])
        .flat_map(|text| functions(text))
        .collect();
    let mut linked = text.to_string();
    let mut fresh = vec![text];
    while let Some(text) = fresh.pop() {
        for called in text.split('(') {
            let name = called.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            let name = &called[name.map_or(0, |at| at + 1)..];
            if let Some(function) = unused.remove(name) {
                linked.push_str("\nfn ");
                linked.push_str(function);
                linked.push('\n');
                fresh.push(function);
            }
        }
    }
    linked
}

/// The functions of a text, by name; what stands between them is comment.
fn functions(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split("\nfn ").enumerate().filter_map(|(nth, part)| {
        let part = match nth {
            0 => part.strip_prefix("fn ")?,
            _ => part,
        };
        let end = part.find("\n}")? + 2;
        Some((part.split_once('(')?.0, &part[..end]))
    })
}
