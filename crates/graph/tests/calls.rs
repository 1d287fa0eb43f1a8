//! Every operator by itself, under random calls good and bad, with inputs of which all, some or nothing is declared:
//! a graph gives what the operator gives at once, and fails where that fails, with an error of the same family.

mod common;

use std::hash::{BuildHasher, RandomState};

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use stridewise_core::call::Args;
use stridewise_core::dim::Outline;
use stridewise_core::error::{Error, Result};
use stridewise_core::operators::{TABLE, call};
use stridewise_cpu::{Cpu, Tensor};
use stridewise_graph::Program;
use stridewise_suite::oracle;
use stridewise_suite::random::generator;
use stridewise_suite::runner::family;
use stridewise_suite::{Call, Choices};

use common::{ALL, Declared, listed, tensor, traced};

const CASES: u32 = 300;

fn at_once(call_: &Call) -> Result<Vec<Tensor>> {
    let mut make = |input: &_| tensor(input);
    let positional = call_
        .positional
        .iter()
        .map(|arg| arg.with_tensors(&mut make))
        .collect();
    let named = (call_.named.iter())
        .map(|(name, arg)| {
            (
                name.to_string(),
                arg.with_tensors(&mut |input| tensor(input)),
            )
        })
        .collect();
    call(&Cpu, call_.operator, Args { positional, named }).map(listed)
}

fn agree(call_: &Call, declared: Declared, choices: &mut Choices) -> Result<bool, String> {
    let wanted = at_once(call_);
    let run = traced(call_, declared, choices).and_then(|(program, given)| {
        let first = program.run(&given)?;
        // A kept plan gives the same.
        let second = program.run(&given)?;
        Ok((program, given, first, second))
    });
    match (wanted, run) {
        (Ok(wanted), Ok((program, given, first, second))) => {
            let shapes: Vec<Outline> = program.outputs().map(|(_, shape)| shape.clone()).collect();
            for (at, want) in wanted.iter().enumerate() {
                for got in [&first[at], &second[at]] {
                    if (got.dtype(), got.shape()) != (want.dtype(), want.shape()) {
                        return Err(format!("wanted {want:?}, got {got:?}"));
                    }
                    if got.to_bytes() != want.to_bytes() {
                        return Err(format!("wanted {want:?}, got other elements: {got:?}"));
                    }
                }
                fits(&program, &given, &shapes[at], want.shape())?;
            }
            Ok(true)
        }
        // How many tensors a call gives must be known when it is made.
        (_, Err(Error::TooEarly(_))) if call_.operator == "unstack" => Ok(false),
        (Err(wanted), Err(got)) if family(&wanted) == family(&got) => Ok(false),
        // Of several mistakes a graph may know one before the sizes that tell of another.
        (Err(_), Err(got))
            if oracle::judge(call_, true).is_err_and(|some| some.contains(&family(&got))) =>
        {
            Ok(false)
        }
        (Err(wanted), Err(got)) => Err(format!("wanted {wanted}\n\ngot {got}")),
        (Ok(_), Err(got)) => Err(format!("wanted a result, got {:?}: {got}", family(&got))),
        (Err(wanted), Ok(_)) => Err(format!("wanted an error, got a result: {wanted}")),
    }
}

/// Whether the shape that was foreseen is the real one.
fn fits(
    program: &Program,
    given: &[Tensor],
    outline: &Outline,
    shape: &[usize],
) -> Result<(), String> {
    let foreseen = program
        .foreseen(given, outline)
        .map_err(|error| format!("{outline} has no numbers: {error}"))?;
    match foreseen.as_slice() == shape {
        true => Ok(()),
        false => Err(format!(
            "foreseen {outline}, that is {foreseen:?}, found {shape:?}"
        )),
    }
}

#[test]
fn every_operator_gives_in_a_graph_what_it_gives_at_once() {
    let mut different = Vec::new();
    for entry in TABLE {
        let generate = generator(entry.name)
            .unwrap_or_else(|| panic!("the suite has no random calls of `{}`", entry.name));
        for declared in ALL {
            let seed = std::env::var("PROPTEST_RNG_SEED")
                .ok()
                .and_then(|text| text.parse().ok())
                .unwrap_or_else(|| RandomState::new().hash_one(entry.name));
            let mut config = Config {
                rng_seed: RngSeed::Fixed(seed),
                failure_persistence: None,
                ..Config::default()
            };
            if std::env::var_os("PROPTEST_CASES").is_none() {
                config.cases = CASES;
            }
            let choices = (vec(any::<u32>(), 0..160), vec(any::<u32>(), 0..16));
            let outcome = TestRunner::new(config).run(&choices, |(choices, more)| {
                let call = generate(entry.name, &mut Choices::new(&choices)).listed();
                agree(&call, declared, &mut Choices::new(&more))
                    .map_err(|difference| TestCaseError::fail(format!("{call}\n{difference}")))?;
                Ok(())
            });
            if let Err(error) = outcome {
                let reason = match error {
                    TestError::Fail(reason, _) => reason.to_string(),
                    other => other.to_string(),
                };
                let name = entry.name;
                different.push(format!(
                    "{name}, {declared:?} (PROPTEST_RNG_SEED={seed}): {reason}"
                ));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n\n"));
}
