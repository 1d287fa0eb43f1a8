// f64 as pairs of words, added in integers, as in the text for f32.

fn double_is_nan(a: vec2<u32>) -> bool {
    return pair_less(vec2<u32>(0u, 0x7ff00000u), vec2<u32>(a.x, a.y & 0x7fffffffu));
}

fn double_add_special(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    if double_is_nan(a) {
        return vec2<u32>(a.x, a.y | 0x80000u);
    }
    if double_is_nan(b) {
        return vec2<u32>(b.x, b.y | 0x80000u);
    }
    if (a.y & 0x7ff00000u) != 0x7ff00000u {
        return b;
    }
    if (b.y & 0x7ff00000u) == 0x7ff00000u && a.y != b.y {
        return vec2<u32>(0u, 0xfff80000u);
    }
    return a;
}

// The significand with its implicit one, if it has it.
fn double_significand(a: vec2<u32>) -> vec2<u32> {
    let one = select(0u, 0x100000u, (a.y & 0x7ff00000u) != 0u);
    return vec2<u32>(a.x, (a.y & 0xfffffu) | one);
}

fn double_add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let swap = pair_less(vec2<u32>(a.x, a.y & 0x7fffffffu), vec2<u32>(b.x, b.y & 0x7fffffffu));
    let large = select(a, b, swap);
    let small = select(b, a, swap);
    if (large.y & 0x7ff00000u) == 0x7ff00000u {
        return double_add_special(a, b);
    }
    var exponent = max((large.y >> 20u) & 0x7ffu, 1u);
    let apart = exponent - max((small.y >> 20u) & 0x7ffu, 1u);
    let top = pair_left(double_significand(large), 3u);
    let low = pair_right_sticky(pair_left(double_significand(small), 3u), apart);
    let same = ((a.y ^ b.y) & 0x80000000u) == 0u;
    var sum: vec2<u32>;
    if same {
        sum = pair_add(top, low);
    } else {
        sum = pair_subtract(top, low);
    }
    if pair_is_zero(sum) {
        return vec2<u32>(0u, select(0u, a.y & 0x80000000u, same));
    }
    if sum.y >= 0x1000000u {
        sum = pair_right_sticky(sum, 1u);
        exponent += 1u;
    } else {
        let by = min(pair_leading_zeros(sum) - 8u, exponent - 1u);
        sum = pair_left(sum, by);
        exponent -= by;
    }
    let rest = sum.x & 7u;
    sum = pair_right(sum, 3u);
    let up = rest > 4u || (rest == 4u && (sum.x & 1u) == 1u);
    sum = pair_add(sum, vec2<u32>(select(0u, 1u, up), 0u));
    sum.y += (exponent - 1u) << 20u;
    if sum.y >= 0x7ff00000u {
        sum = vec2<u32>(0u, 0x7ff00000u);
    }
    return vec2<u32>(sum.x, sum.y | (large.y & 0x80000000u));
}
