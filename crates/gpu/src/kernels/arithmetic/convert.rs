//! Conversions as WGSL text, by the same scheme as on the CPU: each source widens without loss to one of five
//! kinds, and each target is made from those five. Which of the sources of a kind it is, and whether a target
//! integer has a sign, are parameters, so 55 texts serve all 225 pairs.

use stridewise_core::DType;
use stridewise_core::dtype::Family;

use super::number::Number;

/// The five kinds in the middle: 64-bit integers, `f32`, `f64` and a complex of doubles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Wide {
    Unsigned,
    Signed,
    Single,
    Double,
    Complex,
}

impl Wide {
    pub(super) const ALL: [Wide; 5] = [
        Wide::Unsigned,
        Wide::Signed,
        Wide::Single,
        Wide::Double,
        Wide::Complex,
    ];

    pub(super) const fn of(dtype: DType) -> Wide {
        match dtype {
            DType::Bool | DType::U8 | DType::U16 | DType::U32 | DType::U64 => Wide::Unsigned,
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => Wide::Signed,
            DType::F16 | DType::BF16 | DType::F32 => Wide::Single,
            DType::F64 => Wide::Double,
            DType::C64 | DType::C128 => Wide::Complex,
        }
    }

    /// For the names of kernels.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Wide::Unsigned => "unsigned",
            Wide::Signed => "signed",
            Wide::Single => "single",
            Wide::Double => "double",
            Wide::Complex => "complex",
        }
    }

    const fn cell(self) -> &'static str {
        match self {
            Wide::Single => "u32",
            Wide::Complex => "vec4<u32>",
            _ => "vec2<u32>",
        }
    }

    /// The cases of `wide`: which source, and its value.
    const fn sources(self) -> &'static [(DType, &'static str)] {
        match self {
            Wide::Unsigned => &[
                (DType::Bool, "vec2<u32>(min(byte(at), 1u), 0u)"),
                (DType::U8, "vec2<u32>(byte(at), 0u)"),
                (DType::U16, "vec2<u32>(short(at), 0u)"),
                (DType::U32, "vec2<u32>(source[at], 0u)"),
                (DType::U64, "words(2u * at)"),
            ],
            Wide::Signed => &[
                (DType::I8, "extended(byte(at) << 24u, 24u)"),
                (DType::I16, "extended(short(at) << 16u, 16u)"),
                (DType::I32, "extended(source[at], 0u)"),
                (DType::I64, "words(2u * at)"),
            ],
            Wide::Single => &[
                (DType::F16, "half_to_single(short(at))"),
                (DType::BF16, "brain_to_single(short(at))"),
                (DType::F32, "source[at]"),
            ],
            Wide::Double => &[(DType::F64, "words(2u * at)")],
            Wide::Complex => &[
                (
                    DType::C64,
                    "vec4<u32>(single_to_double(source[2u * at]), single_to_double(source[2u * at + 1u]))",
                ),
                (
                    DType::C128,
                    "vec4<u32>(words(4u * at), words(4u * at + 2u))",
                ),
            ],
        }
    }

    /// An element of a target, from the value `x`.
    const fn make(self, to: Number) -> &'static str {
        use Wide::{Complex, Double, Signed, Single, Unsigned};
        match (to, self) {
            (Number::Bool, Unsigned | Signed) => "select(1u, 0u, pair_is_zero(x))",
            (Number::Bool, Single) => "select(0u, 1u, (x & 0x7fffffffu) != 0u)",
            (Number::Bool, Double) => "select(0u, 1u, (x.x | (x.y & 0x7fffffffu)) != 0u)",
            (Number::Bool, Complex) => {
                "select(0u, 1u, (x.x | x.z | ((x.y | x.w) & 0x7fffffffu)) != 0u)"
            }
            (Number::Int8, Unsigned | Signed) => "x.x & 0xffu",
            (Number::Int8, Single) => "clamped(single_to_double(x), 0xffu)",
            (Number::Int8, Double | Complex) => "clamped(x.xy, 0xffu)",
            (Number::Int16, Unsigned | Signed) => "x.x & 0xffffu",
            (Number::Int16, Single) => "clamped(single_to_double(x), 0xffffu)",
            (Number::Int16, Double | Complex) => "clamped(x.xy, 0xffffu)",
            (Number::Int32, Unsigned | Signed) => "x.x",
            (Number::Int32, Single) => "clamped(single_to_double(x), 0xffffffffu)",
            (Number::Int32, Double | Complex) => "clamped(x.xy, 0xffffffffu)",
            (Number::Int64, Unsigned | Signed) => "x",
            (Number::Int64, Single) => "truncated(single_to_double(x))",
            (Number::Int64, Double | Complex) => "truncated(x.xy)",
            (Number::Half, Unsigned) => "single_to_half(unsigned_to_single(x, true))",
            (Number::Half, Signed) => "single_to_half(signed_to_single(x, true))",
            (Number::Half, Single) => "single_to_half(x)",
            (Number::Half, Double | Complex) => "single_to_half(double_to_single(x.xy, true))",
            (Number::Brain, Unsigned) => "single_to_brain(unsigned_to_single(x, true))",
            (Number::Brain, Signed) => "single_to_brain(signed_to_single(x, true))",
            (Number::Brain, Single) => "single_to_brain(x)",
            (Number::Brain, Double | Complex) => "single_to_brain(double_to_single(x.xy, true))",
            (Number::Single, Unsigned) => "unsigned_to_single(x, false)",
            (Number::Single, Signed) => "signed_to_single(x, false)",
            (Number::Single, Single) => "x",
            (Number::Single, Double | Complex) => "double_to_single(x.xy, false)",
            (Number::Double, Unsigned) => "unsigned_to_double(x)",
            (Number::Double, Signed) => "signed_to_double(x)",
            (Number::Double, Single) => "single_to_double(x)",
            (Number::Double, Double | Complex) => "x.xy",
            (Number::ComplexSingle, Unsigned) => "vec2<u32>(unsigned_to_single(x, false), 0u)",
            (Number::ComplexSingle, Signed) => "vec2<u32>(signed_to_single(x, false), 0u)",
            (Number::ComplexSingle, Single) => "vec2<u32>(x, 0u)",
            (Number::ComplexSingle, Double) => "vec2<u32>(double_to_single(x, false), 0u)",
            (Number::ComplexSingle, Complex) => {
                "vec2<u32>(double_to_single(x.xy, false), double_to_single(x.zw, false))"
            }
            (Number::ComplexDouble, Unsigned) => "vec4<u32>(unsigned_to_double(x), 0u, 0u)",
            (Number::ComplexDouble, Signed) => "vec4<u32>(signed_to_double(x), 0u, 0u)",
            (Number::ComplexDouble, Single) => "vec4<u32>(single_to_double(x), 0u, 0u)",
            (Number::ComplexDouble, Double) => "vec4<u32>(x, 0u, 0u)",
            (Number::ComplexDouble, Complex) => "x",
        }
    }

    /// The function `converted(at)`: the element of the array `source` there, as the target has it. `flags`
    /// is an expression for [`flags`].
    pub(super) fn converted(self, to: Number, flags: &str) -> String {
        let (cell, to_cell, make) = (self.cell(), to.cell(), self.make(to));
        let (last, others) = match self.sources().split_last() {
            Some(((_, last), others)) => (*last, others),
            None => ("", &[][..]),
        };
        let cases: String = others
            .iter()
            .enumerate()
            .map(|(case, (_, value))| {
                format!(
                    "
    if which == {case}u {{
        return {value};
    }}"
                )
            })
            .collect();
        format!(
            "
fn flags() -> u32 {{
    return {flags};
}}

fn wide(at: u32) -> {cell} {{
    let which = flags() >> 1u;{cases}
    return {last};
}}

fn converted(at: u32) -> {to_cell} {{
    let x = wide(at);
    return {make};
}}
"
        )
    }
}

/// The parameter that says which source of its kind it is, and whether the target has a sign.
pub(super) fn flags(from: DType, to: DType) -> u32 {
    let sources = Wide::of(from).sources();
    let which = sources.iter().position(|(dtype, _)| *dtype == from);
    let signed = u32::from(to.family() == Family::Signed);
    which.unwrap_or(0) as u32 * 2 + signed
}
