
// A word is shared by the threads of two elements, each of which flips bits of its own only.

fn load_out(at: u32) -> u32 {
    return (atomicLoad(&out[at >> 1u]) >> ((at & 1u) * 16u)) & 0xffffu;
}

fn store(at: u32, before: u32, after: u32) {
    atomicXor(&out[at >> 1u], (before ^ after) << ((at & 1u) * 16u));
}
