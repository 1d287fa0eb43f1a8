//! Every way a tensor can lie on a mesh, and what a rank then has of it: cut, copied and taken apart here, element by
//! element, with none of the crate's code.

use stridewise_core::dtype::{DType, Family};
use stridewise_core::layout::Layout;
use stridewise_cpu::Tensor;
use stridewise_spread::{Reduction, Sbp};
use stridewise_suite::Number;
use stridewise_suite::number::int_range;
use stridewise_suite::reference::{Reference, indices};

/// Every layout of a tensor of that rank and dtype on a mesh of so many axes.
pub(crate) fn layouts(rank: usize, dtype: DType, mesh_axes: usize) -> Vec<Vec<Sbp>> {
    let mut one: Vec<Sbp> = (0..rank).map(Sbp::Split).collect();
    one.extend([Sbp::Broadcast, Sbp::Partial(Reduction::Sum)]);
    if dtype.family() != Family::Complex {
        one.extend([Reduction::Max, Reduction::Min].map(Sbp::Partial));
    }
    let mut all = vec![Vec::new()];
    for _ in 0..mesh_axes {
        let longer = |held: &Vec<Sbp>| -> Vec<Vec<Sbp>> {
            let with = |sbp: &Sbp| [&held[..], &[*sbp]].concat();
            one.iter().map(with).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// Whether a layout only moves elements, so that bits survive it.
pub(crate) fn only_moves(sbp: &[Sbp]) -> bool {
    !sbp.iter().any(|held| matches!(held, Sbp::Partial(_)))
}

/// Where a rank stands on a mesh, the last axis fastest.
pub(crate) fn coordinate(mesh: &[usize], rank: usize) -> Vec<usize> {
    let behind = |axis: usize| mesh[axis + 1..].iter().product::<usize>();
    (0..mesh.len())
        .map(|axis| rank / behind(axis) % mesh[axis])
        .collect()
}

/// The rows of an axis that part `at` has: as even as can be, the longer parts first.
fn rows(size: usize, parts: usize, at: usize) -> std::ops::Range<usize> {
    let sizes: Vec<usize> = (0..parts)
        .map(|at| (size + parts - 1 - at) / parts)
        .collect();
    let start = sizes[..at].iter().sum();
    start..start + sizes[at]
}

/// The part of a shape that a rank has.
pub(crate) fn part_of_shape(
    shape: &[usize],
    mesh: &[usize],
    sbp: &[Sbp],
    rank: usize,
) -> Vec<usize> {
    let mut shape = shape.to_vec();
    for ((held, &parts), at) in sbp.iter().zip(mesh).zip(coordinate(mesh, rank)) {
        if let Sbp::Split(axis) = held {
            shape[*axis] = rows(shape[*axis], parts, at).len();
        }
    }
    shape
}

/// The part of a tensor that a rank has. The first mesh axis takes the tensor apart, the next one what that has left:
/// a rank's part of `P(max), P` is a summand of something whose largest over the first mesh axis is the tensor.
pub(crate) fn part(whole: &Reference, mesh: &[usize], sbp: &[Sbp], rank: usize) -> Reference {
    let mut x = whole.clone();
    for (level, at) in coordinate(mesh, rank).into_iter().enumerate() {
        let parts = mesh[level];
        x = match sbp[level] {
            Sbp::Broadcast => x,
            Sbp::Split(axis) => {
                let rows = rows(x.shape[axis], parts, at);
                let inner: usize = x.shape[axis + 1..].iter().product();
                let run = x.shape[axis] * inner;
                let cut = rows.start * inner..rows.end * inner;
                let runs = x.elements.chunks_exact(run.max(1));
                let elements = runs.flat_map(|run| run[cut.clone()].iter().copied());
                let elements = elements.collect();
                let mut shape = x.shape;
                shape[axis] = rows.len();
                Reference {
                    dtype: x.dtype,
                    shape,
                    elements,
                }
            }
            Sbp::Partial(by) => {
                let numbers = x.numbers().into_iter().enumerate();
                let elements = numbers.map(|(place, number)| {
                    let salt = (place * 31 + level * 17) as u64;
                    share(number, x.dtype, by, (parts, at), salt).encode(x.dtype)
                });
                Reference {
                    elements: elements.collect(),
                    ..x
                }
            }
        };
    }
    x
}

/// What rank `at` of `parts` has of a number that all together reduce to.
fn share(
    number: Number,
    dtype: DType,
    by: Reduction,
    (parts, at): (usize, usize),
    salt: u64,
) -> Number {
    let owner = (mixed(salt) % parts as u64) as usize;
    let offset = |at: usize| (mixed(salt.wrapping_add(1000 + at as u64)) % 7) as i128 - 3;
    let plus = |n: i128| match number {
        Number::Int(value) => Number::Int(value + n).cast(dtype),
        Number::Float(value) => Number::Float(value + n as f64),
        Number::Complex(re, im) => Number::Complex(re + n as f64, im - n as f64),
    };
    match (by, dtype) {
        // All but the owner have less than the largest, all of them more than the smallest.
        _ if at == owner && by != Reduction::Sum => number,
        (Reduction::Max, _) => within(number, -offset(at).abs(), dtype),
        (Reduction::Min, _) => within(number, offset(at).abs(), dtype),
        // A logical or.
        (Reduction::Sum, DType::Bool) => match (number, at == owner || offset(at) > 0) {
            (Number::Int(1), true) => number,
            _ => Number::Int(0),
        },
        (Reduction::Sum, _) => {
            let others = (0..parts).filter(|other| *other != owner).map(offset);
            match at == owner {
                true => plus(-others.sum::<i128>()),
                false => match number {
                    Number::Int(_) => Number::Int(offset(at)).cast(dtype),
                    Number::Float(_) => Number::Float(offset(at) as f64),
                    Number::Complex(..) => Number::Complex(offset(at) as f64, -offset(at) as f64),
                },
            }
        }
    }
}

/// A number some way off, as far as the dtype goes.
fn within(number: Number, by: i128, dtype: DType) -> Number {
    let (low, high) = match dtype {
        DType::Bool => (0, 1),
        dtype if dtype.is_integer() => int_range(dtype),
        _ => (0, 0),
    };
    match number {
        Number::Int(value) => Number::Int((value + by).clamp(low, high)),
        other => Number::Float(other.real() + by as f64),
    }
}

/// Scattered bits, the same in every run.
pub(crate) fn mixed(n: u64) -> u64 {
    let n = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

/// A tensor that lies packed, column by column, or backwards.
pub(crate) fn tensor_lying(x: &Reference, salt: usize) -> Tensor {
    let (width, rank) = (x.dtype.width(), x.shape.len());
    let count = x.elements.len();
    if salt.is_multiple_of(3) || count == 0 {
        return tensor(x);
    }
    let mut strides = vec![1isize; rank];
    let order: Vec<usize> = match salt % 3 {
        1 => (0..rank).collect(),
        _ => (0..rank).rev().collect(),
    };
    let mut next = 1;
    for axis in order {
        strides[axis] = next;
        next *= x.shape[axis] as isize;
    }
    let mut offset = 0;
    if salt % 3 == 2 {
        strides.iter_mut().for_each(|stride| *stride = -*stride);
        offset = count - 1;
    }
    let mut storage = vec![0; count * width];
    for (index, cell) in indices(&x.shape).zip(&x.elements) {
        let steps = index
            .iter()
            .zip(&strides)
            .map(|(&i, stride)| i as isize * stride);
        let at = (offset as isize + steps.sum::<isize>()) as usize * width;
        storage[at..at + width].copy_from_slice(&cell[..width]);
    }
    let flat = Tensor::from_bytes(x.dtype, &[count], &storage).expect("a tensor");
    let layout = Layout::new(width, &x.shape[..], &strides[..], offset).expect("a layout");
    flat.with_layout(layout).expect("a view")
}

/// A packed tensor.
pub(crate) fn tensor(x: &Reference) -> Tensor {
    Tensor::from_bytes(x.dtype, &x.shape, &x.bytes()).expect("a tensor")
}
