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

// An operand that is described at params[p], read once for several elements.
struct Lie {
    p: u32,
    rank: u32,
    offset: u32,
    size: vec2<u32>,
    stride: vec3<u32>,
}

fn lie_at(p: u32) -> Lie {
    var lie: Lie;
    lie.p = p;
    lie.rank = params[p];
    lie.offset = params[p + 1u];
    lie.size.x = params[p + 2u];
    lie.stride.x = params[p + 3u];
    if (lie.rank > 1u) {
        lie.stride.y = params[p + 5u];
    }
    if (lie.rank > 2u) {
        lie.size.y = params[p + 4u];
        lie.stride.z = params[p + 7u];
    }
    return lie;
}

// As `locate`, for an operand of one or two axes: without branches, which cost as much as what they skip where threads
// are lanes of a processor.
fn place_near(lie: Lie, i: u32) -> u32 {
    let outer = i / lie.size.x;
    return lie.offset + (i - outer * lie.size.x) * lie.stride.x + outer * lie.stride.y;
}

// As `locate`, for several elements.
fn place_in(lie: Lie, i: u32) -> u32 {
    if (lie.rank == 1u) {
        return lie.offset + i * lie.stride.x;
    }
    if (lie.rank > 3u) {
        return locate(lie.p, i);
    }
    let outer = i / lie.size.x;
    let place = lie.offset + (i - outer * lie.size.x) * lie.stride.x;
    if (lie.rank == 2u) {
        return place + outer * lie.stride.y;
    }
    let last = outer / lie.size.y;
    return place + (outer - last * lie.size.y) * lie.stride.y + last * lie.stride.z;
}
