// Sums of blocks combined, sixteen neighbours at a time: four levels of the tree. `[count, outputs, how many sums there
// are for each output]`.

fn group_sum(i: u32) -> $CELL {
    let outputs = params[1];
    let output = i % outputs;
    let first = (i / outputs) * 16u;
    let len = min(16u, params[2] - first);
    var sums: array<$CELL, 16>;
    for (var j = 0u; j < len; j += 1u) {
        sums[j] = source[(first + j) * outputs + output];
    }
    for (var gap = 1u; gap < len; gap *= 2u) {
        for (var j = 0u; j + gap < len; j += 2u * gap) {
            sums[j] = plus(sums[j], sums[j + gap]);
        }
    }
    return sums[0];
}
