//! Tensors and calls for graphs, declared with as much or as little as a test wants known.
#![allow(dead_code, reason = "no test needs all of them")]

use stridewise_core::call::{Arg, Args};
use stridewise_core::dim::{Dim, Outline};
use stridewise_core::error::Result;
use stridewise_core::layout::Layout;
use stridewise_core::operators::call;
use stridewise_core::params::Extent;
use stridewise_core::size::Shape;
use stridewise_core::table::Outcome;
use stridewise_cpu::Tensor;
use stridewise_graph::{Graph, Program, Symbolic};
use stridewise_suite::{Call, Choices, Input};

/// The input as a tensor of the CPU.
pub(crate) fn tensor(input: &Input) -> Tensor {
    let (dims, strides) = (input.shape.as_slice(), input.strides.as_slice());
    Layout::new(input.dtype.width(), dims, strides, input.offset)
        .and_then(|layout| {
            let cells = input.storage.len() / input.dtype.width();
            Tensor::from_bytes(input.dtype, &[cells], &input.storage)?.with_layout(layout)
        })
        .unwrap_or_else(|error| panic!("{input:?} cannot be made: {error}"))
}

/// How much of an input is declared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Declared {
    /// Every size.
    Known,
    /// Sizes by symbols, equal ones by equal symbols, some as numbers.
    Some,
    /// Nothing but the rank.
    Unknown,
    /// Not even that.
    Rankless,
}

pub(crate) const ALL: [Declared; 4] = [
    Declared::Known,
    Declared::Some,
    Declared::Unknown,
    Declared::Rankless,
];

/// A shape as it is declared.
pub(crate) fn outline(
    graph: &Graph,
    shape: &[usize],
    declared: Declared,
    choices: &mut Choices,
) -> Outline {
    let dims: Shape<Dim> = shape
        .iter()
        .map(|&size| match declared {
            Declared::Known => Dim::from(size),
            // One symbol for each size, so that equal sizes may be proved equal.
            Declared::Some => match choices.below(3) {
                0 => Dim::from(size),
                1 => Dim::symbol(format!("N{size}")),
                _ => graph.unknown(),
            },
            _ => graph.unknown(),
        })
        .collect();
    match declared {
        Declared::Rankless => match choices.below(3) {
            0 => graph.unknown_shape(),
            _ => {
                // Some sizes at either end stay.
                let front = choices.below(shape.len() + 1);
                let back = choices.below(shape.len() - front + 1);
                let rest = graph.unknown_shape();
                let back = dims[shape.len() - back..].into();
                Outline::new(dims[..front].into(), rest.rest().cloned(), back)
            }
        },
        _ => dims.into(),
    }
}

/// The tensors that a call has given.
pub(crate) fn listed<V, S>(outcome: Outcome<V, S>) -> Vec<V> {
    match outcome {
        Outcome::One(x) | Outcome::Checked((x, _)) => vec![x],
        Outcome::Many(xs) => xs,
    }
}

/// The call recorded, and the tensors to run it with.
pub(crate) fn traced(
    call_: &Call,
    declared: Declared,
    choices: &mut Choices,
) -> Result<(Program, Vec<Tensor>)> {
    let graph = Graph::new();
    let mut given = Vec::new();
    let mut convert = |arg: &stridewise_suite::Argument| -> Result<Arg<Symbolic, Dim>> {
        arg.try_map(
            &mut |input| {
                let name = format!("x{}", given.len());
                given.push(tensor(input));
                let shape = outline(&graph, &input.shape, declared, choices);
                graph.input(&name, input.dtype, shape)
            },
            &mut |extent| {
                Ok(match extent {
                    Extent::Is(size) => Extent::Is(Dim::from(*size)),
                    Extent::Infer => Extent::Infer,
                    Extent::Negative(n) => Extent::Negative(*n),
                })
            },
        )
    };
    let positional = call_
        .positional
        .iter()
        .map(&mut convert)
        .collect::<Result<_>>()?;
    let named = (call_.named.iter())
        .map(|(name, arg)| Ok((name.to_string(), convert(arg)?)))
        .collect::<Result<_>>()?;
    let outputs = listed(call(&graph, call_.operator, Args { positional, named })?);
    let program = graph.finish(&outputs.iter().collect::<Vec<_>>())?;
    Ok((program, given))
}
