// Moves each entry behind all with a smaller digit and those with the same digit before it: parameters as for
// counting; `places` says where each digit of each piece begins.

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let t = thread(id);
    let pieces = params[0];
    if t >= pieces {
        return;
    }
    var next: array<u32, 16>;
    for (var digit = 0u; digit < 16u; digit += 1u) {
        next[digit] = places[digit * pieces + t];
    }
    let first = t * params[2];
    for (var i = first; i < min(params[1], first + params[2]); i += 1u) {
        let entry = entries[i];
        let digit = (entry.x >> params[3]) & 15u;
        out[next[digit]] = entry;
        next[digit] += 1u;
    }
}
