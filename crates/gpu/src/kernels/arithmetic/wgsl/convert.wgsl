// Between 64-bit integers, f32 and f64, by bits. What is rounded is rounded once: to nearest even, or to odd
// (an inexact result is the neighbour whose last bit is one) where a 16-bit float is made of it afterwards.

// Drops the two lowest bits, guard and sticky.
fn rounded(a: u32, odd: bool) -> u32 {
    let rest = a & 3u;
    let kept = a >> 2u;
    if odd {
        return kept | select(0u, 1u, rest != 0u);
    }
    return kept + select(0u, 1u, rest == 3u || (rest == 2u && (kept & 1u) == 1u));
}

fn single_to_double(a: u32) -> vec2<u32> {
    let sign = a & 0x80000000u;
    let magnitude = a & 0x7fffffffu;
    if magnitude >= 0x7f800000u {
        let quiet = select(0u, 0x80000u, magnitude > 0x7f800000u);
        return vec2<u32>(magnitude << 29u, sign | 0x7ff00000u | quiet | ((magnitude & 0x7fffffu) >> 3u));
    }
    if magnitude == 0u {
        return vec2<u32>(0u, sign);
    }
    var significand = magnitude & 0x7fffffu;
    var exponent = (magnitude >> 23u) + 896u;
    if exponent == 896u {
        let by = countLeadingZeros(significand) - 8u;
        significand = (significand << by) & 0x7fffffu;
        exponent = 897u - by;
    }
    return vec2<u32>(significand << 29u, sign | (exponent << 20u) | (significand >> 3u));
}

fn double_to_single(a: vec2<u32>, odd: bool) -> u32 {
    let sign = a.y & 0x80000000u;
    let high = a.y & 0x7fffffffu;
    let exponent = high >> 20u;
    if exponent == 0x7ffu {
        let payload = ((high & 0xfffffu) << 3u) | (a.x >> 29u);
        let nan = (high & 0xfffffu) != 0u || a.x != 0u;
        return sign | 0x7f800000u | select(0u, 0x400000u | payload, nan);
    }
    if exponent >= 1151u {
        return sign | select(0x7f800000u, 0x7f7fffffu, odd);
    }
    let one = select(0u, 0x100000u, exponent != 0u);
    let significand = vec2<u32>(a.x, (high & 0xfffffu) | one);
    if exponent >= 897u {
        let kept = pair_right_sticky(significand, 27u).x;
        return sign | (((exponent - 897u) << 23u) + rounded(kept, odd));
    }
    let kept = pair_right_sticky(significand, 27u + (897u - exponent)).x;
    return sign | rounded(kept, odd);
}

fn unsigned_to_single(a: vec2<u32>, odd: bool) -> u32 {
    if pair_is_zero(a) {
        return 0u;
    }
    let zeros = pair_leading_zeros(a);
    let kept = pair_right_sticky(pair_left(a, zeros), 38u).x;
    return ((189u - zeros) << 23u) + rounded(kept, odd);
}

fn unsigned_to_double(a: vec2<u32>) -> vec2<u32> {
    if pair_is_zero(a) {
        return a;
    }
    let zeros = pair_leading_zeros(a);
    let wide = pair_left(a, zeros);
    var kept = pair_right(wide, 11u);
    let rest = wide.x & 0x7ffu;
    let up = rest > 0x400u || (rest == 0x400u && (kept.x & 1u) == 1u);
    kept = pair_add(kept, vec2<u32>(select(0u, 1u, up), 0u));
    return vec2<u32>(kept.x, kept.y + ((1085u - zeros) << 20u));
}

fn signed_magnitude(a: vec2<u32>) -> vec2<u32> {
    if (a.y & 0x80000000u) != 0u {
        return pair_negate(a);
    }
    return a;
}

fn signed_to_single(a: vec2<u32>, odd: bool) -> u32 {
    return (a.y & 0x80000000u) | unsigned_to_single(signed_magnitude(a), odd);
}

fn signed_to_double(a: vec2<u32>) -> vec2<u32> {
    let magnitude = unsigned_to_double(signed_magnitude(a));
    return vec2<u32>(magnitude.x, magnitude.y | (a.y & 0x80000000u));
}

// The whole part of a magnitude below two to the 64.
fn double_whole(a: vec2<u32>) -> vec2<u32> {
    let exponent = (a.y >> 20u) & 0x7ffu;
    let significand = vec2<u32>(a.x, (a.y & 0xfffffu) | 0x100000u);
    if exponent < 1023u {
        return vec2<u32>(0u, 0u);
    }
    if exponent >= 1075u {
        return pair_left(significand, exponent - 1075u);
    }
    return pair_right(significand, 1075u - exponent);
}

// Toward zero; what lies beyond becomes the nearest there is, and NaN 0.
fn double_to_signed(a: vec2<u32>) -> vec2<u32> {
    let high = a.y & 0x7fffffffu;
    let negative = high != a.y;
    if high > 0x7ff00000u || (high == 0x7ff00000u && a.x != 0u) {
        return vec2<u32>(0u, 0u);
    }
    if high >= 0x43e00000u {
        return select(vec2<u32>(0xffffffffu, 0x7fffffffu), vec2<u32>(0u, 0x80000000u), negative);
    }
    let whole = double_whole(a);
    if negative {
        return pair_negate(whole);
    }
    return whole;
}

fn double_to_unsigned(a: vec2<u32>) -> vec2<u32> {
    let high = a.y & 0x7fffffffu;
    if high != a.y || high > 0x7ff00000u || (high == 0x7ff00000u && a.x != 0u) {
        return vec2<u32>(0u, 0u);
    }
    if high >= 0x43f00000u {
        return vec2<u32>(0xffffffffu, 0xffffffffu);
    }
    return double_whole(a);
}

// A signed number into -most - 1 to most.
fn clamp_signed(a: vec2<u32>, most: u32) -> u32 {
    if (a.y & 0x80000000u) != 0u {
        return select(~most, a.x, a.y == 0xffffffffu && a.x >= ~most);
    }
    return select(most, a.x, a.y == 0u && a.x <= most);
}

// A signed number into 0 to most.
fn clamp_unsigned(a: vec2<u32>, most: u32) -> u32 {
    if (a.y & 0x80000000u) != 0u {
        return 0u;
    }
    return select(most, a.x, a.y == 0u && a.x <= most);
}
