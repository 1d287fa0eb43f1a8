//! Calls drawn at random for every operator of the table, run on a tape.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use stridewise_core::call::Args;
use stridewise_core::dtype::{DType, Family};
use stridewise_core::operators::{Methods, TABLE, call};
use stridewise_core::table::Outcome;
use stridewise_core::{Engine, Result, Value};
use stridewise_cpu::{Cpu, Tensor};
use stridewise_suite::random::{Choices, Fill, generator};
use stridewise_suite::{Call, Input, Number};
use stridewise_tape::{Tape, Var};

use crate::inputs::{has_gradient, over};

/// Operators whose results have no gradient: whole numbers, or made from nothing.
const WITHOUT: [&str; 5] = ["shape_of", "zeros", "ones", "full", "arange"];

/// Whether a call was good and had a gradient, or how its gradient is wrong.
pub(crate) type Verdict = std::result::Result<bool, String>;

/// Draws so many calls of every operator, each with a random number to draw the rest from, and reports all that are
/// judged wrong together. An operator that hardly ever has a gradient is wrong too.
pub(crate) fn every_operator(cases: u32, judge: impl Fn(Call, u64) -> Verdict) {
    let wrong: Vec<String> = TABLE
        .iter()
        .filter_map(|entry| one_operator(entry.name, cases, &judge).err())
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn one_operator(
    operator: &'static str,
    cases: u32,
    judge: &impl Fn(Call, u64) -> Verdict,
) -> std::result::Result<(), String> {
    let generate = generator(operator)
        .ok_or_else(|| format!("the suite has no random calls of {operator}"))?;
    let set = |name| std::env::var(name).ok();
    let seed = set("PROPTEST_RNG_SEED")
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(|| RandomState::new().hash_one(operator));
    let cases = set("PROPTEST_CASES")
        .and_then(|n| n.parse().ok())
        .unwrap_or(cases);
    let config = Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..Config::default()
    };
    let tracked = Cell::new(0u32);
    let drawn = (vec(any::<u32>(), 0..160), any::<u64>());
    let outcome = TestRunner::new(config).run(&drawn, |(choices, random)| {
        let c = generate(operator, &mut Choices::new(&choices));
        let any = judge(c.clone(), random)
            .map_err(|why| TestCaseError::fail(format!("{}\n{why}", c.listed())))?;
        tracked.set(tracked.get() + u32::from(any));
        Ok(())
    });
    outcome.map_err(|error| match error {
        TestError::Fail(why, _) => {
            format!("{operator} (repeat with PROPTEST_RNG_SEED={seed}): {why}")
        }
        other => format!("{operator}: {other}"),
    })?;
    let tracked = tracked.get();
    match WITHOUT.contains(&operator) {
        true if tracked > 0 => Err(format!("{operator} has gradients")),
        false if tracked < (cases / 20).max(1) => Err(format!(
            "of {cases} calls of {operator} only {tracked} had a gradient"
        )),
        _ => Ok(()),
    }
}

/// Small whole numbers, drawn one after another.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    fn bits(&mut self) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as u32
    }

    pub(crate) fn next(&mut self) -> f64 {
        f64::from(self.bits() % 7) - 3.0
    }

    /// As many as a tensor of that dtype has, real and imaginary parts.
    pub(crate) fn tensor(&mut self, dtype: DType, shape: &[usize]) -> Tensor {
        let count: usize = shape.iter().product();
        let complex = dtype.family() == Family::Complex;
        let wide = if complex { DType::C128 } else { DType::F64 };
        let parts = if complex { 2 * count } else { count };
        let bytes: Vec<u8> = (0..parts).flat_map(|_| self.next().to_ne_bytes()).collect();
        let x = Tensor::from_bytes(wide, shape, &bytes).unwrap();
        x.cast(dtype).unwrap()
    }

    /// A gradient to begin with: one number that is spread with stride 0 along every axis, or numbers in any layout
    /// that the suite draws, packed, reordered, turned round, with gaps, spread along some axes or overlapping.
    pub(crate) fn seed(&mut self, dtype: DType, shape: &[usize]) -> Input {
        let stream: Vec<u32> = (0..1024).map(|_| self.bits()).collect();
        let mut choices = Choices::new(&stream);
        match choices.once_in(3) {
            true => {
                choices
                    .tensor_with(dtype, &[], Fill::Small)
                    .lying(shape, &vec![0; shape.len()], 0)
            }
            false => choices.tensor_with(dtype, shape, Fill::Small),
        }
    }
}

