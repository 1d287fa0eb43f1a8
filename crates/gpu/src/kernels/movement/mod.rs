//! Movement: kernels that know how wide an element is, and nothing else of it.

pub(crate) mod concat;
pub(crate) mod copy;
pub(crate) mod fill;
pub(crate) mod gather;
pub mod index;

use super::Kernel;

/// Every kernel of movement.
pub fn all() -> Vec<Kernel> {
    [copy::all(), fill::all(), gather::all(), index::all()].concat()
}

/// The WGSL type of an element of 4, 8 or 16 bytes.
fn element(width: usize) -> &'static str {
    match width {
        4 => "u32",
        8 => "vec2<u32>",
        _ => "vec4<u32>",
    }
}
