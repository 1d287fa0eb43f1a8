//! What a view costs: nanoseconds a call, the reference count and the drop included.
//!
//! ndarray's dynamic ranks are inline up to 4, so most rows stay within that. It has no `ArcArray` of a
//! broadcast, and candle no view with negative strides, so that its `flip` copies.

use std::hint::black_box as bb;

use candle_core::IndexOp;
use ndarray::{Array1, Array3, Array4, Axis, IxDyn, s};
use stridewise::prelude::*;

use crate::bench::{Bench, Peer};
use crate::seen::Outcome;
use crate::three::Three;

pub(crate) fn rows(bench: &mut Bench) -> Outcome {
    expanding(bench)?;
    axes_of_one(bench)?;
    order(bench)?;
    shapes(bench)?;
    slices(bench)
}

fn expanding(bench: &mut Bench) -> Outcome {
    let x = Three::<f32>::new(&[4, 1, 3, 5])?;
    let (ours, array, candle) = (&x.ours, &x.array, &x.candle);
    let fixed: Array4<f32> = array.clone().into_dimensionality()?;
    bench
        .call("expand (4,1,3,5) to (4,4,3,5)", || {
            bb(ours).expand(bb([4, 4, 3, 5]))
        })
        .peer(Peer::Borrowed, || {
            bb(array).broadcast(IxDyn(&bb([4, 4, 3, 5])))
        })
        .peer(Peer::Static, || bb(&fixed).broadcast(bb([4, 4, 3, 5])))
        .peer(Peer::Candle, || bb(candle).broadcast_as(bb((4, 4, 3, 5))))
        .time()?;
    bench
        .call("broadcast_to (4,1,3,5) to (4,4,3,5)", || {
            bb(ours).broadcast_to(bb([4, 4, 3, 5]))
        })
        .peer(Peer::Borrowed, || {
            bb(array).broadcast(IxDyn(&bb([4, 4, 3, 5])))
        })
        .peer(Peer::Static, || bb(&fixed).broadcast(bb([4, 4, 3, 5])))
        .peer(Peer::Candle, || bb(candle).broadcast_as(bb((4, 4, 3, 5))))
        .time()?;
    bench
        .call("expand (4,1,3,5) to (2,1,4,4,3,5)", || {
            bb(ours).expand(bb([2, 1, 4, 4, 3, 5]))
        })
        .peer(Peer::Borrowed, || {
            bb(array).broadcast(IxDyn(&bb([2, 1, 4, 4, 3, 5])))
        })
        .peer(Peer::Static, || {
            bb(&fixed).broadcast(bb([2, 1, 4, 4, 3, 5]))
        })
        .peer(Peer::Candle, || {
            bb(candle).broadcast_as(bb((2, 1, 4, 4, 3, 5)))
        })
        .time()?;
    let wide = Three::<f32>::new(&[4, 4, 3, 5])?;
    let (ours_wide, wide_array, wide_candle) = (&wide.ours, &wide.array, &wide.candle);
    bench
        .call("expand_as (4,1,3,5) as (4,4,3,5)", || {
            bb(ours).expand_as(bb(ours_wide))
        })
        .peer(Peer::Borrowed, || bb(array).broadcast(bb(wide_array).dim()))
        .peer(Peer::Candle, || {
            bb(candle).broadcast_as(bb(wide_candle).shape())
        })
        .time()
}

fn axes_of_one(bench: &mut Bench) -> Outcome {
    let x = Three::<f32>::new(&[4, 3, 5])?;
    let (ours, array, candle, shared) = (&x.ours, &x.array, &x.candle, &x.shared());
    let fixed: Array3<f32> = array.clone().into_dimensionality()?;
    bench
        .call("unsqueeze (4,3,5) at 1", || bb(ours).unsqueeze(bb(1)))
        .peer(Peer::Owned, || bb(shared).clone().insert_axis(Axis(bb(1))))
        .peer(Peer::Borrowed, || bb(array).view().insert_axis(Axis(bb(1))))
        .peer(Peer::Static, || bb(&fixed).view().insert_axis(Axis(bb(1))))
        .peer(Peer::Candle, || bb(candle).unsqueeze(bb(1)))
        .time()?;
    let x = Three::<f32>::new(&[4, 1, 3, 5])?;
    let (ours, array, candle, shared) = (&x.ours, &x.array, &x.candle, &x.shared());
    let fixed: Array4<f32> = array.clone().into_dimensionality()?;
    // Whether the axis has size 1 is asked of ndarray, too: it would drop any other.
    bench
        .call("squeeze (4,1,3,5) at 1", || bb(ours).squeeze(bb(1)))
        .peer(Peer::Owned, || {
            let x = bb(shared);
            let axis = Axis(bb(1));
            (x.len_of(axis) == 1).then(|| x.clone().remove_axis(axis))
        })
        .peer(Peer::Borrowed, || {
            let x = bb(array);
            let axis = Axis(bb(1));
            (x.len_of(axis) == 1).then(|| x.view().remove_axis(axis))
        })
        .peer(Peer::Static, || {
            let x = bb(&fixed);
            let axis = Axis(bb(1));
            (x.len_of(axis) == 1).then(|| x.view().remove_axis(axis))
        })
        .peer(Peer::Candle, || bb(candle).squeeze(bb(1)))
        .time()?;
    atleast(bench)
}

