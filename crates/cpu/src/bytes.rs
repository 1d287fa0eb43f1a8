//! Tensors as plain bytes, for whoever carries them elsewhere.

use stridewise_core::layout::Seen;
use stridewise_core::{DType, Error, Layout, Result};

use crate::kernels::{self, BlockMut};
use crate::primitives::{Pool, Unfinished};
use crate::tensor::{Tensor, allocate};

/// Smaller buffers come from the system's allocator, which says nothing of their bytes; larger ones are mapped, and so
/// were zero once.
const MAPPED: usize = 2 << 20;

impl Tensor {
    /// The bytes of the elements as they lie in memory, where they are packed; `contiguous` packs them.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        if !self.is_contiguous() {
            return None;
        }
        if self.is_empty() {
            return Some(&[]);
        }
        // SAFETY: a packed tensor has `nbytes` bytes from index zero on (T1), written before (T3); its memory is not
        // written while it is borrowed, since writing needs the storage alone.
        Some(unsafe { std::slice::from_raw_parts(self.as_ptr(), self.nbytes()) })
    }

    /// The elements of all, row-major, one tensor after another, as one row.
    pub fn packed_together(xs: &[Tensor]) -> Result<Tensor> {
        let Some(first) = xs.first() else {
            return Err(Error::argument("there are no tensors"));
        };
        let (dtype, count) = (first.dtype(), xs.iter().map(Tensor::count).sum());
        if let Some(other) = xs.iter().find(|x| x.dtype() != dtype) {
            let message = format!("{} cannot stand behind {dtype}", other.dtype());
            return Err(Error::dtype(message).sizes(dtype, other.dtype()));
        }
        let mut packed = Seen::new();
        let made = Unfinished::new(&Pool, dtype, &[count], &mut packed)?;
        let mut before = 0;
        for x in xs {
            let layout = Layout::packed(dtype.width(), x.shape())?;
            let part = BlockMut {
                start: made.start().wrapping_add(before * dtype.width()),
                sizes: x.shape(),
                strides: layout.strides(),
            };
            // SAFETY: K1, K2, K4 hold for a tensor; K3: the parts are disjoint runs of the new result.
            unsafe { kernels::copy::copy(x.block(), part, dtype.width()) };
            before += x.count();
        }
        Ok(made.done())
    }

    /// A packed tensor whose bytes, in the machine's byte order, `write` fills. It must write all of them: those it
    /// leaves are whatever they were.
    pub fn from_writer(
        dtype: DType,
        shape: &[usize],
        write: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<Tensor> {
        let layout = Layout::packed(dtype.width(), shape)?;
        let bytes = layout.count() * dtype.width();
        made(dtype, layout, |start, _| match bytes {
            0 => write(&mut []),
            // SAFETY: the room is new, has that many bytes, and all of them are initialised.
            _ => write(unsafe { std::slice::from_raw_parts_mut(start, bytes) }),
        })
    }
}

/// A packed tensor in new room, which `write` fills: nobody else has it, and every byte is initialised.
pub(crate) fn made(
    dtype: DType,
    layout: Layout,
    write: impl FnOnce(*mut u8, &Layout) -> Result<()>,
) -> Result<Tensor> {
    let bytes = layout.count() * dtype.width();
    let room = allocate(bytes)?;
    if bytes < MAPPED {
        // SAFETY: the buffer holds that many bytes and nobody else has it. Mapped memory was initialised by the system
        // or whoever had it before.
        unsafe { room.as_ptr().write_bytes(0, bytes) };
    }
    write(room.as_ptr(), &layout)?;
    Tensor::filled(room, dtype, layout)
}
