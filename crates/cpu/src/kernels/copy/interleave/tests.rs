use super::*;
use crate::kernels::sample::Rng;

const SEED: u64 = 0x1ace;

/// Memory of some bytes, no two neighbours alike.
fn memory(rng: &mut Rng, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|_| rng.next() as u8).collect()
}

/// Parts with rows of the given bytes: packed, with gaps, standing still or backwards.
fn check_together(rng: &mut Rng, widths: &[usize], rows: usize) {
    let strides: Vec<isize> = widths
        .iter()
        .map(|&bytes| match rng.below(6) {
            0 => 0,
            1 => -(bytes as isize),
            2 => (bytes + rng.below(40)) as isize,
            _ => bytes as isize,
        })
        .collect();
    let memories: Vec<Vec<u8>> = widths
        .iter()
        .zip(&strides)
        .map(|(&bytes, &stride)| memory(rng, (rows - 1) * stride.unsigned_abs() + bytes))
        .collect();
    let start = |memory: &Vec<u8>, bytes: usize, stride: isize| match stride < 0 {
        true => memory.len() - bytes,
        false => 0,
    };
    let mut parts = Vec::new();
    for ((memory, &bytes), &stride) in memories.iter().zip(widths).zip(&strides) {
        parts.push(Part {
            start: memory[start(memory, bytes, stride)..].as_ptr(),
            stride,
            bytes,
        });
    }
    let mut expected = Vec::new();
    for i in 0..rows {
        for ((memory, &bytes), &stride) in memories.iter().zip(widths).zip(&strides) {
            let at = (start(memory, bytes, stride) as isize + i as isize * stride) as usize;
            expected.extend_from_slice(&memory[at..at + bytes]);
        }
    }
    let end = expected.len();
    expected.extend([0xa5; LINE]);
    let mut ways = vec![None];
    for vectors in [Vectors::Lines, Vectors::Lanes] {
        let way = Interleave::by(vectors, &parts);
        // Narrow ones take what becomes few parts of a lane at most.
        let takes = match vectors {
            Vectors::Lines => row(&parts) <= NEAR,
            Vectors::Lanes => parts.len() <= AT_ONCE && widths.iter().all(|&bytes| bytes <= 16),
        };
        assert!(
            way.is_some() || !takes,
            "seed {SEED}: {widths:?}, {vectors:?}"
        );
        assert!(
            way.is_none() || row(&parts) <= NEAR,
            "seed {SEED}: {widths:?}, {vectors:?}"
        );
        ways.extend(way.map(|way| Some((vectors, way))));
    }
    for way in ways {
        let mut found = vec![0xa5; end + LINE];
        // SAFETY: parts reach their rows by construction, and there is room for all (K1, K3, K4).
        unsafe {
            match &way {
                None => wide(&parts, rows, found.as_mut_ptr()),
                Some((_, parts)) => {
                    // In two goes, as several threads do it.
                    let half = rows / 2;
                    parts.rows(0..half, found.as_mut_ptr());
                    parts.rows(half..rows, found.as_mut_ptr().add(half * parts.row));
                }
            }
        }
        assert!(
            found == expected,
            "seed {SEED}: {rows} rows of {widths:?}, {strides:?} apart, vectors: {:?}",
            way.map(|way| way.0)
        );
    }
}

#[test]
fn parts_are_side_by_side_in_every_row_and_nothing_else_is_written() {
    let mut rng = Rng(SEED);
    for case in 0..400 {
        let most = [1, 4, 20, MOST][case % 4];
        let widest = [4, 16, 30, 90][case / 4 % 4];
        let widths: Vec<usize> = (0..1 + rng.below(most))
            .map(|_| 1 + rng.below(widest))
            .collect();
        let rows = 1 + rng.below([3, 100, 1000][case % 3]);
        check_together(&mut rng, &widths, rows);
    }
    // One part, some in two steps, wide ones, and a row of more than is put together near.
    check_together(&mut rng, &[1], 1000);
    check_together(&mut rng, &[4; 16], 301);
    check_together(&mut rng, &[64; 4], 301);
    check_together(&mut rng, &[1, 2 * NEAR, 1], 3);
    // Three steps, of which one leaves a part where the first has put it.
    let widths = [&[31, 31, 3][..], &[1; 58]].concat();
    check_together(&mut rng, &widths, 50);
}

/// Packed parts, of which whole vectors make whole lines.
fn check_woven(rng: &mut Rng, widths: &[usize], rows: usize) {
    let memories: Vec<Vec<u8>> = widths.iter().map(|&b| memory(rng, rows * b)).collect();
    let parts: Vec<Part> = memories
        .iter()
        .zip(widths)
        .map(|(memory, &bytes)| Part {
            start: memory.as_ptr(),
            stride: bytes as isize,
            bytes,
        })
        .collect();
    let together = Interleave::by(Vectors::Lines, &parts).expect("few narrow parts");
    let woven = together.woven().expect("few vectors");
    for (past, first) in [(false, 0), (true, 0), (true, rows.min(3))] {
        let whole = (rows - first) / woven.rows * woven.rows;
        let row = together.row;
        let mut found = vec![0xa5u8; whole * row + 2 * LINE];
        let start = found.as_ptr().align_offset(LINE);
        // SAFETY: parts have the rows, and there is room for them from a line on (K1, K3, K4).
        let done = unsafe {
            let dst = found.as_mut_ptr().add(start);
            woven.rows(&parts, first..rows, dst, past)
        };
        super::super::stream::fence();
        assert_eq!(done, whole, "seed {SEED}: {rows} rows of {widths:?}");
        let rows_of = (first..first + whole)
            .flat_map(|i| (0..widths.len()).map(move |j| (i, j)))
            .flat_map(|(i, j)| &memories[j][i * widths[j]..][..widths[j]]);
        let nothing = |bytes| std::iter::repeat_n(&0xa5, bytes);
        let expected = nothing(start)
            .chain(rows_of)
            .chain(nothing(2 * LINE - start));
        assert!(
            found.iter().eq(expected),
            "seed {SEED}: {rows} rows of {widths:?} from {first} on, past: {past}"
        );
    }
}

#[test]
fn packed_parts_are_side_by_side_by_whole_vectors_too() {
    let mut rng = Rng(SEED);
    for rows in [1, 16, 64, 100, 1000] {
        for cell in [1, 2, 4, 8] {
            (2..=8).for_each(|count| check_woven(&mut rng, &vec![cell; count], rows));
        }
        for widths in [
            &[4, 12, 16][..],
            &[3, 5],
            &[1, 2],
            &[8, 24],
            &[16, 16, 32],
            &[2, 4, 6],
            &[64, 64, 32, 32],
        ] {
            check_woven(&mut rng, widths, rows);
        }
    }
}

#[test]
fn what_takes_more_vectors_or_is_not_packed_is_not_put_together_by_whole_ones() {
    let memory = [0; 4096];
    let part = |bytes, stride| Part {
        start: memory.as_ptr(),
        stride,
        bytes,
    };
    for parts in [
        vec![part(4, 4); 9],
        vec![part(4, 4), part(4, 8)],
        vec![part(4, 4), part(4, 0)],
        vec![part(5, 5), part(4, 4)],
    ] {
        let together = Interleave::by(Vectors::Lines, &parts).expect("few narrow parts");
        assert!(together.woven().is_none());
    }
}
