//! Calls of every operator, one after another: every shape of few axes with sizes from {0, 1, 2, 3, 5, 6}, and for each
//! the parameters that matter to a split. Bad calls are among them.

mod axes;
mod gather;
mod making;
mod sizes;

use stridewise_core::call::Arg;
use stridewise_core::dtype::{DType, Family};
use stridewise_suite::{Argument, Call, Input, Number};

use crate::held::mixed;

/// The sizes of axes: none, one, even and uneven parts, fewer than ranks and more.
pub(crate) const SIZES: [usize; 6] = [0, 1, 2, 3, 5, 6];

/// All calls of an operator; none where it is not known here. `index` is `x[...]` with arrays among the items.
pub(crate) fn calls(operator: &str) -> Option<Vec<Call>> {
    Some(match operator {
        "atleast_1d" => each("atleast_1d"),
        "atleast_2d" => each("atleast_2d"),
        "atleast_3d" => each("atleast_3d"),
        "contiguous" => each("contiguous"),
        "shape_of" => each("shape_of"),
        "atleast_nd" => sizes::atleast_nd(),
        "expand" => sizes::expand(),
        "expand_as" => sizes::expand_as(),
        "broadcast_to" => sizes::broadcast_to(),
        "repeat" => sizes::repeat("repeat", "sizes"),
        "tile" => sizes::repeat("tile", "reps"),
        "repeat_interleave" => sizes::repeat_interleave(),
        "unflatten" => sizes::unflatten(),
        "flatten" => axes::flatten(),
        "reshape" => sizes::reshape("reshape"),
        "view" => sizes::reshape("view"),
        "squeeze" => axes::subsets("squeeze"),
        "flip" => axes::subsets("flip"),
        "unsqueeze" => axes::unsqueeze(),
        "permute" => axes::orders("permute"),
        "transpose" => axes::orders("transpose"),
        "swapaxes" => axes::pairs("swapaxes", ["a", "b"]),
        "moveaxis" => axes::pairs("moveaxis", ["source", "destination"]),
        "slice" => axes::slice(),
        "unstack" => axes::unstack(),
        "sum" => axes::sum(),
        "enforce_shape" => sizes::enforce_shape(),
        "take" => gather::take(),
        "index_select" => gather::index_select(),
        "take_along_axis" => gather::take_along_axis(),
        "index_add" => gather::index_add(),
        "index" => gather::index(),
        "cast" => making::cast(),
        "concat" => making::concat(),
        "stack" => making::stack(),
        "zeros" => making::constant("zeros"),
        "ones" => making::constant("ones"),
        "full" => making::full(),
        "arange" => making::arange(),
        _ => return None,
    })
}

/// Every shape of so many axes.
pub(crate) fn shapes_of_rank(rank: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..rank {
        let longer = |shape: &Vec<usize>| SIZES.map(|size| [&shape[..], &[size]].concat());
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// Every shape of up to three axes, and some of four.
pub(crate) fn shapes() -> Vec<Vec<usize>> {
    let four = [[2, 3, 1, 2], [1, 5, 2, 3], [2, 0, 3, 1], [6, 1, 1, 2]];
    let four = four.iter().map(|shape| shape.to_vec());
    (0..=3).flat_map(shapes_of_rank).chain(four).collect()
}

/// Every shape of up to two axes, and some of three: for calls of several tensors.
pub(crate) fn few_shapes() -> Vec<Vec<usize>> {
    let three = [
        [2, 3, 5],
        [3, 1, 2],
        [5, 2, 6],
        [1, 1, 3],
        [0, 2, 3],
        [2, 0, 3],
        [6, 5, 2],
        [1, 6, 1],
    ];
    let three = three.iter().map(|shape| shape.to_vec());
    (0..=2).flat_map(shapes_of_rank).chain(three).collect()
}

/// The dtypes of moved elements, in turn.
const MOVED: [DType; 18] = [
    DType::F32,
    DType::I32,
    DType::F64,
    DType::U8,
    DType::F32,
    DType::Bool,
    DType::I64,
    DType::C64,
    DType::F32,
    DType::F16,
    DType::BF16,
    DType::U64,
    DType::I8,
    DType::F32,
    DType::I16,
    DType::U16,
    DType::C128,
    DType::U32,
];

/// A tensor of small whole numbers, of a dtype that changes from one to the next.
pub(crate) fn some(shape: &[usize], salt: usize) -> Input {
    numbers(MOVED[salt % MOVED.len()], shape, salt)
}

/// A tensor of numbers so small that sums are exact, of a dtype that changes from one to the next.
pub(crate) fn summable(shape: &[usize], salt: usize) -> Input {
    let dtype = MOVED[salt % MOVED.len()];
    let dtype = match dtype {
        DType::BF16 | DType::F16 => DType::F32,
        other => other,
    };
    numbers(dtype, shape, salt)
}

/// A tensor of small whole numbers.
pub(crate) fn numbers(dtype: DType, shape: &[usize], salt: usize) -> Input {
    let count: usize = shape.iter().product();
    let one = |at: usize| {
        let bits = mixed((salt * 1009 + at) as u64);
        let n = (bits % 13) as i128;
        match dtype.family() {
            Family::Bool => Number::Int(n % 2),
            Family::Unsigned => Number::Int(n),
            Family::Signed => Number::Int(n - 4),
            Family::Float => Number::Float((n - 4) as f64),
            Family::Complex => Number::Complex((n - 4) as f64, (bits / 13 % 7) as f64),
        }
    };
    Input::of(dtype, shape, (0..count).map(one))
}

pub(crate) fn ints(values: &[i128]) -> Argument {
    Arg::List(values.iter().map(|&n| Arg::Int(n)).collect())
}

/// Sizes as one tensor, which can lie anyhow.
fn as_tensor(values: &[i128]) -> Argument {
    let numbers = values.iter().map(|&n| Number::Int(n));
    Arg::Tensor(Input::of(DType::I64, &[values.len()], numbers))
}

/// Sizes as a list of tensors.
fn as_tensors(values: &[i128]) -> Argument {
    let one = |&n: &i128| Arg::Tensor(Input::of(DType::I32, &[], [Number::Int(n)]));
    Arg::List(values.iter().map(one).collect())
}

fn signed(shape: &[usize]) -> Vec<i128> {
    shape.iter().map(|&n| n as i128).collect()
}

fn each(name: &'static str) -> Vec<Call> {
    let shapes = shapes();
    let one = |(at, shape): (usize, &Vec<usize>)| Call::of(name).arg(some(shape, at));
    let mut all: Vec<Call> = shapes.iter().enumerate().map(one).collect();
    if name.starts_with("atleast") {
        let two = Call::of(name).arg(some(&[], 0)).arg(some(&[3, 2], 1));
        all.push(two.arg(some(&[5], 3)));
    }
    all
}
