//! One kernel for each primitive, over raw strided memory. Movement kernels know only the width of an
//! element; arithmetic kernels go through the dtype visitor in [`crate::element`].
//!
//! Numbered invariants, cited by every `unsafe` block below this module. Whoever makes a [`Block`] upholds
//! them; the tensor does so whenever one is made.
//!
//! - **K1 reach**: for every index within `sizes`, `start + index · strides` lies inside one live allocation.
//! - **K2 aligned**: `start` is aligned for the element and strides count whole elements.
//! - **K3 alone**: a block that is written to is reachable through nothing else while the kernel runs, and
//!   no two of its indices share a cell.
//! - **K4 whole**: elements that are read were written before; any bit pattern is a valid element.

pub mod add;
mod caches;
pub mod cast;
pub mod compare;
pub mod concat;
pub mod copy;
pub mod gather;
pub mod index;
mod lines;
pub(crate) mod loops;
mod prefetch;
pub mod reduce;
#[cfg(test)]
mod sample;
pub mod scatter_add;
pub mod sum;
pub(crate) mod threads;
mod width;

/// Strided memory that is read: where index zero lies, and the size and stride (in elements) of each axis.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The element at index zero (the offset is already applied). May dangle when a size is 0.
    pub start: *const u8,
    /// The size of each axis.
    pub sizes: &'a [usize],
    /// The stride of each axis, in elements; any sign, zero included.
    pub strides: &'a [isize],
}

/// Strided memory that is written, under K3.
#[derive(Clone, Copy, Debug)]
pub struct BlockMut<'a> {
    /// The element at index zero.
    pub start: *mut u8,
    /// The size of each axis.
    pub sizes: &'a [usize],
    /// The stride of each axis, in elements.
    pub strides: &'a [isize],
}

impl Block<'_> {
    /// How many elements.
    pub fn len(&self) -> usize {
        self.sizes.iter().product()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sizes.contains(&0)
    }
}
