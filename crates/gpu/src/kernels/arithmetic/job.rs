//! Every arithmetic kernel there is, as a value: its name, and its WGSL put together from the texts beside.

use super::convert::Wide;
use super::library::linked;
use super::number::{Number, each};
use crate::kernels::movement::index::INDEX;

/// A kernel, before its text is made. `native` says that the device's own addition of `f32` may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Job {
    /// `[count, where the blocks of a and b are]`; inputs a and b.
    Add { number: Number, native: bool },
    /// `[count, flags, where the block of the source is]`; input the source.
    Cast { from: Wide, to: Number },
    /// Sums of blocks of terms, which are converted first where `from` is given.
    Blocks {
        by: By,
        from: Option<Wide>,
        to: Number,
        native: bool,
    },
    /// Sums of sums; those that are `last` are elements of the result.
    Pairs {
        number: Number,
        native: bool,
        last: bool,
    },
    /// Sorting by a digit of the key: how often each occurs.
    Count,
    /// Sorting by a digit of the key: each entry to its place.
    Place,
    /// Totals of runs of counts.
    ScanUp,
    /// What stands before each count.
    ScanDown,
    /// The cell of each index.
    Entries,
    /// Adds updates to the cells of sorted entries.
    Scatter { number: Number, native: bool },
    /// Compares the device's addition of `f32` with the one in integers.
    Trial,
}

/// How threads share the terms of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum By {
    /// Eight threads for a block.
    Rows,
    /// One thread for a block.
    Columns,
    /// One thread for each word of the result, where there is one block only.
    Words,
}

impl Job {
    /// Every one that can be launched.
    pub(super) fn all() -> Vec<Job> {
        let mut all = vec![
            Job::Count,
            Job::Place,
            Job::ScanUp,
            Job::ScanDown,
            Job::Entries,
            Job::Trial,
        ];
        for number in Number::ALL {
            let narrow = number.lanes() > 1;
            for native in [false, true] {
                if native && !number.adds_singles() {
                    continue;
                }
                all.push(Job::Add { number, native });
                all.push(Job::Scatter { number, native });
                for last in [false, true] {
                    if narrow || !last {
                        all.push(Job::Pairs {
                            number,
                            native,
                            last,
                        });
                    }
                }
                for from in std::iter::once(None).chain(Wide::ALL.map(Some)) {
                    for by in [By::Rows, By::Columns, By::Words] {
                        if narrow || by != By::Words {
                            all.push(Job::Blocks {
                                by,
                                from,
                                to: number,
                                native,
                            });
                        }
                    }
                }
            }
            all.extend(Wide::ALL.map(|from| Job::Cast { from, to: number }));
        }
        all
    }

    pub(super) fn name(self) -> String {
        let own = |native: bool| if native { " with its own addition" } else { "" };
        match self {
            Job::Add { number, native } => format!("add {}{}", number.name(), own(native)),
            Job::Cast { from, to } => format!("cast {} to {}", from.name(), to.name()),
            Job::Blocks {
                by,
                from,
                to,
                native,
            } => {
                let by = match by {
                    By::Rows => "rows",
                    By::Columns => "columns",
                    By::Words => "words",
                };
                let cast = from.map_or(String::new(), |from| format!("{} as ", from.name()));
                format!("sum {by} of {cast}{}{}", to.name(), own(native))
            }
            Job::Pairs {
                number,
                native,
                last,
            } => {
                let last = if last { "last " } else { "" };
                format!("sum {last}pairs of {}{}", number.name(), own(native))
            }
            Job::Count => "sort: count".to_string(),
            Job::Place => "sort: place".to_string(),
            Job::ScanUp => "scan up".to_string(),
            Job::ScanDown => "scan down".to_string(),
            Job::Scatter { number, native } => {
                format!("scatter_add {}{}", number.name(), own(native))
            }
            Job::Entries => "cells of indices".to_string(),
            Job::Trial => "trial of the device's own addition".to_string(),
        }
    }

    /// How many arrays are read.
    pub(super) fn inputs(self) -> usize {
        match self {
            Job::Add { .. } | Job::Place | Job::ScanDown | Job::Scatter { .. } => 2,
            _ => 1,
        }
    }

