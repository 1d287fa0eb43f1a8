// What stands before each count, given what stands before each run of 64 of them: `[runs, length]`. One run has
// nothing before it.

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let t = thread(id);
    if t >= params[0] {
        return;
    }
    var before = 0u;
    if params[0] > 1u {
        before = runs[t];
    }
    for (var i = t * 64u; i < min(params[1], t * 64u + 64u); i += 1u) {
        out[i] = before;
        before += counts[i];
    }
}
