// For each index its cell and its number: `[count, cells, pitch, where the index's words are, where the block of what
// is beside it is]`. What lies outside has the cell after the last.

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let t = thread(id);
    if t >= params[0] {
        return;
    }
    let cell = index_cell(params[3], t);
    let target_cell = locate(params[4], t) + cell * params[2];
    out[t] = vec2<u32>(select(target_cell, params[1], cell == OUTSIDE), t);
}