    /// Its WGSL, without the prelude.
    pub(super) fn source(self) -> String {
        let (text, native) = match self {
            Job::Add { number, native } => (add(number), native),
            Job::Cast { from, to } => (cast(from, to), false),
            Job::Blocks {
                by,
                from,
                to,
                native,
            } => (blocks(by, from, to), native),
            Job::Pairs {
                number,
                native,
                last,
            } => (pairs(number, last), native),
            Job::Count => (
                arrays("u32", &[("entries", "vec2<u32>")]) + include_str!("wgsl/sort_count.wgsl"),
                false,
            ),
            Job::Place => (
                arrays("vec2<u32>", &[("entries", "vec2<u32>"), ("places", "u32")])
                    + include_str!("wgsl/sort_place.wgsl"),
                false,
            ),
            Job::ScanUp => (
                arrays("u32", &[("counts", "u32")]) + include_str!("wgsl/scan_up.wgsl"),
                false,
            ),
            Job::ScanDown => (
                arrays("u32", &[("counts", "u32"), ("runs", "u32")])
                    + include_str!("wgsl/scan_down.wgsl"),
                false,
            ),
            Job::Scatter { number, native } => (scatter(number), native),
            Job::Entries => (
                arrays("vec2<u32>", &[("index", "u32")])
                    + INDEX
                    + include_str!("wgsl/entries.wgsl"),
                false,
            ),
            Job::Trial => (
                arrays("atomic<u32>", &[("numbers", "u32")]) + include_str!("wgsl/trial.wgsl"),
                true,
            ),
        };
        linked(&text, native)
    }
}

fn add(number: Number) -> String {
    let cell = number.cell();
    let sum =
        "narrow(plus(widen(load_a(locate(params[1], i))), widen(load_b(locate(params[2], i)))))";
    [
        arrays(cell, &[("a", cell), ("b", cell)]),
        number.load("a"),
        number.load("b"),
        number.arithmetic(),
        element(cell, sum),
        each(number.lanes()),
    ]
    .concat()
}

fn cast(from: Wide, to: Number) -> String {
    [
        arrays(to.cell(), &[("source", "u32")]),
        from.converted(to, "params[1]"),
        element(to.cell(), "converted(locate(params[2], i))"),
        each(to.lanes()),
    ]
    .concat()
}

fn blocks(by: By, from: Option<Wide>, to: Number) -> String {
    let cell = to.cell();
    let (source, load, name) = match from {
        Some(from) => ("u32", from.converted(to, "params[3]"), "converted"),
        None => (cell, to.load("source"), "load_source"),
    };
    let columns = of(cell, include_str!("wgsl/sum_columns.wgsl"));
    let sum = match by {
        By::Rows => of(cell, include_str!("wgsl/sum_rows.wgsl")),
        By::Columns => columns + &element(cell, "block_sum(i)") + &each(1),
        By::Words => columns + &element(cell, "narrow(block_sum(i))") + &each(to.lanes()),
    };
    [
        arrays(cell, &[("source", source)]),
        load,
        to.arithmetic(),
        of(cell, include_str!("wgsl/sum.wgsl")).replace("$LOAD", name),
        sum,
    ]
    .concat()
}

fn pairs(number: Number, last: bool) -> String {
    let cell = number.cell();
    let store = match last {
        true => element(cell, "narrow(group_sum(i))") + &each(number.lanes()),
        false => element(cell, "group_sum(i)") + &each(1),
    };
    [
        arrays(cell, &[("source", cell)]),
        number.arithmetic(),
        of(cell, include_str!("wgsl/sum_pairs.wgsl")),
        store,
    ]
    .concat()
}

fn scatter(number: Number) -> String {
    let cell = number.cell();
    let (out, store) = match number.lanes() {
        1 => (cell, include_str!("wgsl/store_cells.wgsl")),
        4 => ("atomic<u32>", include_str!("wgsl/store_bytes.wgsl")),
        _ => ("atomic<u32>", include_str!("wgsl/store_shorts.wgsl")),
    };
    [
        arrays(out, &[("entries", "vec2<u32>"), ("updates", cell)]),
        number.load("updates"),
        number.arithmetic(),
        of(cell, store),
        include_str!("wgsl/scatter_add.wgsl").to_string(),
    ]
    .concat()
}

/// The arrays of a kernel: the result, then what is read.
fn arrays(out: &str, inputs: &[(&str, &str)]) -> String {
    let mut text = format!("@group(0) @binding(1) var<storage, read_write> out: array<{out}>;\n");
    for (binding, (name, cell)) in (2..).zip(inputs) {
        text +=
            &format!("@group(0) @binding({binding}) var<storage, read> {name}: array<{cell}>;\n");
    }
    text
}

/// The function `element`, which the entry point of [`each`] calls.
fn element(cell: &str, value: &str) -> String {
    format!("\nfn element(i: u32) -> {cell} {{\n    return {value};\n}}\n")
}

/// A text over one type of cell.
fn of(cell: &str, text: &str) -> String {
    text.replace("$CELL", cell)
}
