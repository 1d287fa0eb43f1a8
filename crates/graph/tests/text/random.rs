//! Every operator under random calls, with inputs of which all, some or nothing is declared: what is printed reads
//! back as the same text, and as a program that gives the same.

use std::hash::{BuildHasher, RandomState};

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use stridewise_core::operators::TABLE;
use stridewise_cpu::Tensor;
use stridewise_graph::Program;
use stridewise_suite::Choices;
use stridewise_suite::random::generator;
use stridewise_suite::runner::family;

use crate::common::{ALL, traced};

/// A seed that can be given, and a runner with it.
pub(crate) fn runner(about: &str, cases: u32) -> (u64, TestRunner) {
    let seed = std::env::var("PROPTEST_RNG_SEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(|| RandomState::new().hash_one(about));
    let mut config = Config {
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..Config::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    (seed, TestRunner::new(config))
}

pub(crate) fn reason<T: std::fmt::Debug>(error: TestError<T>) -> String {
    match error {
        TestError::Fail(reason, _) => reason.to_string(),
        other => other.to_string(),
    }
}

/// Whether a program and the one that is read from its text are the same.
pub(crate) fn same(program: &Program, given: &[Tensor]) -> Result<(), String> {
    let text = program.to_string();
    let again: Program = (text.parse()).map_err(|error| format!("{text}\n{error}"))?;
    let printed = again.to_string();
    if printed != text {
        return Err(format!("wanted\n{text}\ngot\n{printed}"));
    }
    if again.guards().len() != program.guards().len() {
        return Err(format!("{text}\nhas other guards when it is read back"));
    }
    match (program.run(given), again.run(given)) {
        (Ok(wanted), Ok(got)) => {
            let seen = |x: &Tensor| (x.dtype(), x.shape().to_vec(), x.to_bytes());
            match wanted.iter().map(seen).eq(got.iter().map(seen)) {
                true => Ok(()),
                false => Err(format!("{text}\nwanted {wanted:?}, got {got:?}")),
            }
        }
        (Err(wanted), Err(got)) if family(&wanted) == family(&got) => Ok(()),
        (wanted, got) => Err(format!("{text}\nwanted {wanted:?}, got {got:?}")),
    }
}

#[test]
fn every_operator_reads_back_as_it_was_recorded() {
    let mut different = Vec::new();
    for entry in TABLE {
        let generate = generator(entry.name)
            .unwrap_or_else(|| panic!("the suite has no random calls of `{}`", entry.name));
        for declared in ALL {
            let (seed, mut runner) = runner(entry.name, 80);
            let choices = (vec(any::<u32>(), 0..160), vec(any::<u32>(), 0..16));
            let outcome = runner.run(&choices, |(choices, more)| {
                let call = generate(entry.name, &mut Choices::new(&choices)).listed();
                let Ok((program, given)) = traced(&call, declared, &mut Choices::new(&more)) else {
                    return Ok(());
                };
                same(&program, &given).map_err(TestCaseError::fail)
            });
            if let Err(error) = outcome {
                let (name, reason) = (entry.name, reason(error));
                different.push(format!(
                    "{name}, {declared:?} (PROPTEST_RNG_SEED={seed}): {reason}"
                ));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n\n"));
}
