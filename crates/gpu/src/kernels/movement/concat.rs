//! Tensors one after another: each is copied to its part of the result.

use stridewise_core::rules::{concat_dtype, concat_shape};
use stridewise_core::{DType, Result};

use super::copy::{self, Part};
use crate::device::Device;
use crate::tensor::Tensor;

/// Tensors one after another along an axis.
pub(crate) fn concat(device: &Device, xs: &[&Tensor], axis: usize) -> Result<Tensor> {
    let dims = concat_shape(xs.iter().map(|x| x.shape()), axis)?;
    let dtype = concat_dtype(xs.iter().map(|x| x.dtype()))?;
    if xs.len() > 2 && reads_all(dtype, &dims[..axis]) {
        let (left, right) = xs.split_at(xs.len() / 2);
        let halves = [concat(device, left, axis)?, concat(device, right, axis)?];
        return concat(device, &[&halves[0], &halves[1]], axis);
    }
    let made = Tensor::made(device, dtype, &dims)?;
    let inner: usize = dims[axis + 1..].iter().product();
    let mut before = 0;
    for x in xs {
        let len = x.shape()[axis];
        let part = Part {
            whole: dims[axis] * inner,
            start: before * inner,
            len: len * inner,
        };
        copy::into(device, x, made.storage(), part)?;
        before += len;
    }
    Ok(made)
}

/// Whether each part costs as much as the whole result, since elements of several parts share words: then it pays to
/// join parts two by two.
fn reads_all(dtype: DType, outer: &[usize]) -> bool {
    dtype.width() < 4 && outer.iter().product::<usize>() > 1
}
