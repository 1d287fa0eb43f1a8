//! Tensors one after another, or side by side.

use candle_core as candle;
use ndarray::{ArrayD, ArrayViewD, Axis, concatenate, stack};
use stridewise::prelude::*;

use crate::bench::{Bench, Peer};
use crate::seen::Outcome;
use crate::three::Three;

pub(crate) fn rows(bench: &mut Bench) -> Outcome {
    for axis in [0, 1] {
        let name = format!("concat of 4 (1024,4096) at {axis}");
        if bench.wants(&name) {
            concats(bench, &name, &[1024, 4096], axis)?;
        }
    }
    let name = "concat of 64 (4096,64) at 1";
    if bench.wants(name) {
        let parts = (0..64).map(|_| Three::<f32>::new(&[4096, 64]));
        let parts = parts.collect::<Outcome<Vec<_>>>()?;
        concat_row(bench, name, &parts, 1)?;
    }
    for axis in [0, 1, 2] {
        let name = format!("stack of 4 (1024,4096) at {axis}");
        if bench.wants(&name) {
            stacks(bench, &name, axis)?;
        }
    }
    Ok(())
}

fn four(shape: &[usize]) -> Outcome<Vec<Three<f32>>> {
    (0..4).map(|_| Three::new(shape)).collect()
}

fn concats(bench: &mut Bench, name: &str, shape: &[usize], axis: usize) -> Outcome {
    concat_row(bench, name, &four(shape)?, axis)
}

fn concat_row(bench: &mut Bench, name: &str, parts: &[Three<f32>], axis: usize) -> Outcome {
    let (ours, arrays, candles) = lists(parts);
    let bytes = ours.iter().map(|x| x.nbytes()).sum();
    let result = concatenate(Axis(axis), &arrays)?;
    bench
        .large(name, bytes, || concat(&ours, axis as isize))
        .peer(Peer::Owned, || concatenate(Axis(axis), &arrays))
        .existing(result, |to| place(to, axis, &arrays))
        .peer(Peer::Candle, || candle::Tensor::cat(&candles, axis))
        .time()
}

fn stacks(bench: &mut Bench, name: &str, axis: usize) -> Outcome {
    let parts = four(&[1024, 4096])?;
    let (ours, arrays, candles) = lists(&parts);
    let bytes = ours.iter().map(|x| x.nbytes()).sum();
    let wide: Vec<ArrayViewD<f32>> = arrays
        .iter()
        .map(|x| x.clone().insert_axis(Axis(axis)))
        .collect();
    let result = stack(Axis(axis), &arrays)?;
    bench
        .large(name, bytes, || stridewise::stack(&ours, axis as isize))
        .peer(Peer::Owned, || stack(Axis(axis), &arrays))
        .existing(result, |to| place(to, axis, &wide))
        .peer(Peer::Candle, || candle::Tensor::stack(&candles, axis))
        .time()
}

type Lists<'a> = (
    Vec<&'a Tensor>,
    Vec<ArrayViewD<'a, f32>>,
    Vec<&'a candle::Tensor>,
);

fn lists(parts: &[Three<f32>]) -> Lists<'_> {
    let ours = parts.iter().map(|part| &part.ours).collect();
    let arrays = parts.iter().map(|part| part.array.view()).collect();
    let candles = parts.iter().map(|part| &part.candle).collect();
    (ours, arrays, candles)
}

/// Each part to its place in an array that is there, with all threads.
fn place(to: &mut ArrayD<f32>, axis: usize, parts: &[ArrayViewD<f32>]) {
    let mut rest = to.view_mut();
    for part in parts {
        let (mut here, after) = rest.split_at(Axis(axis), part.len_of(Axis(axis)));
        ndarray::Zip::from(&mut here)
            .and(part)
            .par_for_each(|to, &from| *to = from);
        rest = after;
    }
}
