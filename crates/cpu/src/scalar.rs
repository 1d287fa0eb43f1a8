//! Numbers of no type yet, turned into elements. The conversions are the cast kernel's, so there is one rule.

use num_complex::Complex;
use stridewise_core::dtype::Family;
use stridewise_core::params::Scalar;
use stridewise_core::{DType, Engine, Error, Result};

use crate::engine::Cpu;
use crate::kernels::{Block, cast};

use crate::tensor::{Room, Tensor, allocate};

/// Room for one element of any dtype, aligned for all.
#[repr(align(16))]
pub(crate) struct Cell(pub(crate) [u8; 16]);

/// The bytes of a number as an element; the number fits the dtype.
pub(crate) fn element(dtype: DType, value: Scalar) -> Cell {
    let mut from = Cell([0; 16]);
    let wide = match value {
        Scalar::Bool(b) => {
            from.0[0] = b.into();
            DType::Bool
        }
        Scalar::Int(n) => {
            // What fits neither 64-bit type can only be meant for a float.
            match (i64::try_from(n), u64::try_from(n)) {
                (Ok(n), _) => {
                    from.0[..8].copy_from_slice(&n.to_ne_bytes());
                    DType::I64
                }
                (_, Ok(n)) => {
                    from.0[..8].copy_from_slice(&n.to_ne_bytes());
                    DType::U64
                }
                _ => {
                    from.0[..8].copy_from_slice(&(n as f64).to_ne_bytes());
                    DType::F64
                }
            }
        }
        Scalar::Float(x) => {
            from.0[..8].copy_from_slice(&x.to_ne_bytes());
            DType::F64
        }
        Scalar::Complex(re, im) => {
            from.0[..8].copy_from_slice(&re.to_ne_bytes());
            from.0[8..].copy_from_slice(&im.to_ne_bytes());
            DType::C128
        }
    };
    let mut into = Cell([0; 16]);
    let one = Block {
        start: from.0.as_ptr(),
        sizes: &[],
        strides: &[],
    };
    // SAFETY: K1, K2: both cells hold any element and are aligned for all; K3: `into` is local; K4: written.
    unsafe { cast::cast(one, wide, into.0.as_mut_ptr(), dtype) };
    into
}

/// `start, start + step, …` as 64-bit numbers: whole ones where both are whole and integers are wanted.
pub(crate) fn evenly_spaced(
    dtype: DType,
    start: Scalar,
    step: Scalar,
    len: usize,
) -> Result<(DType, Room)> {
    let bytes = len
        .checked_mul(8)
        .ok_or_else(|| Error::overflow(format!("{len} values are too many")))?;
    let buffer = allocate(bytes)?;
    let cells = buffer.as_ptr().cast::<u64>();
    let real = matches!(dtype.family(), Family::Float | Family::Complex);
    let (wide, value): (DType, Box<dyn Fn(usize) -> u64>) = match (start, step) {
        (Scalar::Int(start), Scalar::Int(step)) => {
            let exact = move |at: usize| step.saturating_mul(at as i128).saturating_add(start);
            match real {
                true => (DType::F64, Box::new(move |at| (exact(at) as f64).to_bits())),
                // All values fit the dtype, so the low 64 bits are the value, signed or not.
                false if start > i64::MAX as i128 => {
                    (DType::U64, Box::new(move |at| exact(at) as u64))
                }
                false => (DType::I64, Box::new(move |at| exact(at) as u64)),
            }
        }
        (start, step) => {
            // NumPy's rule: the distance is that of the first two values, as they are rounded.
            let (first, second) = (start.real(), start.real() + step.real());
            let distance = second - first;
            (
                DType::F64,
                Box::new(move |at| (first + at as f64 * distance).to_bits()),
            )
        }
    };
    for at in 0..len {
        // SAFETY: the buffer holds `len` 8-byte cells, aligned to 64.
        unsafe { cells.add(at).write(value(at)) };
    }
    Ok((wide, buffer))
}

/// The elements of a tensor as numbers, row-major.
pub(crate) fn numbers(x: &Tensor) -> Result<Vec<Scalar>> {
    let wide = match x.dtype().family() {
        Family::Bool => DType::Bool,
        Family::Unsigned => DType::U64,
        Family::Signed => DType::I64,
        Family::Float => DType::F64,
        Family::Complex => DType::C128,
    };
    let x = Cpu.cast(x, wide)?;
    Ok(match wide {
        DType::Bool => x.to_vec::<bool>()?.into_iter().map(Scalar::from).collect(),
        DType::U64 => x.to_vec::<u64>()?.into_iter().map(Scalar::from).collect(),
        DType::I64 => x.to_vec::<i64>()?.into_iter().map(Scalar::from).collect(),
        DType::F64 => x.to_vec::<f64>()?.into_iter().map(Scalar::from).collect(),
        _ => x
            .to_vec::<Complex<f64>>()?
            .into_iter()
            .map(|z| Scalar::Complex(z.re, z.im))
            .collect(),
    })
}
