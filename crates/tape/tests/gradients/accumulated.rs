//! The gradient as the plainest loop there is: `input_grad[from] += output_grad[to]` for every element that was read.
//! What was read from where is asked of the suite's oracle, which is given tags instead of numbers; none of the
//! tape's adjoints and none of the engine's kernels take part.

use stridewise_core::call::Arg;
use stridewise_core::dtype::{DType, Family};
use stridewise_suite::input::packed_strides;
use stridewise_suite::oracle::judge;
use stridewise_suite::reference::indices;
use stridewise_suite::{Call, Input, Number};

use crate::drawn::{
    Numbers, Parts, Verdict, elements, every_operator, recorded, retyped, tensor, values,
};
use crate::inputs::has_gradient;

const CASES: u32 = 1500;

const DTYPES: [DType; 4] = [DType::F32, DType::F64, DType::C64, DType::C128];

/// The gradient of an input, all zeros at first.
struct Gradient<'c> {
    of: &'c Input,
    sums: Vec<Parts>,
}

impl Gradient<'_> {
    /// The whole rule. Only the real part of a gradient reaches a real number.
    fn add(&mut self, from: usize, (re, im): Parts) {
        let sum = &mut self.sums[from];
        sum.0 += re;
        if self.of.dtype.family() == Family::Complex {
            sum.1 += im;
        }
    }
}

fn zeros(c: &Call) -> Vec<Gradient<'_>> {
    let inputs = c.inputs().into_iter();
    inputs
        .filter(|input| has_gradient(input.dtype))
        .map(|of| Gradient {
            of,
            sums: vec![(0.0, 0.0); of.shape.iter().product()],
        })
        .collect()
}

/// The place of an index among the elements.
fn flat(shape: &[usize], index: &[usize]) -> usize {
    let places = shape.iter().zip(index);
    places.fold(0, |flat, (size, i)| flat * size + i)
}

/// The gradients of all inputs, given that of one output.
fn accumulated<'c>(c: &'c Call, at: usize, seed: &Input) -> Result<Vec<Gradient<'c>>, String> {
    let mut gradients = zeros(c);
    let out = values(seed);
    match (c.operator, gradients.as_mut_slice()) {
        ("cast", [x]) => (out.into_iter().enumerate()).for_each(|(i, g)| x.add(i, g)),
        ("sum", [x]) => {
            let shape = &x.of.shape;
            let summed = axes(c, shape.len());
            let keeps = matches!(c.get("keepdims"), Some(Arg::Bool(true)));
            for (from, index) in indices(shape).enumerate() {
                let mut to = Vec::new();
                for (axis, i) in index.into_iter().enumerate() {
                    match summed.contains(&axis) {
                        true if keeps => to.push(0),
                        true => {}
                        false => to.push(i),
                    }
                }
                x.add(from, out[flat(&seed.shape, &to)]);
            }
        }
        ("index_add", [x, source]) => {
            let axis = axes(c, x.of.shape.len())[0];
            let rows = rows(c, x.of.shape[axis]);
            (out.iter().enumerate()).for_each(|(i, g)| x.add(i, *g));
            for (from, mut index) in indices(&source.of.shape).enumerate() {
                index[axis] = rows[index[axis]];
                source.add(from, out[flat(&x.of.shape, &index)]);
            }
        }
        _ => {
            for (i, source) in sources(c, at)?.into_iter().enumerate() {
                if let Some((input, from)) = source {
                    gradients[input].add(from, out[i]);
                }
            }
        }
    }
    Ok(gradients)
}

/// The axes that a call names, all of them where it names none.
fn axes(c: &Call, rank: usize) -> Vec<usize> {
    let one = |arg: &_| match arg {
        Arg::Int(axis) => axis.rem_euclid(rank as i128) as usize,
        other => panic!("{other:?} is no axis"),
    };
    match c.get("axis") {
        None | Some(Arg::None) => (0..rank).collect(),
        Some(Arg::List(items)) => items.iter().map(one).collect(),
        Some(arg) => vec![one(arg)],
    }
}