fn atleast(bench: &mut Bench) -> Outcome {
    let x = Three::<f32>::new(&[5])?;
    let (ours, array, candle, shared) = (&x.ours, &x.array, &x.candle, &x.shared());
    let fixed: Array1<f32> = array.clone().into_dimensionality()?;
    bench
        .call("atleast_2d (5)", || bb(ours).atleast_2d())
        .peer(Peer::Owned, || bb(shared).clone().insert_axis(Axis(0)))
        .peer(Peer::Borrowed, || bb(array).view().insert_axis(Axis(0)))
        .peer(Peer::Static, || bb(&fixed).view().insert_axis(Axis(0)))
        .peer(Peer::Candle, || bb(candle).unsqueeze(0))
        .time()?;
    bench
        .call("atleast_3d (5)", || bb(ours).atleast_3d())
        .peer(Peer::Owned, || {
            let x = bb(shared).clone();
            x.insert_axis(Axis(0)).insert_axis(Axis(2))
        })
        .peer(Peer::Borrowed, || {
            let x = bb(array).view();
            x.insert_axis(Axis(0)).insert_axis(Axis(2))
        })
        .peer(Peer::Static, || {
            let x = bb(&fixed).view();
            x.insert_axis(Axis(0)).insert_axis(Axis(2))
        })
        .peer(Peer::Candle, || bb(candle).reshape((1, (), 1)))
        .peer(Peer::Candle, || bb(candle).unsqueeze(0)?.unsqueeze(2))
        .time()
}

fn order(bench: &mut Bench) -> Outcome {
    let x = Three::<f32>::new(&[4, 1, 3, 5])?;
    let (ours, array, candle, shared) = (&x.ours, &x.array, &x.candle, &x.shared());
    let fixed: Array4<f32> = array.clone().into_dimensionality()?;
    bench
        .call("permute (4,1,3,5) by (3,1,0,2)", || {
            bb(ours).permute(bb([3, 1, 0, 2]))
        })
        .peer(Peer::Owned, || {
            bb(shared).clone().permuted_axes(IxDyn(&bb([3, 1, 0, 2])))
        })
        .peer(Peer::Borrowed, || {
            bb(array).view().permuted_axes(IxDyn(&bb([3, 1, 0, 2])))
        })
        .peer(Peer::Static, || {
            bb(&fixed).view().permuted_axes(bb([3, 1, 0, 2]))
        })
        .peer(Peer::Candle, || bb(candle).permute(bb((3, 1, 0, 2))))
        .time()?;
    bench
        .call("transpose (4,1,3,5)", || bb(ours).transpose(..))
        .peer(Peer::Owned, || bb(shared).clone().reversed_axes())
        .peer(Peer::Borrowed, || bb(array).t())
        .peer(Peer::Static, || bb(&fixed).t())
        .peer(Peer::Candle, || bb(candle).permute((3, 2, 1, 0)))
        .time()?;
    bench
        .call("swapaxes (4,1,3,5), 0 and 2", || {
            bb(ours).swapaxes(bb(0), bb(2))
        })
        .peer(Peer::Owned, || {
            let mut x = bb(shared).clone();
            x.swap_axes(bb(0), bb(2));
            x
        })
        .peer(Peer::Borrowed, || {
            let mut x = bb(array).view();
            x.swap_axes(bb(0), bb(2));
            x
        })
        .peer(Peer::Static, || {
            let mut x = bb(&fixed).view();
            x.swap_axes(bb(0), bb(2));
            x
        })
        .peer(Peer::Candle, || bb(candle).transpose(bb(0), bb(2)))
        .time()?;
    bench
        .call("moveaxis (4,1,3,5), 0 to 2", || {
            bb(ours).moveaxis(bb(0), bb(2))
        })
        .peer(Peer::Owned, || {
            bb(shared).clone().permuted_axes(IxDyn(&bb([1, 2, 0, 3])))
        })
        .peer(Peer::Borrowed, || {
            bb(array).view().permuted_axes(IxDyn(&bb([1, 2, 0, 3])))
        })
        .peer(Peer::Static, || {
            bb(&fixed).view().permuted_axes(bb([1, 2, 0, 3]))
        })
        .peer(Peer::Candle, || bb(candle).permute(bb((1, 2, 0, 3))))
        .time()?;
    bench
        .call("flip (4,1,3,5) at 0", || bb(ours).flip(bb(0)))
        .peer(Peer::Owned, || {
            let mut x = bb(shared).clone();
            x.invert_axis(Axis(bb(0)));
            x
        })
        .peer(Peer::Borrowed, || {
            let mut x = bb(array).view();
            x.invert_axis(Axis(bb(0)));
            x
        })
        .peer(Peer::Static, || {
            let mut x = bb(&fixed).view();
            x.invert_axis(Axis(bb(0)));
            x
        })
        .peer(Peer::Candle, || bb(candle).flip(&bb([0])))
        .time()
}

