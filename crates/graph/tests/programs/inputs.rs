//! The inputs of a program: how they are declared, what is in them, and how the same declaration is met again by
//! tensors of other sizes.

use std::fmt;

use stridewise_core::call::Arg;
use stridewise_core::dim::Outline;
use stridewise_core::dtype::DType;
use stridewise_core::size::{Size, tuple};
use stridewise_cpu::Tensor;
use stridewise_graph::Graph;
use stridewise_suite::number::{Number, int_range};
use stridewise_suite::random::Fill;
use stridewise_suite::{Choices, Input};

use crate::common::{ALL, outline, tensor};

/// An input as it was first drawn.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
    pub(crate) content: Content,
}

/// What is in an input.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// Anything.
    Elements(Fill),
    /// Places along an axis of that size.
    Index(usize),
    /// These sizes.
    Sizes(Vec<i128>),
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "input {}{}", self.dtype, tuple(&self.shape))?;
        match &self.content {
            Content::Elements(_) => Ok(()),
            Content::Index(reach) => write!(f, ", places among {reach}"),
            Content::Sizes(sizes) => write!(f, ", sizes {sizes:?}"),
        }
    }
}

/// How the inputs are declared in a graph.
pub(crate) fn declared(graph: &Graph, givens: &[&Given], c: &mut Choices) -> Vec<Outline> {
    let mut one = |given: &&Given| {
        let declared = c.pick(&ALL);
        outline(graph, &given.shape, declared, c)
    };
    givens.iter().map(&mut one).collect()
}

/// What each size becomes in another run; `None` leaves all as they are.
pub(crate) struct Other<'m>(pub(crate) Option<&'m [usize]>);

impl Other<'_> {
    /// What a size becomes.
    fn size(&self, size: usize) -> usize {
        match self.0 {
            None => size,
            Some(map) => map.get(size).copied().unwrap_or(3),
        }
    }

    /// A shape that fits the same declaration.
    fn shape(&self, outline: &Outline, shape: &[usize], c: &mut Choices) -> Vec<usize> {
        if self.0.is_none() {
            return shape.to_vec();
        }
        let (front, back) = (outline.front(), outline.back());
        let mut sizes: Vec<usize> = shape.iter().map(|&size| self.size(size)).collect();
        for (at, dim) in front.iter().enumerate() {
            if dim.known().is_some() {
                sizes[at] = shape[at];
            }
        }
        let behind = shape.len() - back.len();
        for (at, dim) in back.iter().enumerate() {
            if dim.known().is_some() {
                sizes[behind + at] = shape[behind + at];
            }
        }
        if outline.rest().is_some() && c.once_in(3) {
            match c.below(2) {
                0 => sizes.insert(front.len(), c.pick(&[2, 1, 3, 0])),
                _ if behind > front.len() => drop(sizes.remove(front.len())),
                _ => {}
            }
        }
        sizes
    }
}

/// Tensors for the inputs of a program.
pub(crate) fn tensors(
    givens: &[&Given],
    outlines: &[Outline],
    other: &Other,
    c: &mut Choices,
) -> Vec<Tensor> {
    let pairs = givens.iter().zip(outlines);
    pairs
        .map(|(given, outline)| {
            let shape = other.shape(outline, &given.shape, c);
            tensor(&filled(given, &shape, other, c))
        })
        .collect()
}

/// The input with that shape.
pub(crate) fn filled(given: &Given, shape: &[usize], other: &Other, c: &mut Choices) -> Input {
    let dtype = given.dtype;
    match &given.content {
        Content::Elements(fill) => c.tensor_with(dtype, shape, *fill),
        Content::Sizes(sizes) => {
            let size = |&n: &i128| match usize::try_from(n) {
                Ok(n) if n <= 6 => other.size(n) as i128,
                _ => n,
            };
            // A list of another length has more of the same.
            let sizes = sizes.iter().chain(std::iter::repeat(&1)).map(size);
            let count = shape.iter().product();
            Input::of(dtype, shape, sizes.take(count).map(Number::Int))
        }
        Content::Index(reach) => {
            let mut index = c.tensor_with(dtype, shape, Fill::Small);
            let reach = other.size(*reach) as i128;
            let (low, high) = int_range(dtype);
            let cells = index.storage.len() / dtype.width();
            let wild = c.once_in(12);
            let cell = |_| {
                let value = match c.below(8) {
                    7 if wild => c.pick(&[reach, -reach - 1, high, low]),
                    0..=3 => 0,
                    4..=5 => c.between(0, reach.max(1) - 1),
                    _ => c.between(-reach, reach.max(1) - 1),
                };
                let value = if value < low { 0 } else { value.min(high) };
                Number::Int(value).encode(dtype)
            };
            let bytes = (0..cells).map(cell);
            index.storage = bytes
                .flat_map(|cell| cell.into_iter().take(dtype.width()))
                .collect();
            index
        }
    }
}

/// A tensor as data, for the oracle.
pub(crate) fn described(x: &Tensor) -> Arg<Input, usize> {
    let (dtype, shape) = (x.dtype(), x.shape().to_vec());
    let width = dtype.width();
    let reach = x.layout().reach();
    let mut storage = vec![0; (reach.end - reach.start) * width];
    let offset = x.layout().offset() - reach.start;
    let elements = x.to_bytes().unwrap_or_default();
    for (flat, element) in elements.chunks_exact(width).enumerate() {
        let (mut rest, mut at) = (flat, offset as isize);
        for (&size, &stride) in shape.iter().zip(x.strides()).rev() {
            at += (rest % size) as isize * stride;
            rest /= size;
        }
        let at = at as usize * width;
        storage[at..at + width].copy_from_slice(element);
    }
    Arg::Tensor(Input {
        dtype,
        shape,
        strides: x.strides().to_vec(),
        offset,
        storage,
    })
}
