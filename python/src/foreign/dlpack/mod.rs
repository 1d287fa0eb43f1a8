//! Tensors exchanged through DLPack: PyTorch, JAX, Paddle, CuPy. The structures are those of `dlpack.h`, in the
//! form before version 1.0 and the one since, which can say that memory is read-only.

mod export;
mod import;

use std::ffi::{CStr, c_void};

use stridewise::DType;

pub(crate) use export::{Request, device, export};
pub(crate) use import::{borrow, is_negated, speaks, without_negation};

/// Names of capsules: to be consumed, and consumed.
const LEGACY: &CStr = c"dltensor";
const LEGACY_USED: &CStr = c"used_dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";
const VERSIONED_USED: &CStr = c"used_dltensor_versioned";

/// The version spoken here.
const MAJOR: u32 = 1;
const MINOR: u32 = 1;

const READ_ONLY: u64 = 1;
const IS_COPIED: u64 = 2;

const CPU: i64 = 1;

#[repr(C)]
#[derive(Clone, Copy)]
struct Device {
    kind: i32,
    id: i32,
}

#[repr(C)]
#[derive(Clone, Copy, PartialEq)]
struct Code {
    kind: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct View {
    data: *mut c_void,
    device: Device,
    ndim: i32,
    dtype: Code,
    shape: *mut i64,
    /// In elements.
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct Managed {
    view: View,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

#[repr(C)]
struct ManagedVersioned {
    major: u32,
    minor: u32,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut ManagedVersioned)>,
    flags: u64,
    view: View,
}

fn code(dtype: DType) -> Code {
    use stridewise::dtype::Family;
    let kind = match (dtype, dtype.family()) {
        (DType::BF16, _) => 4,
        (_, Family::Signed) => 0,
        (_, Family::Unsigned) => 1,
        (_, Family::Float) => 2,
        (_, Family::Complex) => 5,
        (_, Family::Bool) => 6,
    };
    let bits = (dtype.width() * 8) as u8;
    Code {
        kind,
        bits,
        lanes: 1,
    }
}

/// What a code is called, for errors.
fn name(dtype: Code) -> String {
    let bits = dtype.bits;
    let name = match dtype.kind {
        0 => format!("int{bits}"),
        1 => format!("uint{bits}"),
        2 => format!("float{bits}"),
        4 => format!("bfloat{bits}"),
        5 => format!("complex{bits}"),
        6 => format!("bool of {bits} bits"),
        7 => "float8_e3m4".to_string(),
        8 => "float8_e4m3".to_string(),
        9 => "float8_e4m3b11fnuz".to_string(),
        10 => "float8_e4m3fn".to_string(),
        11 => "float8_e4m3fnuz".to_string(),
        12 => "float8_e5m2".to_string(),
        13 => "float8_e5m2fnuz".to_string(),
        14 => "float8_e8m0fnu".to_string(),
        15 => "float6_e2m3fn".to_string(),
        16 => "float6_e3m2fn".to_string(),
        17 => "float4_e2m1fn".to_string(),
        other => format!("type code {other} of {bits} bits"),
    };
    match dtype.lanes {
        1 => name,
        lanes => format!("{name} in vectors of {lanes}"),
    }
}
