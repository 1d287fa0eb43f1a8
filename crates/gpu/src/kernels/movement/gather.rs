//! Reads a source at an index. Both kinds of gather are one kernel: the place of an element is the sum of what its
//! outer number, the number of its index, its cell and its inner number add.

use std::sync::LazyLock;

use stridewise_core::engine::{Along, Engine};
use stridewise_core::params::Mode;
use stridewise_core::rules::addressed;
use stridewise_core::{Layout, Result};
use stridewise_cpu::Cpu;

use super::index::{self, INDEX};
use super::{element, fill};
use crate::engine::Gpu;
use crate::kernels::Kernel;
use crate::kernels::places::Places;
use crate::tensor::Tensor;

/// Reads `source` at every index.
pub(crate) fn gather(
    gpu: &Gpu,
    source: &Tensor,
    index: &Tensor,
    along: &Along,
    mode: Mode,
) -> Result<Tensor> {
    let (device, dtype) = (gpu.device(), source.dtype());
    let dims = addressed(source.shape(), index.shape(), index.dtype(), along, mode)?;
    let cells = along.cells(source.shape());
    if cells >= u32::MAX as usize {
        // More cells than kernels count are few that are seen often, or none.
        Layout::packed(dtype.width(), &dims)?;
        let (source, index) = (source.download_as_it_lies()?, index.download_as_it_lies()?);
        return gpu.upload(&Cpu.gather(&source, &index, along, mode)?);
    }
    let made = Tensor::made(device, dtype, &dims)?;
    made.storage().inherit(source.storage());
    made.storage().inherit(index.storage());
    if mode == Mode::Raise && !index.is_empty() {
        let fault = index::check(device, index, source.shape(), along)?;
        made.storage().blame(fault);
    }
    if made.is_empty() {
        return Ok(made);
    }

    let ways = Ways::new(source, index, along);
    let width = dtype.width();
    // Several elements are moved as one where they lie side by side, and fill a word.
    let grain = ways.grain(16 / width);
    let grain = if width * grain < 4 { 1 } else { grain };
    let kernel = &KERNELS[(width * grain).trailing_zeros() as usize];
    let count = made.count() / grain;
    let threads = match width * grain {
        4.. => count,
        _ => made.nbytes().div_ceil(4),
    };
    let fill = match mode {
        Mode::Fill(value) => fill::pattern(dtype, value)?,
        _ => [0; 4],
    };
    let inner = ways.inner_count / grain;
    let mut params = vec![
        threads as u32,
        count as u32,
        inner as u32,
        index.count() as u32,
    ];
    params.extend(fill);
    // Where each block begins is written once it is known.
    let blocks = params.len();
    params.extend([0; 5]);
    let mut places = vec![index::words(index, cells, mode)];
    places.extend(ways.coarse(grain).map(|places| places.words().to_vec()));
    for (at, words) in places.into_iter().enumerate() {
        params[blocks + at] = params.len() as u32;
        params.extend(words);
    }
    let inputs = [&**source.storage(), index.storage()];
    device.launch(kernel, &params, made.storage(), &inputs, threads)?;
    Ok(made)
}

/// What adds to the place of an element in the source.
struct Ways {
    outer: Places,
    /// By the number of the index.
    beside: Places,
    cells: Places,
    inner: Places,
    inner_count: usize,
}

impl Ways {
    fn new(source: &Tensor, index: &Tensor, along: &Along) -> Ways {
        let (sizes, strides) = (source.shape(), source.strides());
        let offset = source.layout().offset();
        let none = || Places::along(0, &[], &[]);
        match along {
            Along::Run(run) => Ways {
                outer: Places::along(offset, &sizes[..run.start], &strides[..run.start]),
                beside: none(),
                cells: Places::along(0, &sizes[run.clone()], &strides[run.clone()]),
                inner: Places::along(0, &sizes[run.end..], &strides[run.end..]),
                inner_count: sizes[run.end..].iter().product(),
            },
            Along::Aligned(axis) => {
                let mut beside = strides.to_vec();
                beside[*axis] = 0;
                Ways {
                    outer: Places::along(offset, &[], &[]),
                    beside: Places::along(0, index.shape(), &beside),
                    cells: Places::along(0, &[sizes[*axis]], &[strides[*axis]]),
                    inner: none(),
                    inner_count: 1,
                }
            }
        }
    }

    /// How many elements can be moved as one.
    fn grain(&self, most: usize) -> usize {
        [&self.outer, &self.beside, &self.cells]
            .iter()
            .fold(self.inner.grain(most), |grain, places| {
                places.step_grain(grain)
            })
    }

    fn coarse(self, grain: usize) -> [Places; 4] {
        [
            self.outer.coarse_steps(grain),
            self.beside.coarse_steps(grain),
            self.cells.coarse_steps(grain),
            self.inner.coarse(grain),
        ]
    }
}

/// By the logarithm of the element's width.
static KERNELS: LazyLock<[Kernel; 5]> = LazyLock::new(|| [1, 2, 4, 8, 16].map(kernel));

/// Every kernel.
pub(super) fn all() -> Vec<Kernel> {
    KERNELS.to_vec()
}

fn kernel(width: usize) -> Kernel {
    let (element, main) = match width {
        1 | 2 => ("u32", narrow(width)),
        _ => (element(width), wide(width)),
    };
    let source = format!(
        "
@group(0) @binding(1) var<storage, read_write> out: array<{element}>;
@group(0) @binding(2) var<storage, read> source: array<{element}>;
@group(0) @binding(3) var<storage, read> index: array<u32>;
{INDEX}
// The place in the source of an element of the result, or OUTSIDE.
fn place_of(i: u32) -> u32 {{
    let row = i / params[2];
    let outer = row / params[3];
    let number = row - outer * params[3];
    let cell = index_cell(params[8], number);
    if (cell == OUTSIDE) {{
        return OUTSIDE;
    }}
    return locate(params[9], outer) + locate(params[10], number) + locate(params[11], cell)
        + locate(params[12], i - row * params[2]);
}}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let i = thread(id);
    if (i >= params[0]) {{
        return;
    }}
{main}
}}
"
    );
    Kernel::new(format!("gather of {width} bytes"), 2, source)
}

fn wide(width: usize) -> String {
    let fill = match width {
        4 => "params[4]",
        8 => "vec2<u32>(params[4], params[5])",
        _ => "vec4<u32>(params[4], params[5], params[6], params[7])",
    };
    format!(
        "    let place = place_of(i);
    if (place == OUTSIDE) {{
        out[i] = {fill};
    }} else {{
        out[i] = source[place];
    }}"
    )
}

/// A thread for each word of the result, so that no two write the same.
fn narrow(width: usize) -> String {
    let (each, bits) = (4 / width, 8 * width);
    let mask = (1u64 << bits) - 1;
    format!(
        "    var value = 0u;
    for (var k = 0u; k < {each}u; k++) {{
        let element = i * {each}u + k;
        if (element < params[1]) {{
            let place = place_of(element);
            var bits = params[4];
            if (place != OUTSIDE) {{
                bits = source[place / {each}u] >> (place % {each}u * {bits}u);
            }}
            value |= (bits & {mask}u) << (k * {bits}u);
        }}
    }}
    out[i] = value;"
    )
}
