//! Numbers that are hard to compute with, by dtype, as bytes; views of them; and comparison.

use stridewise_core::{Axis, DType, Engine};
use stridewise_cpu::{Cpu, Tensor};
use stridewise_gpu::Gpu;

/// The device of all tests. Without one they fail: what is skipped shows nothing.
pub(crate) fn gpu() -> Gpu {
    Gpu::open().unwrap_or_else(|error| panic!("{error}"))
}

/// The device as it is, and one that adds in integers only.
pub(crate) fn both() -> [Gpu; 2] {
    let plain = Gpu::another().unwrap_or_else(|error| panic!("{error}"));
    plain.device().let_add(false);
    [gpu(), plain]
}

/// Random bits. The seed is printed, and shown when a test fails.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new() -> Rng {
        let seed = std::env::var("STRIDEWISE_SEED").ok();
        let seed = seed
            .and_then(|seed| seed.parse().ok())
            .unwrap_or(20_240_607);
        println!("STRIDEWISE_SEED={seed}");
        let mut rng = Rng(seed);
        rng.next();
        rng
    }

    /// SplitMix64.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// The real dtype that an element is one or two of.
pub(crate) fn part(dtype: DType) -> DType {
    match dtype {
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        other => other,
    }
}

/// Bits of the significand and of the exponent, if it is a float.
fn format(dtype: DType) -> Option<(u32, u32)> {
    match dtype {
        DType::F16 => Some((10, 5)),
        DType::BF16 => Some((7, 8)),
        DType::F32 => Some((23, 8)),
        DType::F64 => Some((52, 11)),
        _ => None,
    }
}

/// The bits of a hard real number: near a boundary of its own format or of one that it may be converted to.
fn hard(dtype: DType, rng: &mut Rng) -> u64 {
    let bits = rng.next();
    let Some((significand, exponent)) = format(dtype) else {
        let (one, other) = (1u64 << (bits >> 8 & 63), 1u64 << (bits >> 16 & 63));
        return match bits & 7 {
            0 => 0,
            1 => u64::MAX,
            2 => one,
            3 => one - 1,
            4 => one.wrapping_neg(),
            5 => one.wrapping_add(other),
            6 => one.wrapping_add(other - 1).wrapping_add(bits >> 24 & 3),
            _ => rng.next() >> (bits >> 8 & 63),
        };
    };
    let top = (1i64 << exponent) - 1;
    let bias = top >> 1;
    let near = (bits >> 8 & 3) as i64;
    let power = match bits & 15 {
        0 => 0,
        1 => top,
        2 => 1 + near,
        3 => top - 1 - near,
        // Around whole numbers of every width, and where they are saturated.
        4 | 5 => bias + (bits >> 8) as i64 % 70,
        6 => bias + i64::from(significand) + near - 1,
        // Where f16, bf16 and f32 begin, turn subnormal and end.
        7 => bias - 13 - (bits >> 8) as i64 % 14,
        8 => bias + 14 + near,
        9 => bias - 125 - (bits >> 8) as i64 % 26,
        10 => bias + 126 + near,
        11 => bias - 1 + near,
        _ => (bits >> 8) as i64 & top,
    };
    let all = (1u64 << significand) - 1;
    let middle = 1u64 << (significand - 1);
    let random = rng.next();
    let fraction = match bits >> 4 & 7 {
        0 => 0,
        1 => 1,
        2 => all,
        3 => middle,
        4 => middle + 1,
        // A tie of a shorter format, or just beside one.
        5 => all << (random >> 8 & 63).min(u64::from(significand)),
        6 => (1 << (random >> 8).wrapping_rem(u64::from(significand))) + (random >> 40 & 1),
        _ => random,
    };
    let sign = bits >> 63 << (significand + exponent);
    sign | (power.clamp(0, top) as u64) << significand | fraction & all
}

/// An element, with hard parts or with any bits.
fn element(dtype: DType, rng: &mut Rng, bytes: &mut Vec<u8>) {
    let part = part(dtype);
    for _ in 0..dtype.width() / part.width() {
        let any = rng.below(4) == 0;
        let bits = if any { rng.next() } else { hard(part, rng) };
        bytes.extend(&bits.to_le_bytes()[..part.width()]);
    }
}

/// So many hard elements and elements of any bits, as one row.
pub(crate) fn row(dtype: DType, count: usize, rng: &mut Rng) -> Tensor {
    let mut bytes = Vec::with_capacity(count * dtype.width());
    (0..count).for_each(|_| element(dtype, rng, &mut bytes));
    Tensor::from_bytes(dtype, &[count], &bytes).unwrap()
}

/// Elements whose sums depend on their order: finite floats of several sizes, any other numbers.
pub(crate) fn terms(dtype: DType, shape: &[usize], rng: &mut Rng) -> Tensor {
    let count: usize = shape.iter().product();
    let part = part(dtype);
    let mut bytes = Vec::with_capacity(count * dtype.width());
    for _ in 0..count * (dtype.width() / part.width()) {
        let bits = match format(part) {
            None => rng.next(),
            Some((significand, exponent)) => {
                let random = rng.next();
                let bias = (1u64 << (exponent - 1)) - 1;
                let power = bias - 4 + (random >> 60) % 8;
                let fraction = random & ((1 << significand) - 1);
                random >> 59 << (significand + exponent) | power << significand | fraction
            }
        };
        bytes.extend(&bits.to_le_bytes()[..part.width()]);
    }
    Tensor::from_bytes(dtype, shape, &bytes).unwrap()
}

/// The same elements, each axis reversed where the flag says so and the axes in another order.
pub(crate) fn turned(x: &Tensor, order: &[usize], reversed: &[bool]) -> Tensor {
    Cpu.view(x, order.len(), |out| {
        let (of, len) = (order[out], x.shape()[order[out]]);
        match reversed[out] && len > 0 {
            true => Axis::Slice {
                of,
                start: len - 1,
                len,
                step: -1,
            },
            false => Axis::Of(of),
        }
    })
    .unwrap()
}

/// The same elements with a new axis of stride 0 in front.
pub(crate) fn spread(x: &Tensor, size: usize) -> Tensor {
    Cpu.view(x, x.rank() + 1, |out| match out {
        0 => Axis::Fresh(size),
        _ => Axis::Of(out - 1),
    })
    .unwrap()
}

fn is_nan(dtype: DType, bytes: &[u8]) -> bool {
    let bits = bytes
        .iter()
        .rev()
        .fold(0, |bits, b| bits << 8 | u64::from(*b));
    format(dtype).is_some_and(|(significand, exponent)| {
        let magnitude = bits & ((1 << (significand + exponent)) - 1);
        magnitude > ((1 << exponent) - 1) << significand
    })
}

/// Requires the same bits, or a NaN where a NaN is wanted.
pub(crate) fn require_same(
    got: &stridewise_gpu::Tensor,
    wanted: &Tensor,
    what: impl Fn(usize) -> String,
) {
    assert_eq!(got.shape(), wanted.shape(), "{}", what(0));
    assert_eq!(got.dtype(), wanted.dtype(), "{}", what(0));
    let (got, dtype) = (got.download().unwrap().to_bytes().unwrap(), wanted.dtype());
    let wanted = wanted.to_bytes().unwrap();
    let width = part(dtype).width();
    for (at, (got, wanted)) in got.chunks(width).zip(wanted.chunks(width)).enumerate() {
        let nan = is_nan(part(dtype), wanted) && is_nan(part(dtype), got);
        if got != wanted && !nan {
            let at = at / (dtype.width() / width);
            panic!("{}: element {at} is {got:x?}, not {wanted:x?}", what(at));
        }
    }
}
