
fn load_out(at: u32) -> $CELL {
    return out[at];
}

fn store(at: u32, before: $CELL, after: $CELL) {
    out[at] = after;
}