/// The rows that an index among `n` names.
fn rows(c: &Call, n: usize) -> Vec<usize> {
    let Some(Arg::Tensor(index)) = c.get("index") else {
        panic!("{c} has no index");
    };
    let row = |number| match number {
        Number::Int(i) => i.rem_euclid(n as i128) as usize,
        other => panic!("{other} is no index"),
    };
    index.reference().numbers().into_iter().map(row).collect()
}

/// For every element of an output, the input and the element it was read from, of an operator that only moves
/// elements. None where it is the value that `take` fills in.
fn sources(c: &Call, at: usize) -> Result<Vec<Option<(usize, usize)>>, String> {
    // Every element of every input that has a gradient is a bit pattern of its own. They are packed, since the
    // elements of tensors that overlap themselves have gradients of their own.
    let (mut inputs, mut tags) = (0, Vec::new());
    let mut tagged = |input: &Input| {
        if !has_gradient(input.dtype) {
            return input.clone();
        }
        let width = input.dtype.width();
        let mut storage = Vec::new();
        for element in 0..input.shape.iter().product() {
            tags.push((inputs, element));
            storage.extend_from_slice(&(tags.len() as u128).to_le_bytes()[..width]);
        }
        inputs += 1;
        Input {
            strides: packed_strides(&input.shape),
            offset: 0,
            storage,
            ..input.clone()
        }
    };
    let mut of_tags = c.clone();
    let named = of_tags.named.iter_mut().map(|(_, arg)| arg);
    for arg in of_tags.positional.iter_mut().chain(named) {
        *arg = arg.with_tensors(&mut tagged);
    }
    let answer = judge(&of_tags, true).map_err(|why| format!("the oracle says {why:?}"))?;
    let y = &answer.tensors()[at];
    let fills = matches!(c.get("mode"), Some(Arg::Text(mode)) if mode == "fill");
    let source = |cell: &[u8; 16]| {
        let mut bits = [0; 16];
        bits[..y.dtype.width()].copy_from_slice(&cell[..y.dtype.width()]);
        let tag = u128::from_le_bytes(bits) as usize;
        match tag.checked_sub(1).and_then(|i| tags.get(i)) {
            Some(source) => Ok(Some(*source)),
            None if fills => Ok(None),
            None => Err(format!(
                "an element of the result is none of an input's: {} needs a rule of its own",
                c.operator
            )),
        }
    };
    y.elements.iter().map(source).collect()
}

fn check(c: &Call, numbers: &mut Numbers) -> Verdict {
    let Ok(recorded) = recorded(c, tensor) else {
        return Ok(false);
    };
    let mut any = false;
    for (at, y) in recorded.outputs.iter().enumerate() {
        if !y.is_tracked() {
            continue;
        }
        any = true;
        let seed = numbers.seed(y.value().dtype(), y.value().shape());
        let pulled = recorded.pull(y, &tensor(&seed))?;
        let wanted = accumulated(c, at, &seed)?;
        assert_eq!(pulled.len(), wanted.len(), "gradients of {c}");
        for (input, (dx, wanted)) in pulled.iter().zip(wanted).enumerate() {
            let got = elements(dx);
            if got != wanted.sums {
                return Err(format!(
                    "output {at} with the gradient {seed:?} {:?}\ngives input {input} {got:?}\nand not {:?}",
                    values(&seed),
                    wanted.sums
                ));
            }
        }
    }
    Ok(any)
}

#[test]
fn every_operator_has_the_gradient_that_is_accumulated_index_by_index() {
    every_operator(CASES, |c, random| {
        let mut numbers = Numbers(random);
        let dtype = DTYPES[random as usize % DTYPES.len()];
        check(&retyped(c, dtype, &mut numbers), &mut numbers)
    });
}
