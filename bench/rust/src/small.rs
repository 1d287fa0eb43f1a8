//! Copies of a few elements, where the call costs more than the copy.

use std::hint::black_box as bb;

use ndarray::{Axis, IxDyn, concatenate, stack};
use stridewise::prelude::*;

use crate::bench::{Bench, Peer};
use crate::seen::Outcome;
use crate::three::Three;

pub(crate) fn rows(bench: &mut Bench) -> Outcome {
    let x = Three::<f32>::new(&[2, 3])?;
    let (ours, array, candle) = (&x.ours, &x.array, &x.candle);
    bench
        .call("small repeat (2,3) x (2,2)", || bb(ours).repeat(bb([2, 2])))
        .peer(Peer::Owned, || {
            let x = bb(array).view().insert_axis(Axis(1)).insert_axis(Axis(0));
            let tiled = x.broadcast(IxDyn(&bb([2, 2, 2, 3])))?.to_owned();
            tiled.into_shape_with_order(IxDyn(&[4, 6])).ok()
        })
        .peer(Peer::Candle, || bb(candle).repeat(bb((2, 2))))
        .time()?;
    let (at, few) = (Three::<i64>::of(vec![2, 0, 1], &[3])?, [2, 0, 1]);
    bench
        .call("small take of 3 at axis 1 of (2,3)", || {
            bb(ours).take(bb(&at.ours), bb(1), Mode::Raise)
        })
        .peer(Peer::Owned, || bb(array).select(Axis(bb(1)), bb(&few)))
        .peer(Peer::Candle, || {
            bb(candle).index_select(bb(&at.candle), bb(1))
        })
        .time()?;
    let line = Three::<f32>::new(&[10])?;
    bench
        .call("small take of 3 of (10)", || {
            bb(&line.ours).take(bb(&at.ours), None, Mode::Raise)
        })
        .peer(Peer::Owned, || bb(&line.array).select(Axis(0), bb(&few)))
        .peer(Peer::Candle, || {
            bb(&line.candle).index_select(bb(&at.candle), 0)
        })
        .time()?;
    bench
        .call("small contiguous of (2,3).T", || {
            bb(ours).transpose(..)?.contiguous()
        })
        .peer(Peer::Owned, || {
            bb(array).t().as_standard_layout().into_owned()
        })
        .peer(Peer::Candle, || bb(candle).t()?.contiguous())
        .time()?;
    bench
        .call("small concat of 2 (2,3)", || {
            concat(&[bb(ours), bb(ours)], bb(0))
        })
        .peer(Peer::Owned, || {
            concatenate(Axis(bb(0)), &[bb(array).view(), bb(array).view()])
        })
        .peer(Peer::Candle, || {
            candle_core::Tensor::cat(&[bb(candle), bb(candle)], bb(0))
        })
        .time()?;
    bench
        .call("small stack of 2 (2,3)", || {
            stridewise::stack(&[bb(ours), bb(ours)], bb(0))
        })
        .peer(Peer::Owned, || {
            stack(Axis(bb(0)), &[bb(array).view(), bb(array).view()])
        })
        .peer(Peer::Candle, || {
            candle_core::Tensor::stack(&[bb(candle), bb(candle)], bb(0))
        })
        .time()?;
    bench
        .call("small sum of (2,3) at 1", || {
            bb(ours).sum(bb(1), false, None)
        })
        .peer(Peer::Owned, || bb(array).sum_axis(Axis(bb(1))))
        .peer(Peer::Candle, || bb(candle).sum(bb(1)))
        .time()
}
