use super::*;
use crate::kernels::sample::{Rng, flat, indices};

/// A part in memory of its own: the axes in another order, every second element, or backwards.
struct Part {
    memory: Vec<u16>,
    start: usize,
    sizes: Vec<usize>,
    strides: Vec<isize>,
}

impl Part {
    fn new(rng: &mut Rng, sizes: Vec<usize>, packed: bool) -> Part {
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        if !packed && rng.below(2) == 0 {
            order.reverse();
        }
        let gap = if packed { 1 } else { 1 + rng.below(2) };
        let mut strides = vec![0; sizes.len()];
        let mut step = gap;
        for &axis in order.iter().rev() {
            strides[axis] = step as isize;
            step *= sizes[axis].max(1);
        }
        let mut start = 0;
        for (stride, &size) in strides.iter_mut().zip(&sizes) {
            if !packed && rng.below(3) == 0 {
                start += *stride as usize * size.saturating_sub(1);
                *stride = -*stride;
            }
        }
        let memory = (0..step.max(1)).map(|_| rng.next() as u16).collect();
        Part {
            memory,
            start,
            sizes,
            strides,
        }
    }

    fn block(&self) -> Block<'_> {
        Block {
            start: self.memory[self.start..].as_ptr().cast(),
            sizes: &self.sizes,
            strides: &self.strides,
        }
    }

    fn at(&self, index: &[usize]) -> u16 {
        let offset: isize = index
            .iter()
            .zip(&self.strides)
            .map(|(&i, stride)| i as isize * stride)
            .sum();
        self.memory[(self.start as isize + offset) as usize]
    }
}

fn check(rng: &mut Rng, sizes: &[usize], axis: usize, along: &[usize]) {
    check_parts(rng, sizes, axis, along, false);
    check_parts(rng, sizes, axis, along, true);
}

fn check_parts(rng: &mut Rng, sizes: &[usize], axis: usize, along: &[usize], packed: bool) {
    let parts: Vec<Part> = along
        .iter()
        .map(|&size| {
            let mut sizes = sizes.to_vec();
            sizes[axis] = size;
            Part::new(rng, sizes, packed)
        })
        .collect();
    let mut sizes = sizes.to_vec();
    sizes[axis] = along.iter().sum();
    let count: usize = sizes.iter().product();
    let strides: Vec<isize> = (0..sizes.len())
        .map(|i| sizes[i + 1..].iter().product::<usize>() as isize)
        .collect();
    let mut expected = vec![0u16; count];
    let mut before = 0;
    for part in &parts {
        for mut index in indices(&part.sizes) {
            let value = part.at(&index);
            index[axis] += before;
            expected[flat(&sizes, &index)] = value;
        }
        before += part.sizes[axis];
    }
    let blocks: Vec<Block<'_>> = parts.iter().map(Part::block).collect();
    for staged in [false, true] {
        let mut found = vec![0u16; count + LINE];
        // On a line, as outputs of tensors are.
        let start = found.as_ptr().align_offset(LINE);
        let dst = BlockMut {
            start: found[start..].as_mut_ptr().cast(),
            sizes: &sizes,
            strides: &strides,
        };
        // SAFETY: parts lie in their memory by construction, and the output is packed and ours alone (K1..K4).
        unsafe { side_by_side(&blocks, dst, axis, 2, staged) };
        assert!(
            found[start..start + count] == expected,
            "{sizes:?} at {axis}: {along:?}, staged: {staged}, packed: {packed}"
        );
    }
}

#[test]
fn parts_of_every_size_end_up_side_by_side() {
    let mut rng = Rng(7);
    for _ in 0..300 {
        let sizes: Vec<usize> = (0..1 + rng.below(4)).map(|_| rng.below(6)).collect();
        let axis = rng.below(sizes.len());
        let along: Vec<usize> = (0..1 + rng.below(4)).map(|_| rng.below(5)).collect();
        check(&mut rng, &sizes, axis, &along);
    }
}

#[test]
fn short_rows_of_large_outputs_end_up_side_by_side() {
    let mut rng = Rng(8);
    check(&mut rng, &[100_001, 0], 1, &[1, 3, 0, 4]);
    check(&mut rng, &[3, 50_001, 0, 2], 2, &[1, 2]);
    check(&mut rng, &[2, 3, 1, 30_001, 0], 4, &[1, 1, 1]);
    check(&mut rng, &[40_001, 1, 0, 5], 2, &[1, 2]);
    // Rows of more than a piece, of short ones.
    check(&mut rng, &[3, 0, 2], 1, &[300, 90_000]);
}

#[test]
fn rows_of_whole_lines_and_narrow_ones_end_up_side_by_side() {
    let mut rng = Rng(9);
    // Lines of one size and of several, many narrow parts, and rows neither narrow nor of whole lines.
    check(&mut rng, &[301, 0], 1, &[32, 32, 256, 64]);
    check(&mut rng, &[7, 43, 0, 16], 2, &[2, 2, 2, 0, 2]);
    check(&mut rng, &[1001, 0], 1, &[1; 70]);
    check(&mut rng, &[3001, 0], 1, &[2; 24]);
    check(&mut rng, &[1501, 0], 1, &[33, 7, 40]);
    check(&mut rng, &[31, 0], 1, &[2200, 1, 900]);
}
