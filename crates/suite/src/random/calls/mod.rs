//! How calls of each operator are drawn. Most are good; the others have a size, an axis or an index that is
//! out of place, or an argument of the wrong type.

mod axes;
mod data;
mod gather;
mod sized;

use stridewise_core::call::Arg;
use stridewise_core::dtype::DType;
use stridewise_core::operators::TABLE;
use stridewise_core::table::ParamKind;

use super::choices::Choices;
use crate::call::{Argument, Call};
use crate::input::Input;
use crate::number::Number;

/// How a call of the operator of that name is drawn, if the suite can.
pub fn generator(operator: &str) -> Option<fn(&'static str, &mut Choices) -> Call> {
    let draw: fn(&'static str, &mut Choices) -> Call = match operator {
        "atleast_1d" | "atleast_2d" | "atleast_3d" | "contiguous" | "shape_of" => plain,
        "atleast_nd" => sized::atleast_nd,
        "expand" => |name, c| sized::stretched(name, c, "sizes", true),
        "broadcast_to" => |name, c| sized::stretched(name, c, "shape", false),
        "expand_as" => sized::expand_as,
        "repeat" => |name, c| data::tiled(name, c, "sizes"),
        "tile" => |name, c| data::tiled(name, c, "reps"),
        "repeat_interleave" => data::repeat_interleave,
        "unflatten" => sized::unflatten,
        "flatten" => |name, c| axes::two_axes(name, c, ["start", "stop"]),
        "swapaxes" => |name, c| axes::two_axes(name, c, ["a", "b"]),
        "reshape" | "view" => sized::reshape,
        "squeeze" | "flip" => axes::some_axes,
        "unsqueeze" => axes::unsqueeze,
        "permute" | "transpose" => axes::reorder,
        "moveaxis" => axes::moveaxis,
        "slice" => axes::slice,
        "take" => gather::take,
        "index_select" => gather::index_select,
        "take_along_axis" => gather::take_along_axis,
        "index_add" => gather::index_add,
        "enforce_shape" => sized::enforce_shape,
        "unstack" => axes::unstack,
        "cast" => data::cast,
        "sum" => data::sum,
        "concat" | "stack" => data::joined,
        "zeros" | "ones" => data::constant,
        "full" => data::full,
        "arange" => data::arange,
        _ => return None,
    };
    Some(draw)
}

/// Puts something of the wrong type into one argument, now and then.
fn spoiled(mut call: Call, c: &mut Choices) -> Call {
    // A list with tensors in it has faults enough of its own.
    let whole = |arg: &Argument| match arg {
        Arg::List(items) => !items.iter().any(|item| matches!(item, Arg::Tensor(_))),
        _ => true,
    };
    let apt = !call.named.is_empty() && call.named.iter().all(|(_, arg)| whole(arg));
    if !(apt && c.once_in(24)) {
        return call;
    }
    let at = c.below(call.named.len());
    let name = call.named[at].0;
    let kind = TABLE
        .iter()
        .find(|entry| entry.name == call.operator)
        .and_then(|entry| entry.parameters().find(|param| param.name == name))
        .map(|param| param.kind);
    let wrong: &[Argument] = match kind {
        Some(ParamKind::Tensor) => &[Arg::Rest],
        Some(ParamKind::Scalar | ParamKind::OptionalScalar | ParamKind::Pattern) => {
            &[Arg::Rest, Arg::DType(DType::F32)]
        }
        Some(ParamKind::Bool | ParamKind::Mode | ParamKind::Place) => {
            &[Arg::Int(1), Arg::Float(1.0)]
        }
        Some(ParamKind::DType | ParamKind::OptionalDType) => &[Arg::Int(1), Arg::Bool(true)],
        _ => &[
            Arg::Float(1.0),
            Arg::Bool(true),
            Arg::Complex(1.0, 0.0),
            Arg::Int(i128::MAX),
        ],
    };
    let wrong = c.pick(wrong);
    call.named[at].1 = match (&call.named[at].1, kind) {
        // One item of a list can be wrong as well as the whole.
        (Arg::List(items), Some(ParamKind::Sizes | ParamKind::Axes)) if !items.is_empty() => {
            let mut items = items.clone();
            let at = c.below(items.len());
            items[at] = wrong;
            Arg::List(items)
        }
        _ => wrong,
    };
    call
}

fn ints(values: &[i128]) -> Argument {
    Arg::List(values.iter().map(|&n| Arg::Int(n)).collect())
}

/// Sizes as a list, or now and then as a tensor.
fn sizes(values: &[i128], c: &mut Choices) -> Argument {
    let numbers = || values.iter().map(|&n| Number::Int(n));
    match c.below(20) {
        18 => {
            let dtype = c.pick(&[DType::I64, DType::I32, DType::F32, DType::U8]);
            Arg::Tensor(Input::of(dtype, &[values.len()], numbers()))
        }
        19 => {
            let one = |n| Arg::Tensor(Input::of(DType::I64, &[], [Number::Int(n)]));
            Arg::List(values.iter().map(|&n| one(n)).collect())
        }
        _ => ints(values),
    }
}

/// An axis of that rank from either end, now and then one out of range.
fn axis(rank: usize, c: &mut Choices) -> i128 {
    let rank = rank as i128;
    match c.below(12) {
        10 => c.between(-rank - 2, rank + 1),
        11 => c.pick(&[rank, -rank - 1, isize::MAX as i128, isize::MIN as i128]),
        _ if rank == 0 => 0,
        even if even % 2 == 0 => c.between(0, rank - 1),
        _ => c.between(-rank, -1),
    }
}

/// Several distinct axes of that rank, now and then one twice or out of range.
fn axes(rank: usize, count: usize, c: &mut Choices) -> Vec<i128> {
    let mut left: Vec<i128> = (0..rank as i128).collect();
    (0..count)
        .map(|_| match (c.once_in(20), left.is_empty()) {
            (false, false) => {
                let axis = left.remove(c.below(left.len()));
                if c.once_in(3) {
                    axis - rank as i128
                } else {
                    axis
                }
            }
            _ => axis(rank, c),
        })
        .collect()
}

fn plain(name: &'static str, c: &mut Choices) -> Call {
    Call::of(name).arg(c.tensor())
}
