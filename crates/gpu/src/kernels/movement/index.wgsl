// Indices of any integer type as cells of a source. An index is described at params[p]: log2 of its width in bytes,
// whether it is signed, how many cells there are, and what is done outside (0 raise, 1 wrap, 2 clip, 3 fill); then how
// it lies. A cell is 0xffffffff where the index lies outside and mode is raise or fill.

const OUTSIDE = 0xffffffffu;

// The low and the high half of an index as 64 bits.
fn index_value(p: u32, i: u32) -> vec2<u32> {
    let place = locate(p + 4u, i);
    let shift = params[p];
    if (shift == 3u) {
        return vec2<u32>(index[2u * place], index[2u * place + 1u]);
    }
    // Elements that share a word are counted from its low end.
    let each = 2u - shift;
    let bits = 8u << shift;
    let word = index[place >> each] << ((32u - bits) - (place & ((1u << each) - 1u)) * bits);
    if (params[p + 1u] != 0u) {
        let low = bitcast<i32>(word) >> (32u - bits);
        return vec2<u32>(bitcast<u32>(low), bitcast<u32>(low >> 31u));
    }
    return vec2<u32>(word >> (32u - bits), 0u);
}

// Modulo a 32-bit number, bit by bit.
fn remainder(value: vec2<u32>, n: u32) -> u32 {
    if (value.y == 0u) {
        return value.x % n;
    }
    var rest = value.y % n;
    for (var bit = 32u; bit > 0u; bit--) {
        // The rest is below n; doubled, it may need a 33rd bit.
        let carry = rest >> 31u;
        rest = (rest << 1u) | ((value.x >> (bit - 1u)) & 1u);
        if (carry != 0u || rest >= n) {
            rest -= n;
        }
    }
    return rest;
}

fn index_cell(p: u32, i: u32) -> u32 {
    let value = index_value(p, i);
    let n = params[p + 2u];
    let mode = params[p + 3u];
    let negative = params[p + 1u] != 0u && (value.y >> 31u) != 0u;
    // Counted from the end, a good one carries into the high half, which becomes 0.
    let low = select(value.x, value.x + n, negative);
    let high = select(value.y, value.y + u32(low < value.x), negative);
    let inside = high == 0u && low < n;
    if (mode == 2u) {
        let clipped = select(n - 1u, value.x, value.y == 0u && value.x < n);
        return select(clipped, 0u, negative);
    }
    if (inside) {
        return low;
    }
    if (mode != 1u) {
        return OUTSIDE;
    }
    if (negative) {
        // The distance below zero, which fits 64 bits without a sign.
        let distance = vec2<u32>(~value.x + 1u, ~value.y + u32(value.x == 0u));
        let rest = remainder(distance, n);
        return select(n - rest, 0u, rest == 0u);
    }
    return remainder(value, n);
}
