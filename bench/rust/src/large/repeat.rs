//! Tiling. Neither peer has an operator that does it in one pass, so each also does what `repeat` stands for:
//! reshape, broadcast, copy, reshape.

use ndarray::{ArrayD, ArrayViewD, IxDyn};
use stridewise::half::f16;
use stridewise::params::Sizes;
use stridewise::prelude::*;
use stridewise::repeat_plan;

use super::{pack_into, packed, packed_by_all};
use crate::bench::{Bench, Peer};
use crate::seen::Outcome;
use crate::three::{Number, Three, described, tuple};

pub(crate) fn rows(bench: &mut Bench) -> Outcome {
    row::<f32>(bench, &[1024, 1, 256], &[1, 64, 1])?;
    row::<u8>(bench, &[1024, 1, 1024], &[1, 64, 1])?;
    row::<f16>(bench, &[1024, 1, 512], &[1, 64, 1])?;
    row::<f64>(bench, &[1024, 1, 128], &[1, 64, 1])?;
    row::<f32>(bench, &[4096, 1], &[1, 4096])?;
    row::<u8>(bench, &[4096, 1], &[1, 16384])?;
    row::<f16>(bench, &[4096, 1], &[1, 8192])?;
    row::<f64>(bench, &[4096, 1], &[1, 2048])?;
    row::<f32>(bench, &[4096, 64], &[1, 64])?;
    row::<f32>(bench, &[4096, 3], &[37, 37])?;
    row::<f32>(bench, &[256], &[65536, 1])?;
    row::<f32>(bench, &[64, 32, 32], &[8, 32, 1, 1])
}

fn row<T: Number>(bench: &mut Bench, shape: &[usize], sizes: &[usize]) -> Outcome {
    let name = format!("repeat {} x {}", described::<T>(shape), tuple(sizes));
    if !bench.wants(&name) {
        return Ok(());
    }
    let x = Three::<T>::new(shape)?;
    let (ours, candle) = (&x.ours, &x.candle);
    let plan = &repeat_plan(shape, Sizes::from(sizes))?;
    let result = plan.reshape_output.as_slice();
    let input = x.array.view();
    let input = input.into_shape_with_order(plan.reshape_input.as_slice())?;
    let tiled: ArrayViewD<T> = input
        .broadcast(plan.expand.as_slice())
        .ok_or("the plan expands")?;
    let shaped = |array: ArrayD<T>| array.into_shape_with_order(result);
    let bytes = result.iter().product::<usize>() * size_of::<T>();
    let existing = ArrayD::<T>::from_elem(IxDyn(&plan.expand), T::default());
    let into = tiled.clone();
    bench
        .large(&name, bytes, || ours.repeat(sizes))
        .peer(Peer::Owned, || shaped(packed(&tiled)))
        .peer(Peer::Owned, || shaped(packed_by_all(&tiled)))
        .existing(Tiles(existing, result), move |to| {
            pack_into(&into, &mut to.0)
        })
        .peer(Peer::Candle, || candle.repeat(sizes))
        .peer(Peer::Candle, || {
            let x = candle.reshape(plan.reshape_input.as_slice())?;
            let x = x.broadcast_as(plan.expand.as_slice())?.contiguous()?;
            x.reshape(result)
        })
        .time()
}

/// An array that is to be seen under another shape.
struct Tiles<'a, T>(ArrayD<T>, &'a [usize]);

impl<T: Number> crate::seen::Seen for Tiles<'_, T> {
    fn seen(&self) -> Outcome<Tensor> {
        Ok(self.0.seen()?.reshape(self.1)?)
    }
}