fn shapes(bench: &mut Bench) -> Outcome {
    let x = Three::<f32>::new(&[4, 6, 16])?;
    let (ours, array, candle, shared) = (&x.ours, &x.array, &x.candle, &x.shared());
    let fixed: Array3<f32> = array.clone().into_dimensionality()?;
    bench
        .call("reshape (4,6,16) to (24,16)", || {
            bb(ours).reshape(bb([24, 16]))
        })
        .peer(Peer::Owned, || {
            bb(shared)
                .clone()
                .into_shape_with_order(IxDyn(&bb([24, 16])))
        })
        .peer(Peer::Borrowed, || {
            bb(array).view().into_shape_with_order(IxDyn(&bb([24, 16])))
        })
        .peer(Peer::Borrowed, || bb(array).to_shape(IxDyn(&bb([24, 16]))))
        .peer(Peer::Static, || {
            bb(&fixed).view().into_shape_with_order(bb([24, 16]))
        })
        .peer(Peer::Candle, || bb(candle).reshape(bb((24, 16))))
        .time()?;
    bench
        .call("view (4,6,16) as (24,16)", || bb(ours).view(bb([24, 16])))
        .peer(Peer::Owned, || {
            bb(shared)
                .clone()
                .into_shape_with_order(IxDyn(&bb([24, 16])))
        })
        .peer(Peer::Borrowed, || {
            bb(array).view().into_shape_with_order(IxDyn(&bb([24, 16])))
        })
        .peer(Peer::Candle, || bb(candle).reshape(bb((24, 16))))
        .time()?;
    bench
        .call("flatten (4,6,16)", || bb(ours).flatten(bb(0), bb(-1)))
        .peer(Peer::Owned, || bb(shared).clone().into_flat())
        .peer(Peer::Borrowed, || bb(array).flatten())
        .peer(Peer::Borrowed, || {
            let x = bb(array);
            x.view().into_shape_with_order(IxDyn(&[x.len()]))
        })
        .peer(Peer::Static, || bb(&fixed).flatten())
        .peer(Peer::Candle, || bb(candle).flatten_all())
        .time()?;
    // ndarray has no word for parts of a shape: the shape is put together as its users would.
    bench
        .call("flatten (4,6,16), 1 to 2", || {
            bb(ours).flatten(bb(1), bb(2))
        })
        .peer(Peer::Owned, || {
            let x = bb(shared);
            let shape = IxDyn(&[x.shape()[0], x.shape()[1] * x.shape()[2]]);
            x.clone().into_shape_with_order(shape)
        })
        .peer(Peer::Borrowed, || {
            let x = bb(array);
            let shape = IxDyn(&[x.shape()[0], x.shape()[1] * x.shape()[2]]);
            x.view().into_shape_with_order(shape)
        })
        .peer(Peer::Candle, || bb(candle).flatten(bb(1), bb(2)))
        .time()?;
    bench
        .call("unflatten (4,6,16) at 1 to (2,3)", || {
            bb(ours).unflatten(bb(1), bb([2, 3]))
        })
        .peer(Peer::Owned, || {
            bb(shared)
                .clone()
                .into_shape_with_order(IxDyn(&bb([4, 2, 3, 16])))
        })
        .peer(Peer::Borrowed, || {
            bb(array)
                .view()
                .into_shape_with_order(IxDyn(&bb([4, 2, 3, 16])))
        })
        .peer(Peer::Static, || {
            bb(&fixed).view().into_shape_with_order(bb([4, 2, 3, 16]))
        })
        .peer(Peer::Candle, || bb(candle).reshape(bb((4, 2, 3, 16))))
        .time()?;
    bench
        .call("contiguous of packed (4,6,16)", || bb(ours).contiguous())
        .peer(Peer::Owned, || {
            let x = bb(shared);
            x.is_standard_layout().then(|| x.clone())
        })
        .peer(Peer::Borrowed, || bb(array).as_standard_layout())
        .peer(Peer::Static, || bb(&fixed).as_standard_layout())
        .peer(Peer::Candle, || bb(candle).contiguous())
        .time()
}

