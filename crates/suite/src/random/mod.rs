//! Calls drawn at random, good and bad, on all dtypes and layouts: engine and oracle must agree on the
//! shape, the dtype, every element, whether the call is an error, and of which family.
//!
//! `PROPTEST_CASES` sets how many calls each operator gets, `PROPTEST_RNG_SEED` repeats a run.

mod calls;
mod choices;

use std::hash::{BuildHasher, RandomState};

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use stridewise_core::operators::TABLE;
use stridewise_core::table::Kind;

use crate::call::Call;
use crate::number::Number;
use crate::oracle::{self, Answer, is_affine};
use crate::reference::Reference;
use crate::runner::{Family, Observation, Observed, Ran, Runner, family, run};

pub use calls::generator;
pub use choices::{Choices, Fill};

const CASES: u32 = 1500;

/// Every operator of a kind, under random calls; all that differ are reported together.
pub fn check<R: Runner>(runner: &R, kind: Kind) {
    let operators = TABLE.iter().filter(|entry| entry.kind == kind);
    let different: Vec<String> = operators
        .filter_map(|entry| check_operator(runner, entry.name, kind).err())
        .collect();
    assert!(different.is_empty(), "{}", different.join("\n\n"));
}

fn check_operator<R: Runner>(runner: &R, operator: &'static str, kind: Kind) -> Result<(), String> {
    let generate = generator(operator)
        .unwrap_or_else(|| panic!("the suite has no random calls of `{operator}`"));
    let seed = std::env::var("PROPTEST_RNG_SEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(|| RandomState::new().hash_one(operator));
    let mut config = Config {
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..Config::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    let tally = Tally::default();
    let cases = config.cases;
    let outcome = TestRunner::new(config).run(&vec(any::<u32>(), 0..160), |choices| {
        let call = generate(operator, &mut Choices::new(&choices)).listed();
        let good = agree(runner, &call, kind)
            .map_err(|difference| TestCaseError::fail(format!("{call}\n{difference}")))?;
        tally.add(good);
        Ok(())
    });
    outcome.map_err(|error| match error {
        TestError::Fail(reason, _) => {
            format!("{operator} (repeat with PROPTEST_RNG_SEED={seed}): {reason}")
        }
        other => format!("{operator}: {other}"),
    })?;
    tally.require_both(operator, cases)
}

/// How many calls were good and how many bad: a generator that only gives one of them tests half.
#[derive(Default)]
struct Tally {
    good: std::cell::Cell<u32>,
    bad: std::cell::Cell<u32>,
}

/// Operators of which every call with the right arguments is good.
const ALWAYS_GOOD: [&str; 5] = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "contiguous",
    "shape_of",
];

impl Tally {
    fn add(&self, good: bool) {
        let count = if good { &self.good } else { &self.bad };
        count.set(count.get() + 1);
    }

    fn require_both(&self, operator: &str, cases: u32) -> Result<(), String> {
        let (good, bad) = (self.good.get(), self.bad.get());
        let always = ALWAYS_GOOD.contains(&operator);
        if cases < 100 || (good >= cases / 4 && (bad >= cases / 25 || always)) {
            return Ok(());
        }
        Err(format!(
            "of {cases} calls of {operator} only {good} were good and {bad} bad"
        ))
    }
}

/// Holds an engine's answer to the oracle's; says whether the call was good, or how the answers differ.
pub fn agree<R: Runner>(runner: &R, call: &Call, kind: Kind) -> Result<bool, String> {
    let ran = run(runner, call);
    match (&ran.outcome, oracle::judge(call, R::HOLDS_DATA)) {
        (Ok(seen), Ok(wanted)) => {
            compare(call.operator, seen, &wanted)?;
            check_storage(call, &ran, seen, kind)?;
            Ok(true)
        }
        (Err(error), Err(families)) if families.contains(&family(error)) => Ok(false),
        (Err(error), Err(families)) => Err(format!(
            "wanted an error of {families:?}, got {:?}: {error}",
            family(error)
        )),
        (Ok(seen), Err(families)) => {
            let shapes: Vec<_> = seen.tensors().iter().map(|x| &x.shape).collect();
            Err(format!("wanted an error of {families:?}, got {shapes:?}"))
        }
        (Err(error), Ok(wanted)) => {
            let shapes: Vec<_> = wanted.tensors().iter().map(|x| &x.shape).collect();
            let family: Family = family(error);
            Err(format!(
                "wanted {shapes:?}, got an error, {family:?}: {error}"
            ))
        }
    }
}

fn compare(operator: &str, seen: &Observation, wanted: &Answer) -> Result<(), String> {
    if let (Observation::Checked(_, seen), Answer::Checked(_, wanted)) = (seen, wanted)
        && seen != wanted
    {
        return Err(format!("wanted dims {wanted:?}, got {seen:?}"));
    }
    let (seen, wanted) = (seen.tensors(), wanted.tensors());
    if seen.len() != wanted.len() {
        return Err(format!(
            "wanted {} tensors, got {}",
            wanted.len(),
            seen.len()
        ));
    }
    for (seen, wanted) in seen.iter().zip(wanted) {
        compare_tensor(operator, seen, wanted)?;
    }
    Ok(())
}

fn compare_tensor(operator: &str, seen: &Observed, wanted: &Reference) -> Result<(), String> {
    if (seen.dtype, &seen.shape) != (wanted.dtype, &wanted.shape) {
        return Err(format!(
            "wanted {} {:?}, got {} {:?}",
            wanted.dtype, wanted.shape, seen.dtype, seen.shape
        ));
    }
    let Some(bytes) = &seen.elements else {
        return Ok(());
    };
    if *bytes == wanted.bytes() {
        return Ok(());
    }
    // Moved data is equal bit for bit; computed floats are equal to rounding, and NaN is NaN.
    let computed = ["sum", "index_add", "arange", "cast"].contains(&operator);
    let width = seen.dtype.width();
    let cell = |bytes: &[u8]| {
        let mut cell = [0; 16];
        cell[..width].copy_from_slice(bytes);
        Number::decode(seen.dtype, &cell)
    };
    let numbers: Vec<Number> = bytes.chunks_exact(width).map(cell).collect();
    let wanted = wanted.numbers();
    let scale = if operator == "arange" { 1.0 } else { 0.0 };
    let same = |(a, b): (&Number, &Number)| a.is_near(*b, seen.dtype, scale);
    if computed && numbers.len() == wanted.len() && wanted.iter().zip(&numbers).all(same) {
        return Ok(());
    }
    Err(format!("wanted {wanted:?}, got {numbers:?}"))
}

/// Views share the storage of the tensor they are called on, copies do not. What may be either is a view
/// exactly where some strides give its elements.
fn check_storage(call: &Call, ran: &Ran, seen: &Observation, kind: Kind) -> Result<(), String> {
    let Some(first) = ran.inputs.first() else {
        return Ok(());
    };
    for out in seen.tensors() {
        let (Some(ours), Some(theirs)) = (first.storage, out.storage) else {
            continue;
        };
        let input = call.inputs()[0];
        let view = match kind {
            Kind::View => true,
            Kind::Copy | Kind::Make => false,
            Kind::ViewOrCopy => match call.operator {
                "cast" => out.dtype == input.dtype,
                "contiguous" => {
                    let packed = (0..).map(|i| i + input.offset as isize);
                    input
                        .addresses()
                        .into_iter()
                        .zip(packed)
                        .all(|(a, b)| a == b)
                }
                _ => is_affine(&input.addresses(), &out.shape),
            },
        };
        // Storages without a byte need not be told apart.
        let fine = view == (ours == theirs) || (out.shape.contains(&0) && !view);
        if !fine {
            let what = if view { "a view" } else { "a copy" };
            return Err(format!(
                "wanted {what} of {input:?}, got {:?} strides {:?}",
                out.shape, out.strides
            ));
        }
    }
    Ok(())
}
