//! What a node is given, for operators to ask for: tensors as they are, and sizes, axes and places as numbers.
//! Numbers of constants are read from the file; those of computed tensors from the engine, which may know them as
//! symbols only.

use stridewise_core::engine::{Engine, describe};
use stridewise_core::params::Extent;
use stridewise_core::size::{Size, tuple};
use stridewise_core::{Error, Result};

use crate::import::attributes::saturated;

/// How an operator takes an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// A tensor.
    Tensor,
    /// Any number of tensors, at least one; always last.
    Tensors,
    /// A tensor of rank 1 whose elements are sizes, axes or places.
    Numbers,
    /// The same, or nothing.
    OptionalNumbers,
}

/// An input of an operator, by ONNX's name for it.
pub(super) type Input = (&'static str, Takes);

/// A tensor while a model runs.
#[derive(Clone, Debug)]
pub(super) struct Held<'m, V> {
    /// The tensor, unless it is a constant that only its numbers are needed of.
    pub(super) value: Option<V>,
    pub(super) numbers: Option<&'m [i64]>,
    pub(super) name: &'m str,
}

/// The inputs of one call.
pub(super) struct Given<'a, 'm, E: Engine> {
    pub(super) engine: &'a E,
    pub(super) inputs: &'static [Input],
    pub(super) held: Vec<Option<&'a Held<'m, E::Value>>>,
}

impl<'a, E: Engine> Given<'a, '_, E> {
    /// The tensor at a place.
    pub(super) fn tensor(&self, at: usize) -> Result<&'a E::Value> {
        let held = self.held.get(at).copied().flatten();
        let value = held.and_then(|held| held.value.as_ref());
        value.ok_or_else(|| Error::argument(format!("input `{}` is missing", self.name(at))))
    }

    /// All tensors.
    pub(super) fn tensors(&self) -> Result<Vec<&'a E::Value>> {
        (0..self.held.len()).map(|at| self.tensor(at)).collect()
    }

    /// The numbers at a place as sizes; none where the input is left out.
    pub(super) fn sizes(&self, at: usize) -> Result<Option<Vec<Extent<E::Size>>>> {
        let Some(held) = self.held.get(at).copied().flatten() else {
            return Ok(None);
        };
        if let Some(numbers) = held.numbers {
            let extents = numbers.iter().map(|&n| Extent::from(saturated(n)));
            return Ok(Some(extents.collect()));
        }
        let value = self.tensor(at)?;
        let engine = self.engine;
        let blame = |error: Error| {
            error
                .at_argument(self.name(at))
                .note("the input", describe(engine, value))
        };
        if !engine.dtype(value).is_integer() {
            let message = format!(
                "input `{}` is {}, but it must be whole numbers",
                self.name(at),
                engine.dtype(value)
            );
            return Err(blame(Error::dtype(message)));
        }
        let rank = engine.rank(value)?;
        if rank > 1 {
            let message = format!(
                "input `{}` has rank {rank}, but it must be a list, of rank 1",
                self.name(at)
            );
            return Err(blame(Error::shape(message).sizes(1, rank)));
        }
        if rank == 1 && engine.size(value, 0).known().is_none() {
            let message = format!(
                "input `{}` has {} numbers, and how many that is, is not known yet",
                self.name(at),
                engine.size(value, 0)
            );
            return Err(blame(Error::too_early(message)));
        }
        engine.read_sizes(value).map(Some).map_err(blame)
    }

    /// The sizes at a place that must be there.
    pub(super) fn needed_sizes(&self, at: usize) -> Result<Vec<Extent<E::Size>>> {
        self.sizes(at)?.ok_or_else(|| self.missing(at))
    }

    /// The numbers at a place as axes or places, which must be known; none where the input is left out.
    pub(super) fn numbers(&self, at: usize) -> Result<Option<Vec<isize>>> {
        let Some(extents) = self.sizes(at)? else {
            return Ok(None);
        };
        let number = |extent: &Extent<E::Size>| match extent {
            Extent::Infer => Ok(-1),
            Extent::Negative(n) => Ok(*n),
            Extent::Is(size) => size
                .known()
                .map(|n| isize::try_from(n).unwrap_or(isize::MAX))
                .ok_or_else(|| {
                    let name = self.name(at);
                    Error::too_early(format!(
                        "input `{name}` has {size} among its numbers, which is not known yet"
                    ))
                    .at_argument(name)
                }),
        };
        extents.iter().map(number).collect::<Result<_>>().map(Some)
    }

    /// The numbers at a place that must be there.
    pub(super) fn needed_numbers(&self, at: usize) -> Result<Vec<isize>> {
        self.numbers(at)?.ok_or_else(|| self.missing(at))
    }

    /// What is given, in words, for errors.
    pub(super) fn text(&self) -> String {
        let texts = self.held.iter().enumerate().filter_map(|(at, held)| {
            let held = (*held)?;
            let what = match (held.numbers, &held.value) {
                (Some(numbers), _) if numbers.len() <= 16 => tuple(numbers),
                (_, Some(value)) => describe(self.engine, value),
                (Some(numbers), None) => format!("{} numbers", numbers.len()),
                (None, None) => "nothing".to_string(),
            };
            Some(format!("{} `{}`: {what}", self.name(at), held.name))
        });
        texts.collect::<Vec<_>>().join("; ")
    }

    fn name(&self, at: usize) -> &'static str {
        input_name(self.inputs, at)
    }

    fn missing(&self, at: usize) -> Error {
        Error::argument(format!("input `{}` is missing", self.name(at))).at_argument(self.name(at))
    }
}

/// ONNX's name of the input at a place; the last one goes on for operators of any number.
pub(super) fn input_name(inputs: &'static [Input], at: usize) -> &'static str {
    let input = inputs.get(at).or_else(|| inputs.last());
    input.map_or("input", |(name, _)| name)
}
