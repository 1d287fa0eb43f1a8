// Elements of a conversion's source, which is an array of words. The lowest of the flags says that the target is a signed
// integer; the others are the number of the source among those of its kind.

fn byte(at: u32) -> u32 {
    return (source[at >> 2u] >> ((at & 3u) * 8u)) & 0xffu;
}

fn short(at: u32) -> u32 {
    return (source[at >> 1u] >> ((at & 1u) * 16u)) & 0xffffu;
}

fn words(at: u32) -> vec2<u32> {
    return vec2<u32>(source[at], source[at + 1u]);
}

// A signed number that ends at the top of a word.
fn extended(high: u32, by: u32) -> vec2<u32> {
    let value = bitcast<i32>(high) >> by;
    return vec2<u32>(bitcast<u32>(value), bitcast<u32>(value >> 31u));
}

fn truncated(x: vec2<u32>) -> vec2<u32> {
    if (flags() & 1u) == 1u {
        return double_to_signed(x);
    }
    return double_to_unsigned(x);
}

fn clamped(x: vec2<u32>, mask: u32) -> u32 {
    let whole = double_to_signed(x);
    if (flags() & 1u) == 1u {
        return clamp_signed(whole, mask >> 1u) & mask;
    }
    return clamp_unsigned(whole, mask);
}