fn slices(bench: &mut Bench) -> Outcome {
    let x = Three::<f32>::new(&[4, 1, 3, 5])?;
    let (ours, array, candle, shared) = (&x.ours, &x.array, &x.candle, &x.shared());
    let fixed: Array4<f32> = array.clone().into_dimensionality()?;
    bench
        .call("slice (4,1,3,5) [1]", || bb(ours).slice(index![bb(1)]))
        .peer(Peer::Owned, || {
            bb(shared).clone().index_axis_move(Axis(0), bb(1))
        })
        .peer(Peer::Borrowed, || bb(array).index_axis(Axis(0), bb(1)))
        .peer(Peer::Static, || bb(&fixed).index_axis(Axis(0), bb(1)))
        .peer(Peer::Candle, || bb(candle).get(bb(1)))
        .time()?;
    bench
        .call("slice (4,1,3,5) [1:]", || bb(ours).slice(index![bb(1)..]))
        .peer(Peer::Owned, || {
            bb(shared)
                .clone()
                .slice_move(s![bb(1).., .., .., ..].as_ref())
        })
        .peer(Peer::Borrowed, || {
            bb(array).slice(s![bb(1).., .., .., ..].as_ref())
        })
        .peer(Peer::Borrowed, || {
            bb(array).slice_axis(Axis(0), (bb(1)..).into())
        })
        .peer(Peer::Static, || bb(&fixed).slice(s![bb(1).., .., .., ..]))
        .peer(Peer::Candle, || bb(candle).narrow(0, bb(1), 3))
        .time()?;
    bench
        .call("slice (4,1,3,5) [1:, :, 0]", || {
            bb(ours).slice(index![bb(1).., .., bb(0)])
        })
        .peer(Peer::Owned, || {
            bb(shared)
                .clone()
                .slice_move(s![bb(1).., .., bb(0), ..].as_ref())
        })
        .peer(Peer::Borrowed, || {
            bb(array).slice(s![bb(1).., .., bb(0), ..].as_ref())
        })
        .peer(Peer::Static, || {
            bb(&fixed).slice(s![bb(1).., .., bb(0), ..])
        })
        .peer(Peer::Candle, || bb(candle).i((bb(1).., .., bb(0))))
        .time()?;
    bench
        .call("slice (4,1,3,5) [1:, :, :, ::2]", || {
            bb(ours).slice(index![bb(1).., .., .., Item::from(..).step(bb(2))])
        })
        .peer(Peer::Owned, || {
            let x = bb(shared).clone();
            x.slice_move(s![bb(1).., .., .., ..;bb(2)].as_ref())
        })
        .peer(Peer::Borrowed, || {
            bb(array).slice(s![bb(1).., .., .., ..;bb(2)].as_ref())
        })
        .peer(Peer::Static, || {
            bb(&fixed).slice(s![bb(1).., .., .., ..;bb(2)])
        })
        .time()?;
    bench
        .call("unstack (4,1,3,5)", || bb(ours).unstack(bb(0)))
        .peer(Peer::Borrowed, || {
            bb(array).axis_iter(Axis(bb(0))).collect::<Vec<_>>()
        })
        .peer(Peer::Static, || {
            bb(&fixed).axis_iter(Axis(bb(0))).collect::<Vec<_>>()
        })
        .peer(Peer::Owned, || {
            let x = bb(shared);
            let one = |at| x.clone().index_axis_move(Axis(bb(0)), at);
            (0..x.len_of(Axis(0))).map(one).collect::<Vec<_>>()
        })
        .peer(Peer::Candle, || {
            let x = bb(candle);
            let parts = (0..x.dims()[0]).map(|at| x.get(at));
            parts.collect::<Result<Vec<_>, _>>()
        })
        .time()
}
