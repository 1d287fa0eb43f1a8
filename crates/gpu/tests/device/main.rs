//! The device itself: what it does and does not do for a call, and what becomes of mistakes, full memory and loss. One
//! binary, so that most tests share one device and its compiled kernels.
#![allow(clippy::unwrap_used)]

mod chains;
mod faults;
mod limits;
mod loss;
mod moves;
mod views;

use stridewise_cpu::{Element, Tensor};
use stridewise_gpu::Gpu;

/// The device that tests share.
fn gpu() -> Gpu {
    Gpu::open().unwrap_or_else(|error| panic!("{error}"))
}

/// A device whose counts are one test's.
fn alone() -> Gpu {
    Gpu::another().unwrap_or_else(|error| panic!("{error}"))
}

fn row<T: Element>(values: impl IntoIterator<Item = T>) -> Tensor {
    let values: Vec<T> = values.into_iter().collect();
    let len = values.len();
    Tensor::from_vec(values, &[len]).unwrap()
}

/// That a tensor on the device is one in main memory, bit for bit.
#[track_caller]
fn same(x: &stridewise_gpu::Tensor, y: &Tensor) {
    let x = x.download().unwrap();
    assert_eq!((x.dtype(), x.shape()), (y.dtype(), y.shape()));
    assert_eq!(x.to_bytes().unwrap(), y.to_bytes().unwrap());
}

/// A row of different bytes, seen as elements of any type.
fn counted(dtype: stridewise_core::DType, shape: &[usize]) -> Tensor {
    let bytes = shape.iter().product::<usize>() * dtype.width();
    let mut state = 7u32;
    let bytes: Vec<u8> = (0..bytes)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8 & 1
        })
        .collect();
    Tensor::from_bytes(dtype, shape, &bytes).unwrap()
}
