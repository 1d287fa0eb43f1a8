//! Indices as kernels read them, and the check that finds those outside.

use std::sync::LazyLock;

use stridewise_core::Result;
use stridewise_core::dtype::Family;
use stridewise_core::engine::Along;
use stridewise_core::params::Mode;
use stridewise_cpu::Cpu;

use crate::kernels::Kernel;
use crate::kernels::places::Places;
use crate::tensor::Tensor;

use super::threads_for;

/// WGSL that turns the elements of an input `index: array<u32>` into cells: `index_cell(p, i)` for the element of
/// number `i`, where [`words`] lie at `params[p]`. Outside it is `OUTSIDE`.
pub const INDEX: &str = include_str!("index.wgsl");

/// The words for `index_cell`: an index that addresses so many cells.
pub fn words(index: &Tensor, cells: usize, mode: Mode) -> Vec<u32> {
    let dtype = index.dtype();
    let mode = match mode {
        Mode::Raise => 0,
        Mode::Wrap => 1,
        Mode::Clip => 2,
        Mode::Fill(_) => 3,
    };
    let mut words = vec![
        dtype.width().trailing_zeros(),
        u32::from(dtype.family() == Family::Signed),
        cells as u32,
        mode,
    ];
    words.extend(Places::of(index.layout()).words());
    words
}

/// Checks that every index lies in `-n..n` of the cells of a source, when the device comes to it: whoever reads what is
/// `made` with the index, or from that, hears of it.
pub(crate) fn check(made: &Tensor, index: &Tensor, source: &[usize], along: &Along) -> Result<()> {
    let (device, cells) = (made.device(), along.cells(source));
    if cells >= u32::MAX as usize {
        // More cells than kernels count: the index comes here to be checked.
        return Cpu.check_indices(&index.download_as_it_lies()?, along, source);
    }
    device.require_countable(index.count())?;
    let threads = threads_for(index.count());
    let mut params = vec![0, index.count() as u32, threads as u32];
    params.extend(words(index, cells, Mode::Raise));
    let near = usize::from(Places::of(index.layout()).rank() <= 2);
    let fault = device.check(&CHECKS[near], &mut params, threads, index, source, along)?;
    made.storage().blame([fault]);
    Ok(())
}

/// Notes the first bad position as its complement, so that 0 means none and the first is the largest.
static CHECKS: LazyLock<[Kernel; 2]> =
    LazyLock::new(|| [("place_in", "all"), ("place_near", "one or two")].map(checking));

fn checking((place, axes): (&str, &str)) -> Kernel {
    let source = format!(
        "
@group(0) @binding(1) var<storage, read_write> slots: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read> index: array<u32>;
{INDEX}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let indices = index_at(3u);
    let count = params[1];
    let step = params[2];
    var first = 0u;
    for (var i = thread(id); i < count && thread(id) < step; i += min(step, count - i)) {{
        let value = index_at_place(indices, {place}(indices.lie, i));
        if (cell_of_value(indices, value) == OUTSIDE) {{
            first = max(first, ~i);
        }}
    }}
    if (first != 0u) {{
        atomicMax(&slots[params[0]], first);
    }}
}}
"
    );
    Kernel::new(format!("check of indices along {axes} axes"), 1, source)
}

/// Every kernel.
pub(super) fn all() -> Vec<Kernel> {
    CHECKS.to_vec()
}
