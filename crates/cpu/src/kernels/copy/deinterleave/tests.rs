use super::*;
use crate::kernels::sample::Rng;

const SEED: u64 = 0x1ace;

#[test]
fn cells_of_short_runs_go_to_rows_of_their_own_and_nothing_else_is_written() {
    let mut rng = Rng(SEED);
    for case in 0..400 {
        let cell = [1, 2, 4, 8, 16][case % 5];
        let cells = 1 + rng.below(LINE / 2 / cell);
        let stride = cells * cell + rng.below(LINE / 2 - cells * cell + 1);
        let count = 1 + rng.below([3, 100, 1000, 30_000][case % 4]);
        let gap = rng.below(3) * 8;
        let src: Vec<u8> = (0..(count - 1) * stride + cells * cell)
            .map(|_| rng.next() as u8)
            .collect();
        let pitch = count * cell + gap;
        let run = Axis {
            size: cells,
            src: cell as isize,
            dst: pitch as isize,
        };
        let across = Axis {
            size: count,
            src: stride as isize,
            dst: cell as isize,
        };
        let mut expected = vec![0xa5; cells * pitch];
        for (i, j) in (0..count * cells).map(|at| (at / cells, at % cells)) {
            let (from, to) = (i * stride + j * cell, j * pitch + i * cell);
            expected[to..to + cell].copy_from_slice(&src[from..from + cell]);
        }
        for (vectors, past) in Vectors::all().flat_map(|all| [(all, false), (all, true)]) {
            let Some(how) = Deinterleave::by(vectors, run, across, cell) else {
                // Narrow ones leave what takes many of them, or not one, to others.
                let span = (16 / cell).max(1) * stride;
                assert!(
                    vectors == Vectors::Lanes
                        && (span > 8 * 16 || span - (stride - cells * cell) < 16)
                );
                continue;
            };
            let mut found = vec![0xa5; cells * pitch];
            // SAFETY: both axes reach what was made for them (K1, K3, K4).
            unsafe { how.write(src.as_ptr(), count, found.as_mut_ptr(), run.dst, past) };
            assert!(
                found == expected,
                "seed {SEED}: {count} runs of {cells} cells of {cell} bytes, {stride} apart, past: {past}, {vectors:?}"
            );
        }
    }
}

#[test]
fn other_planes_are_left_to_others() {
    let axis = |size, src, dst| Axis { size, src, dst };
    // Cells apart, runs that overlap or go back, long ones, and an output with gaps.
    for (run, across) in [
        (axis(3, 8, 400), axis(100, 24, 4)),
        (axis(3, 4, 400), axis(100, 8, 4)),
        (axis(3, 4, 400), axis(100, -12, 4)),
        (axis(9, 4, 400), axis(100, 36, 4)),
        (axis(3, 4, 4), axis(100, 12, 12)),
    ] {
        assert!(Deinterleave::of(run, across, 4).is_none());
    }
}
