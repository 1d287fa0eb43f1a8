// f32 as bits, added in integers: to nearest even, with subnormals, and with the NaNs of x86: the first NaN
// operand made quiet, and the negative default NaN where infinities cancel.

fn single_is_nan(a: u32) -> bool {
    return (a & 0x7fffffffu) > 0x7f800000u;
}

fn single_add_special(a: u32, b: u32) -> u32 {
    if single_is_nan(a) {
        return a | 0x400000u;
    }
    if single_is_nan(b) {
        return b | 0x400000u;
    }
    if (a & 0x7fffffffu) != 0x7f800000u {
        return b;
    }
    if (b & 0x7fffffffu) == 0x7f800000u && a != b {
        return 0xffc00000u;
    }
    return a;
}

fn single_add_soft(a: u32, b: u32) -> u32 {
    let swap = (a & 0x7fffffffu) < (b & 0x7fffffffu);
    let large = select(a, b, swap);
    let small = select(b, a, swap);
    if (large & 0x7f800000u) == 0x7f800000u {
        return single_add_special(a, b);
    }
    // Subnormals have the exponent of the smallest normals, without the implicit one.
    let stored = (large >> 23u) & 0xffu;
    let stored_small = (small >> 23u) & 0xffu;
    var exponent = max(stored, 1u);
    let apart = min(exponent - max(stored_small, 1u), 31u);
    // Three bits below the significand: guard, round and sticky.
    let top = ((large & 0x7fffffu) | select(0u, 0x800000u, stored != 0u)) << 3u;
    var low = ((small & 0x7fffffu) | select(0u, 0x800000u, stored_small != 0u)) << 3u;
    let kept = low >> apart;
    low = kept | select(1u, 0u, (kept << apart) == low);
    let same = ((a ^ b) & 0x80000000u) == 0u;
    var sum = select(top - low, top + low, same);
    if sum == 0u {
        return select(0u, a & 0x80000000u, same);
    }
    if sum >= 0x8000000u {
        sum = (sum >> 1u) | (sum & 1u);
        exponent += 1u;
    } else {
        let by = min(countLeadingZeros(sum) - 5u, exponent - 1u);
        sum <<= by;
        exponent -= by;
    }
    let rest = sum & 7u;
    sum >>= 3u;
    sum += select(0u, 1u, rest > 4u || (rest == 4u && (sum & 1u) == 1u));
    // The implicit one adds one to the exponent; a carry out of the significand adds another.
    let magnitude = min(((exponent - 1u) << 23u) + sum, 0x7f800000u);
    return (large & 0x80000000u) | magnitude;
}
