// Counts the chains of additions in which the device's own addition differs from the one in integers:
// `[count, length of a chain]`. Chains, since a compiler may treat several additions otherwise than one.

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let t = thread(id);
    if t >= params[0] {
        return;
    }
    let first = t * params[1];
    var own = numbers[first];
    var wanted = own;
    for (var i = first + 1u; i < first + params[1]; i += 1u) {
        own = single_add(own, numbers[i]);
        wanted = single_add_soft(wanted, numbers[i]);
    }
    if own != wanted {
        atomicAdd(&out[0], 1u);
    }
}
