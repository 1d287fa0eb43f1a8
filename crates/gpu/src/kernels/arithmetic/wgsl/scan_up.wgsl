// Totals of runs of 64 counts: `[runs, length]`.

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let t = thread(id);
    if t >= params[0] {
        return;
    }
    var total = 0u;
    for (var i = t * 64u; i < min(params[1], t * 64u + 64u); i += 1u) {
        total += counts[i];
    }
    out[t] = total;
}
