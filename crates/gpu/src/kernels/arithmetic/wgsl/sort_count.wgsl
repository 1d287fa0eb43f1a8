// How often each digit occurs in each piece: `[pieces, length, length of a piece, shift]`. Entries are keys with
// where they come from; counts lie digit by digit.

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let t = thread(id);
    let pieces = params[0];
    if t >= pieces {
        return;
    }
    var counts: array<u32, 16>;
    for (var digit = 0u; digit < 16u; digit += 1u) {
        counts[digit] = 0u;
    }
    let first = t * params[2];
    for (var i = first; i < min(params[1], first + params[2]); i += 1u) {
        counts[(entries[i].x >> params[3]) & 15u] += 1u;
    }
    for (var digit = 0u; digit < 16u; digit += 1u) {
        out[digit * pieces + t] = counts[digit];
    }
}
