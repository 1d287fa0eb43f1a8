//! Reading and adding at an index: 4 Mi of 16 Mi elements, at random and by rows.

use ndarray::{ArrayD, Axis};
use stridewise::prelude::*;

use crate::bench::{Bench, Peer};
use crate::seen::Outcome;
use crate::three::{Number, Three};

const SOURCE: usize = 16 << 20;
const PICKED: usize = 4 << 20;

pub(crate) fn rows(bench: &mut Bench) -> Outcome {
    take::<f32, i64>(bench, "take 4 Mi of 16 Mi, at random", &[SOURCE], 0, PICKED)?;
    take::<f32, u32>(bench, "take 4 Mi of 16 Mi, u32 index", &[SOURCE], 0, PICKED)?;
    take::<u8, i64>(bench, "take 4 Mi of 16 Mi, uint8", &[SOURCE], 0, PICKED)?;
    take::<f64, i64>(bench, "take 4 Mi of 16 Mi, float64", &[SOURCE], 0, PICKED)?;
    let (rows, columns) = (&[65536, 256], &[4096, 4096]);
    take::<f32, i64>(bench, "take 16384 rows of (65536,256)", rows, 0, 16384)?;
    take::<f32, i64>(bench, "take 1024 columns of (4096,4096)", columns, 1, 1024)?;
    along(bench)?;
    add(
        bench,
        "index_add 4 Mi to 16 Mi, at random",
        &[SOURCE],
        PICKED,
    )?;
    add(bench, "index_add 16384 rows to (65536,256)", rows, 16384)
}

/// Numbers below `bound` in no order, the same in every run.
fn places(count: usize, bound: usize) -> Vec<usize> {
    let mut state = 1u64;
    let next = |_| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((state >> 33) as usize) % bound
    };
    (0..count).map(next).collect()
}

fn index<I: Number>(places: &[usize], shape: &[usize]) -> Outcome<Three<I>> {
    let values = places.iter().map(|&at| I::from_f64(at as f64));
    Three::of(values.collect(), shape)
}

fn take<T: Number, I: Number>(
    bench: &mut Bench,
    name: &str,
    shape: &[usize],
    axis: usize,
    count: usize,
) -> Outcome {
    if !bench.wants(name) {
        return Ok(());
    }
    let x = Three::<T>::new(shape)?;
    let places = places(count, shape[axis]);
    let at = index::<I>(&places, &[count])?;
    let bytes = x.ours.nbytes() / shape[axis] * count;
    // A flat tensor is read as our users would read any: as if it were flat.
    let ours_at = (shape.len() > 1).then_some(axis as isize);
    bench
        .large(name, bytes, || x.ours.take(&at.ours, ours_at, Mode::Raise))
        .peer(Peer::Owned, || x.array.select(Axis(axis), &places))
        .peer(Peer::Candle, || x.candle.index_select(&at.candle, axis))
        .peer(Peer::Candle, || match shape.len() {
            1 => x.candle.gather(&at.candle, 0),
            _ => x.candle.index_select(&at.candle, axis),
        })
        .time()
}

fn along(bench: &mut Bench) -> Outcome {
    let name = "take_along_axis (4096,4096), 1024 at 1";
    if !bench.wants(name) {
        return Ok(());
    }
    let x = Three::<f32>::new(&[4096, 4096])?;
    let at = index::<i64>(&places(PICKED, 4096), &[4096, 1024])?;
    bench
        .large(name, 4 * PICKED, || x.ours.take_along_axis(&at.ours, 1))
        .peer(Peer::Candle, || x.candle.gather(&at.candle, 1))
        .time()
}

fn add(bench: &mut Bench, name: &str, shape: &[usize], count: usize) -> Outcome {
    if !bench.wants(name) {
        return Ok(());
    }
    let x = Three::<f32>::new(shape)?;
    let places = places(count, shape[0]);
    let at = index::<i64>(&places, &[count])?;
    let mut part = shape.to_vec();
    part[0] = count;
    let more = Three::<f32>::new(&part)?;
    // ndarray has no such operator: a copy and a loop.
    let by_loop = || -> ArrayD<f32> {
        let mut sum = x.array.clone();
        match (sum.as_slice_mut(), more.array.as_slice()) {
            (Some(sum), Some(more)) if shape.len() == 1 => {
                for (&at, more) in places.iter().zip(more) {
                    sum[at] += more;
                }
            }
            _ => {
                for (&at, more) in places.iter().zip(more.array.outer_iter()) {
                    let mut row = sum.index_axis_mut(Axis(0), at);
                    row += &more;
                }
            }
        }
        sum
    };
    bench
        .large(name, x.ours.nbytes(), || {
            x.ours.index_add(0, &at.ours, &more.ours)
        })
        .peer(Peer::Owned, by_loop)
        .peer(Peer::Candle, || {
            x.candle.index_add(&at.candle, &more.candle, 0)
        })
        .peer(Peer::Candle, || match shape.len() {
            1 => x.candle.scatter_add(&at.candle, &more.candle, 0),
            _ => x.candle.index_add(&at.candle, &more.candle, 0),
        })
        .time()
}
