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

/// WGSL that reads an element of `source` at a place; a narrow one is the low bits of a word.
fn read(width: usize, place: &str) -> String {
    match width {
        1 => format!("part_of_word({place}, 2u, 3u)"),
        2 => format!("part_of_word({place}, 1u, 1u)"),
        _ => format!("source[{place}]"),
    }
}

/// WGSL of `together(t, last)`: the 16 bytes of number `t` of a row of elements `value(0)` to `value(last)`. Those past
/// the last are padding, and hold the last. Spelt out element by element where `value` is `short`, which is fast;
/// otherwise a loop, which is quick to compile.
fn put_together(width: usize, short: bool) -> String {
    let each = 16 / width;
    let value = |at: usize| match at {
        0 => "value(i)".to_string(),
        _ => format!("value(min(i + {at}u, last))"),
    };
    let word = |at: usize| match width {
        1 | 2 => (0..4 / width)
            .map(|part| format!("({} << {}u)", value(at + part), 8 * width * part))
            .collect::<Vec<_>>()
            .join(" | "),
        _ => value(at),
    };
    let body = match (short || width > 4, width) {
        (true, _) => {
            let starts = (0..each).step_by(4 / width.min(4));
            let words: Vec<String> = starts.map(word).collect();
            format!("    return vec4<u32>({});", words.join(",\n        "))
        }
        (false, 4) => "    var words: vec4<u32>;
    for (var k = 0u; k < 4u; k++) {
        words[k] = value(min(i + k, last));
    }
    return words;"
            .to_string(),
        (false, _) => format!(
            "    var words: vec4<u32>;
    for (var k = 0u; k < {each}u; k++) {{
        words[k / {per}u] |= value(min(i + k, last)) << (k % {per}u * {bits}u);
    }}
    return words;",
            per = 4 / width,
            bits = 8 * width
        ),
    };
    let part_of_word = match width {
        1 | 2 => format!(
            "
fn part_of_word(place: u32, shift: u32, mask: u32) -> u32 {{
    return (source[place >> shift] >> ((place & mask) * {}u)) & {}u;
}}
",
            8 * width,
            (1u64 << (8 * width)) - 1
        ),
        _ => String::new(),
    };
    format!(
        "{part_of_word}
fn together(t: u32, last: u32) -> vec4<u32> {{
    let i = t * {each}u;
{body}
}}
"
    )
}

/// How many threads share so many steps: a few steps each where there is work for all, since each thread reads its
/// parameters first.
fn threads_for(steps: usize) -> usize {
    steps.div_ceil((steps >> 15).clamp(1, 8))
}
