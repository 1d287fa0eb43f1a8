//! Copies: elements in any layout to a packed result, or to a part of one.

use std::sync::LazyLock;

use stridewise_core::Result;

use super::element;
use crate::device::Device;
use crate::kernels::Kernel;
use crate::kernels::places::Places;
use crate::storage::Storage;
use crate::tensor::Tensor;

/// Which part of a packed result is written: of every `whole` elements, `len` from `start` on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) whole: usize,
    pub(crate) start: usize,
    pub(crate) len: usize,
}

/// A packed tensor with the same elements.
pub(crate) fn packed(device: &Device, x: &Tensor) -> Result<Tensor> {
    let made = Tensor::made(device, x.dtype(), x.shape())?;
    let (width, count) = (x.dtype().width(), x.count());
    // One run of memory is copied without a kernel.
    if let Some(start) = Places::of(x.layout())
        .run()
        .filter(|at| at * width % 4 == 0)
    {
        let bytes = start * width..(start + count) * width;
        device.copy(x.storage(), bytes, made.storage())?;
        return Ok(made);
    }
    let part = Part {
        whole: count,
        start: 0,
        len: count,
    };
    into(device, x, made.storage(), part)?;
    Ok(made)
}

/// Copies all elements to a part of a result.
pub(crate) fn into(device: &Device, x: &Tensor, out: &Storage, part: Part) -> Result<()> {
    let (width, count) = (x.dtype().width(), x.count());
    if count == 0 {
        out.inherit(x.storage());
        return Ok(());
    }
    // To rows of the part's length, a whole apart.
    let rows = [count / part.len, part.len];
    let to = Places::along(part.start, &rows, &[part.whole as isize, 1]);
    let from = Places::of(x.layout());
    // Several elements are moved as one where they lie side by side on both sides.
    let grain = from.grain(16 / width).min(to.grain(16 / width));
    if width * grain >= 4 {
        let (to, from) = (to.coarse(grain).words(), from.coarse(grain).words());
        let mut params = vec![(count / grain) as u32, 3, 3 + to.len() as u32];
        params.extend(to);
        params.extend(from);
        let kernel = &KERNELS[(width * grain).trailing_zeros() as usize];
        return device.launch(kernel, &params, out, &[x.storage()], count / grain);
    }
    // Words of the result: all, or those of the one row that is written.
    let each = 4 / width;
    let (first, last) = match rows[0] {
        1 => (part.start / each, (part.start + part.len).div_ceil(each)),
        rows => (0, (rows * part.whole).div_ceil(each)),
    };
    let numbers = [last - first, first, part.whole, part.start, part.len, count];
    let mut params = numbers.map(|n| n as u32).to_vec();
    params.extend(from.words());
    let kernel = &KERNELS[width.trailing_zeros() as usize];
    device.launch(kernel, &params, out, &[x.storage()], last - first)
}

/// By the logarithm of the element's width.
static KERNELS: LazyLock<[Kernel; 5]> =
    LazyLock::new(|| [narrow(1), narrow(2), wide(4), wide(8), wide(16)]);

/// Every kernel.
pub(super) fn all() -> Vec<Kernel> {
    KERNELS.to_vec()
}

fn wide(width: usize) -> Kernel {
    let element = element(width);
    let source = format!(
        "
@group(0) @binding(1) var<storage, read_write> out: array<{element}>;
@group(0) @binding(2) var<storage, read> source: array<{element}>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let i = thread(id);
    if (i < params[0]) {{
        out[locate(params[1], i)] = source[locate(params[2], i)];
    }}
}}
"
    );
    Kernel::new(format!("copy of {width} bytes"), 1, source)
}

/// Elements that share words: a thread for each word of the result, so that no two write the same.
fn narrow(width: usize) -> Kernel {
    let (each, bits) = (4 / width, 8 * width);
    let mask = (1u64 << bits) - 1;
    let source = format!(
        "
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<storage, read> source: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let i = thread(id);
    if (i >= params[0]) {{
        return;
    }}
    let whole = params[2];
    let start = params[3];
    let len = params[4];
    let count = params[5];
    let word = params[1] + i;
    var value = out[word];
    for (var k = 0u; k < {each}u; k++) {{
        let element = word * {each}u + k;
        let row = element / whole;
        let within = element - row * whole - start;
        let number = row * len + within;
        // Before the start, the difference wraps and is no less than the length.
        if (within < len && number < count) {{
            let place = locate(6u, number);
            let bits = (source[place / {each}u] >> (place % {each}u * {bits}u)) & {mask}u;
            let at = k * {bits}u;
            value = (value & ~({mask}u << at)) | (bits << at);
        }}
    }}
    out[word] = value;
}}
"
    );
    Kernel::new(format!("copy of {width} bytes"), 1, source)
}
