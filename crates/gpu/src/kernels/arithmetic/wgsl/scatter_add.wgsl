// Adds updates to cells. Entries are sorted by cell, and those of one cell stand in the order of their updates; the first
// of a run adds them all, so each element has one thread. A launch takes a window of the entries, lest one thread
// work too long; a run that began before it goes on from what lies there.
// `[count, first entry, end of the window, cells, outers, inners, blocks of the outer, indexed and inner axes]`,
// where the first parameter is the number of threads and the blocks are given by their places.

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let t = thread(id);
    if t >= params[0] {
        return;
    }
    let inners = params[5];
    let outers = params[4];
    let inner = t % inners;
    let outer = (t / inners) % outers;
    let first = params[1] + (t / inners) / outers;
    let end = params[2];
    let cell = entries[first].x;
    if cell >= params[3] || (first > params[1] && entries[first - 1u].x == cell) {
        return;
    }
    let start = locate(params[6], outer) + locate(params[8], inner);
    let at = (outer * params[3] + cell) * inners + inner;
    let before = load_out(at);
    var sum = before;
    var i = first;
    loop {
        let update = load_updates(start + locate(params[7], entries[i].y));
        sum = narrow(plus(widen(sum), widen(update)));
        i += 1u;
        if i == end {
            break;
        }
        if entries[i].x != cell {
            break;
        }
    }
    store(at, before, sum);
}
