//! Memory that another library lends, whichever protocol it came by, on its way to a tensor. What kernels can
//! read in place is shared; the rest is copied, or refused where no copy is wanted.

use std::any::Any;

use pyo3::prelude::*;
use stridewise::internals::storage::{Arc, Storage};
use stridewise::{Cpu, DType, Engine, Error, Layout, Result, Tensor};

use crate::errors::OrRaise;

/// Elements in somebody else's memory.
///
/// - **F1**: every index within `dims` reaches `dtype.width()` live bytes at `start` plus its steps, until
///   `owner` is dropped.
/// - **F2**: none of these addresses, and no product of sizes, leaves the address space.
pub(crate) struct Lent {
    start: *const u8,
    dims: Vec<usize>,
    /// In bytes.
    steps: Vec<isize>,
    dtype: DType,
    swapped: bool,
    writable: bool,
    /// The bytes below and above `start` that are reached; the last element itself is not counted.
    below: usize,
    above: usize,
    owner: Box<dyn Any + Send + Sync>,
}

// SAFETY: the bytes are main memory, which any thread may read, and the owner may move between threads.
unsafe impl Send for Lent {}
// SAFETY: a shared one is only read.
unsafe impl Sync for Lent {}

/// What an exporter says about its elements.
pub(crate) struct Claim {
    pub(crate) start: *const u8,
    pub(crate) dims: Vec<usize>,
    /// In bytes; `None` for row-major without gaps.
    pub(crate) steps: Option<Vec<isize>>,
    pub(crate) dtype: DType,
    /// The bytes of a number are in the other order than the machine's.
    pub(crate) swapped: bool,
    pub(crate) writable: bool,
}

impl Lent {
    /// Checks what can be checked of a claim: F2, and that there is memory at all.
    ///
    /// # Safety
    /// F1, as far as F2 and a null `start` do not contradict it.
    pub(crate) unsafe fn new(claim: Claim, owner: Box<dyn Any + Send + Sync>) -> Result<Lent> {
        let width = claim.dtype.width();
        let packed = Layout::packed(width, &claim.dims)?;
        let steps = claim.steps.unwrap_or_else(|| {
            let bytes = |stride: &isize| stride.saturating_mul(width as isize);
            packed.strides().iter().map(bytes).collect()
        });
        let outside = || Error::overflow("the array reaches outside the address space");
        let (mut low, mut high) = (0i128, 0i128);
        for (&dim, &step) in claim.dims.iter().zip(&steps) {
            let far = (dim as i128 - 1).max(0).saturating_mul(step as i128);
            low = low.saturating_add(far.min(0));
            high = high.saturating_add(far.max(0));
        }
        let empty = packed.is_empty();
        if claim.start.is_null() && !empty {
            return Err(Error::argument(
                "the array has elements, but no memory: its data pointer is null",
            ));
        }
        if empty {
            (low, high) = (0, 0);
        }
        let (below, above) = match (isize::try_from(-low), isize::try_from(high)) {
            (Ok(below), Ok(above)) => (below as usize, above as usize),
            _ => return Err(outside()),
        };
        let address = claim.start.addr();
        let end = above
            .checked_add(width)
            .and_then(|above| above.checked_add(address));
        if below > address || end.is_none() {
            return Err(outside());
        }
        Ok(Lent {
            // Nothing is read from an empty array, but slices must not begin at null.
            start: match empty && claim.start.is_null() {
                true => std::ptr::without_provenance(width),
                false => claim.start,
            },
            dims: claim.dims,
            steps,
            dtype: claim.dtype,
            swapped: claim.swapped && width > 1,
            writable: claim.writable,
            below,
            above,
            owner,
        })
    }

    /// The same bits as elements of another type of the same width.
    pub(crate) fn seen_as(mut self, dtype: DType) -> Lent {
        if dtype.width() == self.dtype.width() {
            self.dtype = dtype;
        }
        self
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.writable
    }

