//! Making a call on any engine, and holding what comes out to what one machine gives.

use stridewise_core::call::{Arg, Args};
use stridewise_core::dtype::DType;
use stridewise_core::engine::Engine;
use stridewise_core::error::Result;
use stridewise_core::operators::{self, GetItem, Pick};
use stridewise_core::params::Item;
use stridewise_core::table::Outcome;
use stridewise_cpu::{Cpu, Tensor};
use stridewise_suite::reference::Reference;
use stridewise_suite::runner::entries;
use stridewise_suite::{Argument, Call, Entry, Number};

use crate::held::tensor;

/// What a call gave.
pub(crate) struct Made<V> {
    pub(crate) tensors: Vec<V>,
    pub(crate) dims: Vec<Entry>,
}

/// Makes a call on these tensors, which stand for its inputs in order.
pub(crate) fn perform<E: Engine<Size = usize>>(
    engine: &E,
    call: &Call,
    inputs: &[E::Value],
) -> Result<Made<E::Value>> {
    let none = Vec::new();
    if call.operator == "index" {
        let refs: Vec<&E::Value> = inputs.iter().collect();
        let made = engine.apply(&get_item(call), &refs)?;
        return Ok(Made {
            tensors: vec![made],
            dims: none,
        });
    }
    let mut inputs = inputs.iter().cloned();
    let mut next =
        |arg: &Argument| arg.with_tensors(&mut |_| inputs.next().expect("a tensor for each input"));
    let args = Args {
        positional: call.positional.iter().map(&mut next).collect(),
        named: call
            .named
            .iter()
            .map(|(name, arg)| (name.to_string(), next(arg)))
            .collect(),
    };
    Ok(match operators::call(engine, call.operator, args)? {
        Outcome::One(x) => Made {
            tensors: vec![x],
            dims: none,
        },
        Outcome::Many(tensors) => Made {
            tensors,
            dims: none,
        },
        Outcome::Checked((x, dims)) => Made {
            tensors: vec![x],
            dims: entries(&dims),
        },
    })
}

/// `x[...]`, which is no line of the table: its second argument is the list of items.
fn get_item(call: &Call) -> GetItem {
    let Arg::List(items) = &call.positional[1] else {
        panic!("{call}: an index has items");
    };
    let pick = |item: &Argument| match item {
        Arg::Tensor(_) => Pick::Array,
        Arg::Int(at) => Pick::Item(Item::At(*at as isize)),
        Arg::None => Pick::Item(Item::NewAxis),
        Arg::Rest => Pick::Item(Item::Rest),
        Arg::Range(start, stop, step) => Pick::Item(Item::Range {
            start: *start,
            stop: *stop,
            step: step.unwrap_or(1),
        }),
        other => panic!("{other:?} is no item"),
    };
    GetItem {
        picks: items.iter().map(pick).collect(),
    }
}

/// What one machine gives.
pub(crate) type Expected = Result<(Vec<Reference>, Vec<Entry>)>;

/// Makes a call on the CPU.
pub(crate) fn expected(call: &Call, wholes: &[Reference]) -> Expected {
    let inputs: Vec<Tensor> = wholes.iter().map(tensor).collect();
    let made = perform(&Cpu, call, &inputs)?;
    Ok((made.tensors.iter().map(read).collect(), made.dims))
}

/// The elements of a tensor.
pub(crate) fn read(x: &Tensor) -> Reference {
    let width = x.dtype().width();
    let bytes = x.to_bytes().expect("the elements");
    let cell = |bytes: &[u8]| {
        let mut cell = [0; 16];
        cell[..width].copy_from_slice(bytes);
        cell
    };
    Reference {
        dtype: x.dtype(),
        shape: x.shape().to_vec(),
        elements: bytes.chunks_exact(width).map(cell).collect(),
    }
}

/// How two tensors differ, if they do: in the bits of an element where all must be equal, otherwise in its value.
pub(crate) fn difference(seen: &Reference, wanted: &Reference, bits: bool) -> Option<String> {
    let kind = |x: &Reference| (x.dtype, x.shape.clone());
    if kind(seen) != kind(wanted) {
        return Some(format!("wanted {:?}, got {:?}", kind(wanted), kind(seen)));
    }
    let same = |(a, b): (&[u8; 16], &[u8; 16])| {
        a == b
            || !bits
                && equal(
                    seen.dtype,
                    Number::decode(seen.dtype, a),
                    Number::decode(seen.dtype, b),
                )
    };
    let all = seen.elements.iter().zip(&wanted.elements).all(same);
    (!all).then(|| {
        let text = |x: &Reference| {
            let numbers: Vec<String> = x.numbers().iter().map(Number::to_string).collect();
            numbers.join(" ")
        };
        format!("wanted {}\n   got {}", text(wanted), text(seen))
    })
}

/// Whether two numbers are equal, NaN and NaN too.
fn equal(_: DType, a: Number, b: Number) -> bool {
    let same = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan();
    match (a, b) {
        (Number::Complex(a, b), Number::Complex(c, d)) => same(a, c) && same(b, d),
        (Number::Int(a), Number::Int(b)) => a == b,
        (a, b) => same(a.real(), b.real()),
    }
}
