// The device's own addition where it can be trusted, which is with normal numbers and zeros only: a device
// may flush subnormals, and its NaNs are its own.

fn single_is_plain(a: u32) -> bool {
    let magnitude = a & 0x7fffffffu;
    return magnitude == 0u || (magnitude - 0x800000u) < 0x7f000000u;
}

fn single_add(a: u32, b: u32) -> u32 {
    let sum = bitcast<u32>(bitcast<f32>(a) + bitcast<f32>(b));
    let normal = ((sum & 0x7fffffffu) - 0x800000u) < 0x7f000000u;
    if normal && single_is_plain(a) && single_is_plain(b) {
        return sum;
    }
    return single_add_soft(a, b);
}
