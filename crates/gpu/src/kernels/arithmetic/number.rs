//! The arithmetic of each dtype as WGSL text. A dtype's numbers are bits in words, since WGSL has only 32-bit
//! integers everywhere and drivers flush subnormal floats: what a kernel sees is `load`, `widen`, `plus` and
//! `narrow`, over `u32`, `vec2<u32>` or `vec4<u32>`.

use stridewise_core::DType;

/// What kinds of numbers there are to add. Signed and unsigned integers add alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Number {
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    Half,
    Brain,
    Single,
    Double,
    ComplexSingle,
    ComplexDouble,
}

impl Number {
    pub(super) const ALL: [Number; 11] = [
        Number::Bool,
        Number::Int8,
        Number::Int16,
        Number::Int32,
        Number::Int64,
        Number::Half,
        Number::Brain,
        Number::Single,
        Number::Double,
        Number::ComplexSingle,
        Number::ComplexDouble,
    ];

    pub(super) const fn of(dtype: DType) -> Number {
        match dtype {
            DType::Bool => Number::Bool,
            DType::U8 | DType::I8 => Number::Int8,
            DType::U16 | DType::I16 => Number::Int16,
            DType::U32 | DType::I32 => Number::Int32,
            DType::U64 | DType::I64 => Number::Int64,
            DType::F16 => Number::Half,
            DType::BF16 => Number::Brain,
            DType::F32 => Number::Single,
            DType::F64 => Number::Double,
            DType::C64 => Number::ComplexSingle,
            DType::C128 => Number::ComplexDouble,
        }
    }

    /// For the names of kernels.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Number::Bool => "bool",
            Number::Int8 => "int8",
            Number::Int16 => "int16",
            Number::Int32 => "int32",
            Number::Int64 => "int64",
            Number::Half => "float16",
            Number::Brain => "bfloat16",
            Number::Single => "float32",
            Number::Double => "float64",
            Number::ComplexSingle => "complex64",
            Number::ComplexDouble => "complex128",
        }
    }

    /// Bytes of an element.
    pub(super) const fn width(self) -> u32 {
        match self {
            Number::Bool | Number::Int8 => 1,
            Number::Int16 | Number::Half | Number::Brain => 2,
            Number::Int32 | Number::Single => 4,
            Number::Int64 | Number::Double | Number::ComplexSingle => 8,
            Number::ComplexDouble => 16,
        }
    }

    /// How many elements lie in a word; one for those that fill it.
    pub(super) const fn lanes(self) -> u32 {
        match self.width() {
            1 => 4,
            2 => 2,
            _ => 1,
        }
    }

    /// The type that holds an element, and also a sum of them.
    pub(super) const fn cell(self) -> &'static str {
        match self.width() {
            8 => "vec2<u32>",
            16 => "vec4<u32>",
            _ => "u32",
        }
    }

    /// Bytes of a sum.
    pub(super) const fn sum_width(self) -> u32 {
        if self.width() < 4 { 4 } else { self.width() }
    }

    /// Whether sums use `single_add`.
    pub(super) const fn adds_singles(self) -> bool {
        matches!(
            self,
            Number::Half | Number::Brain | Number::Single | Number::ComplexSingle
        )
    }

    /// The functions `widen`, `plus` and `narrow`.
    pub(super) fn arithmetic(self) -> String {
        let cell = self.cell();
        let (widen, plus, narrow) = match self {
            Number::Bool => ("min(a, 1u)", "a | b", "min(a, 1u)"),
            Number::Int8 => ("a", "a + b", "a & 0xffu"),
            Number::Int16 => ("a", "a + b", "a & 0xffffu"),
            Number::Int32 => ("a", "a + b", "a"),
            Number::Int64 => ("a", "pair_add(a, b)", "a"),
            Number::Half => ("half_to_single(a)", "single_add(a, b)", "single_to_half(a)"),
            Number::Brain => (
                "brain_to_single(a)",
                "single_add(a, b)",
                "single_to_brain(a)",
            ),
            Number::Single => ("a", "single_add(a, b)", "a"),
            Number::Double => ("a", "double_add(a, b)", "a"),
            Number::ComplexSingle => (
                "a",
                "vec2<u32>(single_add(a.x, b.x), single_add(a.y, b.y))",
                "a",
            ),
            Number::ComplexDouble => (
                "a",
                "vec4<u32>(double_add(a.xy, b.xy), double_add(a.zw, b.zw))",
                "a",
            ),
        };
        format!(
            "
fn widen(a: {cell}) -> {cell} {{
    return {widen};
}}

fn plus(a: {cell}, b: {cell}) -> {cell} {{
    return {plus};
}}

fn narrow(a: {cell}) -> {cell} {{
    return {narrow};
}}
"
        )
    }

    /// The function `load_NAME`, which gives the element at a place of the array `NAME`.
    pub(super) fn load(self, name: &str) -> String {
        let cell = self.cell();
        let element = match self.width() {
            1 => format!("({name}[at >> 2u] >> ((at & 3u) * 8u)) & 0xffu"),
            2 => format!("({name}[at >> 1u] >> ((at & 1u) * 16u)) & 0xffffu"),
            _ => format!("{name}[at]"),
        };
        format!(
            "
fn load_{name}(at: u32) -> {cell} {{
    return {element};
}}
"
        )
    }
}

/// The entry point that calls `element(i)` for every element of a packed result, of so many elements in a word, and
/// stores it. A thread stores whole words, so that no two share one. The number of elements is the first parameter.
pub(super) fn each(lanes: u32) -> String {
    let body = if lanes == 1 {
        "
    if t < params[0] {
        out[t] = element(t);
    }"
        .to_string()
    } else {
        let bits = 32 / lanes;
        format!(
            "
    let count = params[0];
    if t < count / {lanes}u + min(count % {lanes}u, 1u) {{
        let first = t * {lanes}u;
        var word = 0u;
        for (var j = 0u; j < min({lanes}u, count - first); j += 1u) {{
            word |= element(first + j) << (j * {bits}u);
        }}
        out[t] = word;
    }}"
        )
    };
    format!(
        "
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let t = thread(id);{body}
}}
"
    )
}
