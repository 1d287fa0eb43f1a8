// Steps of a sum: `[count, outputs, terms, flags, where the blocks of the reduced and of the kept axes are]`.
// Sums of blocks lie block by block, each with one for every output.

const BLOCK = 128u;
const LANES = 8u;

fn term(start: u32, k: u32) -> $CELL {
    return widen($LOAD(start + locate(params[4], k)));
}

// The terms of one lane of a block, from left to right; there is at least one.
fn lane_sum(start: u32, first: u32, len: u32) -> $CELL {
    var sum = term(start, first);
    for (var k = LANES; k < len; k += LANES) {
        sum = plus(sum, term(start, first + k));
    }
    return sum;
}
