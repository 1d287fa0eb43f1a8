//! Movement kernels know how wide an element is and nothing else about it. This is the one place where that
//! width, known when the kernel runs, becomes a type known when it is compiled.

/// A plain value as wide as an element; any bit pattern is valid (K4).
pub(crate) trait Cell: Copy + Send + Sync + 'static {
    /// Bytes in one cell.
    const WIDTH: usize = size_of::<Self>();
}

impl Cell for u8 {}
impl Cell for u16 {}
impl Cell for u32 {}
impl Cell for u64 {}
/// Two words instead of a `u128`, since 16-byte elements are only aligned to 8.
impl Cell for [u64; 2] {}

/// Evaluates an expression with `$cell` standing for the [`Cell`] that is `$width` bytes wide.
///
/// Panics on a width no dtype has.
macro_rules! with_cell {
    ($width:expr, $cell:ident => $body:expr) => {
        match $width {
            1 => {
                type $cell = u8;
                $body
            }
            2 => {
                type $cell = u16;
                $body
            }
            4 => {
                type $cell = u32;
                $body
            }
            8 => {
                type $cell = u64;
                $body
            }
            16 => {
                type $cell = [u64; 2];
                $body
            }
            other => panic!("no element is {other} bytes wide"),
        }
    };
}
pub(crate) use with_cell;
