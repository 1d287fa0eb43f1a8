use super::*;

/// A small generator of its own keeps the cases the same on every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

/// How the copy under test is run.
#[derive(Clone, Copy, Debug)]
enum Path {
    Public,
    /// The output stays in the cache.
    Planned,
    /// It is twice as large as the cache.
    PartlyCached,
    /// It is eight times as large.
    Larger,
    /// There is no cache.
    Streamed,
}

/// Lays out `sizes` with the given strides and returns the offset of index zero and the cells needed.
fn extent(sizes: &[usize], strides: &[isize]) -> (usize, usize) {
    let (mut low, mut high) = (0isize, 0isize);
    for (&size, &stride) in sizes.iter().zip(strides) {
        let reach = (size.max(1) as isize - 1) * stride;
        low += reach.min(0);
        high += reach.max(0);
    }
    (-low as usize, (high - low) as usize + 1)
}

/// Strides that pack `sizes` when its axes are nested in `order`, `gap` cells wider on each level.
fn nested(sizes: &[usize], order: &[usize], gaps: &[usize]) -> Vec<isize> {
    let mut strides = vec![0; sizes.len()];
    let mut step = 1;
    for (&axis, gap) in order.iter().zip(gaps).rev() {
        strides[axis] = step as isize;
        step = step * sizes[axis].max(1) + gap;
    }
    strides
}

fn offsets(sizes: &[usize], strides: &[isize]) -> Vec<isize> {
    let mut all = vec![0];
    for (&size, &stride) in sizes.iter().zip(strides) {
        all = all
            .iter()
            .flat_map(|&at| (0..size as isize).map(move |i| at + i * stride))
            .collect();
    }
    all
}

/// Copies and compares every byte of the destination, those between its cells included.
fn check(sizes: &[usize], from: &[isize], to: &[isize], width: usize, path: Path) {
    let (src_at, src_cells) = extent(sizes, from);
    let (dst_at, dst_cells) = extent(sizes, to);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ src_cells as u64);
    let src: Vec<u64> = (0..(src_cells * width).div_ceil(8))
        .map(|_| dice.below(usize::MAX) as u64)
        .collect();
    let mut dst = vec![0xa5a5_a5a5_a5a5_a5a5u64; (dst_cells * width).div_ceil(8) + 24];
    // Half of the targets start on a line, as those of tensors do.
    let margin = match src_cells % 2 {
        0 => 64 + dst.as_ptr().cast::<u8>().align_offset(64),
        _ => 64,
    };
    let bytes = |words: &[u64]| -> Vec<u8> { words.iter().flat_map(|w| w.to_ne_bytes()).collect() };
    let src_bytes = bytes(&src);
    let mut expected = bytes(&dst);
    for (s, d) in offsets(sizes, from).into_iter().zip(offsets(sizes, to)) {
        let s = (s + src_at as isize) as usize * width;
        let d = (d + dst_at as isize) as usize * width + margin;
        expected[d..d + width].copy_from_slice(&src_bytes[s..s + width]);
    }
    // SAFETY: `extent` made both allocations reach every index, with a margin around the
    // destination, which is not shared and whose cells do not overlap by construction (K1..K4).
    unsafe {
        let block = Block {
            start: src.as_ptr().cast::<u8>().add(src_at * width),
            sizes,
            strides: from,
        };
        let start = dst.as_mut_ptr().cast::<u8>().add(dst_at * width + margin);
        let block_mut = BlockMut {
            start,
            sizes,
            strides: to,
        };
        match path {
            Path::Public => copy(block, block_mut, width),
            path => {
                let axes = sizes.iter().zip(from).zip(to);
                let axes = axes.map(|((&size, &from), &to)| (size, from, to));
                if let Some(simple) = collapse::simplest(block.start, start, width, axes) {
                    let bytes = simple.bytes();
                    let cache = match path {
                        Path::Streamed => 0,
                        Path::PartlyCached => bytes / 2,
                        Path::Larger => bytes / 8,
                        _ => usize::MAX,
                    };
                    large(&simple, bytes, bytes, cache);
                }
            }
        }
    }
    if bytes(&dst) != expected {
        let got = bytes(&dst);
        let at = (0..got.len()).find(|&i| got[i] != expected[i]);
        panic!("{sizes:?} {from:?} -> {to:?} width {width} by {path:?}: byte {at:?} differs");
    }
}

const WIDTHS: [usize; 5] = [1, 2, 4, 8, 16];
const PATHS: [Path; 5] = [
    Path::Public,
    Path::Planned,
    Path::PartlyCached,
    Path::Larger,
    Path::Streamed,
];

