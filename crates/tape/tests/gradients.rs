//! Gradients of every operator, held to what a gradient is: for a change `d` of the inputs that changes the result
//! by `e`, and any seed `g`, the products `g·e` and `gradient·d` are equal. With small whole numbers they are so to
//! the last bit.
#![allow(clippy::unwrap_used)]

mod inputs;

use std::hash::{BuildHasher, RandomState};

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use stridewise_core::call::Args;
use stridewise_core::dtype::{DType, Family};
use stridewise_core::operators::{Methods, TABLE, call};
use stridewise_core::params::Scalar;
use stridewise_core::table::Outcome;
use stridewise_core::{Engine, Result};
use stridewise_cpu::{Cpu, Tensor};
use stridewise_suite::random::{Choices, generator};
use stridewise_suite::{Call, Input};
use stridewise_tape::{Tape, Var};

use inputs::{has_gradient, over};

const CASES: u32 = 600;

/// Operators whose results have no gradient: whole numbers, or made from nothing.
const WITHOUT: [&str; 5] = ["shape_of", "zeros", "ones", "full", "arange"];

/// Small whole numbers, drawn one after another.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) % 7) as f64 - 3.0
    }

    /// As many as a tensor of that dtype has, real and imaginary parts.
    fn tensor(&mut self, dtype: DType, shape: &[usize]) -> Tensor {
        let count: usize = shape.iter().product();
        let complex = dtype.family() == Family::Complex;
        let wide = if complex { DType::C128 } else { DType::F64 };
        let parts = if complex { 2 * count } else { count };
        let bytes: Vec<u8> = (0..parts).flat_map(|_| self.next().to_ne_bytes()).collect();
        let x = Tensor::from_bytes(wide, shape, &bytes).unwrap();
        x.cast(dtype).unwrap()
    }
}

/// The tensor of an input: its layout, with small whole numbers where it has gradients. Half-precision numbers
/// would round, so they are wider here.
fn tensor(input: &Input, numbers: &mut Numbers) -> Tensor {
    if !has_gradient(input.dtype) {
        return over(&input.storage, input.dtype, input);
    }
    let dtype = match input.dtype {
        DType::F16 | DType::BF16 => DType::F32,
        other => other,
    };
    let cells = input.storage.len() / input.dtype.width();
    let storage = numbers.tensor(dtype, &[cells]).to_bytes().unwrap();
    over(&storage, dtype, input)
}

