// What every kernel begins with.

@group(0) @binding(0) var<storage, read> params: array<u32>;

// The number of a thread, over rows of 65535 workgroups of 64.
fn thread(id: vec3<u32>) -> u32 {
    return id.y * 4194240u + id.x;
}

// The place of an operand's element, from its row-major number. The operand is described at params[p]: its rank (at
// least 1), its offset, and the size and stride of each axis, the last axis first. Numbers wrap, so that negative
// strides work.
fn locate(p: u32, i: u32) -> u32 {
    var place = params[p + 1u];
    var rest = i;
    var at = p + 2u;
    let end = p + 2u * params[p];
    while (at < end) {
        let size = params[at];
        let next = rest / size;
        place += (rest - next * size) * params[at + 1u];
        rest = next;
        at += 2u;
    }
    return place + rest * params[at + 1u];
}
