//! What a gradient is: for a change `d` of the inputs that changes the result by `e`, and any seed `g`, the products
//! `g·e` and `gradient·d` are equal. With small whole numbers they are so to the last bit.

use stridewise_core::Engine;
use stridewise_core::dtype::{DType, Family};
use stridewise_core::operators::Methods;
use stridewise_core::params::Scalar;
use stridewise_cpu::{Cpu, Tensor};
use stridewise_suite::{Call, Input};
use stridewise_tape::Var;

use crate::drawn::{self, Numbers, Parts, Verdict, elements, every_operator, recorded, run};
use crate::inputs::{has_gradient, over};

const CASES: u32 = 600;

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

/// The real part of the inner product.
fn dot(a: &Tensor, b: &Tensor) -> f64 {
    assert_eq!(a.shape(), b.shape());
    let pairs = elements(a).into_iter().zip(elements(b));
    pairs.map(|((a, b), (c, d))| a * c + b * d).sum()
}

fn difference(a: &Tensor, b: &Tensor) -> Vec<Parts> {
    elements(a)
        .into_iter()
        .zip(elements(b))
        .map(|(a, b)| (a.0 - b.0, a.1 - b.1))
        .collect()
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
fn check(c: &Call, random: u64) -> Verdict {
    let mut numbers = Numbers(random);
    let Ok(recorded) = recorded(c, |input| tensor(input, &mut numbers)) else {
        return Ok(false);
    };
    let watched = &recorded.watched;
    let mut pulled = Vec::new();
    for (at, y) in recorded.outputs.iter().enumerate() {
        if y.is_tracked() {
            let (history, y) = (y, y.value().clone());
            let seed = drawn::tensor(&numbers.seed(y.dtype(), y.shape()));
            let gradients = recorded.pull(history, &seed)?;
            pulled.push(Pulled {
                at,
                y,
                seed,
                gradients,
            });
        }
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
        let pairs = elements(&pulled.seed).into_iter().zip(change);
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
    every_operator(CASES, |c, random| check(&c.listed(), random));
}
