//! Random programs over all operators: chains and webs of calls, good and bad, on inputs of which all, some or
//! nothing is declared, run with several sizes. A graph gives what the same calls give at once, foresees its shapes,
//! and fails exactly where they fail.
//!
//! `PROPTEST_CASES` sets how many programs there are, `PROPTEST_RNG_SEED` repeats a run.

mod arguments;
mod check;
#[path = "../common/mod.rs"]
mod common;
mod draw;
mod gradients;
mod inputs;
mod program;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use stridewise_core::operators::TABLE;

use check::{Fate, agree};
use draw::Flavour;

const CASES: u32 = 6000;

/// Three streams of choices: the program, how its inputs are declared, what is in them; and the sizes that sizes
/// become in other runs.
type Streams = (Vec<u32>, Vec<u32>, Vec<u32>, Vec<Vec<usize>>);

/// Checks many programs; prints the simplest that fails and the seed that finds it again.
fn check_programs(name: &str, cases: u32, check: impl Fn(&Streams) -> Result<(), String>) {
    let seed = (std::env::var("PROPTEST_RNG_SEED").ok())
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(|| RandomState::new().hash_one(name));
    let mut config = Config {
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    let sizes = vec(0usize..6, 7);
    let streams = (
        vec(any::<u32>(), 0..400),
        vec(any::<u32>(), 0..40),
        vec(any::<u32>(), 0..120),
        vec(sizes, 2),
    );
    let outcome = TestRunner::new(config).run(&streams, |streams| {
        check(&streams).map_err(TestCaseError::fail)?;
        Ok(())
    });
    if let Err(error) = outcome {
        let reason = match error {
            TestError::Fail(reason, _) => reason.to_string(),
            other => other.to_string(),
        };
        panic!("repeat with PROPTEST_RNG_SEED={seed}\n{reason}");
    }
}

/// Sizes of 1 stay what they are, or most broadcasts would fail.
fn others(maps: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let with_one = |map: &Vec<usize>| {
        let mut map = map.clone();
        map[1] = 1;
        map
    };
    maps.iter().map(with_one).collect()
}

#[test]
fn a_program_gives_in_a_graph_what_its_calls_give_at_once() {
    let fates: RefCell<BTreeMap<String, usize>> = RefCell::default();
    let called: RefCell<BTreeMap<&str, usize>> = RefCell::default();
    check_programs("programs", CASES, |(stream, declared, contents, maps)| {
        let program = draw::program(stream, contents, Flavour::Any);
        let found = agree(&program, declared, contents, &others(maps))
            .map_err(|difference| format!("{program}{difference}"))?;
        for (round, fate) in found.iter().enumerate() {
            let round = if round == 0 { "first" } else { "other" };
            *fates
                .borrow_mut()
                .entry(format!("{round} {fate:?}"))
                .or_default() += 1;
        }
        if found[0] == Fate::Good {
            for step in &program.steps {
                *called.borrow_mut().entry(step.operator).or_default() += 1;
            }
        }
        Ok(())
    });
    let (fates, called) = (fates.into_inner(), called.into_inner());
    let all: usize = fates
        .iter()
        .filter(|(k, _)| k.starts_with("first"))
        .map(|(_, n)| n)
        .sum();
    if std::env::var_os("PROGRAMS_SHOW").is_some() {
        println!("{fates:?}\n{called:?}");
    }
    if all >= 1000 {
        let part = |fate: &str| fates.get(fate).copied().unwrap_or(0) * 100 / all;
        let fine = part("first Good") >= 50 && part("first Bad") >= 5 && part("other Good") >= 20;
        assert!(fine, "too few programs of some kind: {fates:?}");
        let never = TABLE
            .iter()
            .filter(|entry| !called.contains_key(entry.name));
        let never: Vec<&str> = never.map(|entry| entry.name).collect();
        assert!(never.is_empty(), "never part of a good program: {never:?}");
    }
}

#[test]
fn gradients_of_a_program_are_those_of_its_calls_made_at_once() {
    let fates: RefCell<BTreeMap<String, usize>> = RefCell::default();
    let cases = CASES / 3;
    check_programs("gradients", cases, |(stream, declared, contents, maps)| {
        let program = draw::program(stream, contents, Flavour::Exact);
        let found = gradients::agree(&program, declared, contents, &others(maps))
            .map_err(|difference| format!("{program}{difference}"))?;
        for fate in found {
            *fates.borrow_mut().entry(format!("{fate:?}")).or_default() += 1;
        }
        Ok(())
    });
    let fates = fates.into_inner();
    if std::env::var_os("PROGRAMS_SHOW").is_some() {
        println!("{fates:?}");
    }
    let all: usize = fates.values().sum();
    if all >= 1000 {
        let part = |fate: &str| fates.get(fate).copied().unwrap_or(0) * 100 / all;
        let fine = part("(Good, Good)") >= 20 && part("(Good, TooEarly)") >= 2;
        assert!(fine, "too few programs of some kind: {fates:?}");
    }
}