fn shuffled(dice: &mut Dice, n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, dice.below(i + 1));
    }
    order
}

#[test]
fn any_strides_copy_like_the_index_loop() {
    let mut dice = Dice(42);
    for case in 0..1500 {
        let rank = dice.below(7);
        let budget = [40, 400, 20_000, 90_000][case % 4];
        let mut sizes = vec![0; rank];
        let mut cells = 1;
        for axis in shuffled(&mut dice, rank) {
            sizes[axis] = match dice.below(12) {
                0 => 1,
                1 if dice.below(8) == 0 => 0,
                2..=5 => 2 + dice.below(3),
                _ => 1 + dice.below((budget / cells).clamp(1, 3000)),
            };
            cells *= sizes[axis].max(1);
        }
        let gaps = |dice: &mut Dice| {
            (0..rank)
                .map(|_| dice.below(4).saturating_sub(2))
                .collect::<Vec<_>>()
        };
        let order = shuffled(&mut dice, rank);
        let mut from = nested(&sizes, &order, &gaps(&mut dice));
        for stride in &mut from {
            match dice.below(6) {
                0 => *stride = 0,
                1 => *stride = -*stride,
                2 => *stride *= 2,
                _ => {}
            }
        }
        let mut order: Vec<usize> = (0..rank).collect();
        let mut holes = vec![0; rank];
        if case % 3 == 0 {
            order = shuffled(&mut dice, rank);
            holes = gaps(&mut dice);
        }
        let mut to = nested(&sizes, &order, &holes);
        if case % 7 == 0 {
            to.iter_mut()
                .for_each(|stride| *stride *= [1, -1, 2][dice.below(3)]);
            // Doubling one stride may make cells of another axis meet it, so double all or none.
            let plain = nested(&sizes, &order, &holes);
            if to.iter().zip(&plain).any(|(a, b)| a.abs() != b.abs()) {
                to = plain.iter().map(|stride| stride * 2).collect();
            }
        }
        let width = WIDTHS[dice.below(5)];
        check(&sizes, &from, &to, width, PATHS[dice.below(3)]);
    }
}

#[test]
fn nothing_is_written_when_a_size_is_zero() {
    for sizes in [&[0][..], &[3, 0], &[0, 5, 2]] {
        let strides = vec![-1; sizes.len()];
        check(sizes, &strides, &strides, 4, Path::Public);
    }
}

#[test]
fn rank_zero_copies_one_element() {
    for width in WIDTHS {
        check(&[], &[], &[], width, Path::Public);
    }
}

#[test]
fn transposes_of_every_width_copy_like_the_index_loop() {
    for width in WIDTHS {
        for (rows, columns) in [(512, 512), (67, 1031), (1031, 67), (3, 70_001), (70_001, 3)] {
            let packed = [columns as isize, 1];
            for path in PATHS {
                check(&[rows, columns], &[1, rows as isize], &packed, width, path);
                let (rows, columns) = (rows.min(700), columns.min(700));
                let to = [columns as isize, 1];
                check(&[rows, columns], &[-1, -(rows as isize)], &to, width, path);
                check(&[rows, columns], &[2, 3 * rows as isize], &to, width, path);
            }
        }
    }
}

#[test]
fn planes_of_rows_far_apart_turn_like_the_index_loop() {
    for width in WIDTHS {
        let far = (256 << 10) / width as isize + 16;
        for (planes, rows, columns) in [(3, 64, 200), (1, 96, 128)] {
            let (sizes, plane) = ([planes, columns, rows], columns as isize + 16);
            let to = nested(&sizes, &[0, 1, 2], &[0; 3]);
            for path in PATHS {
                check(&sizes, &[plane, 1, far], &to, width, path);
            }
        }
    }
}

#[test]
fn planes_of_few_rows_or_columns_turn_like_the_index_loop() {
    for width in WIDTHS {
        for few in [2, 3, 5, 7, 13] {
            // Large planes, each for all threads, and small ones.
            for (planes, long) in [(2, 300_001 / (few * width)), (40, 301)] {
                for sizes in [[planes, long, few], [planes, few, long]] {
                    let to = nested(&sizes, &[0, 1, 2], &[0; 3]);
                    let from = nested(&sizes, &[0, 2, 1], &[2, 0, 0]);
                    for path in PATHS {
                        check(&sizes, &from, &to, width, path);
                    }
                }
            }
        }
    }
}

