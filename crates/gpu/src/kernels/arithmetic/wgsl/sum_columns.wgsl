// One thread sums a block. Neighbours have neighbouring outputs.
fn block_sum(i: u32) -> $CELL {
    let outputs = params[1];
    let start = locate(params[5], i % outputs);
    let first = (i / outputs) * BLOCK;
    let len = min(BLOCK, params[2] - first);
    if len == 0u {
        return $CELL();
    }
    var lanes: array<$CELL, 8>;
    let used = min(len, LANES);
    for (var j = 0u; j < used; j += 1u) {
        lanes[j] = lane_sum(start, first + j, len - j);
    }
    for (var gap = 1u; gap < LANES; gap *= 2u) {
        for (var j = 0u; j + gap < used; j += 2u * gap) {
            lanes[j] = plus(lanes[j], lanes[j + gap]);
        }
    }
    return lanes[0];
}
