// For each of a run of indices its cell and its number: `[count, the first of them, cells, pitch, where the index's words
// are, where the block of what is beside it is]`. What lies outside has the cell after the last.

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let t = thread(id);
    if t >= params[0] {
        return;
    }
    let number = params[1] + t;
    let cell = index_cell(params[4], number);
    let target_cell = locate(params[5], number) + cell * params[3];
    out[t] = vec2<u32>(select(target_cell, params[2], cell == OUTSIDE), number);
}
