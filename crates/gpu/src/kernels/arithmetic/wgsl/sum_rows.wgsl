// Eight threads sum a block, one a lane. Neighbours have neighbouring terms, then neighbouring blocks.
var<workgroup> lanes: array<$CELL, 64>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let t = thread(id);
    let outputs = params[1];
    let blocks = params[0] / outputs;
    let j = t % LANES;
    let inside = t / LANES < params[0];
    let output = (t / LANES) / blocks;
    let block = (t / LANES) % blocks;
    let len = select(0u, min(BLOCK, params[2] - block * BLOCK), inside);
    if j < len {
        lanes[local] = lane_sum(locate(params[5], output), block * BLOCK + j, len - j);
    }
    let used = min(len, LANES);
    for (var gap = 1u; gap < LANES; gap *= 2u) {
        workgroupBarrier();
        if j % (2u * gap) == 0u && j + gap < used {
            lanes[local] = plus(lanes[local], lanes[local + gap]);
        }
    }
    if inside && j == 0u {
        out[block * outputs + output] = lanes[local];
    }
}
