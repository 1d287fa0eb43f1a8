//! A stream of random choices that calls are made from. Past its end, and where it is 0, every choice is the
//! first one, so that shrinking the stream gives the simplest call that still fails.

use stridewise_core::dtype::{DType, Family};

use crate::input::{Input, packed_strides};
use crate::number::{Number, int_range};

/// The choices left.
pub struct Choices<'a>(std::slice::Iter<'a, u32>);

/// What the elements of a tensor are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fill {
    /// Any bits at all: for operators that only move elements.
    Bits,
    /// Whole numbers so small that sums of them are exact in every dtype.
    Small,
    /// Values at which casts turn: ends of ranges, halves, infinities, NaN.
    Edges,
}

const EDGES: [f64; 24] = [
    0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    127.0,
    128.0,
    255.0,
    256.0,
    -129.0,
    32768.0,
    65504.0,
    65520.0,
    1e-8,
    16777217.0,
    2147483648.0,
    9007199254740993.0,
    18446744073709551615.0,
    1e300,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

impl<'a> Choices<'a> {
    /// Choices from a stream.
    pub fn new(stream: &'a [u32]) -> Choices<'a> {
        Choices(stream.iter())
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        match n {
            0 | 1 => 0,
            _ => self.0.next().map_or(0, |&choice| choice as usize % n),
        }
    }

    /// Yes, once in `n`.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    /// One of these.
    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: i128, high: i128) -> i128 {
        low + self.below((high - low + 1) as usize) as i128
    }

    /// A shape of up to 6 axes, now and then with an empty one, and at most some 150 elements.
    pub fn shape(&mut self) -> Vec<usize> {
        let rank = self.pick(&[2, 1, 0, 3, 4, 5, 6]);
        self.shape_of_rank(rank)
    }

    /// Such a shape with so many axes.
    pub fn shape_of_rank(&mut self, rank: usize) -> Vec<usize> {
        let mut left = 150;
        (0..rank)
            .map(|_| {
                let size = match self.once_in(16) {
                    true => 0,
                    false => self.pick(&[1, 2, 3, 1, 4, 5, 2]),
                };
                let size = if size > left { 1 } else { size };
                left /= size.max(1);
                size
            })
            .collect()
    }

    /// An element type.
    pub fn dtype(&mut self) -> DType {
        let choices = [&[DType::F32], &DType::ALL[..]].concat();
        self.pick(&choices)
    }

    /// An integer element type.
    pub fn integer(&mut self) -> DType {
        let all = DType::ALL.into_iter().filter(|d| d.is_integer());
        let choices: Vec<DType> = [DType::I64, DType::I32].into_iter().chain(all).collect();
        self.pick(&choices)
    }

    /// A tensor of any dtype, shape and layout, with any bits.
    pub fn tensor(&mut self) -> Input {
        let shape = self.shape();
        self.tensor_of(&shape, Fill::Bits)
    }

    /// A tensor of this shape.
    pub fn tensor_of(&mut self, shape: &[usize], fill: Fill) -> Input {
        let dtype = self.dtype();
        self.tensor_with(dtype, shape, fill)
    }

    /// A tensor of this dtype and shape: packed, or reordered, flipped, with gaps, expanded, overlapping.
    pub fn tensor_with(&mut self, dtype: DType, shape: &[usize], fill: Fill) -> Input {
        let (strides, offset, cells) = self.layout(shape);
        let mut storage = Vec::new();
        for at in 0..cells {
            storage.extend_from_slice(&self.cell(dtype, fill, at)[..dtype.width()]);
        }
        Input {
            dtype,
            shape: shape.to_vec(),
            strides,
            offset,
            storage,
        }
    }

    /// Strides, an offset, and the cells of storage they need.
    fn layout(&mut self, shape: &[usize]) -> (Vec<isize>, usize, usize) {
        let count: usize = shape.iter().product();
        if self.below(3) == 0 {
            return (packed_strides(shape), 0, count);
        }
        let mut order: Vec<usize> = (0..shape.len()).collect();
        for last in (1..order.len()).rev() {
            let other = last - self.below(last + 1);
            order.swap(last, other);
        }
        let mut strides = vec![0isize; shape.len()];
        let (mut next, mut low, mut high) = (1isize, 0isize, 0isize);
        for &axis in order.iter().rev() {
            let size = shape[axis].max(1) as isize;
            let stride = match self.below(8) {
                5 => 0,
                6 => 1,
                7 => next * 2,
                _ => next,
            };
            next = (stride * size).max(next);
            strides[axis] = if self.once_in(4) { -stride } else { stride };
            let far = (size - 1) * strides[axis];
            if far < 0 { low += far } else { high += far }
        }
        let before = self.below(4) as isize;
        let after = self.below(3) as isize;
        let cells = match count {
            0 => before + after,
            _ => before + high - low + 1 + after,
        };
        let offset = if count == 0 { before } else { before - low };
        (strides, offset as usize, cells as usize)
    }

    fn cell(&mut self, dtype: DType, fill: Fill, at: usize) -> [u8; 16] {
        match (fill, dtype.family()) {
            (Fill::Bits, Family::Bool) => Number::Int(self.below(2) as i128).encode(dtype),
            (Fill::Bits, _) => {
                // Each cell differs from its neighbours even where the choices have run out.
                let mixed = (self.below(usize::MAX) as u128 + at as u128 + 1)
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
                mixed.to_ne_bytes()
            }
            (Fill::Small, Family::Unsigned | Family::Bool) => {
                Number::Int(self.between(0, 6)).cast(dtype).encode(dtype)
            }
            (Fill::Small, Family::Complex) => {
                let (re, im) = (self.between(-3, 6), self.between(-3, 6));
                Number::Complex(re as f64, im as f64).encode(dtype)
            }
            (Fill::Small, _) => Number::Int(self.between(-3, 6)).cast(dtype).encode(dtype),
            (Fill::Edges, Family::Complex) => {
                let (re, im) = (self.pick(&EDGES), self.pick(&EDGES));
                Number::Complex(re, im).cast(dtype).encode(dtype)
            }
            (Fill::Edges, Family::Float) => {
                Number::Float(self.pick(&EDGES)).cast(dtype).encode(dtype)
            }
            (Fill::Edges, _) => {
                let (low, high) = match dtype {
                    DType::Bool => (0, 1),
                    _ => int_range(dtype),
                };
                let edges = [0, 1, high, low, high - 1, high / 2, high / 3, 1 << 20, 257];
                Number::Int(self.pick(&edges)).cast(dtype).encode(dtype)
            }
        }
    }
}
