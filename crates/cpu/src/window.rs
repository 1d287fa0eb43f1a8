//! Indices into all cells of a tensor, as a part of it sees them.

use std::ops::Range;

use stridewise_core::engine::Along;
use stridewise_core::error::{Error, Result};
use stridewise_core::params::Mode;
use stridewise_core::rules::bad_index;
use stridewise_core::size::tuple;

use crate::engine::Cpu;
use crate::kernels::index::{Bounds, OUTSIDE, resolve};
use crate::tensor::Tensor;

impl Cpu {
    /// The indices, which address a source of that shape, as int64 indices into the cells of a window; what lies
    /// outside the window lies outside however it is counted. Beside them a 1 for each that lies outside the whole
    /// source under [`Mode::Fill`], and 0 for the others.
    pub fn windowed(
        self,
        index: &Tensor,
        along: &Along,
        source: &[usize],
        mode: Mode,
        window: Range<usize>,
    ) -> Result<(Tensor, Tensor)> {
        let bounds = match mode {
            Mode::Raise => Bounds::Raise,
            Mode::Wrap => Bounds::Wrap,
            Mode::Clip => Bounds::Clip,
            Mode::Fill(_) => Bounds::Fill([0; 16]),
        };
        // An index that is repeated with stride 0 can be larger than any memory.
        let (mut cells, mut outside): (Vec<i64>, Vec<u8>) = (Vec::new(), Vec::new());
        let count = index.count();
        if cells.try_reserve_exact(count).is_err() || outside.try_reserve_exact(count).is_err() {
            return Err(Error::memory(format!("no memory for {count} indices"))
                .at_argument("index")
                .note("index shape", tuple(index.shape())));
        }
        // SAFETY: K1, K2 and K4 hold for the index, whose dtype is an integer: operators check it.
        let resolved = unsafe {
            resolve(
                index.block(),
                index.dtype(),
                along.cells(source),
                bounds,
                |cell| {
                    // Below any number of cells, counted from the end.
                    let inside = window.contains(&cell);
                    cells.push(if inside {
                        (cell - window.start) as i64
                    } else {
                        i64::MIN
                    });
                    outside.push(u8::from(cell == OUTSIDE));
                },
            )
        };
        resolved.map_err(|bad| bad_index(bad.value, bad.position, source, index.shape(), along))?;
        let shape = index.shape();
        Ok((
            Tensor::from_vec(cells, shape)?,
            Tensor::from_vec(outside, shape)?,
        ))
    }
}
