
// A word is shared by the threads of four elements, each of which flips bits of its own only.

fn load_out(at: u32) -> u32 {
    return (atomicLoad(&out[at >> 2u]) >> ((at & 3u) * 8u)) & 0xffu;
}

fn store(at: u32, before: u32, after: u32) {
    atomicXor(&out[at >> 2u], (before ^ after) << ((at & 3u) * 8u));
}
