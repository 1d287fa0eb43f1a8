//! Reads a source at an index. Both kinds of gather are one kernel: the place of an element is the sum of what its
//! outer number, the number of its index, its cell and its inner number add.

use std::sync::LazyLock;

use stridewise_core::Result;
use stridewise_core::engine::{Along, Engine};
use stridewise_core::params::Mode;
use stridewise_core::rules::addressed;
use stridewise_core::size::Shape;
use stridewise_cpu::Cpu;

use super::index::{self, INDEX};
use super::{element, fill, put_together, read, threads_for};
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
    let mut dims = Shape::new();
    addressed(
        &mut dims,
        source.shape(),
        index.shape(),
        index.dtype(),
        along,
        mode,
    )?;
    let cells = along.cells(source.shape());
    if cells >= u32::MAX as usize {
        // More cells than kernels count are few that are seen often, or none. A result that would not fit is refused
        // before main memory has to hold it.
        Tensor::made(device, dtype, &dims)?;
        let (source, index) = (source.download_as_it_lies()?, index.download_as_it_lies()?);
        return gpu.upload(&Cpu.gather(&source, &index, along, mode)?);
    }
    let made = Tensor::made(device, dtype, &dims)?;
    made.storage().inherit(source.storage());
    made.storage().inherit(index.storage());
    if mode == Mode::Raise && !index.is_empty() {
        index::check(&made, index, source.shape(), along)?;
    }
    if made.is_empty() {
        return Ok(made);
    }

    let ways = Ways::new(source, index, along);
    let width = dtype.width();
    // Several elements are moved as one where they lie side by side.
    let grain = ways.grain(16 / width);
    let (wide, count) = (width * grain, made.count() / grain);
    let plain = mode != Mode::Wrap && ways.are_straight() && Places::of(index.layout()).rank() == 1;
    let fill = match mode {
        Mode::Fill(value) => fill::pattern(dtype, value)?,
        _ => [0; 4],
    };
    let numbers = [count, ways.inner_count / grain, index.count()];
    let mut params = numbers.map(|n| n as u32).to_vec();
    params.extend(fill);
    // Where each block begins is written once it is known.
    let blocks = params.len();
    params.extend([0; 6]);
    let mut places = vec![index::words(index, cells, mode)];
    places.extend(ways.coarse(grain).map(|places| places.words().to_vec()));
    for (at, words) in places.into_iter().enumerate() {
        params[blocks + at] = params.len() as u32;
        params.extend(words);
    }
    let inputs = [&**source.storage(), index.storage()];
    let kernel = &KERNELS[usize::from(plain)][wide.trailing_zeros() as usize];
    let threads = threads_for(count.div_ceil(16 / wide));
    params[blocks + 5] = threads as u32;
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

    /// Whether each adds the same for every step.
    fn are_straight(&self) -> bool {
        [&self.outer, &self.beside, &self.cells, &self.inner]
            .iter()
            .all(|places| places.rank() == 1)
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

/// For anything and for plain gathers, by the logarithm of the element's width. Each thread writes 16 bytes at a time.
static KERNELS: LazyLock<[[Kernel; 5]; 2]> =
    LazyLock::new(|| [false, true].map(|plain| [1, 2, 4, 8, 16].map(|width| kernel(width, plain))));

/// Every kernel.
pub(super) fn all() -> Vec<Kernel> {
    KERNELS.as_flattened().to_vec()
}

fn kernel(width: usize, plain: bool) -> Kernel {
    let element = element(width.max(4));
    let read = read(width, "place");
    let fill = match width {
        1 => "params[3] & 255u",
        2 => "params[3] & 65535u",
        4 => "params[3]",
        8 => "vec2<u32>(params[3], params[4])",
        _ => "vec4<u32>(params[3], params[4], params[5], params[6])",
    };
    let place = match plain {
        true => PLAIN,
        false => ANY,
    };
    let source = format!(
        "
@group(0) @binding(1) var<storage, read_write> out: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> source: array<{element}>;
@group(0) @binding(3) var<storage, read> index: array<u32>;
{INDEX}
var<private> inner_count: u32;
var<private> index_count: u32;
var<private> indices: Index;
var<private> outer: Lie;
var<private> beside: Lie;
var<private> cells: Lie;
var<private> inner: Lie;

{place}
fn value(i: u32) -> {element} {{
    let place = place_of(i);
    if (place == OUTSIDE) {{
        return {fill};
    }}
    return {read};
}}
{}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let i = thread(id);
    inner_count = params[1];
    index_count = params[2];
    indices = index_at(params[7]);
    outer = lie_at(params[8]);
    beside = lie_at(params[9]);
    cells = lie_at(params[10]);
    inner = lie_at(params[11]);
    for (var t = i; t <= (params[0] - 1u) / {}u && i < params[12]; t += params[12]) {{
        out[t] = together(t, params[0] - 1u);
    }}
}}
",
        put_together(width, plain),
        16 / width
    );
    let kind = if plain { "plain gather" } else { "gather" };
    Kernel::new(format!("{kind} of {width} bytes"), 2, source)
}

/// Where an element of the result lies in the source.
const ANY: &str = "
fn place_of(i: u32) -> u32 {
    let row = i / inner_count;
    let before = row / index_count;
    let number = row - before * index_count;
    let cell = cell_of(indices, number);
    if (cell == OUTSIDE) {
        return OUTSIDE;
    }
    return place_in(outer, before) + place_in(beside, number) + place_in(cells, cell)
        + place_in(inner, i - row * inner_count);
}
";

/// The same where index and source have one step for all of their axes, and nothing wraps.
const PLAIN: &str = "
fn place_of(i: u32) -> u32 {
    let row = i / inner_count;
    let before = row / index_count;
    let number = row - before * index_count;
    let value = index_at_place(indices, indices.lie.offset + number * indices.lie.stride.x);
    let cell = cell_of_value(indices, value);
    let place = outer.offset + before * outer.stride.x + number * beside.stride.x
        + cell * cells.stride.x + (i - row * inner_count) * inner.stride.x;
    return select(place, OUTSIDE, cell == OUTSIDE);
}
";