#[test]
fn permutations_of_three_axes_copy_like_the_index_loop() {
    let sizes = [24, 33, 520];
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let to = nested(&sizes, &[0, 1, 2], &[0; 3]);
        let from = nested(&sizes, &order, &[0; 3]);
        for width in WIDTHS {
            for path in PATHS {
                check(&sizes, &from, &to, width, path);
            }
        }
    }
}

#[test]
fn repeats_of_every_width_copy_like_the_index_loop() {
    let cases: [(&[usize], &[isize]); 13] = [
        (&[7, 401, 37, 3], &[0, 3, 0, 1]),
        (&[41, 301, 37, 3], &[0, 3, 0, 1]),
        (&[41, 9001], &[0, 1]),
        (&[3001, 35, 5], &[5, 0, 1]),
        (&[70, 50, 128], &[128, 0, 1]),
        (&[64, 64, 64], &[64, 0, 1]),
        (&[5, 9000], &[0, 1]),
        (&[9000, 5], &[1, 0]),
        (&[100, 100, 11], &[1, 100, 0]),
        (&[300_001], &[0]),
        (&[40_000, 3], &[0, 1]),
        (&[3, 70, 5, 9, 2, 4], &[0, 5, 1, 0, 0, 350]),
        (&[300, 40, 20], &[1, 0, 300]),
    ];
    for (sizes, from) in cases {
        let order: Vec<usize> = (0..sizes.len()).collect();
        let to = nested(sizes, &order, &vec![0; sizes.len()]);
        for width in WIDTHS {
            for path in PATHS {
                check(sizes, from, &to, width, path);
            }
        }
    }
}

#[test]
fn a_part_of_a_larger_output_leaves_the_rest_alone() {
    for width in WIDTHS {
        for path in PATHS {
            check(&[100, 3, 70], &[210, 70, 1], &[400, 130, 1], width, path);
            check(&[300, 5], &[5, 1], &[9, 1], width, path);
            check(&[300, 40, 9], &[0, 9, 1], &[900, 9, 1], width, path);
            check(&[300, 400], &[1, 300], &[701, 1], width, path);
            check(&[400_000], &[1], &[2], width, path);
        }
    }
}

#[test]
fn outputs_larger_than_the_cache_are_whole() {
    let n = (caches::last() / 4 + 4099).next_multiple_of(512);
    check(&[n], &[1], &[1], 4, Path::Public);
    check(
        &[n / 512, 512],
        &[1, n as isize / 512],
        &[512, 1],
        4,
        Path::Public,
    );
    check(&[n / 512, 512], &[0, 1], &[512, 1], 4, Path::Public);
}

#[test]
fn fill_repeats_its_pattern() {
    for width in WIDTHS {
        let pattern: Vec<u8> = (1..=width as u8).collect();
        for count in [0, 1, 5, 1000, 100_003] {
            let mut out = vec![0u8; width * count + 1];
            // SAFETY: the buffer holds `count` elements and a guard byte.
            unsafe { fill(out.as_mut_ptr(), &pattern, count) };
            assert!(
                out[..width * count]
                    .chunks(width)
                    .all(|cell| cell == pattern)
            );
            assert_eq!(out[width * count], 0);
        }
    }
}

#[test]
fn planes_whose_rows_are_whole_lines_turn_like_the_index_loop() {
    let mut dice = Dice(0x7a11);
    for width in WIDTHS {
        let line = 64 / width;
        for case in 0..12 {
            let across = line * (1 + dice.below(6));
            let run = line * (1 + dice.below(20)) + [0, 0, 0, 1][dice.below(4)];
            let outer = 1 + dice.below(3);
            let middle = 1 + dice.below(3);
            // Even, so that the target starts on a line.
            let gap = [0, 2, 66][case % 3];
            let sizes = [outer, run, middle, across];
            let orders = [[0, 3, 2, 1], [0, 2, 3, 1], [3, 2, 0, 1], [2, 3, 0, 1]];
            let from = nested(&sizes, &orders[case % 4], &[0, 0, gap, 0]);
            let to = nested(&sizes, &[0, 1, 2, 3], &[0; 4]);
            for path in [Path::Planned, Path::Streamed] {
                check(&sizes, &from, &to, width, path);
            }
        }
    }
}

#[test]
fn a_plane_whose_last_block_is_less_than_a_tile_turns_like_the_index_loop() {
    check(&[1681, 8], &[1, 1681], &[8, 1], 16, Path::Streamed);
}

