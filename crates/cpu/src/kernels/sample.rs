//! Random strided blocks for the kernels' tests, with the plainest possible way to read them.

use super::Block;

/// SplitMix64.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Up to `rank` axes of sizes below `most`, now and then an empty one.
    pub(crate) fn sizes(&mut self, rank: usize, most: usize) -> Vec<usize> {
        let rank = self.below(rank + 1);
        let empty = self.below(12) == 0;
        (0..rank)
            .map(|_| {
                if empty {
                    self.below(2)
                } else {
                    1 + self.below(most)
                }
            })
            .collect()
    }
}

/// Every index within the sizes, in row-major order.
pub(crate) fn indices(sizes: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for &size in sizes {
        all = all
            .into_iter()
            .flat_map(|head| {
                (0..size).map(move |i| {
                    let mut index = head.clone();
                    index.push(i);
                    index
                })
            })
            .collect();
    }
    all
}

/// Where an index lies in packed memory.
pub(crate) fn flat(sizes: &[usize], index: &[usize]) -> usize {
    sizes
        .iter()
        .zip(index)
        .fold(0, |flat, (size, i)| flat * size + i)
}

/// Memory with a strided block in it.
#[derive(Debug)]
pub(crate) struct Sample<T> {
    memory: Vec<T>,
    start: usize,
    pub(crate) sizes: Vec<usize>,
    strides: Vec<isize>,
}

impl<T: Copy> Sample<T> {
    /// The axes in random order in memory, with gaps, some backwards and some standing still.
    pub(crate) fn random(
        rng: &mut Rng,
        sizes: &[usize],
        mut make: impl FnMut(&mut Rng) -> T,
    ) -> Sample<T> {
        let mut order: Vec<usize> = (0..sizes.len()).rev().collect();
        if rng.below(2) == 0 {
            order.sort_by_cached_key(|_| rng.next());
        }
        let mut strides = vec![0; sizes.len()];
        let (mut reach, mut start) = (1, 0);
        for axis in order {
            let stride = match rng.below(8) {
                0 => 0,
                1 => reach * 2,
                _ => reach,
            };
            let extent = stride * sizes[axis].saturating_sub(1);
            if rng.below(6) == 0 {
                start += extent;
                strides[axis] = -(stride as isize);
            } else {
                strides[axis] = stride as isize;
            }
            reach += extent;
        }
        let memory = (0..reach).map(|_| make(rng)).collect();
        Sample {
            memory,
            start,
            sizes: sizes.to_vec(),
            strides,
        }
    }

    pub(crate) fn packed(
        rng: &mut Rng,
        sizes: &[usize],
        mut make: impl FnMut(&mut Rng) -> T,
    ) -> Sample<T> {
        let len = sizes.iter().product();
        let strides = (0..sizes.len())
            .map(|axis| sizes[axis + 1..].iter().product::<usize>() as isize)
            .collect();
        let memory = (0..len).map(|_| make(rng)).collect();
        Sample {
            memory,
            start: 0,
            sizes: sizes.to_vec(),
            strides,
        }
    }

    /// With a new axis that stands still.
    pub(crate) fn expanded(mut self, axis: usize, size: usize) -> Sample<T> {
        self.sizes.insert(axis, size);
        self.strides.insert(axis, 0);
        self
    }

    /// The axes in another order.
    pub(crate) fn permuted(self, axes: &[usize]) -> Sample<T> {
        let sizes = axes.iter().map(|&axis| self.sizes[axis]).collect();
        let strides = axes.iter().map(|&axis| self.strides[axis]).collect();
        Sample {
            sizes,
            strides,
            ..self
        }
    }

    pub(crate) fn block(&self) -> Block<'_> {
        Block {
            start: self.memory.as_ptr().wrapping_add(self.start).cast(),
            sizes: &self.sizes,
            strides: &self.strides,
        }
    }

    pub(crate) fn at(&self, index: &[usize]) -> T {
        let offset: isize = index
            .iter()
            .zip(&self.strides)
            .map(|(&i, s)| i as isize * s)
            .sum();
        self.memory[(self.start as isize + offset) as usize]
    }
}

/// A packed result, written through a raw pointer.
pub(crate) fn filled<T: Copy>(value: T, len: usize, write: impl FnOnce(*mut u8)) -> Vec<T> {
    let mut result = vec![value; len];
    write(result.as_mut_ptr().cast());
    result
}

/// The bytes of some numbers, to compare bit for bit.
pub(crate) fn bytes<T: crate::element::Number>(numbers: &[T]) -> &[u8] {
    // SAFETY: numbers have no padding.
    unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) }
}

/// What an index means by definition: a cell, nothing (fill), or an error.
pub(crate) fn cell(
    value: i128,
    n: usize,
    bounds: super::index::Bounds,
) -> Result<Option<usize>, i128> {
    use super::index::Bounds;
    let n = n as i128;
    let counted = if value < 0 { value + n } else { value };
    let inside = (0..n).contains(&counted).then_some(counted as usize);
    match bounds {
        Bounds::Raise => inside.map(Some).ok_or(value),
        Bounds::Wrap => Ok(Some(value.rem_euclid(n) as usize)),
        Bounds::Clip => Ok(Some(value.clamp(0, n - 1) as usize)),
        Bounds::Fill(_) => Ok(inside),
    }
}

/// The index along axes of these sizes that a flat cell stands for.
pub(crate) fn unravel(sizes: &[usize], mut cell: usize) -> Vec<usize> {
    let mut index: Vec<usize> = sizes
        .iter()
        .rev()
        .map(|&size| {
            let i = cell % size;
            cell /= size;
            i
        })
        .collect();
    index.reverse();
    index
}
