// Indices of any integer type as cells of a source. An index is described at params[p]: log2 of its width in bytes,
// whether it is signed, how many cells there are, and what is done outside (0 raise, 1 wrap, 2 clip, 3 fill); then how
// it lies. A cell is 0xffffffff where the index lies outside and mode is raise or fill.

const OUTSIDE = 0xffffffffu;

// An index that is described at params[p], read once for several elements.
struct Index {
    shift: u32,
    is_signed: bool,
    n: u32,
    mode: u32,
    lie: Lie,
}

fn index_at(p: u32) -> Index {
    return Index(params[p], params[p + 1u] != 0u, params[p + 2u], params[p + 3u], lie_at(p + 4u));
}

// The low and the high half of an index as 64 bits.
fn index_at_place(indices: Index, place: u32) -> vec2<u32> {
    if (indices.shift == 3u) {
        return vec2<u32>(index[2u * place], index[2u * place + 1u]);
    }
    // Elements that share a word are counted from its low end.
    let each = 2u - indices.shift;
    let bits = 8u << indices.shift;
    let word = index[place >> each] << ((32u - bits) - (place & ((1u << each) - 1u)) * bits);
    if (indices.is_signed) {
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

// The cell of a value, where nothing wraps.
fn cell_of_value(indices: Index, value: vec2<u32>) -> u32 {
    let n = indices.n;
    let negative = indices.is_signed && (value.y >> 31u) != 0u;
    // Counted from the end, a good one carries into the high half, which becomes 0.
    let low = select(value.x, value.x + n, negative);
    let high = select(value.y, value.y + u32(low < value.x), negative);
    let counted = select(OUTSIDE, low, high == 0u && low < n);
    let below = select(n - 1u, value.x, value.y == 0u && value.x < n);
    return select(counted, select(below, 0u, negative), indices.mode == 2u);
}

fn cell_of(indices: Index, i: u32) -> u32 {
    let value = index_at_place(indices, place_in(indices.lie, i));
    let cell = cell_of_value(indices, value);
    if (indices.mode != 1u || cell != OUTSIDE) {
        return cell;
    }
    let n = indices.n;
    if (indices.is_signed && (value.y >> 31u) != 0u) {
        // The distance below zero, which fits 64 bits without a sign.
        let distance = vec2<u32>(~value.x + 1u, ~value.y + u32(value.x == 0u));
        let rest = remainder(distance, n);
        return select(n - rest, 0u, rest == 0u);
    }
    return remainder(value, n);
}

// The cell of one index that is described at params[p].
fn index_cell(p: u32, i: u32) -> u32 {
    return cell_of(index_at(p), i);
}
