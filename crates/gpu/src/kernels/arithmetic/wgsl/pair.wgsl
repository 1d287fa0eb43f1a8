// 64-bit integers as pairs of words, the low word first. Shifts are from 0 to 63.

fn pair_add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn pair_subtract(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

fn pair_negate(a: vec2<u32>) -> vec2<u32> {
    return pair_subtract(vec2<u32>(0u, 0u), a);
}

fn pair_is_zero(a: vec2<u32>) -> bool {
    return (a.x | a.y) == 0u;
}

fn pair_less(a: vec2<u32>, b: vec2<u32>) -> bool {
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

fn pair_left(a: vec2<u32>, by: u32) -> vec2<u32> {
    if by == 0u {
        return a;
    }
    if by >= 32u {
        return vec2<u32>(0u, a.x << (by - 32u));
    }
    return vec2<u32>(a.x << by, (a.y << by) | (a.x >> (32u - by)));
}

fn pair_right(a: vec2<u32>, by: u32) -> vec2<u32> {
    if by == 0u {
        return a;
    }
    if by >= 32u {
        return vec2<u32>(a.y >> (by - 32u), 0u);
    }
    return vec2<u32>((a.x >> by) | (a.y << (32u - by)), a.y >> by);
}

// Any distance; the last bit also says whether ones were shifted out.
fn pair_right_sticky(a: vec2<u32>, by: u32) -> vec2<u32> {
    if by > 63u {
        return vec2<u32>(select(1u, 0u, pair_is_zero(a)), 0u);
    }
    let kept = pair_right(a, by);
    let back = pair_left(kept, by);
    return vec2<u32>(kept.x | select(1u, 0u, all(back == a)), kept.y);
}

fn pair_leading_zeros(a: vec2<u32>) -> u32 {
    return select(countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u);
}