    /// Why the memory cannot be shared, if it cannot.
    pub(crate) fn obstacle(&self) -> Option<&'static str> {
        let width = self.dtype.width();
        if self.dims.contains(&0) {
            return None;
        }
        let whole = |(&dim, &step): (&usize, &isize)| dim == 1 || step % width as isize == 0;
        if self.swapped {
            Some("its bytes are in the other order than the machine's")
        } else if !self.start.addr().is_multiple_of(width.min(8)) {
            Some("its memory is not aligned to its elements")
        } else if !self.dims.iter().zip(&self.steps).all(whole) {
            Some("its strides are no whole elements")
        } else {
            None
        }
    }

    /// A tensor: over the same memory if `copy` is false, over its own if true, and otherwise shared where
    /// that can be. The interpreter's lock is let go while data moves.
    pub(crate) fn tensor(self, py: Python<'_>, copy: Option<bool>) -> PyResult<Tensor> {
        match (copy, self.obstacle()) {
            (None | Some(false), None) => self.shared().or_raise(py),
            (Some(false), Some(why)) => Err(no_copy(py, why)),
            (Some(true), None) => {
                let shared = self.shared().or_raise(py)?;
                // What is given in is dropped in there too, which takes the lock by itself.
                py.detach(move || Cpu.copy(&shared)).or_raise(py)
            }
            (None | Some(true), Some(_)) => py.detach(move || self.copied()).or_raise(py),
        }
    }

    /// A tensor over the same memory; for memory without an obstacle.
    pub(crate) fn shared(self) -> Result<Tensor> {
        let width = self.dtype.width();
        let strides: Vec<isize> = self.steps.iter().map(|s| s / width as isize).collect();
        let offset = self.below / width;
        let layout = Layout::new(width, self.dims.as_slice(), strides.as_slice(), offset)?;
        let len = match layout.is_empty() {
            true => 0,
            false => self.below + self.above + width,
        };
        let first = self.start.wrapping_sub(self.below);
        // SAFETY: by F1 these are the bytes from the lowest to the highest index, lent until the owner is
        // dropped. Whoever lends them may still write, as with every shared array in Python.
        let storage = unsafe { Storage::foreign(first, len, self.writable, self.owner) };
        Tensor::new(Arc::new(storage), self.dtype, layout)
    }

    /// A packed copy in the machine's byte order.
    fn copied(&self) -> Result<Tensor> {
        let width = self.dtype.width();
        let count = Layout::packed(width, &self.dims)?.count();
        let mut bytes: Vec<u8> = Vec::new();
        bytes.try_reserve_exact(count * width).map_err(|_| {
            let needed = count * width;
            Error::memory(format!("a copy needs {needed} bytes, more than there are"))
        })?;
        let (&inner, outer) = self.dims.split_last().unwrap_or((&1, &[]));
        let step = self.steps.last().copied().unwrap_or(0);
        let mut index = vec![0usize; outer.len()];
        for _ in 0..count.checked_div(inner).unwrap_or(0) {
            let place = |(&i, &step): (&usize, &isize)| (i as isize).wrapping_mul(step);
            let row: isize = index.iter().zip(&self.steps).map(place).sum();
            for i in 0..inner {
                let at = self
                    .start
                    .wrapping_offset(row + (i as isize).wrapping_mul(step));
                let end = bytes.len();
                // SAFETY: the index is within the sizes, so F1 gives `width` bytes; room for all elements
                // was reserved, and new memory overlaps nothing.
                unsafe {
                    std::ptr::copy_nonoverlapping(at, bytes.as_mut_ptr().add(end), width);
                    bytes.set_len(end + width);
                }
            }
            for (i, dim) in index.iter_mut().zip(outer).rev() {
                *i += 1;
                if *i < *dim {
                    break;
                }
                *i = 0;
            }
        }
        if self.swapped {
            // A complex number is two numbers, each with its own order.
            let part = match self.dtype {
                DType::C64 | DType::C128 => width / 2,
                _ => width,
            };
            bytes.chunks_exact_mut(part).for_each(<[u8]>::reverse);
        }
        Tensor::from_bytes(self.dtype, &self.dims, &bytes)
    }
}

/// The error for a copy that is needed but not wanted.
pub(crate) fn no_copy(py: Python<'_>, why: &str) -> PyErr {
    let error = Error::argument(format!("copy=False, but a copy is needed: {why}"))
        .within("asarray")
        .at_argument("copy")
        .help("leave copy at None to copy only where that is needed");
    crate::errors::exception(py, &error)
}