/// The same call with its operands, of whatever dtype, as small whole numbers of this one. Indices and sizes stay.
pub(crate) fn retyped(mut c: Call, dtype: DType, numbers: &mut Numbers) -> Call {
    let mut operand = |input: &Input| {
        let cells = input.storage.len() / input.dtype.width();
        let mut number = || match dtype.family() {
            Family::Complex => Number::Complex(numbers.next(), numbers.next()),
            _ => Number::Float(numbers.next()),
        };
        let encoded = |n: Number| n.encode(dtype).into_iter().take(dtype.width());
        Input {
            dtype,
            storage: (0..cells).flat_map(|_| encoded(number())).collect(),
            ..input.clone()
        }
    };
    for arg in &mut c.positional {
        *arg = arg.with_tensors(&mut operand);
    }
    for (_, arg) in c.named.iter_mut().filter(|(name, _)| *name == "source") {
        *arg = arg.with_tensors(&mut operand);
    }
    c.listed()
}

/// Makes the tensors and the call.
pub(crate) fn run<E: Engine<Size = usize>>(
    engine: &E,
    c: &Call,
    mut make: impl FnMut(&Input) -> E::Value,
) -> Result<Vec<E::Value>> {
    let args = Args {
        positional: c
            .positional
            .iter()
            .map(|arg| arg.with_tensors(&mut make))
            .collect(),
        named: c
            .named
            .iter()
            .map(|(name, arg)| (name.to_string(), arg.with_tensors(&mut make)))
            .collect(),
    };
    Ok(match call(engine, c.operator, args)? {
        Outcome::One(x) | Outcome::Checked((x, _)) => vec![x],
        Outcome::Many(xs) => xs,
    })
}

/// A call that was made on a tape.
pub(crate) struct Recorded<E: Engine = Cpu> {
    tape: Tape<E>,
    /// The inputs that have gradients, in the call's order.
    pub(crate) watched: Vec<Var<E>>,
    pub(crate) outputs: Vec<Var<E>>,
}

/// Makes the call with every tensor watched that can be.
pub(crate) fn recorded(c: &Call, make: impl FnMut(&Input) -> Tensor) -> Result<Recorded> {
    recorded_on(Cpu, c, make)
}

/// The same on any engine that holds data.
pub(crate) fn recorded_on<E>(
    engine: E,
    c: &Call,
    mut make: impl FnMut(&Input) -> E::Value,
) -> Result<Recorded<E>>
where
    E: Engine<Size = usize, Value: Value<Engine = E>> + Clone,
{
    let tape = Tape::over(engine.clone());
    let mut watched = Vec::new();
    let outputs = run(&tape, c, |input| {
        let x = make(input);
        if !has_gradient(engine.dtype(&x)) {
            return tape.constant(x);
        }
        let x = tape.watch(&x).unwrap();
        watched.push(x.clone());
        x
    })?;
    Ok(Recorded {
        tape,
        watched,
        outputs,
    })
}

impl<E> Recorded<E>
where
    E: Engine<Size = usize, Value: Value<Engine = E>> + Clone,
{
    /// The gradients of all watched inputs from one of an output.
    pub(crate) fn pull(
        &self,
        output: &Var<E>,
        seed: &E::Value,
    ) -> std::result::Result<Vec<E::Value>, String> {
        let inputs: Vec<&Var<E>> = self.watched.iter().collect();
        let gradients = self
            .tape
            .gradient(output, &inputs, Some(seed))
            .map_err(|error| error.to_string())?;
        for (dx, x) in gradients.iter().zip(&self.watched) {
            let engine = x.value().engine();
            let kind = |x: &E::Value| (engine.dtype(x), engine.shape(x).ok());
            if kind(dx) != kind(x.value()) {
                return Err(format!("a gradient is {:?}", kind(dx)));
            }
        }
        Ok(gradients)
    }
}

/// The tensor of an input as it is.
pub(crate) fn tensor(input: &Input) -> Tensor {
    over(&input.storage, input.dtype, input)
}

/// Real and imaginary part.
pub(crate) type Parts = (f64, f64);

/// The elements of a tensor, decoded by the suite.
pub(crate) fn elements(x: &Tensor) -> Vec<Parts> {
    let packed = Input {
        dtype: x.dtype(),
        shape: vec![x.count()],
        strides: vec![1],
        offset: 0,
        storage: x.to_bytes().unwrap(),
    };
    values(&packed)
}

/// The elements of an input.
pub(crate) fn values(x: &Input) -> Vec<Parts> {
    let parts = |number| match number {
        Number::Complex(re, im) => (re, im),
        other => (other.real(), 0.0),
    };
    x.reference().numbers().into_iter().map(parts).collect()
}
