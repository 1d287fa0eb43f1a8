//! Sums of 64 MiB. What is read counts as moved.

use ndarray::parallel::prelude::*;
use ndarray::{Array2, ArrayD, Axis, Ix3, Zip};
use stridewise::params::Axes;
use stridewise::prelude::*;

use crate::bench::{Bench, Peer};
use crate::seen::Outcome;
use crate::three::Three;

pub(crate) fn rows(bench: &mut Bench) -> Outcome {
    for axis in [0, 1, 2] {
        let name = format!("sum (256,256,256) at {axis}");
        if bench.wants(&name) {
            over(bench, &name, axis)?;
        }
    }
    all(bench)
}

fn over(bench: &mut Bench, name: &str, axis: usize) -> Outcome {
    let x = Three::<f32>::new(&[256, 256, 256])?;
    let cube = x.array.view().into_dimensionality::<Ix3>()?;
    let at = Axes::from(axis as isize);
    bench
        .large(name, x.ours.nbytes(), || {
            x.ours.sum(at.clone(), false, None)
        })
        .rounded()
        .peer(Peer::Owned, || x.array.sum_axis(Axis(axis)))
        .peer(Peer::Owned, || by_all(&cube, axis))
        .peer(Peer::Candle, || x.candle.sum(axis))
        .time()
}

/// ndarray's sums with all threads, each over the parts that suit the axis.
fn by_all(x: &ndarray::ArrayView3<f32>, axis: usize) -> ArrayD<f32> {
    let mut sums = Array2::<f32>::zeros((256, 256));
    if axis == 0 {
        let parts = sums.axis_chunks_iter_mut(Axis(0), 64).into_par_iter();
        parts
            .zip(x.axis_chunks_iter(Axis(1), 64))
            .for_each(|(mut to, from)| to.assign(&from.sum_axis(Axis(0))));
    } else {
        let rows = Zip::from(sums.outer_iter_mut());
        rows.and(x.outer_iter())
            .par_for_each(|mut to, from| to.assign(&from.sum_axis(Axis(axis - 1))));
    }
    sums.into_dyn()
}

fn all(bench: &mut Bench) -> Outcome {
    let name = "sum of all (256,256,256)";
    if !bench.wants(name) {
        return Ok(());
    }
    // Small numbers, of which even a plain sum of floats is exact.
    let some: Vec<f32> = (0..1 << 24).map(|at| (at % 2) as f32).collect();
    let x = Three::of(some, &[256, 256, 256])?;
    bench
        .large(name, x.ours.nbytes(), || x.ours.sum(.., false, None))
        .peer(Peer::Owned, || ndarray::arr0(x.array.sum()))
        .peer(Peer::Owned, || {
            let sum = Zip::from(&x.array).par_fold(|| 0.0, |sum, &x| sum + x, |a, b| a + b);
            ndarray::arr0(sum)
        })
        .peer(Peer::Candle, || x.candle.sum_all())
        .time()
}