fn run<E: Engine<Size = usize>>(
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

/// The elements as real and imaginary parts.
fn parts(x: &Tensor) -> Vec<(f64, f64)> {
    let wide = x.cast(DType::C128).unwrap().to_bytes().unwrap();
    let number = |bytes: &[u8]| f64::from_ne_bytes(bytes.try_into().unwrap());
    wide.chunks(16)
        .map(|z| (number(&z[..8]), number(&z[8..])))
        .collect()
}

/// The real part of the inner product.
fn dot(a: &Tensor, b: &Tensor) -> f64 {
    assert_eq!(a.shape(), b.shape());
    let pairs = parts(a).into_iter().zip(parts(b));
    pairs.map(|((a, b), (c, d))| a * c + b * d).sum()
}

fn difference(a: &Tensor, b: &Tensor) -> Vec<(f64, f64)> {
    parts(a)
        .into_iter()
        .zip(parts(b))
        .map(|(a, b)| (a.0 - b.0, a.1 - b.1))
        .collect()
}

/// A seed: packed, or with stride 0 along every axis.
fn seed(numbers: &mut Numbers, dtype: DType, shape: &[usize], spread: bool) -> Tensor {
    match spread {
        true => {
            let ones = vec![1; shape.len()];
            let sizes: Vec<isize> = shape.iter().map(|&n| n as isize).collect();
            numbers.tensor(dtype, &ones).expand(sizes).unwrap()
        }
        false => numbers.tensor(dtype, shape),
    }
}

/// One output of a call that has a gradient: where it stands, its value, a seed, and the gradients that gives.
struct Pulled {
    at: usize,
    y: Tensor,
    seed: Tensor,
    gradients: Vec<Tensor>,
}

/// Whether the call was good and tracked; an error where the products differ, for a change of all inputs at once or
/// of one element of one of them, which is what the index-by-index definition of a gradient says.
fn check(c: &Call, random: u64) -> std::result::Result<bool, String> {
    let tape = Tape::over(Cpu);
    let mut numbers = Numbers(random);
    let mut watched: Vec<Var<Cpu>> = Vec::new();
    let outputs = run(&tape, c, |input| {
        let x = tensor(input, &mut numbers);
        match has_gradient(x.dtype()) {
            true => {
                let x = tape.watch(&x).unwrap();
                watched.push(x.clone());
                x
            }
            false => tape.constant(x),
        }
    });
    let Ok(outputs) = outputs else {
        return Ok(false);
    };
    let inputs: Vec<&Var<Cpu>> = watched.iter().collect();
    let mut pulled = Vec::new();
    for (at, y) in outputs.iter().enumerate().filter(|(_, y)| y.is_tracked()) {
        let (y, history) = (y.value().clone(), y);
        let spread = at % 2 == 1 || random.is_multiple_of(3);
        let seed = seed(&mut numbers, y.dtype(), y.shape(), spread);
        let gradients = tape
            .gradient(history, &inputs, Some(&seed))
            .map_err(|error| error.to_string())?;
        for (dx, x) in gradients.iter().zip(&watched) {
            if dx.shape() != x.value().shape() || dx.dtype() != x.value().dtype() {
                return Err(format!("a gradient is {} {:?}", dx.dtype(), dx.shape()));
            }
        }
        pulled.push(Pulled {
            at,
            y,
            seed,
            gradients,
        });
    }
    let all: Vec<Tensor> = watched
        .iter()
        .map(|x| numbers.tensor(x.value().dtype(), x.value().shape()))
        .collect();
    compare(c, random, &pulled, &all)?;
    let still = |x: &Var<Cpu>| {
        let (dtype, shape) = (x.value().dtype(), x.value().shape());
        Cpu.full(dtype, Scalar::Int(0), shape).unwrap()
    };
    for (at, x) in watched.iter().enumerate() {
        let count = x.value().count();
        for _ in 0..count.min(4) {
            let element = (numbers.next() + 3.0) as usize * 31 % count;
            let mut changes: Vec<Tensor> = watched.iter().map(still).collect();
            changes[at] = unit(x.value(), element);
            compare(c, random, &pulled, &changes)?;
        }
    }
    Ok(!pulled.is_empty())
}

/// 1 at one element, or 1 + i, and 0 everywhere else.
fn unit(x: &Tensor, element: usize) -> Tensor {
    let value = match x.dtype().family() {
        Family::Complex => Scalar::Complex(1.0, 1.0),
        _ => Scalar::Int(1),
    };
    let zeros = Cpu.full(x.dtype(), Scalar::Int(0), &[x.count()]).unwrap();
    let one = Cpu.full(x.dtype(), value, &[1]).unwrap();
    let index = Tensor::from_vec(vec![element as i64], &[1]).unwrap();
    let sizes: Vec<isize> = x.shape().iter().map(|&n| n as isize).collect();
    let flat = zeros.index_add(0, &index, &one).unwrap();
    flat.reshape(sizes).unwrap()
}

/// Holds the change of each output to its gradients.
fn compare(
    c: &Call,
    random: u64,
    pulled: &[Pulled],
    changes: &[Tensor],
) -> std::result::Result<(), String> {
    let mut next = 0;
    let mut numbers = Numbers(random);
    let changed = run(&Cpu, c, |input| {
        let x = tensor(input, &mut numbers);
        if !has_gradient(x.dtype()) {
            return x;
        }
        next += 1;
        Cpu.add(&x, &changes[next - 1]).unwrap()
    })
    .map_err(|error| format!("changed inputs fail: {error}"))?;
    for pulled in pulled {
        let change = difference(&changed[pulled.at], &pulled.y);
        let pairs = parts(&pulled.seed).into_iter().zip(change);
        let left: f64 = pairs.map(|(g, e)| g.0 * e.0 + g.1 * e.1).sum();
        let pairs = pulled.gradients.iter().zip(changes);
        let right: f64 = pairs.map(|(dx, d)| dot(dx, d)).sum();
        if left != right {
            let at = pulled.at;
            return Err(format!(
                "output {at}: the change is {left}, by the gradient {right}"
            ));
        }
    }
    Ok(())
}

#[test]
fn every_operator_has_the_gradient_that_its_changes_have() {
    let mut wrong = Vec::new();
    for entry in TABLE {
        let operator = entry.name;
        let generate = generator(operator).unwrap();
        let random = std::env::var("PROPTEST_RNG_SEED")
            .ok()
            .and_then(|text| text.parse().ok());
        let seed = random.unwrap_or_else(|| RandomState::new().hash_one(operator));
        let config = Config {
            cases: std::env::var("PROPTEST_CASES")
                .ok()
                .and_then(|n| n.parse().ok())
                .unwrap_or(CASES),
            rng_seed: RngSeed::Fixed(seed),
            failure_persistence: None,
            ..Config::default()
        };
        let cases = config.cases;
        let tracked = std::cell::Cell::new(0u32);
        let outcome = TestRunner::new(config).run(
            &(vec(any::<u32>(), 0..160), any::<u64>()),
            |(choices, random)| {
                let c = generate(operator, &mut Choices::new(&choices)).listed();
                match check(&c, random) {
                    Ok(any) => tracked.set(tracked.get() + u32::from(any)),
                    Err(why) => return Err(TestCaseError::fail(format!("{c}\n{why}"))),
                }
                Ok(())
            },
        );
        match outcome {
            Err(TestError::Fail(why, _)) => {
                wrong.push(format!("{operator} (PROPTEST_RNG_SEED={seed}): {why}"))
            }
            Err(other) => wrong.push(format!("{operator}: {other}")),
            Ok(()) if WITHOUT.contains(&operator) => assert_eq!(tracked.get(), 0, "{operator}"),
            Ok(()) if tracked.get() < cases / 20 => {
                wrong.push(format!(
                    "of {cases} calls of {operator} only {} had a gradient",
                    tracked.get()
                ));
            }
            Ok(()) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_long_history_is_walked_and_let_go_without_deep_calls() {
    let tape = Tape::over(Cpu);
    let x = tape
        .watch(&Tensor::from_vec(vec![1.0f32, 2.0], &[2, 1]).unwrap())
        .unwrap();
    let mut y = x.clone();
    for _ in 0..50_000 {
        y = y.swapaxes(0, 1).unwrap();
        y = tape.add(&y, &tape.constant(y.value().clone())).unwrap();
    }
    let seed = Tensor::from_vec(vec![3.0f32, 5.0], &[2, 1]).unwrap();
    let dx = tape.gradient(&y, &[&x], Some(&seed)).unwrap();
    assert_eq!(dx[0].to_vec::<f32>().unwrap(), [3.0, 5.0]);
}

#[test]
fn a_gradient_can_be_differentiated_by_its_seed() {
    // y = A x, so dx = Aᵀ g, and the gradient of h·dx by g is A h: the operator itself.
    let tape = Tape::over(Cpu);
    let x = tape
        .watch(&Tensor::from_vec(vec![1.0, 2.0, 3.0], &[3]).unwrap())
        .unwrap();
    let y = x.repeat([2]).unwrap();
    let g = tape
        .watch(&Tensor::from_vec(vec![1.0; 6], &[6]).unwrap())
        .unwrap();
    let dx = tape
        .tracked_gradient(&y, &[&x], Some(&g))
        .unwrap()
        .remove(0);
    assert_eq!(dx.value().to_vec::<f64>().unwrap(), [2.0, 2.0, 2.0]);
    let h = Tensor::from_vec(vec![5.0, 7.0, 11.0], &[3]).unwrap();
    let dg = tape.gradient(&dx, &[&g], Some(&h)).unwrap();
    assert_eq!(
        dg[0].to_vec::<f64>().unwrap(),
        [5.0, 7.0, 11.0, 5.0, 7.0, 11.0]
    );
    // The same by a tape over a tape.
    let outer = Tape::over(tape.clone());
    let x = outer
        .watch(&tape.constant(Tensor::from_vec(vec![1.0, 2.0, 3.0], &[3]).unwrap()))
        .unwrap();
    let y = x.repeat([2]).unwrap();
    let dx = outer.gradient(&y, &[&x], Some(&g)).unwrap().remove(0);
    let dg = tape.gradient(&dx, &[&g], Some(&h)).unwrap();
    assert_eq!(
        dg[0].to_vec::<f64>().unwrap(),
        [5.0, 7.0, 11.0, 5.0, 7.0, 11.0]
    );
}

#[test]
fn whole_numbers_have_no_gradient_and_a_seed_must_fit() {
    let tape = Tape::over(Cpu);
    assert!(
        tape.watch(&Tensor::from_vec(vec![1, 2], &[2]).unwrap())
            .is_err()
    );
    let x = tape
        .watch(&Tensor::from_vec(vec![1.0, 2.0], &[2]).unwrap())
        .unwrap();
    let error = tape.gradient(&x, &[&x], None).unwrap_err().to_string();
    assert!(error.contains("single number"), "{error}");
    let wrong = Tensor::from_vec(vec![1.0; 3], &[3]).unwrap();
    assert!(tape.gradient(&x, &[&x], Some(&wrong)).is_err());
    let single = Tensor::from_vec(vec![1.0f32; 2], &[2]).unwrap();
    assert!(tape.gradient(&x, &[&x], Some(&single)).is_err());
    let y = x.sum(.., false, None).unwrap();
    let dx = tape.gradient(&y, &[&x], None).unwrap();
    assert_eq!(dx[0].to_vec::<f64>().unwrap(), [1.0, 1.0]);
    let z = tape
        .watch(&Tensor::from_vec(vec![1.0; 3], &[3]).unwrap())
        .unwrap();
    assert_eq!(
        tape.gradient(&y, &[&z], None).unwrap()[0]
            .to_vec::<f64>()
            .unwrap(),
        [0.0; 3]
    );
}
