//! Random calls of operators that read or add at an index, of any integer dtype, in range and out.

use stridewise_core::call::Arg;
use stridewise_core::dtype::DType;

use super::{axis, spoiled};
use crate::call::Call;
use crate::input::Input;
use crate::number::{Number, int_range};
use crate::random::choices::{Choices, Fill};

/// An index among `n` of this shape, of any integer dtype, now and then out of range.
pub(super) fn index(shape: &[usize], n: usize, wild: bool, c: &mut Choices) -> Input {
    if c.once_in(24) {
        let dtype = c.pick(&[DType::F32, DType::Bool, DType::F16, DType::C64]);
        return c.tensor_with(dtype, shape, Fill::Small);
    }
    let mut index = {
        let dtype = c.integer();
        c.tensor_with(dtype, shape, Fill::Small)
    };
    let dtype = index.dtype;
    let (low, high) = int_range(dtype);
    let reach = n as i128;
    let out = wild || c.once_in(8);
    let cells = index.storage.len() / dtype.width();
    let mut storage = Vec::new();
    for _ in 0..cells {
        let value = match (out, c.below(10)) {
            (true, 8) => c.between(-3 * reach - 1, 3 * reach + 1),
            (true, 9) => c.pick(&[low, high, reach, -reach - 1]),
            (_, 5..) => c.between(-reach, reach.max(1) - 1),
            _ => c.between(0, reach.max(1) - 1),
        };
        let value = if (low..=high).contains(&value) {
            value
        } else {
            0
        };
        storage.extend_from_slice(&Number::Int(value).encode(dtype)[..dtype.width()]);
    }
    index.storage = storage;
    index
}

pub(super) fn take(name: &'static str, c: &mut Choices) -> Call {
    let x = c.tensor();
    let given = (c.below(3) > 0).then(|| axis(x.shape.len(), c));
    let n = match given {
        None => x.shape.iter().product(),
        Some(given) => {
            let front = given.rem_euclid(x.shape.len().max(1) as i128) as usize;
            x.shape.get(front).copied().unwrap_or(1)
        }
    };
    let mode = c.pick(&[
        "", "raise", "wrap", "clip", "fill", "fill", "wrap", "clip", "warp",
    ]);
    let rank = c.pick(&[1, 0, 2, 3]);
    let shape: Vec<usize> = (0..rank).map(|_| c.pick(&[2, 1, 3, 0])).collect();
    let wild = ["wrap", "clip", "fill"].contains(&mode);
    let index = index(&shape, n, wild, c);
    let dtype = x.dtype;
    let mut call = Call::of(name).arg(x).with("index", index);
    if let Some(given) = given {
        call = call.with("axis", given);
    }
    if !mode.is_empty() {
        call = call.with("mode", mode);
    }
    if mode == "fill" && c.below(4) > 0 || c.once_in(30) {
        let own = match dtype {
            DType::Bool => Arg::Bool(true),
            dtype if dtype.is_integer() => Arg::Int(100),
            DType::C64 | DType::C128 => Arg::Complex(1.5, -2.5),
            _ => Arg::Float(0.1),
        };
        let value = if c.once_in(8) { Arg::Float(2.5) } else { own };
        call = call.with("fill_value", value);
    }
    spoiled(call, c)
}

pub(super) fn index_select(name: &'static str, c: &mut Choices) -> Call {
    let list = Listed::drawn(Fill::Bits, c);
    let call = Call::of(name).arg(list.x);
    spoiled(call.with("axis", list.given).with("index", list.index), c)
}

/// A tensor, an axis of it, and an index along that, nearly always 1-D.
struct Listed {
    x: Input,
    given: i128,
    front: usize,
    index: Input,
}

impl Listed {
    fn drawn(fill: Fill, c: &mut Choices) -> Listed {
        let rank = c.pick(&[2, 1, 3, 4, 0]);
        let shape = c.shape_of_rank(rank);
        let x = c.tensor_of(&shape, fill);
        let given = axis(rank, c);
        let front = given.rem_euclid(rank.max(1) as i128) as usize;
        let lists: [&[usize]; 7] = [&[3], &[1], &[0], &[], &[5], &[2], &[2, 2]];
        let list = c.pick(&lists);
        let n = shape.get(front).copied().unwrap_or(1);
        let index = index(list, n, false, c);
        Listed {
            x,
            given,
            front,
            index,
        }
    }
}

pub(super) fn take_along_axis(name: &'static str, c: &mut Choices) -> Call {
    let x = c.tensor();
    let rank = x.shape.len();
    let (along, mut shape, front, n) = match c.below(6) {
        0 => {
            let count = x.shape.iter().product();
            (Some(Arg::None), vec![c.below(5)], 0, count)
        }
        at => {
            let given = if at == 1 { -1 } else { axis(rank, c) };
            let front = given.rem_euclid(rank.max(1) as i128) as usize;
            let n = x.shape.get(front).copied().unwrap_or(1);
            let along = (at != 1).then_some(Arg::Int(given));
            (along, x.shape.clone(), front, n)
        }
    };
    for (at, size) in shape.iter_mut().enumerate() {
        match c.below(8) {
            _ if at == front => *size = c.pick(&[2, 1, 3, 0, 5]),
            6 => *size = 1,
            7 if c.once_in(4) => *size += 1,
            _ => {}
        }
    }
    if c.once_in(20) {
        shape.insert(0, 1);
    }
    let index = index(&shape, n, false, c);
    let call = Call::of(name).arg(x).with("index", index);
    let call = match along {
        Some(along) => call.with("axis", along),
        None => call,
    };
    spoiled(call, c)
}

pub(super) fn index_add(name: &'static str, c: &mut Choices) -> Call {
    let Listed {
        x,
        given,
        front,
        index,
    } = Listed::drawn(Fill::Small, c);
    let mut source_shape = x.shape.clone();
    if let Some(size) = source_shape.get_mut(front) {
        *size = index.shape.first().copied().unwrap_or(1);
    }
    match c.below(24) {
        22 => source_shape.push(1),
        23 => source_shape.iter_mut().for_each(|size| *size += 1),
        _ => {}
    }
    let dtype = if c.once_in(24) { DType::I16 } else { x.dtype };
    let source = c.tensor_with(dtype, &source_shape, Fill::Small);
    let call = Call::of(name)
        .arg(x)
        .with("axis", given)
        .with("index", index);
    spoiled(call.with("source", source), c)
}
