fn single_add(a: u32, b: u32) -> u32 {
    return single_add_soft(a, b);
}
