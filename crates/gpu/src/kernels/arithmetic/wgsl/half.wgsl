// The 16-bit floats, in the low half of a word, to and from the bits of an f32; to nearest even.

fn half_to_single(a: u32) -> u32 {
    let sign = (a & 0x8000u) << 16u;
    let magnitude = a & 0x7fffu;
    if magnitude >= 0x7c00u {
        return sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13u);
    }
    if magnitude >= 0x400u {
        return sign | ((magnitude << 13u) + 0x38000000u);
    }
    if magnitude == 0u {
        return sign;
    }
    // A subnormal is so many times two to the -24.
    let by = countLeadingZeros(magnitude) - 8u;
    return sign | (((125u - by) << 23u) + (magnitude << by));
}

fn single_to_half(a: u32) -> u32 {
    let sign = (a >> 16u) & 0x8000u;
    let magnitude = a & 0x7fffffffu;
    if magnitude > 0x7f800000u {
        return sign | 0x7e00u | ((magnitude >> 13u) & 0x3ffu);
    }
    if magnitude >= 0x47800000u {
        return sign | 0x7c00u;
    }
    if magnitude >= 0x38800000u {
        let odd = (magnitude >> 13u) & 1u;
        return sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13u);
    }
    // The significand in units of two to the -24, and what is lost of it.
    let by = min(126u - (magnitude >> 23u), 31u);
    let significand = (magnitude & 0x7fffffu) | 0x800000u;
    let kept = significand >> by;
    let lost = significand - (kept << by);
    let middle = 1u << (by - 1u);
    return sign | (kept + select(0u, 1u, lost > middle || (lost == middle && (kept & 1u) == 1u)));
}

fn brain_to_single(a: u32) -> u32 {
    return a << 16u;
}

fn single_to_brain(a: u32) -> u32 {
    if (a & 0x7fffffffu) > 0x7f800000u {
        return (a >> 16u) | 0x40u;
    }
    return (a + 0x7fffu + ((a >> 16u) & 1u)) >> 16u;
}
