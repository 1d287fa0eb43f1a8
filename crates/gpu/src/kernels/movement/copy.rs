//! Copies: elements in any layout to a packed result, or to a part of one.
//!
//! There are four ways, from the fastest to the most general: whole runs of memory by the device's own copy; runs of
//! 16 bytes, one a thread; 16 bytes a thread that it puts together from elements; and single elements.

use std::sync::LazyLock;

use stridewise_core::Result;

use super::{element, put_together, read};
use crate::device::Device;
use crate::kernels::Kernel;
use crate::kernels::places::Places;
use crate::storage::Storage;
use crate::tensor::Tensor;

/// Runs of memory are copied without a kernel if they have so many bytes each, or there is just one.
const LONG_RUN: usize = 256 << 10;

/// But no more of them than this.
const MOST_RUNS: usize = 64;

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
    let part = Part {
        whole: x.count(),
        start: 0,
        len: x.count(),
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
    let rows = count / part.len;
    let to = Places::along(part.start, &[rows, part.len], &[part.whole as isize, 1]);
    let from = Places::of(x.layout());
    if let Some((runs, bytes)) = long_runs(&from, &to, width, count, part) {
        for (at, to) in runs {
            device.copy(x.storage(), at..at + bytes, out, to)?;
        }
        return Ok(());
    }
    // Several elements are moved as one where they lie side by side on both sides.
    let grain = from.grain(16 / width).min(to.grain(16 / width));
    let (wide, items) = (width * grain, count / grain);
    let whole = part.len == part.whole;
    let (kernel, threads, mut params) = match wide {
        ..16 if whole => {
            let near = usize::from(from.rank() <= 2);
            let (kernel, each) = (&PUT_TOGETHER[near][power(wide)], 16 / wide);
            (kernel, items.div_ceil(each), vec![items as u32])
        }
        4.. => {
            let to = to.coarse(grain).words();
            let mut params = vec![items as u32, 2 + to.len() as u32];
            params.extend(to);
            (&SINGLE[power(wide)], items, params)
        }
        _ => {
            // Words of the result: all, or those of the one row that is written.
            let each = 4 / wide;
            let part = [part.whole, part.start, part.len].map(|n| n / grain);
            let [whole, start, len] = part;
            let (first, last) = match rows {
                1 => (start / each, (start + len).div_ceil(each)),
                rows => (0, (rows * whole).div_ceil(each)),
            };
            let numbers = [last - first, first, whole, start, len, items];
            let params = numbers.map(|n| n as u32).to_vec();
            (&SINGLE[power(wide)], last - first, params)
        }
    };
    params.extend(from.coarse(grain).words());
    device.launch(kernel, &params, out, &[x.storage()], threads)
}

/// Where runs of memory begin on both sides, and how many bytes they have, if they are long and few.
fn long_runs(
    from: &Places,
    to: &Places,
    width: usize,
    count: usize,
    part: Part,
) -> Option<(Vec<(usize, usize)>, usize)> {
    let (a, b) = (from.run_len(), to.run_len());
    let (len, longer) = (a.min(b), a.max(b));
    let bytes = len * width;
    let one = len == count;
    let few = one || bytes >= LONG_RUN && count / len <= MOST_RUNS;
    // Words are copied: only the last of a whole result may be cut, since padding follows.
    let words = bytes.is_multiple_of(4) || one && part.len == part.whole;
    if !few || !words || !longer.is_multiple_of(len) {
        return None;
    }
    let starts = (0..count).step_by(len);
    let runs: Vec<_> = starts
        .map(|at| (from.place(at) * width, to.place(at) * width))
        .collect();
    let even = runs.iter().all(|(at, to)| at % 4 == 0 && to % 4 == 0);
    even.then_some((runs, bytes))
}

fn power(width: usize) -> usize {
    width.trailing_zeros() as usize
}

/// Kernels that move elements one by one, by the logarithm of their width.
static SINGLE: LazyLock<[Kernel; 5]> =
    LazyLock::new(|| [narrow(1), narrow(2), wide(4), wide(8), wide(16)]);

/// Kernels that put 16 bytes together, for any number of axes and for one or two, by the logarithm of the element's
/// width.
static PUT_TOGETHER: LazyLock<[[Kernel; 4]; 2]> =
    LazyLock::new(|| [false, true].map(|near| [1, 2, 4, 8].map(|width| together(width, near))));

/// Every kernel.
pub(super) fn all() -> Vec<Kernel> {
    [SINGLE.as_slice(), PUT_TOGETHER.as_flattened()].concat()
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
        out[locate(2u, i)] = source[locate(params[1], i)];
    }}
}}
"
    );
    Kernel::new(format!("copy of {width} bytes"), 1, source)
}

/// Elements that share words with others that stay: a thread for each word of the result, so that no two write the
/// same.
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

fn together(width: usize, near: bool) -> Kernel {
    let (place, axes) = match near {
        true => ("place_near(lie, i)", "one or two"),
        false => ("place_in(lie, i)", "all"),
    };
    let (element, read) = (element(width.max(4)), read(width, place));
    let source = format!(
        "
@group(0) @binding(1) var<storage, read_write> out: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> source: array<{element}>;

var<private> lie: Lie;

fn value(i: u32) -> {element} {{
    return {read};
}}
{}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let i = thread(id);
    lie = lie_at(1u);
    if (i <= (params[0] - 1u) / {}u) {{
        out[i] = together(i, params[0] - 1u);
    }}
}}
",
        put_together(width, near),
        16 / width
    );
    let name = format!("copy of {width} bytes, put together along {axes} axes");
    Kernel::new(name, 1, source)
}
