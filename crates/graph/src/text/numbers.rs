//! Numbers and constant tensors as text that reads back bit for bit.

use half::{bf16, f16};
use stridewise_core::dtype::{DType, Family};
use stridewise_cpu::Tensor;

/// A constant of more elements is told by its hash.
pub(super) const MOST_ELEMENTS: usize = 256;

/// No array that people write has more axes.
const MOST_AXES: usize = 64;

/// A floating-point number that is an argument.
pub(super) fn float(x: f64) -> String {
    part(DType::F64, x.to_bits())
}

/// A complex number that is an argument.
pub(super) fn complex(re: f64, im: f64) -> String {
    format!("complex({}, {})", float(re), float(im))
}

/// The type of the one or two numbers that an element is made of.
pub(super) fn part_of(dtype: DType) -> DType {
    match dtype {
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        real => real,
    }
}

/// A number from its bits.
fn part(dtype: DType, bits: u64) -> String {
    let wide = match dtype {
        DType::F16 => f16::from_bits(bits as u16).to_f64(),
        DType::BF16 => bf16::from_bits(bits as u16).to_f64(),
        DType::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    };
    match wide {
        _ if bits == nan(dtype) => "nan".to_string(),
        wide if wide.is_nan() => format!("nan({bits:#x})"),
        wide if wide.is_infinite() => format!("{wide}"),
        // The fewest digits that tell it from its neighbours.
        _ if dtype == DType::F32 => format!("{:?}", f32::from_bits(bits as u32)),
        wide => format!("{wide:?}"),
    }
}

/// The bits of the number that is meant where only `nan` is written.
fn nan(dtype: DType) -> u64 {
    match dtype {
        DType::F16 => u64::from(f16::NAN.to_bits()),
        DType::BF16 => u64::from(bf16::NAN.to_bits()),
        DType::F32 => u64::from(f32::NAN.to_bits()),
        _ => f64::NAN.to_bits(),
    }
}

/// The bits of a floating-point number from its text.
pub(super) fn bits(dtype: DType, word: &str) -> Option<u64> {
    if let Some(hex) = word.strip_prefix("nan(0x") {
        let bits = u64::from_str_radix(hex.strip_suffix(')')?, 16).ok()?;
        let fits = dtype.width() == 8 || bits >> (8 * dtype.width()) == 0;
        return (fits && part(dtype, bits).starts_with("nan")).then_some(bits);
    }
    let word = match word {
        "nan" => return Some(nan(dtype)),
        "inf" | "-inf" => word,
        // What Rust reads beyond this, such as `infinity`, is never written.
        _ if word.contains(|c: char| !matches!(c, '0'..='9' | '.' | '-' | '+' | 'e' | 'E')) => {
            return None;
        }
        number => number,
    };
    Some(match dtype {
        DType::F16 => f16::from_f64(word.parse().ok()?).to_bits().into(),
        DType::BF16 => bf16::from_f64(word.parse().ok()?).to_bits().into(),
        DType::F32 => word.parse::<f32>().ok()?.to_bits().into(),
        _ => word.parse::<f64>().ok()?.to_bits(),
    })
}

/// The bytes of an element of a real dtype from its text.
pub(super) fn element(dtype: DType, word: &str) -> Option<Vec<u8>> {
    let low = |bits: u64| bits.to_le_bytes()[..dtype.width()].to_vec();
    match dtype.family() {
        Family::Bool => match word {
            "True" => Some(vec![1]),
            "False" => Some(vec![0]),
            _ => None,
        },
        Family::Unsigned => {
            let n: u64 = word.parse().ok()?;
            (dtype.width() == 8 || n >> (8 * dtype.width()) == 0).then(|| low(n))
        }
        Family::Signed => {
            let n: i64 = word.parse().ok()?;
            let unused = 64 - 8 * dtype.width();
            (n << unused >> unused == n).then(|| low(n as u64))
        }
        Family::Float | Family::Complex => bits(dtype, word).map(low),
    }
}

/// The text of an element from its bytes.
fn word(dtype: DType, bytes: &[u8]) -> String {
    let number = |bytes: &[u8]| {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(wide)
    };
    match dtype.family() {
        Family::Bool if bytes == [0] => "False".to_string(),
        Family::Bool => "True".to_string(),
        Family::Unsigned => number(bytes).to_string(),
        Family::Signed => {
            let unused = 64 - 8 * dtype.width();
            ((number(bytes) as i64) << unused >> unused).to_string()
        }
        Family::Float => part(dtype, number(bytes)),
        Family::Complex => {
            let (re, im) = bytes.split_at(bytes.len() / 2);
            let half = part_of(dtype);
            format!(
                "complex({}, {})",
                part(half, number(re)),
                part(half, number(im))
            )
        }
    }
}

/// What stands between the brackets of `constant(…)`.
pub(super) fn constant(tensor: &Tensor) -> String {
    let Ok(bytes) = tensor.to_bytes() else {
        return "#unread".to_string();
    };
    if tensor.count() > MOST_ELEMENTS || tensor.rank() > MOST_AXES {
        return format!("#{:016x}", hash(&bytes));
    }
    let dtype = tensor.dtype();
    let words = bytes.chunks_exact(dtype.width().max(1));
    nested(tensor.shape(), words.map(|bytes| word(dtype, bytes)))
}

/// Words in the brackets of an array of that shape.
pub(super) fn nested(shape: &[usize], words: impl Iterator<Item = String>) -> String {
    if shape.contains(&0) {
        return "[]".to_string();
    }
    let mut out = String::new();
    // How many elements stand between the brackets of each axis.
    let mut runs: Vec<usize> = Vec::with_capacity(shape.len());
    let mut run = 1usize;
    for size in shape.iter().rev() {
        run = run.saturating_mul(*size);
        runs.push(run);
    }
    let brackets = |at: usize| runs.iter().filter(|run| at.is_multiple_of(**run)).count();
    for (at, word) in words.enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        out.push_str(&"[".repeat(brackets(at)));
        out.push_str(&word);
        out.push_str(&"]".repeat(brackets(at + 1)));
    }
    out
}

/// Fowler, Noll and Vo's hash, which is the same on every machine.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
