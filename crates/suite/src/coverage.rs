//! The suite held to the operator table: an operator without a literal case, random calls, a rule of the
//! oracle, a look at its storage or a mistake fails here, and so does a case of an operator that is gone.

use stridewise_core::operators::TABLE;

pub use stridewise_core::table::Kind;

use crate::runner::Runner;
use crate::{Input, cases, contract, mistakes, oracle, random};

/// Checks that nothing is missing, and that the runner does what it says.
pub fn check<R: Runner>(runner: &R) {
    let literal: Vec<&str> = cases::all().iter().map(|case| case.call.operator).collect();
    let stored: Vec<&str> = contract::calls().iter().map(|call| call.operator).collect();
    let mistaken: Vec<&str> = mistakes::all().iter().map(|m| m.call.operator).collect();
    let mut missing = Vec::new();
    for entry in TABLE {
        let name = entry.name;
        let mut need = |there: bool, what: &str| {
            if !there {
                missing.push(format!("{name} has no {what}"));
            }
        };
        need(literal.contains(&name), "literal case");
        need(random::generator(name).is_some(), "random calls");
        need(oracle::rule(name).is_some(), "rule in the oracle");
        need(mistaken.contains(&name), "mistake");
        let storage = stored.contains(&name) || entry.kind == Kind::Make;
        need(storage, "case of its storage");
    }
    for name in literal.iter().chain(&stored).chain(&mistaken) {
        if !TABLE.iter().any(|entry| entry.name == *name) {
            missing.push(format!("{name} is not in the table"));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));

    let seen = runner.see(&runner.input(&Input::f32(&[2, 3])));
    assert_eq!(seen.elements.is_some(), R::HOLDS_DATA);
    assert_eq!(seen.shape, [2, 3]);
}
