//! One value everywhere.

use std::sync::LazyLock;

use stridewise_core::params::Scalar;
use stridewise_core::{DType, Engine, Result};
use stridewise_cpu::Cpu;

use crate::device::Device;
use crate::kernels::Kernel;
use crate::tensor::Tensor;

/// A packed tensor of one value.
pub(crate) fn full(
    device: &Device,
    dtype: DType,
    value: Scalar,
    sizes: &[usize],
) -> Result<Tensor> {
    let made = Tensor::made(device, dtype, sizes)?;
    let threads = made.nbytes().div_ceil(16);
    let mut params = vec![threads as u32];
    params.extend(pattern(dtype, value)?);
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

/// Sixteen bytes a thread, whatever the width: storage is padded to that.
static KERNEL: LazyLock<Kernel> = LazyLock::new(|| {
    let source = "
@group(0) @binding(1) var<storage, read_write> out: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = thread(id);
    if (i < params[0]) {
        out[i] = vec4<u32>(params[1], params[2], params[3], params[4]);
    }
}
";
    Kernel::new("fill", 0, source)
});

/// Every kernel.
pub(super) fn all() -> Vec<Kernel> {
    vec![KERNEL.clone()]
}
