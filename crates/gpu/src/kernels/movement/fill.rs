//! One value everywhere.

use std::sync::LazyLock;

use stridewise_core::params::Scalar;
use stridewise_core::{DType, Engine, Result};
use stridewise_cpu::Cpu;

use crate::device::Device;
use crate::kernels::Kernel;
use crate::tensor::Tensor;

use super::threads_for;

/// A packed tensor of one value.
pub(crate) fn full(
    device: &Device,
    dtype: DType,
    value: Scalar,
    sizes: &[usize],
) -> Result<Tensor> {
    let made = Tensor::made(device, dtype, sizes)?;
    let pattern = pattern(dtype, value)?;
    if pattern == [0; 4] {
        device.clear(made.storage())?;
        return Ok(made);
    }
    let steps = made.nbytes().div_ceil(16);
    let threads = threads_for(steps);
    let mut params = vec![steps as u32, threads as u32];
    params.extend(pattern);
    device.launch(&KERNEL, &params, made.storage(), &[], threads)?;
    Ok(made)
}

/// An element repeated to 16 bytes, as words.
pub(super) fn pattern(dtype: DType, value: Scalar) -> Result<[u32; 4]> {
    let bytes = Cpu.full(dtype, value, &[])?.to_bytes()?;
    let byte = |at: usize| u32::from(bytes[at % bytes.len()]);
    Ok([0, 4, 8, 12]
        .map(|at| byte(at) | byte(at + 1) << 8 | byte(at + 2) << 16 | byte(at + 3) << 24))
}

/// Sixteen bytes at a time, whatever the width: storage is padded to that.
static KERNEL: LazyLock<Kernel> = LazyLock::new(|| {
    let source = "
@group(0) @binding(1) var<storage, read_write> out: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let steps = params[0];
    let step = params[1];
    let value = vec4<u32>(params[2], params[3], params[4], params[5]);
    let t = thread(id);
    for (var i = t; i < steps && t < step; i += step) {
        out[i] = value;
    }
}
";
    Kernel::new("fill", 0, source)
});

/// Every kernel.
pub(super) fn all() -> Vec<Kernel> {
    vec![KERNEL.clone()]
}
