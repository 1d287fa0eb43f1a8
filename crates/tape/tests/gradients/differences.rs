//! Gradients by central differences in double precision: every element of every input a step up and a step down,
//! for a complex number along both parts. The result is weighed with the seed, and what the weight changes by is
//! that element's gradient.

use stridewise_core::dtype::{DType, Family};
use stridewise_cpu::Cpu;
use stridewise_suite::{Call, Input, Number};

use crate::drawn::{
    Numbers, Parts, Verdict, elements, every_operator, recorded, retyped, run, tensor, values,
};
use crate::inputs::has_gradient;

const CASES: u32 = 300;

const DTYPES: [DType; 2] = [DType::F64, DType::C128];

/// Inputs with more elements than this are left to the other definitions.
const FEW: usize = 30;

/// A power of two, so that small numbers a step away are exact in float32 as well, to which some calls cast.
const STEP: f64 = 0.0625;

/// The operators are linear, so that a difference is only as wrong as it is rounded.
const NEAR: f64 = 1e-9;

/// An element of one of the inputs that have gradients, and how far it moves.
struct Move {
    input: usize,
    element: usize,
    by: Parts,
}

/// The real part of the product of a seed and what the call gives after the move.
fn weight(c: &Call, at: usize, seed: &[Parts], step: &Move) -> Result<f64, String> {
    let mut inputs = 0..;
    let outputs = run(&Cpu, c, |input| match has_gradient(input.dtype) {
        true if inputs.next() == Some(step.input) => tensor(&moved(input, step)),
        _ => tensor(input),
    })
    .map_err(|error| format!("a call a step away fails: {error}"))?;
    let pairs = elements(&outputs[at]).into_iter().zip(seed);
    Ok(pairs.map(|(y, g)| y.0 * g.0 + y.1 * g.1).sum())
}

/// The input with one element moved. It is packed: an element that shared its cell with others moves alone.
fn moved(input: &Input, step: &Move) -> Input {
    let mut elements = values(input);
    let element = &mut elements[step.element];
    *element = (element.0 + step.by.0, element.1 + step.by.1);
    let number = |(re, im)| match input.dtype.family() {
        Family::Complex => Number::Complex(re, im),
        _ => Number::Float(re),
    };
    Input::of(input.dtype, &input.shape, elements.into_iter().map(number))
}

fn check(c: &Call, numbers: &mut Numbers) -> Verdict {
    let Ok(recorded) = recorded(c, tensor) else {
        return Ok(false);
    };
    let counts: Vec<usize> = recorded.watched.iter().map(|x| x.value().count()).collect();
    if counts.iter().sum::<usize>() > FEW {
        return Ok(false);
    }
    let mut any = false;
    for (at, y) in recorded.outputs.iter().enumerate() {
        // A step is lost in the rounding of the 16-bit floats, to which a call can cast.
        if !y.is_tracked() || y.value().dtype().width() < 4 {
            continue;
        }
        any = true;
        let seed = numbers.seed(y.value().dtype(), y.value().shape());
        let pulled = recorded.pull(y, &tensor(&seed))?;
        let seed = values(&seed);
        for (input, dx) in pulled.iter().enumerate() {
            let slope = |element: usize, (re, im): Parts| {
                let weighed = |step: f64| {
                    let by = (re * step, im * step);
                    weight(c, at, &seed, &Move { input, element, by })
                };
                Ok::<f64, String>((weighed(STEP)? - weighed(-STEP)?) / (2.0 * STEP))
            };
            let complex = dx.dtype().family() == Family::Complex;
            for (element, got) in elements(dx).into_iter().enumerate() {
                let re = slope(element, (1.0, 0.0))?;
                let im = if complex {
                    slope(element, (0.0, 1.0))?
                } else {
                    0.0
                };
                if (got.0 - re).abs() > NEAR || (got.1 - im).abs() > NEAR {
                    return Err(format!(
                        "output {at} with the gradient {seed:?}\ngives element {element} of input {input} {got:?}, \
                         but its differences are {:?}",
                        (re, im)
                    ));
                }
            }
        }
    }
    Ok(any)
}

#[test]
fn every_operator_has_the_gradient_of_its_central_differences() {
    every_operator(CASES, |c, random| {
        let mut numbers = Numbers(random);
        let dtype = DTYPES[random as usize % DTYPES.len()];
        check(&retyped(c, dtype, &mut numbers), &mut numbers)
    });
}
