//! Element types by the names other libraries have for them, and the reasons why some are refused. The buffer
//! protocol writes them as letters of the module `struct`, NumPy also as words.

use std::ffi::CStr;

use pyo3::prelude::*;
use stridewise::{DType, Error};

use crate::errors::exception;

/// An element type of the buffer protocol, and whether its bytes are in the other order.
pub(crate) fn dtype_of(format: &str, width: usize) -> Option<(DType, bool)> {
    let (order, code) = match format.as_bytes().first()? {
        b'@' | b'=' | b'<' | b'>' | b'!' | b'|' => format.split_at(1),
        _ => ("@", format),
    };
    let swapped = match order {
        "<" => cfg!(target_endian = "big"),
        ">" | "!" => cfg!(target_endian = "little"),
        _ => false,
    };
    // `l`, `n` and their like are as wide as the system has it; the width says which.
    let long = width == 8;
    let dtype = match code {
        "?" => Some(DType::Bool),
        "b" => Some(DType::I8),
        "B" | "c" => Some(DType::U8),
        "h" => Some(DType::I16),
        "H" => Some(DType::U16),
        "l" | "n" if long => Some(DType::I64),
        "L" | "N" if long => Some(DType::U64),
        "i" | "l" | "n" => Some(DType::I32),
        "I" | "L" | "N" => Some(DType::U32),
        "q" => Some(DType::I64),
        "Q" => Some(DType::U64),
        "e" => Some(DType::F16),
        "f" => Some(DType::F32),
        "d" => Some(DType::F64),
        "Zf" | "F" => Some(DType::C64),
        "Zd" | "D" => Some(DType::C128),
        _ => None,
    };
    dtype
        .filter(|dtype| dtype.width() == width)
        .map(|dtype| (dtype, swapped))
}

/// The letters of a dtype in the buffer protocol; none for bfloat16.
pub(crate) fn format_of(dtype: DType) -> Option<&'static CStr> {
    Some(match dtype {
        DType::Bool => c"?",
        DType::U8 => c"B",
        DType::U16 => c"H",
        DType::U32 => c"I",
        DType::U64 => c"Q",
        DType::I8 => c"b",
        DType::I16 => c"h",
        DType::I32 => c"i",
        DType::I64 => c"q",
        DType::F16 => c"e",
        DType::F32 => c"f",
        DType::F64 => c"d",
        DType::C64 => c"Zf",
        DType::C128 => c"Zd",
        DType::BF16 => return None,
    })
}

/// The refusal of an array, by its own name for its dtype or else by the letters of the buffer protocol.
pub(crate) fn refusal(object: &Bound<'_, PyAny>, format: Option<&str>) -> PyErr {
    let py = object.py();
    let word = object.getattr("dtype").and_then(|dtype| dtype.str());
    let name = match (word, format) {
        (Ok(word), _) => word.to_string(),
        (_, Some(format)) => format!("format '{format}'"),
        _ => "an unknown dtype".to_string(),
    };
    let letters = format.map_or("", |format| {
        format.trim_start_matches(['@', '=', '<', '>', '!', '|'])
    });
    let (why, fix) = reason(&name, letters);
    let error = Error::dtype(format!("an array of {name} cannot become a tensor: {why}"))
        .at_argument("obj")
        .sizes("numbers or bools", &name)
        .help(fix);
    exception(py, &error)
}

fn reason(name: &str, letters: &str) -> (&'static str, &'static str) {
    let last = |ends: &[char]| {
        letters
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .starts_with(ends)
    };
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if has(&["object"]) || letters == "O" {
        (
            "its elements are Python objects",
            "convert it to a dtype of numbers, for example with `.astype(float)`",
        )
    } else if has(&["datetime64", "timedelta64"]) {
        (
            "there is no dtype for times",
            "`.view(\"int64\")` gives the counts of its unit",
        )
    } else if letters.starts_with('T') || name.starts_with(['[', '{']) {
        (
            "its elements are records",
            "take one field of it, such as `a[\"x\"]`",
        )
    } else if has(&["float128", "complex256", "longdouble", "float96"]) || letters.ends_with('g') {
        (
            "there is no dtype of that precision",
            "convert it with `.astype(\"float64\")` or `.astype(\"complex128\")`",
        )
    } else if has(&["<U", ">U", "|S", "StringDType"]) || last(&['s', 'w', 'u', 'p']) {
        (
            "its elements are text",
            "convert it to numbers first, for example with `.astype(float)`",
        )
    } else if has(&[
        "float8", "float6", "float4", "int4", "int2", "uint4", "int1",
    ]) {
        (
            "elements of 8 bits and fewer are integers or bool here",
            "convert it with `.astype(\"float32\")`, or look at its bits with `.view(\"uint8\")`",
        )
    } else {
        (
            "there is no such dtype",
            "convert it to a dtype of numbers first, for example with `.astype(\"float64\")`",
        )
    }
}