#[test]
fn many_small_planes_turn_like_the_index_loop() {
    let mut dice = Dice(0x9a7e);
    for case in 0..40 {
        let width = WIDTHS[case % 5];
        let line = 64 / width;
        let across = line * (1 + dice.below(3));
        let run = line * (1 + dice.below(3)) + [0, 0, 1][case % 3];
        let sizes = [1 + dice.below(4), 1 + dice.below(90), run, across];
        // Whole lines between planes, or none.
        let gap = [0, 2 * line][dice.below(2)];
        let from = nested(&sizes, &[0, 1, 3, 2], &[0, gap, 0, 0]);
        let to = nested(&sizes, &[0, 1, 2, 3], &[0; 4]);
        for path in [Path::Planned, Path::Streamed] {
            check(&sizes, &from, &to, width, path);
        }
    }
}

#[test]
fn runs_of_whole_lines_copy_like_the_index_loop_in_any_order() {
    let mut dice = Dice(0x11e5);
    for case in 0..60 {
        let width = WIDTHS[case % 5];
        let run = 64 / width * (1 + dice.below([2, 40][case % 2]));
        let outer = [1 + dice.below(5), 1 + dice.below(40), 1 + dice.below(20)];
        let sizes = [outer[0], outer[1], outer[2], run];
        let mut order = shuffled(&mut dice, 3);
        order.push(3);
        // An even number of cells, so that the target starts on a line.
        let gap = [0, 2 * run, 16][dice.below(3)];
        let mut from = nested(&sizes, &order, &[0, gap, 0, 0]);
        let turned = dice.below(4);
        if turned < 3 {
            from[turned] = -from[turned];
        }
        let to = nested(&sizes, &[0, 1, 2, 3], &[0; 4]);
        for path in [Path::Planned, Path::Streamed] {
            check(&sizes, &from, &to, width, path);
        }
    }
}

#[test]
fn runs_that_are_long_make_planes_or_lie_over_each_other_copy_like_the_index_loop() {
    let long = [2, 3, 640 * 16];
    let from = nested(&long, &[1, 0, 2], &[0; 3]);
    check(
        &long,
        &from,
        &nested(&long, &[0, 1, 2], &[0; 3]),
        4,
        Path::Streamed,
    );
    let planes = [5, 8, 32, 64];
    for order in [[0, 2, 1, 3], [2, 0, 1, 3]] {
        let from = nested(&planes, &order, &[0; 4]);
        let to = nested(&planes, &[0, 1, 2, 3], &[0; 4]);
        check(&planes, &from, &to, 4, Path::Streamed);
    }
    // A window that slides backwards.
    let (from, to) = ([-4, 17480, 1028, 1], [69664, 8708, 512, 1]);
    check(&[2, 8, 17, 512], &from, &to, 16, Path::Streamed);
}

#[test]
fn packing_is_a_copy_to_packed_strides_whatever_the_rank_and_size() {
    let mut dice = Dice(0x5eed);
    for case in 0..2000 {
        let most = [3, 5, 14][case % 3];
        let sizes: Vec<usize> = (0..dice.below(7)).map(|_| dice.below(most)).collect();
        let from: Vec<isize> = sizes.iter().map(|_| dice.below(9) as isize - 4).collect();
        let width = [1, 2, 4, 8, 16][dice.below(5)];
        let order: Vec<usize> = (0..sizes.len()).collect();
        let to = nested(&sizes, &order, &vec![0; sizes.len()]);
        let (at, cells) = extent(&sizes, &from);
        let src: Vec<u64> = (0..cells * 2).map(|_| dice.below(1 << 40) as u64).collect();
        let bytes = sizes.iter().product::<usize>() * width;
        if bytes > 1 << 16 {
            continue;
        }
        let mut packed = vec![0x5au64; bytes.div_ceil(8) + 1];
        let mut copied = packed.clone();
        let axes = sizes.iter().copied().zip(from.iter().copied());
        // SAFETY: `extent` made the source reach every index (cells are 16 bytes or less), and both results have room.
        unsafe {
            let start = src.as_ptr().cast::<u8>().add(at * width);
            pack(start, axes, packed.as_mut_ptr().cast(), width);
            let from = Block {
                start,
                sizes: &sizes,
                strides: &from,
            };
            let to = BlockMut {
                start: copied.as_mut_ptr().cast(),
                sizes: &sizes,
                strides: &to,
            };
            copy(from, to, width);
        }
        assert_eq!(
            packed, copied,
            "case {case}: {sizes:?} {from:?} width {width}"
        );
    }
}
