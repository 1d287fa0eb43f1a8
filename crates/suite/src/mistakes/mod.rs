//! Bad input, and the text it is answered with. The texts are a snapshot that all engines share: whoever
//! changes one reads it first, as a user would.

mod elements;
mod gathering;
mod layout;
mod sizes;

use std::fmt::Write;

use crate::call::Call;
use crate::runner::{Family, Runner, family, run};

/// A call with a mistake in it.
#[derive(Clone, Debug)]
pub struct Mistake {
    /// What is wrong.
    pub name: &'static str,
    /// The call.
    pub call: Call,
    /// Whether the mistake is in the elements of a tensor, where an engine without data does not see it.
    pub in_elements: bool,
}

/// Operators that accept every tensor, whatever its shape, dtype and layout: only what is no tensor can be
/// wrong with a call, or a list that cannot be made one, or an argument that does not exist.
pub const ACCEPT_EVERY_TENSOR: [&str; 5] = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "contiguous",
    "shape_of",
];

fn mistake(name: &'static str, call: Call) -> Mistake {
    Mistake {
        name,
        call,
        in_elements: false,
    }
}

fn in_elements(name: &'static str, call: Call) -> Mistake {
    Mistake {
        in_elements: true,
        ..mistake(name, call)
    }
}

/// All mistakes.
pub fn all() -> Vec<Mistake> {
    [
        sizes::mistakes(),
        layout::mistakes(),
        gathering::mistakes(),
        elements::mistakes(),
    ]
    .concat()
}

/// Makes every mistake and compares the texts with those recorded.
pub fn check<R: Runner>(runner: &R) {
    let (mut texts, mut texts_of_elements) = (String::new(), String::new());
    for Mistake {
        name,
        call,
        in_elements,
    } in all()
    {
        let outcome = run(runner, &call).outcome;
        let into = match (in_elements, R::HOLDS_DATA) {
            (false, _) => &mut texts,
            (true, true) => &mut texts_of_elements,
            (true, false) => {
                let blind = outcome
                    .as_ref()
                    .map_or_else(|e| family(e) == Family::TooEarly, |_| true);
                assert!(blind, "{call}: an error without data: {outcome:?}");
                continue;
            }
        };
        let error = match outcome {
            Err(error) => error,
            Ok(seen) => panic!("{name}: {call} is no mistake, it gives {seen:?}"),
        };
        let report = error.report();
        assert_eq!(report.operator(), call.operator, "{call}: {error}");
        let family = family(&error);
        let detail = |label: &str, value: Option<String>| {
            value.map_or(String::new(), |value| format!(", {label} {value}"))
        };
        let details = [
            detail("argument", report.argument().map(str::to_string)),
            detail("axis", report.axis().map(|axis| axis.to_string())),
            detail("expected", report.expected().map(str::to_string)),
            detail("actual", report.actual().map(str::to_string)),
        ]
        .concat();
        writeln!(into, "# {name}\n> {call}\n[{family:?}{details}]\n{error}\n")
            .unwrap_or_else(|e| panic!("{e}"));
    }
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("error_texts", texts);
        if R::HOLDS_DATA {
            insta::assert_snapshot!("error_texts_about_elements", texts_of_elements);
        }
    });
}
