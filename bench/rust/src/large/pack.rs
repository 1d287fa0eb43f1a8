//! Packed copies of views: expanded, transposed, reversed, stepped.

use candle_core as candle;
use ndarray::{ArrayD, ArrayViewD, Axis, IxDyn, s};
use stridewise::half::f16;
use stridewise::prelude::*;

use super::{pack_into, packed, packed_by_all};
use crate::bench::{Bench, Peer};
use crate::seen::Outcome;
use crate::three::{Number, Three, described};

pub(crate) fn rows(bench: &mut Bench) -> Outcome {
    row::<f32>(
        bench,
        "contiguous of expand (1024,64*,256)",
        &[1024, 1, 256],
        |x| x.expand([1024, 64, 256]),
        // A broadcast borrows the array, so its shape is given there instead.
        |x| x,
        Some(&[1024, 64, 256]),
        |x| x.broadcast_as((1024, 64, 256))?.contiguous(),
    )?;
    row::<f32>(
        bench,
        "contiguous of permute (64,256,1024) (2,0,1)",
        &[64, 256, 1024],
        |x| x.permute([2, 0, 1]),
        |x| x.permuted_axes(IxDyn(&[2, 0, 1])),
        None,
        |x| x.permute((2, 0, 1))?.contiguous(),
    )?;
    row::<f32>(
        bench,
        "contiguous of permute (64,64,64,64) (3,1,2,0)",
        &[64, 64, 64, 64],
        |x| x.permute([3, 1, 2, 0]),
        |x| x.permuted_axes(IxDyn(&[3, 1, 2, 0])),
        None,
        |x| x.permute((3, 1, 2, 0))?.contiguous(),
    )?;
    row::<f32>(
        bench,
        "contiguous of flip (64,256,1024), all axes",
        &[64, 256, 1024],
        |x| x.flip(..),
        |mut x| {
            (0..3).for_each(|axis| x.invert_axis(Axis(axis)));
            x
        },
        None,
        |x| x.flip(&[0, 1, 2]),
    )?;
    row::<f32>(
        bench,
        "contiguous of flip (64,256,1024), first axis",
        &[64, 256, 1024],
        |x| x.flip(0),
        |mut x| {
            x.invert_axis(Axis(0));
            x
        },
        None,
        |x| x.flip(&[0]),
    )?;
    row::<f32>(
        bench,
        "contiguous of (4096,8192) [:, ::2]",
        &[4096, 8192],
        |x| x.slice(index![.., Item::from(..).step(2)]),
        |x| x.slice_move(s![.., ..;2].as_ref()),
        None,
        |x| {
            let pairs = x.reshape((4096, 4096, 2))?;
            pairs.narrow(2, 0, 1)?.squeeze(2)?.contiguous()
        },
    )?;
    transposes(bench)
}

fn transposes(bench: &mut Bench) -> Outcome {
    transpose::<f32>(bench, &[4096, 4096], 0, 1)?;
    transpose::<u8>(bench, &[8192, 8192], 0, 1)?;
    transpose::<f16>(bench, &[4096, 8192], 0, 1)?;
    transpose::<f64>(bench, &[2048, 4096], 0, 1)?;
    for (shape, pairs) in [
        (&[256, 256, 256][..], &[(0, 1), (0, 2), (1, 2)][..]),
        (&[64, 64, 64, 64], &[(0, 1), (0, 3), (1, 3), (2, 3)]),
        (&[16, 32, 32, 32, 32], &[(0, 2), (0, 4), (1, 3), (3, 4)]),
    ] {
        for &(a, b) in pairs {
            transpose::<f32>(bench, shape, a, b)?;
        }
    }
    Ok(())
}

fn transpose<T: Number>(bench: &mut Bench, shape: &[usize], a: usize, b: usize) -> Outcome {
    let name = format!("transpose {} {a},{b}", described::<T>(shape));
    row::<T>(
        bench,
        &name,
        shape,
        |x| x.swapaxes(a as isize, b as isize),
        |mut x| {
            x.swap_axes(a, b);
            x
        },
        None,
        |x| x.transpose(a, b)?.contiguous(),
    )
}

/// A view of each, made outside of the clock for us and for ndarray, and packed.
fn row<T: Number>(
    bench: &mut Bench,
    name: &str,
    shape: &[usize],
    ours: impl Fn(&Tensor) -> stridewise::Result<Tensor>,
    array: impl for<'x> Fn(ArrayViewD<'x, T>) -> ArrayViewD<'x, T>,
    broadcast: Option<&[usize]>,
    candle: impl Fn(&candle::Tensor) -> candle::Result<candle::Tensor>,
) -> Outcome {
    if !bench.wants(name) {
        return Ok(());
    }
    let x = Three::<T>::new(shape)?;
    let ours = ours(&x.ours)?;
    let broadcast = broadcast.unwrap_or(shape);
    let view = array(x.array.broadcast(broadcast).ok_or("it broadcasts")?);
    let existing = ArrayD::<T>::from_elem(view.raw_dim(), T::default());
    let into = view.clone();
    bench
        .large(name, ours.nbytes(), || ours.contiguous())
        .peer(Peer::Owned, || packed(&view))
        .peer(Peer::Owned, || packed_by_all(&view))
        .existing(existing, move |to| pack_into(&into, to))
        .peer(Peer::Candle, || candle(&x.candle))
        .time()
}
